import type { ColumnSpec } from '../features/encode';
import type { Random } from '../math/random';
import { addRows, type HistogramLayout, removeRows } from './histogram';
import { partition } from './partition';
import { tryFewRows } from './small-node';
import { type Candidate, type SplitRules, tryCategories, tryOrdered } from './split-finder';
import { goesLeft, type TreeBuilder } from './trees';

export interface GrowRules extends SplitRules {
  maxLeaves: number;
  maxDepth: number;
  /** Part of the tree's columns that each node may use, 0 to 1. */
  nodeColumns: number;
}

/**
 * A finished leaf: its rows are `rows[start … end - 1]`, and `others[othersStart … othersEnd - 1]` fell into it; `sums` are
 * the gradients and second derivative of its rows.
 */
export interface GrownLeaf {
  node: number;
  start: number;
  end: number;
  othersStart: number;
  othersEnd: number;
  sums: Float64Array;
  depth: number;
}

interface OpenLeaf extends GrownLeaf {
  /** Undefined where the leaf has too few rows to be worth one. */
  histogram: Float64Array | undefined;
  best: Candidate;
}

/** Rows for each bin of a column, in the mean, from which on a histogram is worth its keep. */
const FEW = 1;

/** What one tree is grown from. */
export interface Growth {
  /** The rows to grow by, and rows that are only to be sorted into the leaves; both are put in the order of the leaves. */
  rows: Int32Array;
  others: Int32Array;
  /** The rows' gradients and second derivative: `derivatives[row * (width + 1) …]`. */
  derivatives: Float64Array;
  /** Columns to split by. */
  picked: Int32Array;
  rules: GrowRules;
  random: Random;
}

/**
 * Grows trees leaf by leaf, best gain first (H. Shi, 2007), from histograms of binned columns; the larger child's
 * histogram is its parent's less its sibling's. Derivatives are expected on a grid of `quantise`, so that every
 * sum is exact: the result does not depend on the order of rows, and subtraction leaves no noise.
 */
export class Grower {
  /** Histogram updates so far: rows × columns × gradients, and three passes over each histogram. */
  work = 0;
  readonly #columns: Uint8Array[];
  readonly #specs: ColumnSpec[];
  readonly #width: number;
  readonly #gathered: Float64Array;
  readonly #spare: Int32Array;
  /** Which bins go left at the node being divided. */
  readonly #goes = new Uint8Array(256);
  readonly #pool: Float64Array[] = [];
  #picked: Int32Array = new Int32Array(0);
  #layout: HistogramLayout;
  /** Length of a histogram, and of the longest so far, which is what the pooled ones have. */
  #size = 0;
  #histogramSize = 0;
  /** Leaves of at most so many rows do without a histogram. */
  #few = 0;

  /** @param maxRows rows, and others, of a tree at the most */
  constructor(
    columns: Uint8Array[],
    specs: ColumnSpec[],
    width: number,
    maxRows: { rows: number; others: number },
  ) {
    this.#columns = columns;
    this.#specs = specs;
    this.#width = width;
    this.#gathered = new Float64Array(maxRows.rows * (width + 1));
    this.#spare = new Int32Array(Math.max(maxRows.rows, maxRows.others));
    this.#layout = { columns: [], offsets: new Int32Array(0), stride: width + 1 };
  }

  /**
   * Adds one tree to `builder` and returns its leaves; their values are the caller's to set. `gains[column]` is raised
   * by the gain of each split.
   */
  grow(growth: Growth, builder: TreeBuilder, gains: Float64Array): GrownLeaf[] {
    const { rows, others, rules } = growth;
    this.#plan(growth.picked);
    const root = this.#open(builder.addRoot(), 0);
    root.end = rows.length;
    root.othersEnd = others.length;
    this.#sum(root, growth);
    if (this.#worthSearching(root, rules)) {
      root.histogram = this.#isFew(root) ? undefined : this.#histogramOf(root, growth);
      this.#search(root, growth);
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
      gains[chosen.best.column]! += chosen.best.gain;
      const [left, right] = this.#divide(chosen, growth, builder);
      open[open.indexOf(chosen)] = left;
      open.push(right);
      if (open.length < rules.maxLeaves) {
        this.#shareHistogram(chosen, left, right, growth);
        this.#search(left, growth);
        this.#search(right, growth);
      }
    }
    for (const leaf of open) {
      this.#release(leaf);
    }
    return open;
  }

  /** Where each picked column's histogram lies. */
  #plan(picked: Int32Array): void {
    const offsets = new Int32Array(picked.length);
    const columns: Uint8Array[] = [];
    let size = 0;
    for (let i = 0; i < picked.length; i++) {
      offsets[i] = size;
      columns.push(this.#columns[picked[i]!]!);
      size += this.#specs[picked[i]!]!.bins * (this.#width + 1);
    }
    this.#picked = picked;
    this.#layout = { columns, offsets, stride: this.#width + 1 };
    this.#few = this.#width === 1 ? (FEW * size) / (2 * picked.length) : 0;
    this.#size = size;
    if (size > this.#histogramSize) {
      this.#pool.length = 0;
    }
    this.#histogramSize = Math.max(size, this.#histogramSize);
  }

  #open(node: number, depth: number): OpenLeaf {
    return {
      node,
      start: 0,
      end: 0,
      othersStart: 0,
      othersEnd: 0,
      depth,
      best: { gain: 0, column: 0, bin: 0, missingLeft: false, set: undefined },
      sums: new Float64Array(this.#width + 1),
      histogram: undefined,
    };
  }

