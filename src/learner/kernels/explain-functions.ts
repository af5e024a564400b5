/* What `*.as.ts` export for explanations; notes as in `functions.ts`. */

/** Of leaf blocks: `blocks.as.ts`. Their memory begins as in `layout.ts`. */
export interface BlockKernels {
  /**
   * Adds the results of blocks.
   *
   * @param end of the blocks
   * @param bins of the foreground row, per column
   * @param rows all background rows, as bits
   * @param scores mixtures × outputs
   * @param mixtureBytes of one mixture's scores
   * @param effects outputs × groups
   * @param groups bytes of one output's effects
   * @param scratch for the longest result
   * @param width bytes of a leaf's values
   */
  addBlocks(
    blocks: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    mixtureBytes: number,
    effects: number,
    groups: number,
    scratch: number,
    weight: number,
    width: number,
  ): void;
  /**
   * Adds blocks to the Möbius transform of the scores of coalitions: a leaf appears in the coalitions that contain every
   * group that the background row fails plus any subset of those that the foreground row fails, with alternating sign.
   *
   * @param starts per background row, the number of its first coalition
   * @param bits groups × 32 background rows: the group's bit in a coalition
   */
  addBlockCoalitions(
    blocks: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    mixtureBytes: number,
    starts: number,
    bits: number,
    weight: number,
    width: number,
  ): void;
}

/**
 * Of kernels that are products over groups: `products.as.ts`. Points are padded to fours; factors are fours × groups × four
 * points.
 */
export interface ProductKernels {
  /**
   * Adds what each group's Shapley value is of the kernel at each point, over all background rows.
   *
   * @param own factors of the foreground row
   * @param size bytes of these
   * @param others factors of the background rows
   * @param groups bytes of all groups' factors for four points
   * @param nodes of the quadrature, each with its weight, an even number
   * @param before scratch for eight numbers per group
   * @param gains as factors
   */
  addGains(
    own: number,
    size: number,
    others: number,
    othersEnd: number,
    groups: number,
    nodes: number,
    nodesEnd: number,
    before: number,
    gains: number,
  ): void;
  /**
   * Divides the factors of the foreground row by those of each background row.
   *
   * @param ratios rows × groups × points
   */
  findRatios(
    own: number,
    size: number,
    others: number,
    groups: number,
    ratios: number,
    ratiosEnd: number,
  ): void;
  /**
   * Per mixture, writes the change of the score of each output.
   *
   * @param points bytes of a list of points
   * @param starts outputs × points: the kernel times the weights, where each walk begins
   * @param flips per mixture, the address of the list by which the kernel is multiplied (divided: `BACKWARDS`); 0: none
   * @param walk bytes of the flips of a walk
   * @param kernel scratch for as many numbers as `starts`
   * @param scores scratch, one number per output
   * @param changes mixtures × outputs
   */
  followFlips(
    starts: number,
    points: number,
    flips: number,
    flipsEnd: number,
    walk: number,
    kernel: number,
    scores: number,
    scoresEnd: number,
    changes: number,
  ): void;
}
