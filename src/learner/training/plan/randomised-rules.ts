import type { RandomisedRules } from '../../trees/randomised/randomised';
import { RANDOMISED, SIZES } from '../tuned';

/** The rules, and how many times the trees of a fold's model it grows to score the rows held out: a power of 2. */
export interface PlannedTrees extends RandomisedRules {
  scored: number;
}

/**
 * Nearly whole trees: it is their mean that smooths. Fewer and smaller ones of many rows.
 *
 * @param width binned columns
 * @param single whether a leaf may have a single row, however many there are
 */
export function randomisedRules(
  rows: number,
  width: number,
  regression: boolean,
  folds: number,
  single = false,
): PlannedTrees {
  const { manyRows, single: ofSingle } = RANDOMISED;
  const minLeaf = single || rows <= manyRows ? 1 : rows < 8000 ? 3 : 5;
  const trees = Math.min(
    rows < SIZES.small ? RANDOMISED.trees.small : RANDOMISED.trees.others,
    (RANDOMISED.nodes * minLeaf * 0.7) / rows,
  );
  const half = Math.min(24, Math.ceil(width / 2));
  const isDense = single && rows > manyRows;
  const fewest = isDense && folds < 5 ? ofSingle.fewest : 10;
  return {
    trees: Math.max(fewest, Math.ceil(trees / Math.max(5, folds))),
    scored: !regression && rows < SIZES.small ? RANDOMISED.scored : 1,
    minLeaf,
    nodeColumns: regression
      ? Math.min(width, Math.max(6, isDense ? ofSingle.columns : half, Math.ceil(width / 4)))
      : Math.max(Math.min(width, 4), Math.ceil(Math.sqrt(width))),
  };
}
