import type { BlockKernels, ProductKernels } from './explain-functions';

/*
 * What `*.as.ts` export. Parameters without a note are addresses or lengths in bytes; where one array is given as a range,
 * the second address is behind its last element. Rows are given as addresses of their indices.
 */

/** Of boosted trees: `trees.as.ts`. `gradHess` covers the whole table. */
interface BoostingKernels {
  /** Adds each row's gradient and hessian to its bin of two columns, and of one. */
  addTwo(
    rows: number,
    end: number,
    gradHess: number,
    bins0: number,
    bins1: number,
    sums0: number,
    sums1: number,
  ): void;
  addOne(rows: number, end: number, gradHess: number, bins: number, sums: number): void;
  /** The same for one column, if a row has more gradients. `stride`: bytes of its gradients and hessian. */
  addSeveral(rows: number, end: number, gradHess: number, bins: number, sums: number, stride: number): void;
  /** Adds a value to one score of each row. `width`: bytes of a row's scores. */
  addToScores(rows: number, end: number, scores: number, width: number, value: number): void;
  /** The largest absolute value of all rows' pairs; NaN if one is not finite. */
  largest(rows: number, end: number, gradHess: number): number;
  /** Rounds the pair of each row by adding and subtracting a number. */
  roundToGrid(rows: number, end: number, gradHess: number, grid: number): void;
  /** Adds each row's pair to one pair of sums. */
  addAll(rows: number, end: number, gradHess: number, sums: number): void;
  /** Subtracts pairs from those at `sums … end`. */
  takeAway(sums: number, end: number, others: number): void;
  /**
   * Stable partition of rows: those that go left first.
   *
   * @param bins the bin of every row of the table
   * @param goesLeft per bin, 1 if it goes left, else 0
   * @param spare for as many rows
   * @returns the address where the rows that go right begin
   */
  partition(rows: number, end: number, bins: number, goesLeft: number, spare: number): number;
  /**
   * As `Random.divide`.
   *
   * @param state as `Random.lend` lends it
   * @param count of the values; `wanted` of them are chosen
   */
  drawRows(state: number, values: number, count: number, wanted: number, chosen: number, rest: number): void;
}

/**
 * Of splits by one column: `splits.as.ts`. They say whether one is better than `gain`, and write it into the room.
 *
 * @param room as `layout.ts` lays it out
 * @param sums of the bins; `bins` is their number, `width` that of their gradients
 * @param totals the node's gradients, then its hessian
 * @param chance what each category beyond the first gains by chance; a split has to gain more
 */
interface SplitKernels {
  searchOrdered(
    room: number,
    sums: number,
    bins: number,
    width: number,
    totals: number,
    gain: number,
  ): number;
  searchCategories(
    room: number,
    sums: number,
    bins: number,
    width: number,
    totals: number,
    gain: number,
    chance: number,
  ): number;
  /** The same of the rows of a node, with one gradient. `column`: the bin of every row of the table. */
  searchRows(
    room: number,
    rows: number,
    end: number,
    gradHess: number,
    column: number,
    bins: number,
    isCategory: number,
    totals: number,
    gain: number,
    chance: number,
  ): number;
}

/**
 * @param column the bin of the first row of the table; `stride` leads to the next row
 * @param of per row of the table a number, or a byte for its class
 */
type OfSet = (
  list: number,
  end: number,
  column: number,
  stride: number,
  set: number,
  of: number,
  out: number,
) => number;

