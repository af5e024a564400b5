import type { ColumnSpec } from '../features/encode';
import { openScratch, type Scratch } from '../kernels/scratch';
import type { Random } from '../math/random';
import { SplitSearch } from './splits';

/** What trees are grown from, at most. */
interface GrowSize {
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
}

/** The arrays that trees are grown in, within reach of the kernels, and the loops over them. Must be closed. */
export class GrowSpace {
  readonly sample: Int32Array;
  readonly outOfSample: Int32Array;
  /** rows × (width + 1): a row's gradients, then its hessian. */
  readonly gradHess: Float64Array;
  /** rows × outputs; all rows of the table. */
  readonly scores: Float64Array;
  /** Per bin: 1 where it goes left at the node being split. */
  readonly goesLeft: Uint8Array;
  readonly search: SplitSearch;
  private readonly all: Int32Array;
  private readonly state: Int32Array;
  private readonly stride: number;
  private readonly outputs: number;
  private readonly spare: Int32Array;
  private readonly pair: Float64Array;
  private readonly histogramSize: number;
  private readonly pool: Float64Array[] = [];
  private readonly scratch: Scratch;
  /** Bins, by column: those that a tree has split by. */
  private readonly reached: (Uint8Array | undefined)[];

  constructor(readonly size: GrowSize) {
    const { width, rows, outOfSample, tableRows } = size;
    this.scratch = openScratch();
    const { scratch } = this;
    this.stride = width + 1;
    this.outputs = size.outputs;
    this.reached = size.columns.map(() => undefined);
    this.sample = scratch.wholes(rows);
    // One spare element: each drawn row is written before it is known whether it belongs there.
    this.outOfSample = scratch.wholes(outOfSample + 1).subarray(0, outOfSample);
    this.all = scratch.wholes(size.all.length);
    this.all.set(size.all);
    this.state = scratch.wholes(4);
    this.spare = scratch.wholes(Math.max(rows, outOfSample));
    this.gradHess = scratch.numbers(tableRows * this.stride);
    this.scores = scratch.numbers(tableRows * size.outputs);
    this.goesLeft = scratch.bytes(256);
    this.pair = scratch.numbers(2);
    this.histogramSize = histogramLength(size);
    this.search = new SplitSearch(scratch, width);
  }

  close(): void {
    this.scratch.close();
  }

  /** The bins of a column, copied into reach of the kernels when they are first asked for. */
  column(index: number): Uint8Array {
    const known = this.reached[index];
    if (known) {
      return known;
    }
    const bins = this.scratch.bytes(this.size.tableRows);
    bins.set(this.size.columns[index]);
    this.reached[index] = bins;
    return bins;
  }

  /** Draws a sample of all rows; the others are the first of `outOfSample`. Both keep the order. */
  draw(random: Random): void {
    const { scratch, state, all, sample, outOfSample } = this;
    random.lend(state, () =>
      scratch.kernels.drawRows(
        state.byteOffset,
        all.byteOffset,
        all.length,
        sample.length,
        sample.byteOffset,
        outOfSample.byteOffset,
      ),
    );
  }

  /** An array for a histogram, holding whatever an earlier one left in it. */
  takeHistogram(): Float64Array {
    return this.pool.pop() ?? this.scratch.numbers(this.histogramSize);
  }

  giveBack(histogram: Float64Array): void {
    this.pool.push(histogram);
  }

  /** As `quantise`, of the rows of the sample. */
  quantise(): void {
    const { stride, gradHess, sample } = this;
    if (stride !== 2) {
      quantise(gradHess, sample, stride);
      return;
    }
    const { kernels } = this.scratch;
    const first = sample.byteOffset;
    const last = first + sample.byteLength;
    const grid = gridFor(kernels.largest(first, last, gradHess.byteOffset));
    if (grid !== undefined) {
      kernels.roundToGrid(first, last, gradHess.byteOffset, grid);
    }
  }

  /** Adds `rows[start … end - 1]` to a histogram. */
  addRows(sums: Float64Array, layout: HistogramLayout, rows: Int32Array, start: number, end: number): void {
    const { stride } = this;
    const { kernels } = this.scratch;
    const { columns, offsets } = layout;
    const first = rows.byteOffset + start * 4;
    const last = rows.byteOffset + end * 4;
    const gradHess = this.gradHess.byteOffset;
    const binsOf = (i: number) => columns[i].byteOffset;
    const sumsOf = (i: number) => sums.byteOffset + offsets[i] * 8;
    let i = 0;
    for (; stride === 2 && i + 1 < columns.length; i += 2) {
      kernels.addTwo(first, last, gradHess, binsOf(i), binsOf(i + 1), sumsOf(i), sumsOf(i + 1));
    }
    for (; i < columns.length; i++) {
      kernels.addSeveral(first, last, gradHess, binsOf(i), sumsOf(i), stride * 8);
    }
  }