  #release(leaf: OpenLeaf): void {
    if (leaf.histogram) {
      this.#pool.push(leaf.histogram);
      leaf.histogram = undefined;
    }
  }

  #isFew(leaf: OpenLeaf): boolean {
    return leaf.end - leaf.start <= this.#few;
  }

  #worthSearching(leaf: OpenLeaf, rules: GrowRules): boolean {
    return leaf.depth < rules.maxDepth && leaf.sums[this.#width]! >= 2 * rules.minWeight;
  }

  #sum(leaf: OpenLeaf, { rows, derivatives }: Growth): void {
    const stride = this.#width + 1;
    for (let i = leaf.start; i < leaf.end; i++) {
      const from = rows[i]! * stride;
      for (let d = 0; d < stride; d++) {
        leaf.sums[d]! += derivatives[from + d]!;
      }
    }
  }

  /** Puts the derivatives of the leaf's rows side by side. */
  #gather(leaf: OpenLeaf, { rows, derivatives }: Growth): void {
    const stride = this.#width + 1;
    const gathered = this.#gathered;
    for (let i = leaf.start, at = 0; i < leaf.end; i++) {
      const from = rows[i]! * stride;
      for (let d = 0; d < stride; d++, at++) {
        gathered[at] = derivatives[from + d]!;
      }
    }
  }

  #histogramOf(leaf: OpenLeaf, growth: Growth): Float64Array {
    const histogram = this.#pool.pop() ?? new Float64Array(this.#histogramSize);
    histogram.fill(0, 0, this.#size);
    this.#gather(leaf, growth);
    addRows(histogram, this.#layout, growth.rows.subarray(leaf.start, leaf.end), this.#gathered);
    this.work += (leaf.end - leaf.start) * this.#picked.length * this.#width + this.#size * 3;
    return histogram;
  }

  /** Gives the children of a leaf the histograms that they will be searched by. */
  #shareHistogram(parent: OpenLeaf, left: OpenLeaf, right: OpenLeaf, growth: Growth): void {
    const [small, large] = left.end - left.start <= right.end - right.start ? [left, right] : [right, left];
    const needs = (leaf: OpenLeaf) => this.#worthSearching(leaf, growth.rules) && !this.#isFew(leaf);
    if (needs(small)) {
      small.histogram = this.#histogramOf(small, growth);
    }
    const { histogram } = parent;
    if (!histogram || !needs(large)) {
      this.#release(parent);
      return;
    }
    parent.histogram = undefined;
    large.histogram = histogram;
    if (small.histogram) {
      for (let i = 0; i < this.#size; i++) {
        histogram[i]! -= small.histogram[i]!;
      }
      return;
    }
    this.#gather(small, growth);
    removeRows(histogram, this.#layout, growth.rows.subarray(small.start, small.end), this.#gathered);
    this.work += (small.end - small.start) * this.#picked.length * this.#width;
  }

  #search(leaf: OpenLeaf, growth: Growth): void {
    const { rules, random, rows } = growth;
    if (!this.#worthSearching(leaf, rules)) {
      return;
    }
    const { best, histogram, sums: totals, start, end } = leaf;
    const node = { rows, start, end, gathered: this.#gathered, totals };
    const sampled = rules.nodeColumns < 1;
    const count = this.#picked.length;
    const few = sampled ? random.sample(count, Math.max(1, Math.ceil(count * rules.nodeColumns))) : undefined;
    const tried = few ? few.length : count;
    if (!histogram) {
      this.#gather(leaf, growth);
      this.work += (end - start) * tried;
    }
    for (let k = 0; k < tried; k++) {
      const i = few ? few[k]! : k;
      const column = this.#picked[i]!;
      const spec = this.#specs[column]!;
      if (!histogram) {
        tryFewRows(node, this.#layout.columns[i]!, spec, column, rules, best);
        continue;
      }
      const offset = this.#layout.offsets[i]!;
      const h = { sums: histogram, offset, bins: spec.bins, totals, width: this.#width };
      if (spec.category) {
        tryCategories(h, column, rules, best);
      } else {
        tryOrdered(h, column, rules, best);
      }
    }
  }

  #divide(leaf: OpenLeaf, growth: Growth, builder: TreeBuilder): [OpenLeaf, OpenLeaf] {
    const { best, depth } = leaf;
    const node = builder.split(leaf.node, best);
    const goes = this.#goes;
    for (let bin = this.#specs[best.column]!.bins - 1; bin >= 0; bin--) {
      goes[bin] = goesLeft(builder.nodes, leaf.node, bin) ? 1 : 0;
    }
    const bins = this.#columns[best.column]!;
    const spare = this.#spare;
    const [left, right] = [this.#open(node, depth + 1), this.#open(node + 1, depth + 1)];
    left.start = leaf.start;
    left.end = right.start = partition(goes, bins, growth.rows, leaf.start, leaf.end, spare);
    right.end = leaf.end;
    const { othersStart, othersEnd } = leaf;
    left.othersStart = othersStart;
    left.othersEnd = right.othersStart = partition(goes, bins, growth.others, othersStart, othersEnd, spare);
    right.othersEnd = othersEnd;
    const [small, large] = left.end - left.start <= right.end - right.start ? [left, right] : [right, left];
    this.#sum(small, growth);
    for (let d = 0; d <= this.#width; d++) {
      large.sums[d] = leaf.sums[d]! - small.sums[d]!;
    }
    return [left, right];
  }
}
