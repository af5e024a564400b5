/*
 * What the kernels and their callers agree on; both compilers read this file, so it holds numbers alone. Sizes and offsets
 * are in bytes unless noted.
 */

/** What a search for splits found: gain, hessian on the left, hessian of the rows without a value … */
export const FOUND_GAIN = 0;
export const FOUND_HESSIAN = 8;
export const FOUND_MISSING = 16;
/** … as 32-bit integers: the bin, and 1 if rows without a value go left. */
export const FOUND_BIN = 28;
export const FOUND_WITH_MISSING = 32;
/** Of categories, those that go left: a bit per bin. */
export const FOUND_SET = 40;

/** Behind it in the room of `SplitSearch`: the rules of a tree, in the order of `SplitSearch.begin` … */
export const SEARCH_RULES = 80;
export const SEARCH_LAMBDA = 80;
export const SEARCH_MIN_HESSIAN = 88;
export const SEARCH_MIN_GAIN = 96;
export const SEARCH_SMOOTH = 104;
export const SEARCH_CATEGORY_LAMBDA = 112;
/** … what one search leaves to the next as zeros (sums of bins, a bit per bin that occurs), and other room. */
export const SEARCH_SUMS = 128;
export const SEARCH_OCCURS = 4224;
export const SEARCH_BIN_AT = 4256;
export const SEARCH_KEYS = 4528;
export const SEARCH_SORTED = 6576;
export const SEARCH_PLACES = 8624;
export const SEARCH_STEPS = 8880;
/** Sums of as many gradients as a row has. */
export const SEARCH_LEFT = 9136;

/** Columns of a block of bins: a byte of a vector each. */
export const BLOCK = 16;
/** Columns whose numbers are summed together. */
export const SUMMED = 8;
/** Most rows per call that counts rows: counts are bytes. */
export const MOST_COUNTED = 255;

/** Rows that a dense kernel handles together: the sums of a single row would wait for each other. */
export const ROWS_TOGETHER = 4;

/** Numbers of 2^(i/32), and of powers of two from 2^-1075 to 1, in the table of the exponential. */
export const ROOTS = 32;
export const POWERS = 1076;

/** A dimension of a Matérn kernel: four numbers, the third of them 1 for a category, else 0; the last is of additive ones. */
export const DIMENSION_POSITION = 0;
export const DIMENSION_RATE = 8;
export const DIMENSION_IS_CATEGORY = 16;
export const DIMENSION_WEIGHT = 24;
export const DIMENSION_BYTES = 32;
/** Positions that are handled together: a list of them is padded to a multiple. */
export const POSITIONS_TOGETHER = 8;

/*
 * Where the kernels of QuickScorer find and leave things, in bytes; both compilers read this file, so it holds numbers
 * alone. A thread's memory begins with this area.
 */

/** Most leaves of a tree: each is a bit of a set. */
export const MAX_LEAVES = 32;
/** Trees whose leaves are found before their values are added. */
export const SLOTS = 16;
/** Rows that go through a tree together, four vectors of bytes. */
export const TILE = 64;
/** Bytes per leaf in the table of a slot. The number of a leaf times this fits in a byte. */
export const LEAF_BYTES = 8;

/** A branch on an ordered column: offset of the column in a tile, border in four bytes, leaves on the left. */
export const ORDERED_BYTES = 12;
/** A branch on categories: offset of the column, leaves on the left, address of the set, highest bin of the rows. */
export const CATEGORIES_BYTES = 16;
/** Of one of a program's steps for sixteen bins of a category column: offset, lowest bin, and a table of 16 bytes. */
export const CHUNK_BYTES = 24;
/** Eight leaves of a program: those removed from all rows, the end of its ordered steps, the end of its chunks. */
export const PLANE_BYTES = 12;

const PLANES = 4;
const BRANCHES = 31;
/** Of a branch on categories in a plane, which takes more than one on an ordered column: sixteen chunks. */
const PLANE_BRANCH_BYTES = 384;