/** Of extremely randomised trees: `trees.as.ts`. */
interface RandomisedKernels {
  /**
   * The lowest and the highest bin of sixteen columns.
   *
   * @param block the sixteen columns of the first row of the table; `stride` leads to the next row
   * @param out receives sixteen lowest bins less one, so that missing values (bin 0) come last; then sixteen highest
   *   bins; then sixteen lowest ones
   */
  rangeOf(list: number, end: number, block: number, stride: number, out: number): void;
  /**
   * Counts the rows of each class that go left, by up to sixteen splits at once.
   *
   * @param end at most `MOST_COUNTED` rows behind `list`
   * @param splits sixteen columns within the block, sixteen first bins that go left, sixteen last ones less the first
   * @param codes a byte per row of the table
   * @param out up to `outEnd`: per class, sixteen counts
   */
  countClasses(
    list: number,
    end: number,
    block: number,
    stride: number,
    splits: number,
    codes: number,
    out: number,
    outEnd: number,
  ): void;
  /**
   * Adds up the values of the rows that go left, by up to eight splits at once, and counts these rows.
   *
   * @param end at most `MOST_COUNTED` rows behind `list`
   * @param splits as of `countClasses`
   * @param values a number per row of the table
   * @param out eight sums, which are added to; then sixteen counts, which are overwritten
   */
  sumValues(
    list: number,
    end: number,
    block: number,
    stride: number,
    splits: number,
    values: number,
    out: number,
  ): void;
  /**
   * Moves the rows of a node that go left before the others; both keep their order.
   *
   * @param spare for as many rows
   * @param column the bin of the first row of the table
   * @param bins how many go left, from `first` on
   * @returns the address behind the last row that went left
   */
  divideNode(
    list: number,
    end: number,
    spare: number,
    column: number,
    stride: number,
    first: number,
    bins: number,
  ): number;
  /**
   * Which categories the rows of a node have, and their number.
   *
   * @param marks 256 bytes to work in
   * @param seen receives a set: a bit per bin
   */
  seenBins(list: number, end: number, column: number, stride: number, marks: number, seen: number): number;
  /** Adds up the values of the rows whose category is in a set, and returns their number. `out` is overwritten. */
  sumOfSet: OfSet;
  /** Adds the rows of each class whose category is in a set to numbers at `out`, and returns how many there are. */
  countOfSet: OfSet;
  /** As `divideNode`, of the categories of a set. */
  divideBySet(list: number, end: number, spare: number, column: number, stride: number, set: number): number;
}

/** Of dense matrices: `gaussian.as.ts`. */
interface DenseKernels {
  /**
   * Computes four rows of a Cholesky factor, up to the diagonal of the first of them; or solves for four right sides.
   *
   * @param matrix its first row
   * @param end where the rows end that are done
   * @param rows the first of the four
   * @param length of a row
   */
  factoriseFour(matrix: number, end: number, rows: number, length: number): void;
  /**
   * Adds `sign` times the products of the columns of four rows to the lower triangle of `out`.
   *
   * @param used length of the rows, of which all else is 0
   * @param length of a row
   */
  addGramFour(
    row0: number,
    row1: number,
    row2: number,
    row3: number,
    used: number,
    length: number,
    sign: number,
    out: number,
  ): void;
  /**
   * Subtracts from a row of a pivoted factor what earlier rows explain of it.
   *
   * @param factor its first row
   * @param own the row, behind those before it
   * @param length of a row
   * @param even of it, those in groups of eight
   * @param pivot where a row's share is
   */
  takeShares(factor: number, own: number, length: number, even: number, pivot: number): void;
}

/**
 * @param even length of the weights in groups of four, or of the sums in pairs
 * @param length of all of them
 * @param stride distance between the errors of two rows
 */
type OverFeatures = (
  rows: number,
  end: number,
  features: number,
  even: number,
  length: number,
  numbers: number,
  errors: number,
  stride: number,
) => void;

/** Of logistic regressions: `slopes.as.ts`. */
interface SlopeKernels {
  /** Per row, the dot product of its features and the weights, for a multiple of four rows. */
  dotFour: OverFeatures;
  dotOne: OverFeatures;
  /** Adds each row's features times its error to sums, four rows at a time. */
  addRowsFour: OverFeatures;
  addRowsOne: OverFeatures;
  /**
   * Adds the log-loss gradient of rows. Lists per class are padded to pairs, of `width` bytes in all.
   *
   * @param ends per row, where its entries end, in entries; up to `endsEnd`. The number before them is 0
   * @param terms per entry, the distance of its term's classes from the first term's
   * @param by the value of each entry
   * @param codes the class of each row
   * @param everywhere per class, what the common values score; -∞ for the padding
   * @param weights terms × classes
   * @param out terms × classes, which is added to
   * @param errors per class, which is added to
   * @param scores for a row
   * @param table of `writeExponentialTable`
   */
  addSparseRows(
    ends: number,
    endsEnd: number,
    terms: number,
    by: number,
    codes: number,
    width: number,
    everywhere: number,
    weights: number,
    out: number,
    errors: number,
    scores: number,
    table: number,
  ): void;
}

