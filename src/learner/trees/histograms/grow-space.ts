import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import { alignedBytes, ORDINARY, type Scratch } from '../../wasm/scratch';
import { addRows, type HistogramLayout } from './histogram';
import { type TreeKernel, treeScratch } from './kernel';
import { partition } from './partition';
import { gridFor, quantise } from './quantise';

/** Gradients and hessians per row for which the kernel can add rows to histograms. */
const WITH_KERNEL = new Set([2, 3, 6]);

/** What trees are grown from, at most. */
export interface GrowSize {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  tableRows: number;
  /** Gradients per row: outputs, or random projections of them. */
  width: number;
  /** Scores per row. */
  outputs: number;
  /** Rows of a tree, and those that are only sorted into its leaves. */
  rows: number;
  outOfSample: number;
  /** What samples are drawn from. */
  all: Int32Array;
  /** Columns that a tree splits by. */
  picked: number;
  leaves: number;
}

/**
 * The arrays that trees are grown in, and the loops over them. In scratch memory of `treeScratch` these are those of the kernel,
 * else those in JavaScript; the result is the same to the bit.
 */
export class GrowSpace {
  /** columns × rows: bins. */
  readonly columns: Uint8Array[];
  readonly sample: Int32Array;
  readonly outOfSample: Int32Array;
  /** rows × (width + 1): a row's gradients, then its hessian. */
  readonly gradHess: Float64Array;
  /** rows × outputs; all rows of the table. */
  readonly scores: Float64Array;
  /** Gradients and hessians of a node's rows, in their order. */
  readonly gathered: Float64Array;
  /** Per bin: 1 where it goes left at the node being split. */
  readonly goesLeft: Uint8Array;
  private readonly all: Int32Array;
  private readonly state: Int32Array;
  private readonly stride: number;
  private readonly outputs: number;
  private readonly spare: Int32Array;
  private readonly pair: Float64Array;
  private readonly kernel: TreeKernel | undefined;
  private readonly histogramSize: number;
  private readonly pool: Float64Array[] = [];
  private readonly others: { close(): void }[] = [];
  readonly tableRows: number;
  /** Columns that a tree splits by, at most. */
  readonly picked: number;

  private constructor(
    size: GrowSize,
    /** Columns that may split: the others need not be within reach of the kernel. */
    usable: Int32Array,
    private readonly scratch: Scratch<TreeKernel>,
  ) {
    const { width, rows, outOfSample, tableRows } = size;
    this.tableRows = tableRows;
    this.picked = size.picked;
    this.stride = width + 1;
    this.outputs = size.outputs;
    this.kernel = scratch.functions;
    this.columns = size.columns;
    if (this.kernel) {
      this.columns = size.columns.slice();
      for (const column of usable) {
        this.columns[column] = scratch.bytes(tableRows);
        this.columns[column].set(size.columns[column]);
      }
    }
    this.sample = scratch.wholes(rows);
    // One spare element: each drawn row is written before it is known whether it belongs there.
    this.outOfSample = scratch.wholes(outOfSample + 1).subarray(0, outOfSample);
    this.all = scratch.wholes(size.all.length);
    this.all.set(size.all);
    this.state = scratch.wholes(4);
    this.spare = scratch.wholes(Math.max(rows, outOfSample));
    this.gradHess = scratch.numbers(tableRows * this.stride);
    this.scores = scratch.numbers(tableRows * size.outputs);
    this.gathered = scratch.numbers(rows * this.stride);
    this.goesLeft = scratch.bytes(256);
    this.pair = scratch.numbers(2);
    this.histogramSize = histogramLength(size);
  }

  /** In the kernel's memory if that is available. Must be closed. */
  static open(size: GrowSize, usable: Int32Array): GrowSpace {
    const { width, rows, outOfSample, tableRows } = size;
    const bytes =
      usable.length * alignedBytes(tableRows) +
      alignedBytes(rows * 4) +
      alignedBytes((outOfSample + 1) * 4) +
      alignedBytes(size.all.length * 4) +
      alignedBytes(16) +
      alignedBytes(Math.max(rows, outOfSample) * 4) +
      alignedBytes(tableRows * (width + 1) * 8) +
      alignedBytes(tableRows * size.outputs * 8) +
      alignedBytes(rows * (width + 1) * 8) +
      alignedBytes(256) +
      alignedBytes(16) +
      size.leaves * alignedBytes(histogramLength(size) * 8);
    return new GrowSpace(size, usable, treeScratch.open(bytes));
  }

  static ordinary(size: GrowSize): GrowSpace {
    return new GrowSpace(size, new Int32Array(0), ORDINARY);
  }

  close(): void {
    this.scratch.close();
    this.others.forEach((one) => one.close());
  }

  /** Closes something else when this is closed. */
  closeWith(other: { close(): void }): void {
    this.others.push(other);
  }

  /** Draws a sample of all rows; the others are the first of `outOfSample`. Both keep the order. */
  draw(random: Random): void {
    const { kernel, state, all, sample, outOfSample } = this;
    if (!kernel || all.length < sample.length) {
      random.divide(all, sample, outOfSample);
      return;
    }
    random.lend(state, () =>
      kernel.divide(
        state.byteOffset,
        all.byteOffset,
        all.length,
        sample.length,
        sample.byteOffset,
        outOfSample.byteOffset,
      ),
    );
  }

