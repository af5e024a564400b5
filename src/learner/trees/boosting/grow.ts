import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import type { GrowSpace } from '../histograms/grow-space';
import { type HistogramLayout, removeRows } from '../histograms/histogram';
import { trySmallNode } from '../splits/small-node';
import { MAX_SORTED_ROWS, SortedRows } from '../splits/sorted-rows';
import { tryCategories, tryOrdered } from '../splits/split-finder';
import type { SplitCandidate, SplitRules } from '../splits/splits';
import { isLeft, type TreeBuilder } from '../trees';
import { chanceGain } from './weak-categories';

export interface GrowRules extends SplitRules {
  maxLeaves: number;
  maxDepth: number;
  /** Fraction of the tree's columns that each node may use, 0 to 1. */
  nodeColumns: number;
}

/**
 * A finished leaf. It holds `rows[start … end - 1]` and `outOfSample[outOfSampleStart … outOfSampleEnd - 1]`.
 * `sums`: the sums of its rows' gradients, one per channel, and of their hessian.
 */
export interface GrownLeaf {
  node: number;
  start: number;
  end: number;
  outOfSampleStart: number;
  outOfSampleEnd: number;
  sums: Float64Array;
  depth: number;
}

interface OpenLeaf extends GrownLeaf {
  /** Undefined for a small node, which is searched without one. */
  histogram: Float64Array | undefined;
  best: SplitCandidate;
}

/** Mean number of rows per bin above which a histogram pays off. */
const MIN_ROWS_PER_BIN = 1;

/** Sorted rows beat histograms up to this many times the rows of a small node. */
const MAX_SMALL_NODES = 1.5;

/** What one tree is grown from. */
export interface Growth {
  /**
   * The rows to grow by, and rows that are only sorted into the leaves. Both are put in the order of the leaves. With a
   * kernel they must be those of the space.
   */
  rows: Int32Array;
  outOfSample: Int32Array;
  /** Columns to split by. */
  picked: Int32Array;
  rules: GrowRules;
  /** Of `weakCategories`. */
  weak?: Uint8Array;
  random: Random;
}

/**
 * Grows trees leaf by leaf, best gain first (H. Shi, 2007), from histograms of binned columns; the larger child's
 * histogram is its parent's minus its sibling's. Gradients and hessians must lie on the grid of `quantise`, so that
 * every sum is exact: the result does not depend on the order of rows, and subtraction leaves no rounding error.
 */
export class Grower {
  /** Histogram updates so far: rows × columns × channels, plus three passes over each histogram. */
  work = 0;
  private picked: Int32Array = new Int32Array(0);
  private layout: HistogramLayout;
  /** Length of this tree's histograms. */
  private size = 0;
  /** Leaves of at most this many rows are searched without a histogram. */
  private smallNodeRows = 0;
  /** Whether a picked column is a category. */
  private hasCategory = false;
  /** What a weak category gains by chance for each of its levels. */
  private chance = 0;
  /** Used for this tree, in place of histograms. */
  private sorted: SortedRows | undefined;
  /** Kept from tree to tree. */
  private sortedRows: SortedRows | undefined;

  /** @param width gradients per row: outputs, or random projections of them */
  constructor(
    private readonly specs: ColumnSpec[],
    private readonly width: number,
    private readonly space: GrowSpace,
  ) {
    this.layout = { columns: [], offsets: new Int32Array(0), stride: width + 1 };
  }

  /**
   * Adds one tree to `builder` and returns its leaves; the caller sets their values. `gains[column]` grows by the gain
   * of each split.
   */
  grow(growth: Growth, builder: TreeBuilder, gains: Float64Array): GrownLeaf[] {
    const { rows, outOfSample, rules } = growth;
    this.plan(growth);
    const root = this.open(builder.addRoot(), 0);
    root.end = rows.length;
    root.outOfSampleEnd = outOfSample.length;
    this.space.addAll(root.sums, rows, root.start, root.end);
    if (this.worthSearching(root, rules)) {
      root.histogram = this.isSmall(root) ? undefined : this.histogramOf(root, growth);
      this.search(root, growth);
    }
    const open = [root];
    while (open.length < rules.maxLeaves) {
      let chosen: OpenLeaf | undefined;
      for (const leaf of open) {
        if (leaf.best.gain > (chosen?.best.gain ?? 0)) {
          chosen = leaf;
        }
      }
      if (!chosen) {
        break;
      }
      gains[chosen.best.column] += chosen.best.gain;
      const [left, right] = this.divide(chosen, growth, builder);
      open[open.indexOf(chosen)] = left;
      open.push(right);
      if (open.length < rules.maxLeaves) {
        this.shareHistogram(chosen, left, right, growth);
        this.search(left, growth);
        this.search(right, growth);
      } else {
        this.release(chosen);
      }
    }
    for (const leaf of open) {
      this.release(leaf);
    }
    return open;
  }

