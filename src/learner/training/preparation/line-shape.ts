import { makeTerms, MOST_DEVIATIONS, type Term, type TermInput } from '../../linear/design';
import { addLinearScores, fitLinear, type LearnedLinear } from '../../linear/linear';
import { square } from '../../math/numeric';
import { squaredError } from '../../trees/boosting/loss';

/** Trials, each of which holds out other parts. */
const ROUNDS = 3;
/** Models with more terms are not tried both ways: that would take longer than it gains. */
const MOST_TERMS = 100;
/** Most of the mean's squared error that a linear model may leave for trees to boost its residuals. */
const MOST_LEFT = 0.7;
/**
 * By how much unclipped values have to lower the squared error, and by how many standard errors. A few rows make up
 * most of both, so not much can be asked for.
 */
const LEAST_GAIN = 0.06;
const LEAST_DEVIATIONS = 0.8;

/** A numeric train set, and the part of each row. */
export interface LineInput extends Omit<TermInput, 'rows' | 'whole'> {
  values: Float64Array;
  part: Uint8Array;
}

export interface LinePlan {
  /** Whether outlying values are not clipped. */
  isWhole: boolean;
  /** Whether to boost the residuals of the linear model: the sum is smoother, and extrapolates as it does. */
  isFirst: boolean;
}

/** How a linear model should treat a numeric target, judged on held-out rows. */
export function planLine(input: LineInput): LinePlan {
  const all = Int32Array.from(input.part, (_, row) => row);
  const terms = makeTerms({ ...input, rows: all }, (count) => count <= MOST_TERMS);
  const isFar = ({ rule }: Term) =>
    rule.kind === 'number' && Math.max(-rule.low, rule.high) >= MOST_DEVIATIONS;
  const isTried = terms.length <= MOST_TERMS && terms.some(isFar);
  const cut = tried(input, false, isTried ? ROUNDS : 1);
  if (cut === undefined) {
    return { isWhole: false, isFirst: false };
  }
  const whole = isTried ? tried(input, true, ROUNDS) : undefined;
  const isWhole = whole !== undefined && isClear(cut, whole);
  const errors = isWhole ? whole : cut;
  const first = all.filter((row) => roundOf(input.part[row]) === 0);
  const left = first.reduce((sum, row) => sum + errors[row], 0);
  const trivial = first.reduce((sum, row) => sum + square(input.values[row]), 0);
  return { isWhole, isFirst: left <= MOST_LEFT * trivial };
}

/** The squared error of each held-out row, NaN for the others; undefined with too few rows or too many terms. */
function tried(
  { values, part, ...table }: LineInput,
  whole: boolean,
  rounds: number,
): Float64Array | undefined {
  const all = Int32Array.from(part, (_, row) => row);
  const objective = squaredError(values);
  const trials: { heldOut: Int32Array; linear: LearnedLinear }[] = [];
  for (let round = 0; round < rounds; round++) {
    const heldOut = all.filter((row) => roundOf(part[row]) === round);
    const rows = all.filter((row) => roundOf(part[row]) !== round);
    const input = { ...table, whole, rows, heldOut, objective, target: values, regression: true };
    if (heldOut.length === 0) {
      continue;
    }
    const linear =
      rows.length < heldOut.length ? undefined : fitLinear({ ...input, tableRows: values.length });
    if (linear === undefined) {
      return undefined;
    }
    trials.push({ heldOut, linear });
  }
  const curve = trials[0].linear.curve.map((_, i) =>
    trials.reduce((sum, { heldOut, linear }) => sum + heldOut.length * linear.curve[i], 0),
  );
  const penalty = curve.indexOf(Math.min(...curve));
  const errors = new Float64Array(values.length).fill(NaN);
  const score = new Float64Array(1);
  for (const { heldOut, linear } of trials) {
    for (const row of heldOut) {
      score[0] = 0;
      addLinearScores(linear.tables[penalty], table, row, 1, score, 0);
      errors[row] = square(score[0] - values[row]);
    }
  }
  return errors;
}

/** The trial that holds a part out. One part out of ten would be too few rows to judge by. */
function roundOf(part: number): number {
  return Math.min(ROUNDS - 1, Math.floor(part / ROUNDS));
}

function sumOf(errors: Float64Array): number {
  return errors.reduce((sum, error) => sum + (Number.isNaN(error) ? 0 : error), 0);
}

/** Whether errors are lower by a large enough and significant margin. */
function isClear(before: Float64Array, after: Float64Array): boolean {
  const gains = before.map((error, row) => error - after[row]).filter((one) => !Number.isNaN(one));
  const sum = sumOf(gains);
  const mean = sum / gains.length;
  const spread = gains.reduce((all, one) => all + square(one - mean), 0);
  return sum >= LEAST_GAIN * sumOf(before) && sum >= LEAST_DEVIATIONS * Math.sqrt(spread);
}
