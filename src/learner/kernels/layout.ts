/* oxlint-disable typescript/prefer-literal-enum-member -- addresses follow from the sizes of what is before them */
/*
 * What the kernels and their callers agree on; both compilers read this file, so it holds numbers alone. Offsets and sizes are
 * in bytes unless noted, those of a record from its beginning; `BYTES` is its size.
 */

/** What a search for splits found, at the beginning of the room of `SplitSearch`. */
export const enum FoundSplit {
  GAIN = 0,
  /** Hessian on the left, and of the rows without a value. */
  HESSIAN = 8,
  MISSING = 16,
  /** As 32-bit integers: the bin, and 1 if rows without a value go left. */
  BIN = 28,
  WITH_MISSING = 32,
  /** Of categories, those that go left: a bit per bin. */
  SET = 40,
}

/** The same room, behind it. */
export const enum Search {
  /** The rules of a tree, in the order of `SplitSearch.begin`. */
  LAMBDA = 80,
  MIN_HESSIAN = 88,
  MIN_GAIN = 96,
  SMOOTH = 104,
  CATEGORY_LAMBDA = 112,
  /** What one search leaves to the next as zeros: sums of bins, and a bit per bin that occurs. */
  SUMS = 128,
  OCCURS = 4224,
  /** Other room. */
  BIN_AT = 4256,
  KEYS = 4528,
  SORTED = 6576,
  PLACES = 8624,
  STEPS = 8880,
  /** Sums of as many gradients as a row has. */
  LEFT = 9136,
}

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

/** A dimension of a Matérn kernel: four numbers. */
export const enum Dimension {
  POSITION = 0,
  RATE = 8,
  /** 1 for a category, else 0. */
  IS_CATEGORY = 16,
  /** Of additive ones. */
  WEIGHT = 24,
  BYTES = 32,
}

/** Positions that are handled together: a list of them is padded to a multiple. */
export const POSITIONS_TOGETHER = 8;

/* What the kernels of QuickScorer find and leave in the area with which a thread's memory begins. */

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

/** Addresses of the arrays of `Trees`, then of two per column. */
export const enum TreeArray {
  FEATURE = 0,
  BIN = 4,
  FLAGS = 8,
  LEFT = 12,
  SET_AT = 16,
  SETS = 20,
  VALUES = 24,
  OFFSETS = 28,
  HIGHEST = 32,
  BYTES = 64,
}

/** Addresses in that area. */
export const enum TreesAt {
  LEAF_TABLES = 0,
  TREE_ARRAYS = LEAF_TABLES + SLOTS * MAX_LEAVES * LEAF_BYTES,
  COUNTS = TREE_ARRAYS + TreeArray.BYTES,
  FIRSTS = COUNTS + 2 * MAX_LEAVES,
  ORDERED = FIRSTS + 2 * MAX_LEAVES,
  CATEGORIES = ORDERED + BRANCHES * ORDERED_BYTES,
  PROGRAM = CATEGORIES + BRANCHES * CATEGORIES_BYTES,
  END = PROGRAM + PLANES * (PLANE_BYTES + BRANCHES * PLANE_BRANCH_BYTES),
}

/* Leaf blocks, and the results computed from them. */

/** Most leaves of a block, and most places: a leaf has a bit of 32, a place has a byte. */
export const BLOCK_LEAVES = 32;
export const MAX_PLACES = 256;
/** Most groups on the path to a leaf. */
export const MAX_SLOTS = 127;
/** A row of the table of Shapley weights. */
export const WEIGHTS_ROW = 1024;

/** What a block begins with. */
export const enum BlockHeader {
  /** Of the block. */
  SIZE = 0,
  /** Offsets of its output among a mixture's scores and among the effects. */
  OUTPUT = 4,
  EFFECTS = 8,
  /** Their number. */
  PLACES = 12,
  /** Offsets from its beginning: of the values of leaves, by the leading zeros of a leaf's bit (32 for none) … */
  VALUES = 16,
  /** … of the group of each place, branches, the number of slots of each leaf, and slots; each ends where the next begins. */
  GROUPS = 20,
  BRANCHES = 24,
  LEAVES = 28,
  SLOTS = 32,
  /** Addresses: of its flips and their end, and of the address of a cached result per key (0: none yet; 0 here: no keys). */
  FLIPS = 36,
  FLIPS_END = 40,
  KEYS = 44,
  BYTES = 48,
}

/** A cached result: its size, the effect of each place, then the changes along permutations. */
export const enum BlockResult {
  SIZE = 0,
  EFFECTS = 8,
}

/** A change: the mixture in the high bits, then the leaf before and the leaf after as the leading zeros of its bit. */
export const enum LeafChange {
  LEAF_BITS = 6,
  BYTES = 4,
}

/** A branch: it sends bins left if their distance from `FROM` is below `LIMIT` (modulo 256), or if they are in a set. */
export const enum Branch {
  COLUMN = 0,
  FROM = 4,
  LIMIT = 5,
  PLACE = 6,
  IS_SET = 7,
  TO_LEFT = 8,
  TO_RIGHT = 12,
  /** Its offset in the block. */
  SET = 16,
  BYTES = 20,
}

/** A slot: its place, and the background rows that pass it. */
export const enum Slot {
  PLACE = 0,
  PASSES = 4,
  BYTES = 8,
}

/** A flip: its mixture and place, then the reachable leaves. */
export const FLIP_BYTES = 8;
/** Low bits of the first element that hold the place. */
export const PLACE_BITS = 8;

/** Of coalitions: the bytes of a group's bits, one number for each background row. */
export const GROUP_BITS = 128;

/** Addresses in a memory of blocks. */
export const enum BlocksAt {
  /** Per place the leaves that the foreground row passes. */
  OWN = 0,
  /** Per slot passed the background rows that fail it and what is found by its place; the latter of slots failed. */
  INSIDE = 1024,
  OUTSIDE = 2048,
  /** Rows by how many slots they fail. */
  ROWS_FAILING = 2560,
  /** Where the next cached result goes, and the end of the cache. */
  NEXT_RESULT = 3080,
  RESULTS_END = 3084,
  SHAPLEY_WEIGHTS = 3088,
  END = SHAPLEY_WEIGHTS + WEIGHTS_ROW * (MAX_SLOTS + 1),
}

/** Of the address of a flip: a bit that is set where the kernel is divided, as a group flips back. */
export const BACKWARDS = 1;