  /** Lays out the histogram of each picked column, or sorts the rows. */
  private plan({ picked, rows, weak }: Growth): void {
    const offsets = new Int32Array(picked.length);
    const columns: Uint8Array[] = [];
    let size = 0;
    let hasCategory = false;
    for (let i = 0; i < picked.length; i++) {
      offsets[i] = size;
      columns.push(this.space.column(picked[i]));
      hasCategory ||= this.specs[picked[i]].category;
      size += this.specs[picked[i]].bins * (this.width + 1);
    }
    this.picked = picked;
    this.hasCategory = hasCategory;
    this.layout = { columns, offsets, stride: this.width + 1 };
    this.smallNodeRows = this.width === 1 ? (MIN_ROWS_PER_BIN * size) / (2 * picked.length) : 0;
    this.size = size;
    this.chance = weak ? chanceGain(this.space.gradHess, rows, this.width) : 0;
    this.sorted = this.isSortedBetter(rows) ? this.sort(picked, rows) : undefined;
  }

  private isSortedBetter(rows: Int32Array): boolean {
    const { tableRows } = this.space.size;
    return (
      this.width === 1 &&
      rows.length * 2 >= tableRows &&
      tableRows <= MAX_SORTED_ROWS &&
      rows.length <= MAX_SMALL_NODES * this.smallNodeRows
    );
  }

  private sort(picked: Int32Array, rows: Int32Array): SortedRows {
    this.sortedRows ??= this.makeSortedRows();
    this.sortedRows.begin(picked, rows, this.space.gradHess);
    return this.sortedRows;
  }

  private makeSortedRows(): SortedRows {
    const { specs, space } = this;
    const { size } = space;
    const made = new SortedRows({
      columns: size.columns,
      specs,
      tableRows: size.tableRows,
      picked: size.picked,
    });
    space.closeWith(made);
    return made;
  }

  private open(node: number, depth: number): OpenLeaf {
    return {
      node,
      start: 0,
      end: 0,
      outOfSampleStart: 0,
      outOfSampleEnd: 0,
      depth,
      best: { gain: 0, column: 0, bin: 0, missingLeft: false, set: undefined },
      sums: new Float64Array(this.width + 1),
      histogram: undefined,
    };
  }

  private release(leaf: OpenLeaf): void {
    if (leaf.histogram) {
      this.space.giveBack(leaf.histogram);
      leaf.histogram = undefined;
    }
  }

  private isSmall(leaf: OpenLeaf): boolean {
    return this.sorted !== undefined || leaf.end - leaf.start <= this.smallNodeRows;
  }

  private worthSearching(leaf: OpenLeaf, rules: GrowRules): boolean {
    return leaf.depth < rules.maxDepth && leaf.sums[this.width] >= 2 * rules.minHessian;
  }

  private histogramOf(leaf: OpenLeaf, { rows }: Growth): Float64Array {
    const histogram = this.space.takeHistogram();
    histogram.fill(0, 0, this.size);
    this.space.addRows(histogram, this.layout, rows, leaf.start, leaf.end);
    this.work += (leaf.end - leaf.start) * this.picked.length * this.width + this.size * 3;
    return histogram;
  }

