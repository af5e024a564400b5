/* What `*.as.ts` export for explanations; notes as in `functions.ts`. */

/** Of leaf blocks: `blocks.as.ts`, `coalitions.as.ts`. Their memory begins as in `layout.ts`. */
export interface BlockKernels {
  /**
   * Adds the results of blocks of trees with one value per leaf.
   *
   * @param bins of the foreground row, per column
   * @param rows background rows, as bits
   * @param scratch for the longest result
   * @param isCached 1 if `rows` are all background rows, so that results may be cached; else 0
   */
  addBlocks(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    scratch: number,
    isCached: number,
    weight: number,
  ): void;
  /**
   * The same for trees with a value per class.
   *
   * @param effects groups × classes
   * @param values scratch for the values of a block's leaves, and a 0 for each class after them
   * @param width bytes of one number per class
   */
  addBlocksOfClasses(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    values: number,
    width: number,
    weight: number,
  ): void;
  /**
   * Adds blocks to the Möbius transform of the scores of coalitions: a leaf appears in the coalitions that contain every
   * group that the background row fails plus any subset of those that the foreground row fails, with alternating sign.
   *
   * @param starts per background row, the offset of its coalitions from the first
   * @param bits groups × 32 background rows: the group's bit in a coalition
   * @param perLeaf values of a leaf
   */
  addBlockCoalitions(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    starts: number,
    bits: number,
    perLeaf: number,
    weight: number,
  ): void;
}

/** Of kernels that are products over groups: `products.as.ts`. `mask`: background rows, as bits. */
export interface ProductKernels {
  /**
   * Adds Shapley values over all points.
   *
   * @param points bytes of an output's weights
   * @param groups bytes of a row's factors
   * @param rows bytes of the factors of all background rows
   * @param nodes four nodes of the quadrature, then their weights, and so on
   * @param effects outputs × groups of the kernel
   */
  addPointEffects(
    own: number,
    others: number,
    points: number,
    groups: number,
    rows: number,
    mask: number,
    nodes: number,
    nodesEnd: number,
    weights: number,
    effects: number,
    bases: number,
    basesEnd: number,
    scratch: number,
    share: number,
  ): void;
  /** Divides the same dividends by each row of divisors in turn. */
  divideByRows(
    dividends: number,
    divisors: number,
    length: number,
    quotients: number,
    quotientsEnd: number,
  ): void;
  /**
   * The score of each permutation's first mixture and the change at each step; `changes` start at 0.
   *
   * @param rowRatios bytes of a background row's ratios
   * @param places `ProductBuffers.places`
   * @param permutation bytes of a permutation's places
   * @param row bytes of the places of all permutations of a background row
   * @param weightsByFours weights of all outputs for four points at a time, then point by point
   * @param kernel scratch for the kernel at all points and a score per output
   */
  followPermutations(
    starts: number,
    ratios: number,
    rowRatios: number,
    places: number,
    placesEnd: number,
    permutation: number,
    row: number,
    mask: number,
    points: number,
    weights: number,
    weightsByFours: number,
    base: number,
    outputs: number,
    kernel: number,
    changes: number,
  ): void;
  /**
   * Adds each coalition's scores (outputs × coalitions) to `sums`, over all points. The first half has at least one player.
   *
   * @param own factors of the foreground row, points × groups
   * @param others factors of a background row, `step` bytes apart from point to point
   * @param alike three lists of byte offsets of groups: those that do not differ, and two halves of the rest
   * @param low scratch for the products of a half, as is `high`
   */
  addCoalitions(
    own: number,
    others: number,
    groups: number,
    step: number,
    alike: number,
    first: number,
    second: number,
    end: number,
    low: number,
    high: number,
    weights: number,
    points: number,
    sums: number,
    sumsEnd: number,
  ): void;
}
