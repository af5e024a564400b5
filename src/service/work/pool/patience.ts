/*
 * How long a thread may work before it is taken to hang, which only a damaged file can make it do, or a mistake of ours. All
 * in milliseconds, many times what the slowest machine needs, so that no honest work is ever ended.
 */

/** Without any progress: a fit of days tells of each 500th part; reading its files and its last steps take minutes. */
export const FIT_PATIENCE_MS = 7_200_000;

/** For a thread to start and for a disk to answer. */
const READ_MS = 60_000;
/** A memory card that is worn out still reads more than a megabyte a second. */
const READ_MS_PER_BYTE = 1e-3;

/** To read a model, and a file of rows, of so many bytes together. */
export function readPatience(bytes: number): number {
  return READ_MS + bytes * READ_MS_PER_BYTE;
}

/** For what does not depend on the rows. */
const PREDICT_MS = 30_000;
/** Measured: 0.1 to 0.3 ns for each row and byte of the model's file. No row needs any part of a model more than once. */
const PREDICT_MS_PER_ROW_AND_BYTE = 5e-5;
/** What is explained is bounded, so that it takes seconds. */
const EXPLAIN_MS = 600_000;

/** To predict rows with a model whose file has so many bytes. */
export function predictPatience(rows: number, modelBytes: number, explains: boolean): number {
  return PREDICT_MS + rows * modelBytes * PREDICT_MS_PER_ROW_AND_BYTE + (explains ? EXPLAIN_MS : 0);
}
