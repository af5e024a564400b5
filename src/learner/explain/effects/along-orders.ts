import type { Calibration } from '../../calibration/calibrate';
import { bitCount, lowestBit } from '../../math/bits';
import type { Member } from '../../model/members';
import type { Compared } from '../shapley/compared';
import { mixturesOf, type Orders } from '../shapley/orders';
import { answersOfClass } from './answers';
import type { GroupEffects } from './mean-effects';
import type { StepScores } from './step-scores';

/** A row that is explained by orders. */
export interface OrderedRow {
  compared: Compared;
  /** The class whose probability is explained, by its number. */
  of: number;
  common: number[];
  /** Rows of the background, as bits. */
  rows: number;
  found: GroupEffects;
}

/**
 * Adds `share` times the mean over orders of what each group adds as it passes to the row's values. Most of it is known
 * without drawing: the Shapley values of a sum of scores that follows the probability from the background's rows to the row
 * in the mean (a control variate). So only what differs from it depends on the orders drawn.
 *
 * @param told of each member
 */
export function addRowAlong(
  orders: Orders,
  members: Member[],
  told: StepScores[],
  calibration: Calibration,
  { compared: { background, groups }, common, rows, of, found }: OrderedRow,
  share: number,
): void {
  const { width } = members[0];
  const mixtures = mixturesOf(orders);
  const { sums, effects } = meanOf(members, told);
  const answered = answersOfClass(
    members,
    told.map(({ scores }) => scores),
    mixtures,
    calibration,
    of,
  );
  const slopes = new Float64Array(width);
  // Each order ends with the row itself.
  const last = lowestBit(rows) * orders.perRow * orders.steps + common.length;
  const end = answered.chancesAt(last);
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const first = lowestBit(rest) * orders.perRow * orders.steps;
    const start = answered.chancesAt(first);
    slopeBetween(sums, { first, last, start, end }, width, of).forEach((slope, k) => {
      slopes[k] += slope / bitCount(rows);
    });
    found.base += (share * answered.chances[first]) / background.rows;
  }
  for (let k = 0; k < width; k++) {
    for (let group = 0; group < groups; group++) {
      found.effects[group] += ((share * slopes[k]) / background.rows) * effects[k * groups + group];
    }
  }
  const each = share / (background.rows * orders.perRow);
  const size = orders.perRow * orders.steps;
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    addBeyond(
      orders,
      { from: row * size, end: (row + 1) * size },
      answered.chances,
      sums,
      slopes,
      each,
      found,
    );
  }
}

/** Adds `each` times what each group adds to the probability as it passes, beyond what the sums of scores say. */
function addBeyond(
  { passing }: Orders,
  { from, end }: { from: number; end: number },
  chances: Float64Array,
  sums: Float64Array,
  slopes: Float64Array,
  each: number,
  { effects }: GroupEffects,
): void {
  const { length } = slopes;
  let before = 0;
  for (let i = from, at = from * length; i < end; i++) {
    let beyond = chances[i];
    for (let k = 0; k < length; k++, at++) {
      beyond -= slopes[k] * sums[at];
    }
    if (passing[i] >= 0) {
      effects[passing[i]] += each * (beyond - before);
    }
    before = beyond;
  }
}

/** The mean over members of sums of scores, and of their Shapley values. */
function meanOf(members: Member[], told: StepScores[]): Pick<StepScores, 'sums' | 'effects'> {
  if (members.length === 1) {
    return told[0];
  }
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (lists: Float64Array[]): Float64Array => {
    const out = new Float64Array(lists[0].length);
    members.forEach(({ weight }, m) => {
      for (let i = 0; i < out.length; i++) {
        out[i] += (weight / weights) * lists[m][i];
      }
    });
    return out;
  };
  return { sums: mean(told.map(({ sums }) => sums)), effects: mean(told.map((one) => one.effects)) };
}

/** Mixtures at both ends of an order, and what is answered for them. */
interface Ends {
  first: number;
  last: number;
  start: Float64Array;
  end: Float64Array;
}

/** How much of each score makes up the rise of the probability along the straight way between two mixtures. */
function slopeBetween(
  scores: Float64Array,
  { first, last, start, end }: Ends,
  width: number,
  of: number,
): Float64Array {
  const out = new Float64Array(width);
  let rise = 0;
  for (let k = 0; k < width; k++) {
    // With one score for two classes it is the second one's.
    out[k] = width < start.length ? (of === 1 ? 1 : -1) : (k === of ? 1 : 0) - (start[k] + end[k]) / 2;
    rise += out[k] * (scores[last * width + k] - scores[first * width + k]);
  }
  const wanted = end[of] - start[of];
  const slope = Math.abs(rise) > 1e-6 ? Math.max(-1, Math.min(1, wanted / rise)) : 0;
  for (let k = 0; k < width; k++) {
    out[k] *= slope;
  }
  return out;
}
