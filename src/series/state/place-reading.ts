import { meets } from '../outcomes/outcome';
import type { Machine } from '../readings/machine';
import type { Sensors } from '../readings/sensors';
import type { Timeline } from '../readings/timeline';
import type { SeriesFeatures } from '../rows/features';
import type { SeriesSettings } from '../types';

/** Gaps between readings up to this share of `ahead` count as covered. */
const SILENCE_SHARE = 0.1;

/** What decides where the cells of a reading belong. */
interface Places {
  readonly settings: SeriesSettings;
  readonly sensors: Sensors;
  readonly features: SeriesFeatures;
}

/**
 * Stores a reading in its machine: in the tracks, the clock, and what the outcome is derived from.
 *
 * @param cells numbers of sensors, each followed by its value
 * @param flag what becomes of the reading, as the clock has it
 * @returns whether there was a reading at this time before
 */
export function placeReading(
  machine: Machine,
  { settings, sensors, features }: Places,
  time: number,
  cells: readonly number[],
  flag: number,
): boolean {
  const { outcome, aheads } = settings;
  const silence = SILENCE_SHARE * aheads[0]!;
  const known = time > machine.newest ? 0 : machine.clock.countUntil(time);
  const isSecond = known > 0 && machine.clock.time(known - 1) === time;
  if (!isSecond) {
    machine.clock.put(time, flag);
  }
  if (outcome.kind === 'event') {
    noteSilence(machine, machine.clock, time, silence);
  }
  const column = outcome.kind === 'column' || outcome.kind === 'event' ? outcome.column : undefined;
  const sensor = column === undefined ? undefined : sensors.get(column);
  for (let i = 0; i < cells.length; i += 2) {
    const [index, value] = [cells[i]!, cells[i + 1]!];
    const track = machine.track(index);
    sensors.see(index);
    track.put(time, value);
    if (index !== sensor?.index) {
      continue;
    }
    if (outcome.kind === 'event') {
      noteHit(machine.hits, time, meets(value, sensor, outcome));
      noteSilence(machine, track.line, time, silence);
    } else if (features.hasHistory) {
      machine.putHistory(time, value);
    }
  }
  return isSecond;
}

/** Notes the readings at and before a time that are followed by a gap. */
function noteSilence({ silences }: Machine, line: Timeline, time: number, least: number): void {
  const at = line.countUntil(time) - 1;
  const before = at > 0 ? line.time(at - 1) : time;
  const after = at >= 0 && at + 1 < line.size ? line.time(at + 1) : time;
  if (time - before > least) {
    silences.put(before, 1);
  }
  if (after - time > least) {
    silences.put(time, 1);
  }
}

function noteHit(hits: Timeline, time: number, isMet: boolean): void {
  const count = hits.countUntil(time);
  const isKnown = count > 0 && hits.time(count - 1) === time;
  if (isMet || isKnown) {
    hits.put(time, isMet ? 1 : 0);
  }
}
