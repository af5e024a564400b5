/*
 * What the kernels and their callers agree on; both compilers read this file, so it holds numbers alone. Sizes and offsets
 * are in bytes unless noted.
 */

/** Bits of a key of `SortedRows` that hold the row; its bin is above them. */
export const ROW_BITS = 16;
/** The first key of a row that has a value. */
export const KNOWN = 0x10000;

/** What a search for splits found: gain, hessian on the left, hessian of the rows without a value … */
export const FOUND_GAIN = 0;
export const FOUND_HESSIAN = 8;
export const FOUND_MISSING = 16;
/** … as 32-bit integers: the place of the list (-1: none is better), the bin, and 1 if rows without a value go left. */
export const FOUND_LIST = 24;
export const FOUND_BIN = 28;
export const FOUND_WITH_MISSING = 32;
export const FOUND_BYTES = 40;

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

/** A dimension of a Matérn kernel: three numbers, the last of them 1 for a category, else 0. */
export const DIMENSION_POSITION = 0;
export const DIMENSION_RATE = 8;
export const DIMENSION_IS_CATEGORY = 16;
export const DIMENSION_BYTES = 24;
/** Positions that are handled together: a list of them is padded to a multiple. */
export const POSITIONS_TOGETHER = 8;
