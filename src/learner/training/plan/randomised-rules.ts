import type { RandomisedRules } from '../../trees/randomised/randomised';

/** The rules, and how many times the trees of a fold's model it grows to score the rows held out: a power of 2. */
export interface PlannedTrees extends RandomisedRules {
  scored: number;
}

/**
 * Up to so many rows every leaf may have a single one. With more, that is worth all columns at each node, up to so many, and
 * at least so many trees in a fold.
 */
export const MANY_ROWS = 3000;
const MOST_COLUMNS = 24;
const FEWEST_TREES = 15;
/** Nodes in a model: some megabytes. */
const MAX_NODES = 300_000;
/** Below, a model has `MOST_TREES`. */
const FEW_ROWS = 2000;
const MOST_TREES = 200;
/**
 * The logarithm of the votes of a fold's trees, a tenth of the model's, is much noisier than that of all: weighed by it,
 * they would get too little weight. So of few rows more are grown for the weights alone.
 */
const SCORED_VOTES = 4;

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
  const minLeaf = single || rows <= MANY_ROWS ? 1 : rows < 8000 ? 3 : 5;
  const trees = Math.min(rows < FEW_ROWS ? MOST_TREES : 120, (MAX_NODES * minLeaf * 0.7) / rows);
  const half = Math.min(24, Math.ceil(width / 2));
  const isDense = single && rows > MANY_ROWS;
  const fewest = isDense && folds < 5 ? FEWEST_TREES : 10;
  return {
    trees: Math.max(fewest, Math.ceil(trees / Math.max(5, folds))),
    scored: !regression && rows < FEW_ROWS ? SCORED_VOTES : 1,
    minLeaf,
    nodeColumns: regression
      ? Math.min(width, Math.max(6, isDense ? MOST_COLUMNS : half, Math.ceil(width / 4)))
      : Math.max(Math.min(width, 4), Math.ceil(Math.sqrt(width))),
  };
}
