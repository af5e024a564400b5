/*
 * The memory layout of leaf blocks and of the results computed from them, in bytes; both compilers read this file, so it
 * holds numbers alone.
 */

/** Most groups on the path to a leaf. */
export const MAX_SLOTS = 63;
/** A row of the table of Shapley weights. */
export const WEIGHTS_ROW = 512;

/** A block's header: its branches and its leaves. */
export const HEADER_BRANCHES = 0;
export const HEADER_BRANCHES_END = 4;
export const HEADER_LEAVES = 8;
export const HEADER_LEAVES_END = 12;
/** Its flips; the bytes of a permutation's flips, and of those of all permutations of a background row. */
export const HEADER_FLIPS = 16;
export const HEADER_PERMUTATION_BYTES = 20;
export const HEADER_ROW_BYTES = 24;
export const HEADER_PLACES = 28;
/** Offset of the block's output within a mixture's scores, and the distance between mixtures. */
export const HEADER_OUTPUT = 32;
export const HEADER_MIXTURE_BYTES = 36;
/**
 * For trees with one value per leaf: the offset of each place's effect from the first effect, and per key the address of
 * the cached result (0: none yet). `HEADER_KEYS` holds 0 for blocks with many branches.
 */
export const HEADER_TARGETS = 40;
export const HEADER_KEYS = 44;
export const HEADER_BYTES = 48;

/** A cached result: its size, the effect of each place, then the changes along permutations. */
export const RESULT_SIZE = 0;
export const RESULT_EFFECTS = 8;

/**
 * A change: the mixture in the high bits, then the leaf before and the leaf after in so many bits each, as the leading
 * zeros of its bit.
 */
export const CHANGE_LEAF_BITS = 6;
export const CHANGE_BYTES = 4;

/**
 * A branch: it sends bins left if their distance from `BRANCH_FROM` is below `BRANCH_LIMIT` (modulo 256), or if they are in
 * a set.
 */
export const BRANCH_COLUMN = 0;
export const BRANCH_FROM = 4;
export const BRANCH_LIMIT = 5;
export const BRANCH_PLACE = 6;
export const BRANCH_IS_SET = 7;
export const BRANCH_TO_LEFT = 8;
export const BRANCH_TO_RIGHT = 12;
export const BRANCH_SET = 16;
export const BRANCH_BYTES = 20;

/**
 * A leaf: its value (32 bits) or the address of its values per class, and where its slots end. They follow those of the
 * previous leaf.
 */
export const LEAF_VALUE = 0;
export const LEAF_SLOTS_END = 4;
export const LEAF_RECORD_BYTES = 8;

/**
 * A slot: its place, the offset of its effects in the upper bits (by place in the block or, for trees with a value per
 * class, by group), and the background rows that pass it.
 */
export const SLOT_PLACE = 0;
export const SLOT_EFFECTS_BIT = 8;
export const SLOT_PASSES = 4;
export const SLOT_BYTES = 8;

/** Elements of a flip: its mixture and place, then the reachable leaves. */
export const FLIP_SIZE = 2;
/** Low bits of the first element that hold the place. */
export const PLACE_BITS = 8;

/** At the start of the memory: per place the leaves that the foreground row passes, and the values of leaves in reverse. */
export const SCRATCH_OWN = 0;
export const SCRATCH_VALUES = 1024;
/**
 * Per slot passed the background rows that fail it and its effect; the effects of slots failed; the rows by how many slots
 * they fail.
 */
export const SCRATCH_INSIDE = 1296;
export const SCRATCH_OUTSIDE = 1824;
export const SCRATCH_ROWS_FAILING = 2096;
/** Where the next cached result goes, and the end of the cache. */
export const SCRATCH_NEXT_RESULT = 2352;
export const SCRATCH_RESULTS_END = 2356;
export const SCRATCH_SHAPLEY_WEIGHTS = 2368;
export const BLOCKS_SCRATCH_BYTES = SCRATCH_SHAPLEY_WEIGHTS + WEIGHTS_ROW * (MAX_SLOTS + 1);
