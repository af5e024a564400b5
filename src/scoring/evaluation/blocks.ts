import { SCORE_NAMES, type Scores } from '../../metrics/scores';
import { type Column, TimeZone } from '../../table';
import { Yielder } from '../../util/concurrency';
import { type RowAnswers, scoresOfRows } from './score-rows';

const FEWEST_BLOCKS = 5;
const FEWEST_ROWS = 10;

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
  return isoOf(column, isSeconds(column, max) ? max * 1000 : max);
}

/** A time in milliseconds, as a column of dates holds it, as ISO 8601. */
export function isoOf({ zone }: Column, time: number): string | undefined {
  const date = new Date(zone === undefined ? time : TimeZone.of(zone).toInstant(time));
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * A time of a column in milliseconds since 1970; undefined where it is none.
 *
 * @param newest the newest time of the column
 */
export function columnInstant(column: Column, time: number, newest: number): number | undefined {
  const iso = isoOf(column, isSeconds(column, newest) ? time * 1000 : time);
  return iso === undefined ? undefined : Date.parse(iso);
}

/** Days from the oldest time to the newest. */
export function daysOf(column: Column, { min, max }: Steps): number {
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

/** Few enough that a block is longer than what makes neighbours alike, enough for a standard error. */
export const BLOCKS = 10;

/**
 * Blocks of consecutive rows, as many rows in each as can be: ten, or fewer where there are few rows, so that each has
 * ten; none where that leaves less than five. Rows of one time stay together.
 *
 * @param order numbers of rows in the order of time
 * @param isSameTime of two rows that follow each other in it
 */
export function rowBlocks(
  order: Int32Array,
  isSameTime: (row: number, before: number) => boolean = () => false,
): Int32Array[] {
  const count = Math.min(BLOCKS, Math.floor(order.length / FEWEST_ROWS));
  const blocks: Int32Array[] = [];
  let from = 0;
  for (let block = 1; block <= count; block++) {
    let to = Math.max(from, Math.floor((block * order.length) / count));
    while (to > 0 && to < order.length && isSameTime(order[to]!, order[to - 1]!)) {
      to++;
    }
    if (to > from) {
      blocks.push(order.subarray(from, to));
    }
    from = to;
  }
  return blocks.length >= FEWEST_BLOCKS ? blocks : [];
}

/**
 * Blocks of whole groups: ten of about as many rows, or one of each group where there are fewer; none of less than five
 * groups. Rows of one machine or patient are alike, so that a score is as sure as its groups are many.
 *
 * @param groups of each row; rows of no group are each one of their own
 */
export function groupBlocks(groups: readonly unknown[]): Int32Array[] {
  const rowsOf = new Map<unknown, number[]>();
  groups.forEach((group, row) => {
    const key = group ?? Symbol('alone');
    const rows = rowsOf.get(key);
    if (rows === undefined) {
      rowsOf.set(key, [row]);
    } else {
      rows.push(row);
    }
  });
  if (rowsOf.size < FEWEST_BLOCKS) {
    return [];
  }
  const blocks: number[][] = Array.from({ length: Math.min(BLOCKS, rowsOf.size) }, () => []);
  const largestFirst = [...rowsOf.values()].sort((a, b) => b.length - a.length);
  for (const rows of largestFirst) {
    const smallest = blocks.reduce((least, block) => (block.length < least.length ? block : least));
    rows.forEach((row) => smallest.push(row));
  }
  return blocks.map((rows) => Int32Array.from(rows));
}

/**
 * The standard error of a mean, from a value of each of some blocks of consecutive rows: rows that follow each other in
 * time are alike, so that row by row it would come out far too small. Neighbouring blocks that are still alike widen it
 * by their covariance.
 */
export function blockError(values: readonly number[], mean: number): number {
  const count = values.length;
  let variance = 0;
  let covariance = 0;
  values.forEach((value, block) => {
    variance += (value - mean) ** 2 / (count - 1);
    covariance += block === 0 ? 0 : ((value - mean) * (values[block - 1]! - mean)) / (count - 1);
  });
  return Math.sqrt((variance + 2 * Math.max(0, covariance)) / count);
}

/**
 * The standard error of each score, by the jackknife (J. Tukey, 1958): the scores without one block after the other.
 * A score that some of them do not have, such as ROC AUC where all rows of a class are in one block, gets none.
 */
export async function standardErrors(
  answers: RowAnswers,
  scores: Scores,
  blocks: readonly Int32Array[],
): Promise<Omit<Scores, 'rows'>> {
  const count = blocks.length;
  const without: Scores[] = [];
  const yielder = new Yielder();
  for (const left of blocks) {
    await yielder.due();
    without.push(await scoresOfRows(answers, joined(blocks.filter((block) => block !== left))));
  }
  const errors: Omit<Scores, 'rows'> = {};
  for (const name of SCORE_NAMES) {
    const whole = scores[name];
    const parts = without.flatMap((one) => one[name] ?? []);
    if (whole !== undefined && parts.length === count && count > 0) {
      const values = parts.map((part) => count * whole - (count - 1) * part);
      errors[name] = blockError(values, values.reduce((sum, value) => sum + value, 0) / count);
    }
  }
  return errors;
}

function joined(blocks: readonly Int32Array[]): Int32Array {
  const rows = new Int32Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    rows.set(block, at);
    at += block.length;
  }
  return rows;
}