/** The header: addresses of arrays, at `ARRAY_…`. */
export const TREE_ARRAYS_BYTES = 64;

/** Addresses. */
export const LEAF_TABLES = 0;
export const TREE_ARRAYS = LEAF_TABLES + SLOTS * MAX_LEAVES * LEAF_BYTES;
export const COUNTS = TREE_ARRAYS + TREE_ARRAYS_BYTES;
export const FIRSTS = COUNTS + 2 * MAX_LEAVES;
export const ORDERED = FIRSTS + 2 * MAX_LEAVES;
export const CATEGORIES = ORDERED + BRANCHES * ORDERED_BYTES;
export const PROGRAM = CATEGORIES + BRANCHES * CATEGORIES_BYTES;
export const SCRATCH_BYTES = PROGRAM + PLANES * (PLANE_BYTES + BRANCHES * PLANE_BRANCH_BYTES);

/** Offsets in the header of the addresses of the arrays of `Trees`, then of two per column. */
export const ARRAY_FEATURE = 0;
export const ARRAY_BIN = 4;
export const ARRAY_FLAGS = 8;
export const ARRAY_LEFT = 12;
export const ARRAY_SET_AT = 16;
export const ARRAY_SETS = 20;
export const ARRAY_VALUES = 24;
export const ARRAY_OFFSETS = 28;
export const ARRAY_HIGHEST = 32;

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

/**
 * A block begins with a header: its size; offsets of its output among a mixture's scores and among the effects; the number of
 * its places.
 */
export const HEADER_SIZE = 0;
export const HEADER_OUTPUT = 4;
export const HEADER_EFFECTS = 8;
export const HEADER_PLACES = 12;
/**
 * Offsets from its beginning: of the values of leaves, by the leading zeros of a leaf's bit (32 for none); of the group of each
 * place, of branches, of the number of slots of each leaf, and of slots. Each of these lists ends where the next one begins.
 */
export const HEADER_VALUES = 16;
export const HEADER_GROUPS = 20;
export const HEADER_BRANCHES = 24;
export const HEADER_LEAVES = 28;
export const HEADER_SLOTS = 32;
/** Addresses: of its flips and their end, and of the address of a cached result per key (0: none yet). 0 for a block without keys. */
export const HEADER_FLIPS = 36;
export const HEADER_FLIPS_END = 40;
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
 * a set, which is at an offset of the block.
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

/** A slot: its place, and the background rows that pass it. */
export const SLOT_PLACE = 0;
export const SLOT_PASSES = 4;
export const SLOT_BYTES = 8;

/** A flip: its mixture and place, then the reachable leaves. */
export const FLIP_BYTES = 8;
/** Low bits of the first element that hold the place. */
export const PLACE_BITS = 8;

/** Of coalitions: the bytes of a group's bits, one number for each background row. */
export const GROUP_BITS = 128;

/** At the start of the memory: per place the leaves that the foreground row passes. */
export const SCRATCH_OWN = 0;
/**
 * Per slot passed the background rows that fail it and what is found by its place; the latter of slots failed; the rows by
 * how many slots they fail.
 */
export const SCRATCH_INSIDE = 1024;
export const SCRATCH_OUTSIDE = 2048;
export const SCRATCH_ROWS_FAILING = 2560;
/** Where the next cached result goes, and the end of the cache. */
export const SCRATCH_NEXT_RESULT = 3080;
export const SCRATCH_RESULTS_END = 3084;
export const SCRATCH_SHAPLEY_WEIGHTS = 3088;
export const BLOCKS_SCRATCH_BYTES = SCRATCH_SHAPLEY_WEIGHTS + WEIGHTS_ROW * (MAX_SLOTS + 1);

/** Of the address of a flip: a bit that is set where the kernel is divided, as a group flips back. */
export const BACKWARDS = 1;
