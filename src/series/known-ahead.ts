import { DAY } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import type { Machine } from './machine';

/** Values that plans may hold: about a year of hours for fifty columns. */
const MAX_PLANNED = 500_000;
/** Known all along, as for values from a table of the past. */
export const ALWAYS = -Infinity;

/** One planned value: for which time, and the time of the newest reading when it became known. */
export interface KnownValue {
  time: number;
  since: number;
  value: number;
}

/** One column of a plan, ordered by time, then by when it became known. */
class PlannedColumn {
  private told: KnownValue[] = [];
  private head = 0;

  get size(): number {
    return this.told.length - this.head;
  }

  put(one: KnownValue): void {
    const { told } = this;
    let at = told.length;
    while (at > this.head && isAfter(told[at - 1]!, one)) {
      at--;
    }
    const before = at > this.head ? told[at - 1]! : undefined;
    if (before?.time === one.time && before.value === one.value) {
      return;
    }
    if (before?.time === one.time && before.since === one.since) {
      told[at - 1] = one;
    } else {
      told.splice(at, 0, one);
    }
  }

  /**
   * The value at a time, as it was known to a row: states hold until the next one, numbers are interpolated linearly. NaN
   * before the first planned time and after the last: the current value may no longer hold then.
   *
   * @param row time of the row
   * @param gap numbers further apart than this are not interpolated
   */
  at(time: number, row: number, gap: number, isNumber: boolean): number {
    const { told } = this;
    const next = this.countUntil(time);
    const before = this.lastKnown(next - 1, row);
    if (before === undefined || before.time === time) {
      return before?.value ?? NaN;
    }
    let first = next;
    while (first < told.length && !(told[first]!.since < row)) {
      first++;
    }
    if (first >= told.length) {
      return NaN;
    }
    if (!isNumber) {
      return before.value;
    }
    const after = this.lastKnown(this.countUntil(told[first]!.time) - 1, row)!;
    return after.time - before.time > gap
      ? NaN
      : before.value + ((after.value - before.value) * (time - before.time)) / (after.time - before.time);
  }

  /** Forgets what lies before a time, except the value that still holds then. */
  forget(time: number): void {
    const { told } = this;
    let last = this.countUntil(time) - 1;
    while (last > this.head && told[last - 1]!.time === told[last]!.time) {
      last--;
    }
    this.head = Math.max(this.head, last);
    if (this.head > 1024 && this.head > told.length / 2) {
      this.told = told.slice(this.head);
      this.head = 0;
    }
  }

  *[Symbol.iterator](): IterableIterator<KnownValue> {
    for (let i = this.head; i < this.told.length; i++) {
      yield this.told[i]!;
    }
  }

  private lastKnown(from: number, row: number): KnownValue | undefined {
    let at = from;
    while (at >= this.head && !(this.told[at]!.since < row)) {
      at--;
    }
    return at < this.head ? undefined : this.told[at];
  }

  /** Index after the last entry at or before a time. */
  private countUntil(time: number): number {
    let low = this.head;
    let high = this.told.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.told[middle]!.time <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

function isAfter(a: KnownValue, b: KnownValue): boolean {
  return a.time > b.time || (a.time === b.time && a.since > b.since);
}

/**
 * Plans by key and sensor; null holds the plan for all keys. A row sees only what was known when its reading arrived, even
 * if the plan has changed since: a model trained on better forecasts than it will be given would score too well.
 */
export class KnownAhead {
  private readonly plans = new Map<string | null, Map<number, PlannedColumn>>();

  put(key: string | null, sensor: number, told: KnownValue): void {
    let plan = this.plans.get(key);
    if (plan === undefined) {
      this.plans.set(key, (plan = new Map<number, PlannedColumn>()));
    }
    let column = plan.get(sensor);
    if (column === undefined) {
      plan.set(sensor, (column = new PlannedColumn()));
    }
    column.put(told);
  }

  /** The planned value of a sensor at a time, as known to a row; NaN where it was not. */
  at(
    key: string | null,
    { index, kind }: { index: number; kind: string },
    time: number,
    row: number,
  ): number {
    const gap = Math.max(DAY, time - row);
    const own =
      this.plans
        .get(key)
        ?.get(index)
        ?.at(time, row, gap, kind === 'number') ?? NaN;
    return Number.isNaN(own) && key !== null ? this.at(null, { index, kind }, time, row) : own;
  }

  /** Moves what is planned of one sensor to another, with the values of its codes; those without one (NaN) are forgotten. */
  translate(from: number, to: number, values: readonly number[]): void {
    for (const [key, plan] of this.plans) {
      const column = plan.get(from);
      plan.delete(from);
      for (const told of column ?? []) {
        const value = values[told.value]!;
        if (!Number.isNaN(value)) {
          this.put(key, to, { ...told, value });
        }
      }
    }
  }

  /** How many values are planned. */
  get size(): number {
    let size = 0;
    for (const plan of this.plans.values()) {
      for (const column of plan.values()) {
        size += column.size;
      }
    }
    return size;
  }

  /** @throws ServiceError limit.exceeded */
  checkRoom(values: number): void {
    const size = this.size + values;
    if (size > MAX_PLANNED) {
      throw new ServiceError(
        'limit.exceeded',
        `What is known ahead would be ${size} values, more than ${MAX_PLANNED}. Plan for a shorter time, or in longer steps.`,
      );
    }
  }

  /** Forgets what no future row of a machine can use. The plan for all keys is held a day longer, for slower machines. */
  forgetPast({ key, heldFrom }: Machine): void {
    if (heldFrom > -Infinity) {
      this.plans.get(key)?.forEach((column) => column.forget(heldFrom));
      if (key !== null) {
        this.plans.get(null)?.forEach((column) => column.forget(heldFrom - DAY));
      }
    }
  }

  forget(key: string | null): void {
    this.plans.delete(key);
  }

  *entries(): IterableIterator<[key: string | null, sensor: number, told: KnownValue]> {
    for (const [key, plan] of this.plans) {
      for (const [sensor, column] of plan) {
        for (const told of column) {
          yield [key, sensor, told];
        }
      }
    }
  }
}
