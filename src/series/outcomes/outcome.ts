import { type Machine, medianStep } from '../readings/machine';
import type { Sensor, SensorKind } from '../readings/sensors';
import type { Timeline } from '../readings/timeline';
import { valueAt } from '../readings/value-at';
import type { EventOperator, SeriesOutcomeKind } from '../types';

/** An outcome that is not known yet. */
export const NOT_YET = 'not yet';

export type OutcomeOrNotYet = number | undefined | typeof NOT_YET;

/** Share of the time ahead that readings must cover for "no". */
const COVERED = 0.8;
/** A reading covers the time after it: a tenth of `ahead`, or this many median steps of the machine if that is longer. */
const HELD_SHARE = 0.1;
const HELD_STEPS = 5;

export const EVENT_LABELS = ['no', 'yes'] as const;

/** The value of a column `ahead` after a time; undefined where no reading is close enough. */
export function columnOutcome(
  machine: Machine,
  sensor: Sensor,
  time: number,
  ahead: number,
): OutcomeOrNotYet {
  const then = time + ahead;
  const reach = ahead / 2;
  const line = machine.tracks[sensor.index]?.line;
  const isFollowed = line !== undefined && line.lastTime >= then;
  if (!isFollowed && machine.newest <= then + ahead) {
    return NOT_YET;
  }
  return line === undefined ? undefined : valueAt(line, line.size, then, reach, sensor.kind === 'number');
}

/** Whether an event occurred within `ahead` after a time: 1 or 0; undefined where too few readings support a "no". */
export function eventOutcome(
  machine: Machine,
  event: Extract<SeriesOutcomeKind, { kind: 'event' }>,
  sensor: Sensor | undefined,
  time: number,
  ahead: number,
): OutcomeOrNotYet {
  const then = time + ahead;
  if (machine.newest < then) {
    return NOT_YET;
  }
  const { hits } = machine;
  for (let i = hits.countUntil(then) - 1; i >= 0 && hits.time(i) > time; i--) {
    if (hits.value(i) === 1) {
      return 1;
    }
  }
  const line = coverage(machine, event.operator, sensor);
  return line === undefined || silence(machine, line, time, then) > (1 - COVERED) * ahead ? undefined : 0;
}

/** The readings that support a "no": the column's own for a measured number, all of the machine for a state, which is sent when it changes. */
function coverage(
  machine: Machine,
  operator: EventOperator,
  sensor: Sensor | undefined,
): Timeline | undefined {
  const isMeasured = sensor?.kind === 'number' && operator !== '=' && operator !== '!=';
  return isMeasured ? machine.tracks[sensor.index]?.line : machine.clock;
}

/** Milliseconds between two times that no reading covers. */
function silence(machine: Machine, line: Timeline, from: number, to: number): number {
  const least = HELD_SHARE * (to - from);
  const first = Math.max(0, line.countUntil(from) - 1);
  if (line.size === 0 || line.time(first) > to) {
    return to - from;
  }
  const share = uncovered(line, machine.silences, first, from, to, least);
  if (share <= (1 - COVERED) * (to - from)) {
    return share;
  }
  const step = medianStep(machine.clock, machine.clock.countUntil(from));
  return HELD_STEPS * step > least
    ? uncovered(line, machine.silences, first, from, to, HELD_STEPS * step)
    : share;
}

function uncovered(
  line: Timeline,
  silences: Timeline,
  first: number,
  from: number,
  to: number,
  held: number,
): number {
  let sum = Math.max(0, Math.min(line.time(first), to) - from);
  const begin = line.time(first);
  for (let i = silences.countUntil(begin - 1); i < silences.size && silences.time(i) < to; i++) {
    const start = silences.time(i);
    const next = line.countUntil(start);
    if (next > 0 && line.time(next - 1) === start) {
      const end = next < line.size ? Math.min(line.time(next), to) : to;
      sum += Math.max(0, end - Math.max(start + held, from));
    }
  }
  if (line.lastTime < to) {
    sum += Math.max(0, to - Math.max(line.lastTime + held, from));
  }
  return sum;
}

/** Whether a value meets the condition of an event. */
export function meets(
  value: number,
  sensor: { kind: SensorKind; words: string[] },
  { operator, value: wanted }: { operator: EventOperator; value: number | string | boolean },
): boolean {
  if (operator === '=' || operator === '!=') {
    return isSame(value, sensor, wanted) === (operator === '=');
  }
  const limit = Number(wanted);
  const number = sensor.kind === 'text' ? NaN : value;
  switch (operator) {
    case '<':
      return number < limit;
    case '<=':
      return number <= limit;
    case '>':
      return number > limit;
    case '>=':
      return number >= limit;
  }
}

function isSame(
  value: number,
  { kind, words }: { kind: SensorKind; words: string[] },
  wanted: number | string | boolean,
): boolean {
  if (kind === 'text') {
    return words[value] === String(wanted);
  }
  return typeof wanted !== 'string' && value === Number(wanted);
}
