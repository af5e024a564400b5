/** What both halves of a digest begin from, and what a missing cell adds to them. */
const BASIS = 0x811c9dc5;
export const MISSING_WORD = 0x5bd1e995;
const HIGH = 2 ** 32;

/**
 * Digests of the rows of a table, cell by cell: equal for rows with equal cells. Each has 48 bits, so that it is a whole
 * number of a double. It reveals no value; with a row at hand it shows whether that row was there. The digests of a
 * champion's rows are kept with it, so they must stay the same.
 */
export class RowDigests {
  private readonly low: Int32Array;
  private readonly high: Int32Array;
  private readonly cell = new Float64Array(1);
  private readonly words = new Int32Array(this.cell.buffer);

  constructor(readonly rows: number) {
    this.low = new Int32Array(rows).fill(BASIS);
    this.high = new Int32Array(rows).fill(BASIS ^ MISSING_WORD);
  }

  /** Adds 32 bits of a cell to the digest of its row. */
  add(row: number, word: number): void {
    this.low[row] = mixed(this.low[row], word);
    this.high[row] = mixed(this.high[row], word + 1);
  }

  /** Adds a cell that is a number: 0 and −0 are one value, and so is every NaN. */
  addNumber(row: number, value: number): void {
    this.cell[0] = value === 0 ? 0 : Number.isNaN(value) ? NaN : value;
    this.add(row, this.words[0]);
    this.add(row, this.words[1]);
  }

  /** The digest of a row; its lowest 32 bits are a digest too. */
  of(row: number): number {
    return (finished(this.high[row]) >>> 16) * HIGH + (finished(this.low[row]) >>> 0);
  }
}

/** One round of MurmurHash3 (Austin Appleby), 32 bits. */
function mixed(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finished(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
