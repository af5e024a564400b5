import type { Split } from '../trees';

/** Rules for splitting a node. */
export interface SplitRules {
  /** L2 regularisation: added to the sum of hessians in every gain and leaf value. */
  lambda: number;
  /** Minimum sum of hessians on each side (rows, if the hessian is 1). */
  minHessian: number;
  /** Gain that a split must exceed. */
  minGain: number;
  /** Added to a category's hessian when categories are sorted, so that rare ones fall in the middle. */
  categorySmooth: number;
  /** Additional `lambda` for a split among more than four categories. */
  categoryLambda: number;
}

/** The best split found so far at a node. `gain` 0: none. */
export interface SplitCandidate extends Split {
  gain: number;
}

/**
 * A histogram of one column at a node, from `offset` on: bins × (width + 1), per bin the sums of `width` gradients,
 * then of the hessian. `totals`: the same sums over the node. Bin 0 holds missing values.
 */
export interface ColumnHistogram {
  sums: Float64Array;
  offset: number;
  bins: number;
  totals: Float64Array;
  width: number;
}
