import type { KeptRow } from '../kept-row';
import { Timeline } from './timeline';
import { Track } from './track';

/** Steps of a machine whose median says how often it reports. */
const STEPS = 64;
/** Before so many readings a machine has no usual step. */
const MIN_STEPS = 5;
/** Times of the outcome's column a day and a week before: one reading in each quarter of an hour is kept for them. */
const HISTORY_STEP = 900_000;
/** So long is it looked back for them. */
export const HISTORY = 28 * 86_400_000;
/** In-order readings between two looks at the usual step, and at what can be forgotten. */
const HOUSEKEEPING = 32;

/** What is known of one key: its readings as far back as rows see them, and how far its outcomes have come. */
export class Machine {
  /** The times of its readings; 1 where the reading gave a row as it came, 0 where it came late. */
  readonly clock = new Timeline();
  /** By the index of the sensor. */
  readonly tracks: (Track | undefined)[] = [];
  /** Of the outcome's column, four weeks. */
  readonly history = new Timeline();
  /** Of an event: when its condition held (1) or no longer does (0), after a reading was replaced. */
  readonly hits = new Timeline();
  /** Of an event: readings after which there was silence, at least once. */
  readonly silences = new Timeline();
  /** By ahead: rows up to this time have been released; -Infinity: none. */
  readonly released: number[];
  /** By ahead: rows up to this time are kept, or never will be. */
  readonly keptUntil: number[];
  /** Readings before this time are too late. Never goes back. */
  watermark = -Infinity;
  /** By ahead: rows with their outcome that a late reading may still change. */
  readonly unsettled: KeptRow[][];
  /** Rows of these times, as far as they are made. */
  readonly bases = new Map<number, Float64Array>();
  /** Milliseconds between two readings, as usual; NaN while not known. */
  step = NaN;
  /** Readings before this time may be forgotten. */
  heldFrom = -Infinity;
  /** Numbers held. */
  numbers = 0;
  private sinceHousekeeping = 0;

  constructor(
    readonly key: string | null,
    aheads: number,
    private readonly longest: number,
  ) {
    this.released = new Array<number>(aheads).fill(-Infinity);
    this.keptUntil = new Array<number>(aheads).fill(-Infinity);
    this.unsettled = Array.from({ length: aheads }, () => []);
  }

  /** Time of the newest reading. */
  get newest(): number {
    return this.clock.lastTime;
  }

  track(sensor: number): Track {
    return (this.tracks[sensor] ??= new Track(this.longest));
  }

  /** One reading in each quarter of an hour: the first. */
  putHistory(time: number, value: number): void {
    const { history } = this;
    const count = history.countUntil(time);
    const quarter = Math.floor(time / HISTORY_STEP);
    const before = count > 0 ? history.time(count - 1) : -Infinity;
    if (before !== time && Math.floor(before / HISTORY_STEP) === quarter) {
      return;
    }
    const next = count < history.size ? history.time(count) : Infinity;
    if (Math.floor(next / HISTORY_STEP) === quarter) {
      history.remove(count);
    }
    history.put(time, value);
  }

  /** Whether it is time to call `tidy`. */
  get isTidyDue(): boolean {
    return ++this.sinceHousekeeping >= (this.clock.size < HOUSEKEEPING ? 1 : HOUSEKEEPING);
  }

  /** Looks at the usual step, and forgets what no row at `time` or later sees. */
  tidy(time: number): void {
    this.sinceHousekeeping = 0;
    this.step = usualStep(this.clock, this.clock.size);
    if (time > -Infinity) {
      this.heldFrom = Math.max(this.heldFrom, time - this.longest);
      for (const track of this.tracks) {
        track?.prune(time);
      }
      for (const line of [this.clock, this.hits, this.silences]) {
        line.drop(line.countUntil(time) - 1 - STEPS);
      }
      this.history.drop(this.history.countUntil(time - HISTORY - 2 * HISTORY_STEP) - 1);
    }
    this.count();
  }

  /** At least so many numbers `tidy` forgets at a time. */
  forgettable(time: number): number {
    return this.tracks.reduce((sum, track) => sum + (track?.forgettable(time) ?? 0), 0);
  }

  count(): void {
    let numbers = this.clock.size + this.history.size + this.hits.size;
    for (const track of this.tracks) {
      numbers += track?.numbers ?? 0;
    }
    this.numbers = numbers;
  }
}

/** The median of the last steps up to a reading; NaN where there are too few. */
export function usualStep(clock: Timeline, count: number): number {
  const from = Math.max(1, count - STEPS);
  if (count - from < MIN_STEPS) {
    return NaN;
  }
  const steps = new Float64Array(count - from);
  for (let i = from; i < count; i++) {
    steps[i - from] = clock.time(i) - clock.time(i - 1);
  }
  steps.sort();
  return steps[steps.length >> 1]!;
}
