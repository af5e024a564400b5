import { makeTerms, MOST_DEVIATIONS, type Term, type TermInput } from '../../linear/design';
import { addLinearScores, fitLinear, type LearnedLinear } from '../../linear/linear';
import { square } from '../../math/numeric';
import { squaredError } from '../../trees/boosting/loss';

/** Trials, each of which holds out other parts. */
const ROUNDS = 3;
/** Lines of more terms are not tried in both ways: that would take longer than it gains. */
const MOST_TERMS = 100;
/** What a line may leave of the squared error of the mean, for trees to begin with what it leaves. */
const MOST_LEFT = 0.7;
/**
 * By how much a line that takes values far off whole has to lower the squared error, and by how many standard errors. A
 * few rows make most of both, so little can be asked for.
 */
const LEAST_GAIN = 0.06;
const LEAST_DEVIATIONS = 0.8;

/** A train set of numbers, and the part of each row. */
export interface LineInput extends Omit<TermInput, 'rows' | 'whole'> {
  values: Float64Array;
  part: Uint8Array;
}

export interface LinePlan {
  /** Whether values far off count whole. */
  isWhole: boolean;
  /** Whether trees had better begin with what the line leaves: the sum is smoother, and follows it beyond the train set. */
  isFirst: boolean;
}

/** How a line learns a number, as rows held out in trials say. */
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

/** The squared error of each row that was held out, NaN of others; undefined where there are too few rows or too many terms. */
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

/** The trial that holds a part out. One part of ten would be too few rows to judge by. */
function roundOf(part: number): number {
  return Math.min(ROUNDS - 1, Math.floor(part / ROUNDS));
}

function sumOf(errors: Float64Array): number {
  return errors.reduce((sum, error) => sum + (Number.isNaN(error) ? 0 : error), 0);
}

/** Whether errors are lower by so much, and so surely, as is asked for. */
function isClear(before: Float64Array, after: Float64Array): boolean {
  const gains = before.map((error, row) => error - after[row]).filter((one) => !Number.isNaN(one));
  const sum = sumOf(gains);
  const mean = sum / gains.length;
  const spread = gains.reduce((all, one) => all + square(one - mean), 0);
  return sum >= LEAST_GAIN * sumOf(before) && sum >= LEAST_DEVIATIONS * Math.sqrt(spread);
}