/** Of Gaussian processes: `gaussian.as.ts`. Each dimension has a record of `DIMENSION_BYTES`. */
interface MaternKernels {
  /**
   * Writes the kernel between one position and others.
   *
   * @param others those of the first dimension; `length` leads to the next one
   * @param table of `writeExponentialTable`
   */
  maternRow(
    dimensions: number,
    dimensionsEnd: number,
    others: number,
    length: number,
    table: number,
    out: number,
  ): void;
  /**
   * Writes the derivative of the sum by the logarithm of each dimension's rate.
   *
   * @param gaps of the first dimension; `length` leads to the next one
   * @param shares of all pairs, a multiple of two
   * @param out receives a number per dimension
   */
  maternSlopes(
    dimensions: number,
    dimensionsEnd: number,
    gaps: number,
    length: number,
    shares: number,
    sharesEnd: number,
    out: number,
  ): void;
  /** As `maternRow`, of the product of 1 - weight + weight × kernel of each dimension. */
  additiveRow(
    dimensions: number,
    dimensionsEnd: number,
    others: number,
    length: number,
    table: number,
    out: number,
  ): void;
  /**
   * As `maternSlopes`, of the same.
   *
   * @param out receives two numbers per dimension: by the logarithm of its rate, and by that of the odds of its weight
   */
  additiveSlopes(
    dimensions: number,
    dimensionsEnd: number,
    gaps: number,
    length: number,
    table: number,
    shares: number,
    sharesEnd: number,
    out: number,
  ): void;
}

/** Of sums per class, at least two: `quick-scorer.as.ts`. They add to the scores of rows, rows × classes. */
interface ClassKernels {
  /**
   * Adds the values of each row's leaves, one tree after the other.
   *
   * @param leaves trees × rows: where a leaf's values begin, in elements
   * @param rows bytes of the leaves of a tree
   * @param classes their number
   */
  addLeaves(
    leaves: number,
    leavesEnd: number,
    rows: number,
    values: number,
    scores: number,
    classes: number,
  ): void;
  /**
   * Adds a factor of each row times the weights of a term, one term after the other.
   *
   * @param factors terms × rows
   * @param rows bytes of the factors of a term
   * @param weights terms × classes
   * @param classes their number
   */
  addTerms(
    factors: number,
    factorsEnd: number,
    rows: number,
    weights: number,
    scores: number,
    classes: number,
  ): void;
  /**
   * Adds the values of each row's leaves as `findLeaves` wrote them, one tree after the other.
   *
   * @param bytes of a tile's leaves in all of the trees
   * @param classes their number
   */
  addTrees(leaves: number, bytes: number, scores: number, scoresEnd: number, classes: number): void;
}

/**
 * Writes the program of a tree and the table of its leaves, and returns the program's end.
 *
 * @param root index of its first node
 * @param nodes their number
 * @param slot number of its table
 */
type Prepare = (root: number, nodes: number, slot: number) => number;

/**
 * Adds the values of each row's leaves in so many trees, one after the other.
 *
 * @param leaves of the first of the trees
 * @param table of its leaves
 */
type AddValues = (leaves: number, sums: number, sumsEnd: number, table: number) => void;

/** Of QuickScorer: `quick-scorer.as.ts`. Their memory begins as in `layout.ts`. */
interface QuickScorerKernels {
  /** The table of leaves holds their values; or, for trees with a value per class, the addresses of these. */
  prepareValues: Prepare;
  prepareClasses: Prepare;
  /**
   * Writes each row's leaf in the prepared tree, as an offset in its table.
   *
   * @param out where the leaves of the first tile go; those of the next one are `SLOTS` × `TILE` further
   */
  findLeaves(tiles: number, tilesEnd: number, tileBytes: number, programEnd: number, out: number): void;
  addValues1: AddValues;
  addValues4: AddValues;
  addValues16: AddValues;
}

export interface Kernels
  extends
    BoostingKernels,
    SplitKernels,
    RandomisedKernels,
    DenseKernels,
    SlopeKernels,
    MaternKernels,
    ClassKernels,
    QuickScorerKernels,
    BlockKernels,
    ProductKernels {}
