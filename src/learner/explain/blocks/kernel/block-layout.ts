import { MAX_SLOTS } from '../../shapley/shapley-weights';

/* The memory layout of blocks and of the results computed from them. All offsets are in bytes. */

/** Fields of a block's header. */
export const HEADER = {
  branches: 0,
  branchesEnd: 4,
  leaves: 8,
  leavesEnd: 12,
  flips: 16,
  /** Bytes of a permutation's flips, and of those of all permutations of a background row. */
  permutationBytes: 20,
  rowBytes: 24,
  places: 28,
  /** Offset of the block's output within a mixture's scores, and the distance between mixtures. */
  output: 32,
  mixtureBytes: 36,
  /**
   * For trees with one value per leaf: the offset of each place's effect from the first effect, and per key the
   * address of the cached result (0: none yet). `keys` is 0 for blocks with many branches.
   */
  targets: 40,
  keys: 44,
  size: 48,
};

/**
 * A cached result (see `cached-results-code.ts`): its size, the effect of each place, then the changes along
 * permutations.
 */
export const RESULT = { size: 0, effects: 8 };

/**
 * A change: the mixture in the high bits, then the leaf before and the leaf after, each as the leading zeros of its
 * bit.
 */
export const CHANGE = { leafBits: 6, bytes: 4 };

/**
 * A branch: it sends bins left if their distance from `from` is below `limit` (modulo 256), or if they are in a set.
 */
export const BRANCH = {
  column: 0,
  from: 4,
  limit: 5,
  place: 6,
  isSet: 7,
  toLeft: 8,
  toRight: 12,
  set: 16,
  size: 20,
};

/**
 * A leaf: its value (32 bits) or the address of its values per class, and where its slots end. They follow those of
 * the previous leaf.
 */
export const LEAF_RECORD = { value: 0, slotsEnd: 4, size: 8 };

/**
 * A slot: its place, the offset of its effects in the upper three bytes (by place in the block or, for trees with a
 * value per class, by group), and the background rows that pass it.
 */
export const SLOT = { place: 0, effects: 1, passes: 4, size: 8 };

/** Bytes of a row of `SHAPLEY_WEIGHTS`. */
export const WEIGHTS_ROW = 8 * (MAX_SLOTS + 1);

/** Elements of a flip: its mixture and place, then the reachable leaves. */
export const FLIP_SIZE = 2;
/** Low bits of the first element that hold the place. */
export const PLACE_BITS = 8;

/** What lies at the start of the memory. */
export const SCRATCH = {
  /** The foreground row's passes, and the values of leaves, as in `findPasses` and `BlockSteps`. */
  own: 0,
  values: 1024,
  /**
   * As in `addBlockEffects`: per slot passed the background rows that fail it and its effect; the effects of slots
   * failed; the rows by how many slots they fail.
   */
  inside: 1296,
  outside: 1824,
  rowsFailing: 2096,
  /** Where the next cached result goes, and the end of the cache. */
  nextResult: 2352,
  resultsEnd: 2356,
  /** `SHAPLEY_WEIGHTS`. */
  shapleyWeights: 2368,
  size: 2368 + WEIGHTS_ROW * (MAX_SLOTS + 1),
};
