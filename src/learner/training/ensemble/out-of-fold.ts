import { Random } from '../../math/random';
import type { LearnedCandidate } from '../candidates/candidates';
import { type PreparedFit, STREAM } from '../preparation/prepare';

/** The rows that folds held out, each scored by the fold that did not learn from it. */
export interface OutOfFold {
  rows: Int32Array;
  width: number;
  /** Rows × width: the weighted sum of the candidates' scores. */
  scores: Float64Array;
  candidates: LearnedCandidate[];
  /** Their weights. */
  weights: Float64Array;
}

/** Most rows for stacking and calibration: a sample is enough to fit a few weights. */
export const MAX_SAMPLED = 20_000;

/** Rows for permutation importance: at most 1,000 of those held out. */
export function sampleOf(prepared: PreparedFit, { rows }: OutOfFold): Int32Array {
  const random = new Random(prepared.settings.seed, STREAM.importance);
  return random.sample(rows.length, 1000).map((i) => rows[i]);
}

/** The member that held out each of the rows, repeated for each copy of them. */
export function holders({ part }: PreparedFit, rows: Int32Array, copies: number): Uint8Array {
  return Uint8Array.from({ length: rows.length * copies }, (_, i) => part[rows[i % rows.length]]);
}

/** Splits the results of all copies. */
export function inCopies(values: Float64Array, copies: number): Float64Array[] {
  const length = values.length / copies;
  return Array.from({ length: copies }, (_, copy) => values.subarray(copy * length, (copy + 1) * length));
}
