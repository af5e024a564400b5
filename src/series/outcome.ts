import { show } from '../table/cells/types';
import { ServiceError } from '../wire/service-error';
import { type KeptRow, type Machine, medianStep } from './machine';
import type { Sensor, SensorKind } from './sensors';
import { type Timeline, valueAt } from './track';
import type { EventOperator } from './types';

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
  const line = machine.tracks[sensor.index]?.line;
  const isFollowed = line !== undefined && line.lastTime >= then;
  if (!isFollowed && machine.newest <= then + ahead) {
    return NOT_YET;
  }
  return line === undefined
    ? undefined
    : valueAt(line, then, { reach: ahead / 2, isNumber: sensor.kind === 'number' });
}

/** Whether an event occurred within `ahead` after a time: 1 or 0; undefined where too few readings support a "no". */
export function eventOutcome(
  machine: Machine,
  { operator, sensor }: { operator: EventOperator; sensor: Sensor | undefined },
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
  const line = coverage(machine, operator, sensor);
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
  const share = uncovered(line, machine.silences, { first, from, to }, least);
  if (share <= (1 - COVERED) * (to - from)) {
    return share;
  }
  const step = medianStep(machine.clock, machine.clock.countUntil(from));
  return HELD_STEPS * step > least
    ? uncovered(line, machine.silences, { first, from, to }, HELD_STEPS * step)
    : share;
}

function uncovered(
  line: Timeline,
  silences: Timeline,
  { first, from, to }: { first: number; from: number; to: number },
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

const YES = EVENT_LABELS.indexOf('yes');

/**
 * Counts separate events in the outcomes of rows: runs of `yes` per key. With several aheads only rows of the shortest
 * count, since a longer one merges neighbouring events into one run. A run counts once rows reach `ahead` beyond its
 * start: when its first row has an outcome the others have none yet, and a model fitted then learns next to nothing of
 * that event.
 */
export class EventCounter {
  private events = 0;
  /** Rows with `yes` at the last count. */
  private of = 0;
  /** When the first event that was not over then will count, milliseconds since 1970. */
  private openUntil = Infinity;

  /**
   * @param ahead the shortest, in milliseconds
   * @param most counting stops here
   */
  constructor(
    private readonly ahead: number,
    private readonly most: number,
  ) {}

  /**
   * Recounts only where the count may have changed.
   *
   * @param of how many rows say `yes`
   * @param rows those of each key in order of time
   */
  count(of: number, rows: () => Iterable<KeptRow>, machines: Iterable<Machine>): number {
    if (of === this.of && this.openUntil === Infinity) {
      return this.events;
    }
    const newest = newestRow(machines);
    if (of !== this.of || this.openUntil <= newest) {
      this.of = of;
      this.countAll(rows(), newest);
    }
    return this.events;
  }

  private countAll(rows: Iterable<KeptRow>, newest: number): void {
    const before = new Map<string | null, number>();
    this.events = 0;
    this.openUntil = Infinity;
    for (const row of rows) {
      if (row.ahead !== this.ahead) {
        continue;
      }
      if (row.truth === YES && before.get(row.key) !== YES) {
        const end = row.time + this.ahead;
        if (end > newest) {
          this.openUntil = Math.min(this.openUntil, end);
        } else if (++this.events >= this.most) {
          this.openUntil = Infinity;
          return;
        }
      }
      before.set(row.key, row.truth);
    }
  }
}

/** The time up to which rows of the shortest ahead are released, on the machine that is furthest. */
function newestRow(machines: Iterable<Machine>): number {
  let newest = -Infinity;
  for (const { released } of machines) {
    newest = Math.max(newest, released[0]!);
  }
  return newest;
}

/** Different labels that messages may bring, and the characters of one. */
const MAX_LABELS = 1000;
const MAX_CHARACTERS = 1000;

type OutcomeValue = number | string | boolean;

/** Outcomes that messages bring: all numbers or all labels, as the first one is. */
export class Labels {
  kind: 'number' | 'label' | undefined;
  readonly words: (string | boolean)[] = [];

  /** Whether a value is an outcome, of the kind that came first. */
  accepts(value: unknown): value is OutcomeValue {
    return isNumber(value) || (this.kind !== 'number' && isLabel(value));
  }

  /**
   * The number that an outcome is held as. The first one decides the kind.
   *
   * @throws ServiceError limit.exceeded
   */
  findCode(value: OutcomeValue): number {
    this.kind ??= isNumber(value) ? 'number' : 'label';
    if (this.kind === 'number') {
      return Number(value);
    }
    const word = isNumber(value) ? String(value) : value;
    const known = this.words.indexOf(word);
    if (known >= 0) {
      return known;
    }
    if (this.words.length >= MAX_LABELS || String(word).length > MAX_CHARACTERS) {
      throw new ServiceError(
        'limit.exceeded',
        `The outcome ${show(word)} would be one more than the ${MAX_LABELS} labels that a series may have, or has more than ${MAX_CHARACTERS} characters. Send a class, such as "good" or "bad", or a number.`,
      );
    }
    return this.words.push(word) - 1;
  }

  restore({ kind, words }: { kind?: 'number' | 'label'; words: (string | boolean)[] }): void {
    this.kind = kind;
    this.words.splice(0, this.words.length, ...words);
  }

  cell(code: number): number | string | boolean {
    return this.kind === 'number' ? code : this.words[code]!;
  }

  /** What outcomes must be, to complete an error message. */
  get expected(): string {
    return this.kind === 'number' ? 'a number, like the ones before' : 'a number, text, or true or false';
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isLabel(value: unknown): value is string | boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'boolean';
}
