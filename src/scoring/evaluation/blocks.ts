import { SCORE_NAMES, type Scores } from '../../metrics/scores';
import { Yielder } from '../../util/event-loop';
import { type RowAnswers, scoresOfRows } from './score-rows';

/** Few enough that a block is longer than what makes neighbours alike, enough for a standard error. */
export const BLOCKS = 10;
const FEWEST_BLOCKS = 5;
const FEWEST_ROWS = 10;

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