  /** Builds the smaller child's histogram and subtracts it from the parent's, which becomes the larger child's. */
  private shareHistogram(parent: OpenLeaf, left: OpenLeaf, right: OpenLeaf, growth: Growth): void {
    const [small, large] = left.end - left.start <= right.end - right.start ? [left, right] : [right, left];
    const needs = (leaf: OpenLeaf) => this.worthSearching(leaf, growth.rules) && !this.isSmall(leaf);
    if (needs(small)) {
      small.histogram = this.histogramOf(small, growth);
    }
    const { histogram } = parent;
    if (
      this.sorted &&
      (this.worthSearching(left, growth.rules) || this.worthSearching(right, growth.rules))
    ) {
      this.sorted.divide(growth.rows, parent, left.end);
    }
    if (!histogram || !needs(large)) {
      this.release(parent);
      return;
    }
    parent.histogram = undefined;
    large.histogram = histogram;
    if (small.histogram) {
      this.space.takeAway(histogram, small.histogram, this.size);
      return;
    }
    this.space.gather(growth.rows, small.start, small.end);
    removeRows(histogram, this.layout, growth.rows.subarray(small.start, small.end), this.space.gathered);
    this.work += (small.end - small.start) * this.picked.length * this.width;
  }

  private search(leaf: OpenLeaf, growth: Growth): void {
    const { rules, random, rows, weak } = growth;
    if (!this.worthSearching(leaf, rules)) {
      return;
    }
    const { best, histogram, sums: totals, start, end } = leaf;
    const { gathered } = this.space;
    const node = { rows, start, end, gathered, totals };
    const sampled = rules.nodeColumns < 1;
    const count = this.picked.length;
    const sampledColumns = sampled
      ? random.sample(count, Math.max(1, Math.ceil(count * rules.nodeColumns)))
      : undefined;
    const tried = sampledColumns ? sampledColumns.length : count;
    if (!histogram) {
      this.work += (end - start) * tried;
      if (!this.sorted || this.hasCategory) {
        this.space.gather(rows, start, end);
      }
    }
    if (this.sorted && !this.hasCategory && !sampledColumns) {
      this.sorted.searchAll(leaf, rules);
      return;
    }
    for (let k = 0; k < tried; k++) {
      const i = sampledColumns ? sampledColumns[k] : k;
      const column = this.picked[i];
      const spec = this.specs[column];
      const chance = weak?.[column] === 1 ? this.chance : 0;
      if (this.sorted && !spec.category) {
        this.sorted.search(i, leaf, rules);
        continue;
      }
      if (!histogram) {
        trySmallNode(node, this.layout.columns[i], spec, column, rules, best, chance);
        continue;
      }
      const offset = this.layout.offsets[i];
      const h = { sums: histogram, offset, bins: spec.bins, totals, width: this.width };
      if (spec.category) {
        tryCategories(h, column, rules, best, chance);
      } else {
        tryOrdered(h, column, rules, best);
      }
    }
  }

  private divide(leaf: OpenLeaf, growth: Growth, builder: TreeBuilder): [OpenLeaf, OpenLeaf] {
    const { best, depth } = leaf;
    const node = builder.split(leaf.node, best);
    const { space } = this;
    const goes = space.goesLeft;
    const { bins: binCount, category } = this.specs[best.column];
    if (category) {
      for (let bin = 0; bin < binCount; bin++) {
        goes[bin] = isLeft(builder.trees, leaf.node, bin) ? 1 : 0;
      }
    } else {
      goes.fill(0, best.bin + 1, binCount);
      goes.fill(1, 1, best.bin + 1);
      goes[0] = best.missingLeft ? 1 : 0;
    }
    const [left, right] = [this.open(node, depth + 1), this.open(node + 1, depth + 1)];
    left.start = leaf.start;
    left.end = right.start = space.partition(best.column, growth.rows, leaf.start, leaf.end);
    right.end = leaf.end;
    const { outOfSampleStart, outOfSampleEnd } = leaf;
    left.outOfSampleStart = outOfSampleStart;
    left.outOfSampleEnd = right.outOfSampleStart = space.partition(
      best.column,
      growth.outOfSample,
      outOfSampleStart,
      outOfSampleEnd,
    );
    right.outOfSampleEnd = outOfSampleEnd;
    const [small, large] = left.end - left.start <= right.end - right.start ? [left, right] : [right, left];
    space.addAll(small.sums, growth.rows, small.start, small.end);
    for (let d = 0; d <= this.width; d++) {
      large.sums[d] = leaf.sums[d] - small.sums[d];
    }
    return [left, right];
  }
}
