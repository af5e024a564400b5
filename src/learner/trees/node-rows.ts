import { BLOCK, MOST_COUNTED, SUMMED } from '../kernels/layout';
import { openScratch, type Scratch } from '../kernels/scratch';
import { SET_WORDS, type Split } from './trees';

interface NodeRowsInput {
  columns: Uint8Array[];
  /** The rows of a tree. */
  rows: Int32Array;
  /** Per row of the table, a finite value or the index of its class. */
  target: ArrayLike<number>;
  /** Number of classes, which fit in a byte; 0 for values. */
  classes: number;
  /** What is subtracted from each value. */
  base: number;
  /** Most splits that a node chooses from. */
  tried: number;
}

/** The bins of a node's rows in a column. */
interface BinRange {
  /** Of the rows that have a value; `low` is above `high` if there are none. */
  low: number;
  high: number;
  /** Whether some rows have a value and others lack it. */
  hasMissing: boolean;
}

/** Most bins of a column: a set has a bit for each. */
const BINS = SET_WORDS * 32;

/** The rows of a tree, ordered so that each node's are one stretch, and sums over those that a split sends left. Must be closed. */
export class NodeRows {
  /** The rows; those of a node are at `start … end - 1`. */
  readonly list: Int32Array;
  /** Per row of the table, its value less the base, or its class; one of the two is empty. */
  readonly values: Float64Array;
  readonly codes: Uint8Array;
  /** What `sumLeft` found, by split: the rows that go left, and the sum of their values or their number by class. */
  readonly counts: Int32Array;
  readonly sums: Float64Array;
  /** Sums per split. */
  readonly width: number;
  /** A set of categories for each split that a node chooses from: they are valid until the next node. */
  readonly sets: Int32Array[];
  /** The categories that `countSeen` found. */
  readonly seen: Int32Array;

  private readonly spare: Int32Array;
  private readonly scratch: Scratch;
  /** Blocks of sixteen columns; a row of the table has `stride` bytes. */
  private readonly blocks: number;
  private readonly stride: number;
  private readonly bins: Uint8Array;
  private readonly range: BinRange = { low: 0, high: 0, hasMissing: false };
  /** By block, what `findRange` of the kernels found, and the node that it is of. */
  private readonly ranges: Uint8Array;
  private readonly rangedNode: Int32Array;
  /** By block, its first split of those that are summed, and by split, the next one of the same block; -1: none. */
  private readonly firstOf: Int32Array;
  private readonly nextOf: Int32Array;
  private node = 0;
  /** Of a call of the kernel: places, first bins, and last bins less the first; which splits these are; and its results. */
  private readonly sides: Uint8Array;
  private readonly together: Int32Array;
  private readonly leftSums: Float64Array;
  private readonly leftCounts: Uint8Array;
  private readonly marks: Uint8Array;
  private readonly setSums: Float64Array;

