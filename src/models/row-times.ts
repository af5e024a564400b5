/* When the rows of a table were: which column tells it, and whether they follow each other by it. */

import { TimeZone } from '../table/cells/parse-date';
import type { Column } from '../table/cells/types';

/** Columns of numbers that may hold the time, by their names. */
const TIME_NAMES = /^(time|timestamp|ts|date|datetime|epoch)$/i;
/** The time of epoch seconds and of epoch milliseconds, from 2001 to 2286. */
const SECONDS = [1e9, 1e10] as const;
const MILLISECONDS = [1e12, 1e13] as const;

/** Part of the steps that have to go the same way: a clock that was set back now and then changes nothing. */
const SAME_WAY = 0.99;
/** Part of the steps that have to be equal, within a tenth, for readings at an even pace. */
const EVEN = 0.8;
const MIN_STEPS = 10;
/** Steps that the usual one is found among. */
const MAX_STEPS_KEPT = 10_000;

/** Steps of a column from row to row. */
export class Steps {
  private up = 0;
  private down = 0;
  private before = Number.NaN;
  private readonly sizes: number[] = [];
  max = -Infinity;
  min = Infinity;

  add(value: number): void {
    if (Number.isNaN(value)) {
      return;
    }
    const step = value - this.before;
    this.before = value;
    this.max = Math.max(this.max, value);
    this.min = Math.min(this.min, value);
    if (step > 0) {
      this.up++;
    } else if (step < 0) {
      this.down++;
    } else {
      return;
    }
    if (this.sizes.length < MAX_STEPS_KEPT) {
      this.sizes.push(Math.abs(step));
    }
  }

  /** 1 where it rises from row to row, −1 where it falls, 0 where it does neither. */
  direction(): -1 | 0 | 1 {
    const steps = this.up + this.down;
    if (steps < MIN_STEPS || Math.max(this.up, this.down) < SAME_WAY * steps) {
      return 0;
    }
    return this.up > this.down ? 1 : -1;
  }

  /** Nearly all steps are alike: readings at an even pace. */
  isEven(): boolean {
    const usual = [...this.sizes].sort((a, b) => a - b)[this.sizes.length >> 1] ?? 0;
    const alike = this.sizes.filter((size) => Math.abs(size - usual) <= usual / 10).length;
    return alike >= EVEN * this.sizes.length;
  }
}

export function isTimeName(name: string): boolean {
  return TIME_NAMES.test(name);
}

/** Columns that may tell when a row was, the likeliest first. */
export function timeCandidates(columns: readonly Column[], target: string): Column[] {
  const others = columns.filter(({ name }) => name !== target);
  return [
    ...others.filter(({ type }) => type === 'date'),
    ...others.filter(
      ({ name, type }) => isTimeName(name) && (type === 'integer' || type === 'number' || type === 'bigint'),
    ),
  ];
}

/**
 * Whether the rows follow each other by this column. A table that is sorted by its target is not a series, though a
 * column that follows from the target, such as the year of birth where the age is asked for, then rises too. Where both
 * rise or fall it is a series only if its readings come at an even pace, as a meter's do.
 */
export function followsTime({ type }: Column, steps: Steps, target: Steps): boolean {
  if (type !== 'date' && !within(steps, SECONDS) && !within(steps, MILLISECONDS)) {
    return false;
  }
  return steps.direction() !== 0 && (target.direction() === 0 || steps.isEven());
}

/** The newest time as ISO 8601. */
export function isoTime(column: Column, { max }: Steps): string | undefined {
  return writeTime(column, isSeconds(column, max) ? max * 1000 : max);
}

/** A time in milliseconds, as a column of dates holds it, as ISO 8601. */
export function writeTime({ zone }: Column, time: number): string | undefined {
  const date = new Date(zone === undefined ? time : TimeZone.of(zone).toInstant(time));
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * A time of a column in milliseconds since 1970; undefined where it is none.
 *
 * @param newest the newest time of the column
 */
export function columnInstant(column: Column, time: number, newest: number): number | undefined {
  const iso = writeTime(column, isSeconds(column, newest) ? time * 1000 : time);
  return iso === undefined ? undefined : Date.parse(iso);
}

/** Days from the oldest time to the newest. */
export function countDays(column: Column, { min, max }: Steps): number {
  return (max - min) / (isSeconds(column, max) ? 86_400 : 86_400_000);
}

/**
 * A time as the column holds it: the other way round.
 *
 * @param instant milliseconds since 1970
 * @param newest the newest time of the column
 */
export function columnTime(column: Column, instant: number, newest: number): number {
  const { zone } = column;
  const time = zone === undefined ? instant : TimeZone.of(zone).toLocal(instant);
  return isSeconds(column, newest) ? time / 1000 : time;
}

function isSeconds({ type }: Column, newest: number): boolean {
  return type !== 'date' && newest < SECONDS[1];
}

function within({ min, max }: Steps, [low, high]: readonly [number, number]): boolean {
  return min >= low && max < high;
}