  /** Takes `rows[start … end - 1]` away from a histogram. */
  removeRows(
    sums: Float64Array,
    layout: HistogramLayout,
    rows: Int32Array,
    start: number,
    end: number,
  ): void {
    // Of the other sign for the while; a row fewer of that is a row more.
    this.negate(rows, start, end);
    this.addRows(sums, layout, rows, start, end);
    this.negate(rows, start, end);
  }

  private negate(rows: Int32Array, start: number, end: number): void {
    const { stride, gradHess } = this;
    for (let i = start; i < end; i++) {
      const from = rows[i] * stride;
      for (let d = 0; d < stride; d++) {
        gradHess[from + d] = -gradHess[from + d];
      }
    }
  }

  /** Takes one histogram, of so many numbers, away from another. */
  takeAway(from: Float64Array, histogram: Float64Array, length: number): void {
    // By pairs: of an odd number of them what fills up the last one has no meaning.
    const { byteOffset } = from;
    this.scratch.kernels.takeAway(byteOffset, byteOffset + length * 8, histogram.byteOffset);
  }

  /** Adds the gradients and hessians of `rows[start … end - 1]` to `sums`. */
  addAll(sums: Float64Array, rows: Int32Array, start: number, end: number): void {
    const { stride, gradHess, pair } = this;
    if (stride === 2) {
      pair.set(sums);
      const { byteOffset } = rows;
      const [first, last] = [byteOffset + start * 4, byteOffset + end * 4];
      this.scratch.kernels.addAll(first, last, gradHess.byteOffset, pair.byteOffset);
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
    const { scratch, scores, outputs } = this;
    const { byteOffset } = rows;
    const at = scores.byteOffset + output * 8;
    scratch.kernels.addToScores(byteOffset + start * 4, byteOffset + end * 4, at, outputs * 8, value);
  }

  /** Divides `rows[start … end - 1]` by `goesLeft`; where those that go right begin. */
  partition(column: number, rows: Int32Array, start: number, end: number): number {
    const { scratch, goesLeft, spare } = this;
    const bins = this.column(column);
    const { byteOffset } = rows;
    const middle = scratch.kernels.partition(
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

/**
 * Layout of a node's histogram: columns × bins × `stride`, one column after another. A bin holds the sums of its
 * rows' gradients, then of their hessian. All lie on the grid of `quantise`, so every sum is exact, and a child's
 * histogram equals its parent's minus its sibling's to the bit.
 */
export interface HistogramLayout {
  /** The columns, and where the histogram of each begins. */
  columns: Uint8Array[];
  offsets: Int32Array;
  stride: number;
}

/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const WHOLE = 6755399441055744;

/**
 * Adding and subtracting this number rounds to a grid, the multiples of a power of two, so that sums over up to 2^22
 * rows are exact in 53 bits. The step is at most 2^-29 of the largest value. Undefined if that is 0 or not finite.
 */
function gridFor(largest: number): number | undefined {
  if (!(largest > 0) || largest === Infinity) {
    return undefined;
  }
  let step = 1;
  while (step * 1073741824 < largest) {
    step *= 2;
  }
  while (step * 536870912 > largest && step > 1e-290) {
    step /= 2;
  }
  return WHOLE * step;
}

/**
 * Rounds gradients and hessians to a grid.
 *
 * @param gradHess rows × `stride`, for all rows of the table
 */
export function quantise(gradHess: Float64Array, rows: Int32Array, stride: number): void {
  const grid = gridFor(findLargest(gradHess, rows, stride));
  if (grid !== undefined) {
    round(gradHess, rows, stride, grid);
  }
}

function findLargest(gradHess: Float64Array, rows: Int32Array, stride: number): number {
  let largest = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      largest = Math.max(largest, Math.abs(gradHess[at]));
    }
  }
  return largest;
}

function round(gradHess: Float64Array, rows: Int32Array, stride: number, grid: number): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      gradHess[at] = gradHess[at] + grid - grid;
    }
  }
}