  constructor({ columns, rows, classes, target, base, tried }: NodeRowsInput) {
    const tableRows = target.length;
    this.width = Math.max(1, classes);
    this.blocks = Math.ceil(columns.length / BLOCK);
    this.stride = this.blocks * BLOCK;
    // Before the scratch memory is lent: if there is no memory for these, nothing has to be given back.
    this.counts = new Int32Array(tried);
    this.sums = new Float64Array(tried * this.width);
    this.together = new Int32Array(BLOCK);
    this.rangedNode = new Int32Array(this.blocks);
    this.firstOf = new Int32Array(this.blocks);
    this.nextOf = new Int32Array(tried);
    const [values, codes] = classes > 0 ? [0, tableRows] : [tableRows, 0];
    const ofLeft = Math.max(SUMMED * 8 + BLOCK, classes * BLOCK);
    this.scratch = openScratch();
    const { scratch } = this;
    this.list = scratch.wholes(rows.length);
    this.list.set(rows);
    this.spare = scratch.wholes(rows.length);
    this.values = scratch.numbers(values);
    this.codes = scratch.bytes(codes);
    for (let row = 0; row < tableRows; row++) {
      if (classes > 0) {
        this.codes[row] = target[row];
      } else {
        this.values[row] = target[row] - base;
      }
    }
    this.bins = scratch.bytes(tableRows * this.stride);
    this.ranges = scratch.bytes(this.blocks * 3 * BLOCK);
    this.sides = scratch.bytes(3 * BLOCK);
    this.leftSums = scratch.numbers(ofLeft / 8);
    this.leftCounts = new Uint8Array(
      this.leftSums.buffer,
      this.leftSums.byteOffset + (classes > 0 ? 0 : SUMMED * 8),
      Math.max(1, classes) * BLOCK,
    );
    this.sets = Array.from({ length: tried }, () => scratch.wholes(SET_WORDS));
    this.seen = scratch.wholes(SET_WORDS);
    this.marks = scratch.bytes(BINS);
    this.setSums = scratch.numbers(this.width);
    columns.forEach((own, column) => {
      for (let row = 0, at = column; row < tableRows; row++, at += this.stride) {
        this.bins[at] = own[row];
      }
    });
  }

  close(): void {
    this.scratch.close();
  }

  /** Turns to another node: what was found of the one before is not asked for again. */
  enter(): void {
    this.node++;
  }

  /** The bins of the node's rows in an ordered column; valid until the next call. */
  findRange(column: number, start: number, end: number): BinRange {
    const { scratch, list, range, ranges, bins, stride, node } = this;
    const block = column >> 4;
    const out = block * 3 * BLOCK;
    if (this.rangedNode[block] !== node) {
      this.rangedNode[block] = node;
      scratch.kernels.findRange(
        list.byteOffset + start * 4,
        list.byteOffset + end * 4,
        bins.byteOffset + block * BLOCK,
        stride,
        ranges.byteOffset + out,
      );
    }
    const place = out + (column & (BLOCK - 1));
    range.low = ranges[place] + 1;
    range.high = ranges[place + BLOCK];
    range.hasMissing = ranges[place + 2 * BLOCK] === 0 && range.high > 0;
    return range;
  }

  /** Finds `counts` and `sums` of the first `tried` splits. */
  sumLeft(splits: Split[], tried: number, start: number, end: number): void {
    this.sumByBlock(splits, tried, start, end);
    for (let i = 0; i < tried; i++) {
      const { column, set } = splits[i];
      if (set) {
        this.sumOfSet(column, set, i, start, end);
      }
    }
  }

  /** The rows whose category is in the set of split `i`. */
  private sumOfSet(column: number, set: Int32Array, i: number, start: number, end: number): void {
    const { scratch, list, bins, stride, values, codes, counts, sums, setSums, width } = this;
    const { kernels } = scratch;
    const isCounted = codes.length > 0;
    setSums.fill(0);
    counts[i] = (isCounted ? kernels.countOfSet : kernels.sumOfSet)(
      list.byteOffset + start * 4,
      list.byteOffset + end * 4,
      bins.byteOffset + column,
      stride,
      set.byteOffset,
      (isCounted ? codes : values).byteOffset,
      setSums.byteOffset,
    );
    sums.set(setSums, i * width);
  }

  /** Writes to `seen` which bins of a column the node's rows have, and returns how many these are. */
  countSeen(column: number, start: number, end: number): number {
    const { scratch, list, bins, stride, marks, seen } = this;
    return scratch.kernels.seenBins(
      list.byteOffset + start * 4,
      list.byteOffset + end * 4,
      bins.byteOffset + column,
      stride,
      marks.byteOffset,
      seen.byteOffset,
    );
  }

