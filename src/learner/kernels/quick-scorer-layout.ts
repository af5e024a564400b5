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
const BRANCH_BYTES = 384;

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
export const SCRATCH_BYTES = PROGRAM + PLANES * (PLANE_BYTES + BRANCHES * BRANCH_BYTES);

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
