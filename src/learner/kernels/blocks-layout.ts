/*
 * The memory layout of leaf blocks and of the results computed from them, in bytes; both compilers read this file, so it
 * holds numbers alone.
 */

/** Most leaves of a block, and most places: a leaf has a bit of 32, a place has a byte. */
export const BLOCK_LEAVES = 32;
export const MAX_PLACES = 256;
/** Most groups on the path to a leaf. */
export const MAX_SLOTS = 127;
/** A row of the table of Shapley weights. */
export const WEIGHTS_ROW = 1024;

/** A block's header: its branches and its leaves. */
export const HEADER_BRANCHES = 0;
export const HEADER_BRANCHES_END = 4;
export const HEADER_LEAVES = 8;
export const HEADER_LEAVES_END = 12;
/**
 * Its flips; the bytes of a permutation's flips, and of those of all permutations of a background row: 0 where no
 * permutations are asked for.
 */
export const HEADER_FLIPS = 16;
export const HEADER_PERMUTATION_BYTES = 20;
export const HEADER_ROW_BYTES = 24;
/** The number of its places, and the group of each. */
export const HEADER_PLACES = 28;
export const HEADER_GROUPS = 32;
/** Offset of the block's output within a mixture's scores, and the distance between mixtures. */
export const HEADER_OUTPUT = 36;
export const HEADER_MIXTURE_BYTES = 40;
/**
 * For trees with one value per leaf: the offset of its output's effects, and per key the address of the cached result (0:
 * none yet). `HEADER_KEYS` holds 0 for blocks with many branches.
 */
export const HEADER_EFFECTS = 44;
export const HEADER_KEYS = 48;
export const HEADER_BYTES = 52;

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

/** A slot: its place, and the background rows that pass it. */
export const SLOT_PLACE = 0;
export const SLOT_PASSES = 4;
export const SLOT_BYTES = 8;

/** Elements of a flip: its mixture and place, then the reachable leaves. */
export const FLIP_SIZE = 2;
/** Low bits of the first element that hold the place. */
export const PLACE_BITS = 8;

/** Of coalitions: the bytes of a group's bits, one number for each background row. */
export const GROUP_BITS = 128;

/** At the start of the memory: per place the leaves that the foreground row passes, and the values of leaves in reverse. */
export const SCRATCH_OWN = 0;
export const SCRATCH_VALUES = 1024;
/**
 * Per slot passed the background rows that fail it and what is found by its place; the latter of slots failed; the rows by
 * how many slots they fail.
 */
export const SCRATCH_INSIDE = 1296;
export const SCRATCH_OUTSIDE = 2320;
export const SCRATCH_ROWS_FAILING = 2832;
/** Where the next cached result goes, and the end of the cache. */
export const SCRATCH_NEXT_RESULT = 3352;
export const SCRATCH_RESULTS_END = 3356;
export const SCRATCH_SHAPLEY_WEIGHTS = 3360;
export const BLOCKS_SCRATCH_BYTES = SCRATCH_SHAPLEY_WEIGHTS + WEIGHTS_ROW * (MAX_SLOTS + 1);