  /** Splits of ordered columns, those of a block together. */
  private sumByBlock(splits: Split[], tried: number, start: number, end: number): void {
    const { firstOf, nextOf } = this;
    const most = this.codes.length > 0 ? BLOCK : SUMMED;
    this.listByBlock(splits, tried);
    for (let i = 0; i < tried; i++) {
      const block = splits[i].column >> 4;
      if (firstOf[block] !== i) {
        continue;
      }
      let count = 0;
      for (let own = i; own >= 0; own = nextOf[own]) {
        if (count === most) {
          this.sumTogether(block, count, start, end);
          count = 0;
        }
        this.take(splits[own], own, count++);
      }
      this.sumTogether(block, count, start, end);
    }
  }

  /** Links the splits of ordered columns of the same block. */
  private listByBlock(splits: Split[], tried: number): void {
    const { firstOf, nextOf } = this;
    for (let i = 0; i < tried; i++) {
      firstOf[splits[i].column >> 4] = -1;
    }
    for (let i = tried - 1; i >= 0; i--) {
      const { column, set } = splits[i];
      if (set === undefined) {
        nextOf[i] = firstOf[column >> 4];
        firstOf[column >> 4] = i;
      }
    }
  }

  /** Makes split `i` the one at `place` of the kernel's next call. */
  private take({ column, bin, missingLeft }: Split, i: number, place: number): void {
    const { sides } = this;
    const first = missingLeft ? 0 : 1;
    sides[place] = column & (BLOCK - 1);
    sides[BLOCK + place] = first;
    sides[2 * BLOCK + place] = bin - first;
    this.together[place] = i;
  }

  /** The splits of `together`. */
  private sumTogether(block: number, splits: number, start: number, end: number): void {
    const { list, bins, stride, sides, together, values, codes, counts, sums, width } = this;
    const { leftSums, leftCounts } = this;
    const { kernels } = this.scratch;
    const from = bins.byteOffset + block * BLOCK;
    for (let i = 0; i < splits; i++) {
      counts[together[i]] = 0;
      sums.fill(0, together[i] * width, (together[i] + 1) * width);
    }
    leftSums.fill(0, 0, SUMMED);
    for (let at = start; at < end; at += MOST_COUNTED) {
      const first = list.byteOffset + at * 4;
      const last = list.byteOffset + Math.min(end, at + MOST_COUNTED) * 4;
      if (codes.length === 0) {
        kernels.sumValues(
          first,
          last,
          from,
          stride,
          sides.byteOffset,
          values.byteOffset,
          leftSums.byteOffset,
        );
        for (let i = 0; i < splits; i++) {
          counts[together[i]] += leftCounts[i];
        }
        continue;
      }
      const { byteOffset } = leftCounts;
      kernels.countClasses(
        first,
        last,
        from,
        stride,
        sides.byteOffset,
        codes.byteOffset,
        byteOffset,
        byteOffset + width * BLOCK,
      );
      for (let i = 0; i < splits; i++) {
        const to = together[i];
        for (let k = 0; k < width; k++) {
          const count = leftCounts[k * BLOCK + i];
          sums[to * width + k] += count;
          counts[to] += count;
        }
      }
    }
    if (codes.length === 0) {
      for (let i = 0; i < splits; i++) {
        sums[together[i]] = leftSums[i];
      }
    }
  }

  /**
   * Moves a node's rows that go left before the others; both keep their order.
   *
   * @param split of which a set is one of `sets`
   * @returns the first of the others
   */
  divide({ column, bin, missingLeft, set }: Split, start: number, end: number): number {
    const { list, spare, bins, stride } = this;
    const { kernels } = this.scratch;
    const [first, last] = [list.byteOffset + start * 4, list.byteOffset + end * 4];
    const own = bins.byteOffset + column;
    const from = missingLeft ? 0 : 1;
    const middle = set
      ? kernels.divideBySet(first, last, spare.byteOffset, own, stride, set.byteOffset)
      : kernels.divideNode(first, last, spare.byteOffset, own, stride, from, bin - from + 1);
    return (middle - list.byteOffset) / 4;
  }
}
