import type { ColumnSpec } from '../features/encode';
import { FoundSplit, Search } from '../kernels/layout';
import type { Scratch } from '../kernels/scratch';
import { SET_WORDS, type Split } from './trees';

/** Rules for splitting a node. */
export interface SplitRules {
  /** L2 regularisation: added to the sum of hessians in every gain and leaf value. */
  lambda: number;
  /** Minimum sum of hessians on each side (rows, if the hessian is 1). */
  minHessian: number;
  /** Gain that a split must exceed. */
  minGain: number;
  /** Added to a category's hessian when categories are sorted, so that rare ones fall in the middle. */
  categorySmooth: number;
  /** Additional `lambda` for a split among more than four categories. */
  categoryLambda: number;
}

/** The best split found so far at a node. `gain` 0: none. */
export interface SplitCandidate extends Split {
  gain: number;
}

/**
 * Searches the splits of nodes, a column at a time. Of an ordered column every border is tried, with missing values on either
 * side. Categories are sorted by their mean gradient, and every border in that order is tried: with one gradient this finds the
 * best of all partitions (W. D. Fisher, 1958); bins unseen at a node go to the heavier side.
 */
export class SplitSearch {
  private readonly room: Float64Array;
  /** Of the same memory. */
  private readonly wholes: Int32Array;
  private readonly totals: Float64Array;

  /** @param width gradients per row */
  constructor(
    private readonly scratch: Scratch,
    private readonly width: number,
  ) {
    this.room = scratch.numbers(Search.LEFT / 8 + width);
    this.room.fill(0);
    this.totals = scratch.numbers(width + 1);
    this.wholes = new Int32Array(this.room.buffer, this.room.byteOffset, FoundSplit.SET / 4 + SET_WORDS);
  }

  /** Begins a tree. */
  begin({ lambda, minHessian, minGain, categorySmooth, categoryLambda }: SplitRules): void {
    this.room.set([lambda, minHessian, minGain, categorySmooth, categoryLambda], Search.LAMBDA / 8);
  }

  /** Turns to another node. `sums`: those of its gradients, and of its hessian. */
  enter(sums: Float64Array): void {
    this.totals.set(sums);
  }

  /**
   * Improves `best` of the node by the splits of a column.
   *
   * @param sums within reach of the kernels: from `offset` on, per bin the sums of `width` gradients, then of the hessian. Bin 0
   *   holds missing values.
   * @param chance what each category beyond the first gains by chance; a split has to gain more
   */
  byHistogram(
    sums: Float64Array,
    offset: number,
    { bins, category }: ColumnSpec,
    column: number,
    best: SplitCandidate,
    chance = 0,
  ): void {
    const { room, width, totals } = this;
    const { kernels } = this.scratch;
    const at = sums.byteOffset + offset * 8;
    const isFound = category
      ? kernels.searchCategories(room.byteOffset, at, bins, width, totals.byteOffset, best.gain, chance)
      : kernels.searchOrdered(room.byteOffset, at, bins, width, totals.byteOffset, best.gain);
    this.take(isFound, category, column, best);
  }

  /**
   * The same of a node with fewer rows than its column has bins, with one gradient. A histogram would be nearly empty, and
   * clearing, subtracting and searching it would cost more than summing the rows: the column is summed in one small histogram,
   * and only the bins that occur are visited. Sums are exact, so the split is the same.
   *
   * @param rows within reach of the kernels, as `gradHess` and the bins of all rows of the table
   */
  byRows(
    { rows, start, end }: { rows: Int32Array; start: number; end: number },
    gradHess: Float64Array,
    columnBins: Uint8Array,
    { bins, category }: ColumnSpec,
    column: number,
    best: SplitCandidate,
    chance = 0,
  ): void {
    const isFound = this.scratch.kernels.searchRows(
      this.room.byteOffset,
      rows.byteOffset + start * 4,
      rows.byteOffset + end * 4,
      gradHess.byteOffset,
      columnBins.byteOffset,
      bins,
      category ? 1 : 0,
      this.totals.byteOffset,
      best.gain,
      chance,
    );
    this.take(isFound, category, column, best);
  }

  /** Reads what a search found. Where a node has no missing values, those of later rows go to the heavier side of a border. */
  private take(isFound: number, category: boolean, column: number, best: SplitCandidate): void {
    if (!isFound) {
      return;
    }
    const { wholes, room } = this;
    const set = category ? wholes.slice(FoundSplit.SET / 4, FoundSplit.SET / 4 + SET_WORDS) : undefined;
    best.gain = room[FoundSplit.GAIN / 8];
    best.column = column;
    best.set = set;
    best.bin = set ? 0 : wholes[FoundSplit.BIN / 4];
    if (set) {
      best.missingLeft = (set[0] & 1) === 1;
    } else {
      best.missingLeft =
        room[FoundSplit.MISSING / 8] > 0
          ? wholes[FoundSplit.WITH_MISSING / 4] === 1
          : room[FoundSplit.HESSIAN / 8] * 2 >= this.totals[this.width];
    }
  }
}