  /** An array for a histogram, holding whatever an earlier one left in it. There are as many as leaves. */
  takeHistogram(): Float64Array {
    return this.pool.pop() ?? this.scratch.numbers(this.histogramSize);
  }

  giveBack(histogram: Float64Array): void {
    this.pool.push(histogram);
  }

  /** As `quantise`, of the rows of the sample. */
  quantise(): void {
    const { kernel, stride, gradHess, sample } = this;
    if (!kernel || stride !== 2) {
      quantise(gradHess, sample, stride);
      return;
    }
    const first = sample.byteOffset;
    const last = first + sample.byteLength;
    const grid = gridFor(kernel.largest(first, last, gradHess.byteOffset));
    if (grid !== undefined) {
      kernel.round(first, last, gradHess.byteOffset, grid);
    }
  }

  /** Copies gradients and hessians of `rows[start … end - 1]` to `gathered`. */
  gather(rows: Int32Array, start: number, end: number): void {
    const { stride, gathered, gradHess } = this;
    for (let i = start, at = 0; i < end; i++) {
      const from = rows[i] * stride;
      for (let d = 0; d < stride; d++, at++) {
        gathered[at] = gradHess[from + d];
      }
    }
  }

  /** Adds `rows[start … end - 1]` to a histogram. */
  addRows(sums: Float64Array, layout: HistogramLayout, rows: Int32Array, start: number, end: number): void {
    const { kernel, stride } = this;
    if (!kernel || !WITH_KERNEL.has(stride)) {
      this.gather(rows, start, end);
      addRows(sums, layout, rows.subarray(start, end), this.gathered);
      return;
    }
    const { columns, offsets } = layout;
    const first = rows.byteOffset + start * 4;
    const last = rows.byteOffset + end * 4;
    const gradHess = this.gradHess.byteOffset;
    const binsOf = (i: number) => columns[i].byteOffset;
    const sumsOf = (i: number) => sums.byteOffset + offsets[i] * 8;
    let i = 0;
    for (; stride === 2 && i + 3 < columns.length; i += 4) {
      kernel.addFour(
        first,
        last,
        gradHess,
        binsOf(i),
        binsOf(i + 1),
        binsOf(i + 2),
        binsOf(i + 3),
        sumsOf(i),
        sumsOf(i + 1),
        sumsOf(i + 2),
        sumsOf(i + 3),
      );
    }
    const addTwo = stride === 2 ? kernel.addTwo : kernel.addTwoOfThree;
    for (; stride !== 6 && i + 1 < columns.length; i += 2) {
      addTwo(first, last, gradHess, binsOf(i), binsOf(i + 1), sumsOf(i), sumsOf(i + 1));
    }
    const addOne = stride === 2 ? kernel.addOne : stride === 3 ? kernel.addOneOfThree : kernel.addSix;
    for (; i < columns.length; i++) {
      addOne(first, last, gradHess, binsOf(i), sumsOf(i));
    }
  }

  /** Takes one histogram, of so many numbers, away from another. */
  takeAway(from: Float64Array, histogram: Float64Array, length: number): void {
    if (this.kernel) {
      // By pairs: of an odd number of them what fills up the last one has no meaning.
      this.kernel.takeAway(from.byteOffset, from.byteOffset + length * 8, histogram.byteOffset);
      return;
    }
    for (let i = 0; i < length; i++) {
      from[i] -= histogram[i];
    }
  }

  /** Adds the gradients and hessians of `rows[start … end - 1]` to `sums`. */
  addAll(sums: Float64Array, rows: Int32Array, start: number, end: number): void {
    const { stride, gradHess, pair, kernel } = this;
    if (kernel && stride === 2) {
      pair.set(sums);
      const { byteOffset } = rows;
      kernel.addAll(byteOffset + start * 4, byteOffset + end * 4, gradHess.byteOffset, pair.byteOffset);
      sums.set(pair);
      return;
    }
    for (let i = start; i < end; i++) {
      const from = rows[i] * stride;
      for (let d = 0; d < stride; d++) {
        sums[d] += gradHess[from + d];
      }
    }
  }

  /** Adds a value to the scores of `rows[start … end - 1]`, of one output. */
  addToScores(output: number, rows: Int32Array, start: number, end: number, value: number): void {
    const { kernel, scores, outputs } = this;
    if (kernel) {
      const { byteOffset } = rows;
      const at = scores.byteOffset + output * 8;
      kernel.addToScores(byteOffset + start * 4, byteOffset + end * 4, at, outputs * 8, value);
      return;
    }
    for (let i = start; i < end; i++) {
      scores[rows[i] * outputs + output] += value;
    }
  }

  /** Divides `rows[start … end - 1]` by `goesLeft`; where those that go right begin. */
  partition(column: number, rows: Int32Array, start: number, end: number): number {
    const { kernel, goesLeft, spare } = this;
    const bins = this.columns[column];
    if (!kernel) {
      return partition(goesLeft, bins, rows, start, end, spare);
    }
    const { byteOffset } = rows;
    const middle = kernel.partition(
      byteOffset + start * 4,
      byteOffset + end * 4,
      bins.byteOffset,
      goesLeft.byteOffset,
      spare.byteOffset,
    );
    return (middle - byteOffset) / 4;
  }
}

/** Numbers of the longest histogram. */
function histogramLength({ specs, width, picked }: GrowSize): number {
  const bins = specs.map((spec) => spec.bins).sort((a, b) => b - a);
  return bins.slice(0, picked).reduce((sum, own) => sum + own, 0) * (width + 1);
}
