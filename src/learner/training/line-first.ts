import type { TermInput } from '../linear/design';
import { fitLinear } from '../linear/linear';
import { squaredError } from '../trees/loss';

/** Parts that the trial holds out together: one of ten would be too few rows to judge by. */
const TRIED_PARTS = 3;
/** What a line may leave of the squared error of the mean. */
const MOST_LEFT = 0.7;

/** A train set of numbers, and the part of each row. */
export interface LineInput extends Omit<TermInput, 'rows'> {
  values: Float64Array;
  part: Uint8Array;
}

/**
 * Whether a linear model explains so much of a number that trees had better begin with what it leaves: the sum is smoother,
 * and follows a line beyond the range of the train set.
 */
export function isLineFirst({ values, part, ...table }: LineInput): boolean {
  const all = Int32Array.from(part, (_, row) => row);
  const heldOut = all.filter((row) => part[row] < TRIED_PARTS);
  const rows = all.filter((row) => part[row] >= TRIED_PARTS);
  if (rows.length < heldOut.length) {
    return false;
  }
  const objective = squaredError(values);
  const input = { ...table, rows, heldOut, objective, target: values, regression: true };
  const linear = fitLinear({ ...input, tableRows: values.length });
  const trivial = objective.loss(new Float64Array(values.length), heldOut);
  return linear !== undefined && Math.min(...linear.curve) <= MOST_LEFT * trivial;
}
