import type { ColumnSpec } from './encode';
import type { Random } from './random';
import { tryCategories, tryOrdered, type Candidate, type SplitRules } from './split-finder';
import { goesLeft, type TreeBuilder } from './trees';

export interface GrowRules extends SplitRules {
  maxLeaves: number;
  maxDepth: number;
  /** Part of the tree's columns that each node may use, 0 to 1. */
  nodeColumns: number;
}

/** A finished leaf: its rows are `rows[start … end - 1]`; `sums` are its gradients and second derivative. */
export interface GrownLeaf {
  node: number;
  start: number;
  end: number;
  sums: Float64Array;
  depth: number;
}

interface OpenLeaf extends GrownLeaf {
  histogram: Float64Array;
  best: Candidate;
}

/**
 * Grows trees leaf by leaf, best gain first (H. Shi, 2007), from histograms of binned columns; the larger child's
 * histogram is its parent's less its sibling's. Derivatives are expected on a grid of `quantise`, so that every
 * sum is exact: the result does not depend on the order of rows, and subtraction leaves no noise.
 */
export class Grower {
  /** Histogram updates so far: rows × columns × gradients, and three passes over the histogram of each leaf. */
  work = 0;
  readonly #columns: Uint8Array[];
  readonly #specs: ColumnSpec[];
  readonly #width: number;
  readonly #gathered: Float64Array;
  readonly #spare: Int32Array;
  readonly #pool: Float64Array[] = [];
  #offsets = new Int32Array(0);
  /** Length of a histogram, and of the longest so far, which is what the pooled ones have. */
  #size = 0;
  #histogramSize = 0;
  #picked: Int32Array = new Int32Array(0);

  constructor(columns: Uint8Array[], specs: ColumnSpec[], width: number, maxRows: number) {
    this.#columns = columns;
    this.#specs = specs;
    this.#width = width;
    this.#gathered = new Float64Array(maxRows * (width + 1));
    this.#spare = new Int32Array(maxRows);
  }

  /**
   * Adds one tree to `builder` and returns its leaves; their values are the caller's to set. `rows` is put in
   * the order of the leaves. `derivatives[row * (width + 1) …]`: the row's gradients and second derivative.
   * `gains[column]` is raised by the gain of each split.
   */
  grow(
    rows: Int32Array,
    derivatives: Float64Array,
    picked: Int32Array,
    rules: GrowRules,
    random: Random,
    builder: TreeBuilder,
    gains: Float64Array,
  ): GrownLeaf[] {
    this.#plan(picked);
    const root = this.#open(builder.addRoot(), 0, rows.length, 0);
    this.#fill(root, rows, derivatives);
    this.#search(root, rules, random);
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
      const [left, right] = this.#divide(chosen, rows, derivatives, builder);
      open[open.indexOf(chosen)] = left;
      open.push(right);
      if (open.length >= rules.maxLeaves) {
        break;
      }
      for (const leaf of [left, right]) {
        if (leaf.depth < rules.maxDepth) {
          this.#search(leaf, rules, random);
        }
      }
    }
    for (const leaf of open) {
      this.#pool.push(leaf.histogram);
    }
    return open;
  }

  /** Where each picked column's histogram lies. */
  #plan(picked: Int32Array): void {
    this.#picked = picked;
    this.#offsets = new Int32Array(picked.length);
    let size = 0;
    for (let i = 0; i < picked.length; i++) {
      this.#offsets[i] = size;
      size += this.#specs[picked[i]!]!.bins * (this.#width + 1);
    }
    this.#size = size;
    if (size > this.#histogramSize) {
      this.#pool.length = 0;
    }
    this.#histogramSize = Math.max(size, this.#histogramSize);
  }

  #open(node: number, start: number, end: number, depth: number): OpenLeaf {
    const best: Candidate = { gain: 0, column: 0, bin: 0, missingLeft: false, set: undefined };
    return { node, start, end, depth, best, sums: new Float64Array(this.#width + 1), histogram: NONE };
  }

  /** Sums the leaf's rows into a histogram. */
  #fill(leaf: OpenLeaf, rows: Int32Array, derivatives: Float64Array): void {
    leaf.histogram = this.#pool.pop() ?? new Float64Array(this.#histogramSize);
    leaf.histogram.fill(0, 0, this.#size);
    const count = leaf.end - leaf.start;
    const stride = this.#width + 1;
    const gathered = this.#gathered;
    leaf.sums.fill(0);
    for (let i = 0, at = 0; i < count; i++) {
      const from = rows[leaf.start + i]! * stride;
      for (let d = 0; d < stride; d++, at++) {
        const value = derivatives[from + d]!;
        gathered[at] = value;
        leaf.sums[d]! += value;
      }
    }
    const part = rows.subarray(leaf.start, leaf.end);
    const bins = (i: number) => this.#columns[this.#picked[i]!]!;
    const at = (i: number) => this.#offsets[i]!;
    let i = 0;
    if (this.#width === 1) {
      for (; i + 3 < this.#picked.length; i += 4) {
        addFour(
          bins(i),
          bins(i + 1),
          bins(i + 2),
          bins(i + 3),
          part,
          gathered,
          leaf.histogram,
          this.#offsets,
          i,
        );
      }
    }
    for (; i < this.#picked.length; i++) {
      addOne(bins(i), part, gathered, stride, leaf.histogram, at(i));
    }
    this.work += count * this.#picked.length * this.#width + this.#size * 3;
  }

  #search(leaf: OpenLeaf, rules: GrowRules, random: Random): void {
    const { best, histogram: sums, sums: totals } = leaf;
    if (totals[this.#width]! < 2 * rules.minWeight) {
      return;
    }
    const sampled = rules.nodeColumns < 1;
    const count = this.#picked.length;
    const few = sampled ? random.sample(count, Math.max(1, Math.ceil(count * rules.nodeColumns))) : undefined;
    for (let k = 0; k < (few ? few.length : count); k++) {
      const i = few ? few[k]! : k;
      const column = this.#picked[i]!;
      const spec = this.#specs[column]!;
      const h = { sums, offset: this.#offsets[i]!, bins: spec.bins, totals, width: this.#width };
      if (spec.category) {
        tryCategories(h, column, rules, best);
      } else {
        tryOrdered(h, column, rules, best);
      }
    }
  }

  #divide(
    leaf: OpenLeaf,
    rows: Int32Array,
    derivatives: Float64Array,
    builder: TreeBuilder,
  ): [OpenLeaf, OpenLeaf] {
    const { best, depth } = leaf;
    const node = builder.split(leaf.node, best);
    const middle = this.#partition(leaf, rows, builder);
    const left = this.#open(node, leaf.start, middle, depth + 1);
    const right = this.#open(node + 1, middle, leaf.end, depth + 1);
    const leftIsSmaller = middle - leaf.start <= leaf.end - middle;
    const [small, large] = leftIsSmaller ? [left, right] : [right, left];
    this.#fill(small, rows, derivatives);
    const parent = leaf.histogram;
    const sibling = small.histogram;
    for (let i = 0; i < this.#size; i++) {
      parent[i]! -= sibling[i]!;
    }
    large.histogram = parent;
    for (let d = 0; d <= this.#width; d++) {
      large.sums[d] = leaf.sums[d]! - small.sums[d]!;
    }
    return [left, right];
  }

  /** Puts the rows that go left before those that go right, each in their old order; returns the first right one. */
  #partition(leaf: OpenLeaf, rows: Int32Array, builder: TreeBuilder): number {
    const bins = this.#columns[leaf.best.column]!;
    const trees = builder.nodes;
    const goes = new Uint8Array(256);
    for (let bin = 0; bin < 256; bin++) {
      goes[bin] = goesLeft(trees, leaf.node, bin) ? 1 : 0;
    }
    let to = leaf.start;
    let spare = 0;
    for (let i = leaf.start; i < leaf.end; i++) {
      const row = rows[i]!;
      if (goes[bins[row]!]! === 1) {
        rows[to++] = row;
      } else {
        this.#spare[spare++] = row;
      }
    }
    rows.set(this.#spare.subarray(0, spare), to);
    return to;
  }
}

const NONE = new Float64Array(0);

/** Four columns at a time: a sum often waits for the one before it in the same bin, and others can go on meanwhile. */
function addFour(
  bins0: Uint8Array,
  bins1: Uint8Array,
  bins2: Uint8Array,
  bins3: Uint8Array,
  rows: Int32Array,
  gathered: Float64Array,
  sums: Float64Array,
  offsets: Int32Array,
  first: number,
): void {
  const offset0 = offsets[first]!;
  const offset1 = offsets[first + 1]!;
  const offset2 = offsets[first + 2]!;
  const offset3 = offsets[first + 3]!;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const gradient = gathered[i * 2]!;
    const weight = gathered[i * 2 + 1]!;
    const at0 = offset0 + bins0[row]! * 2;
    const at1 = offset1 + bins1[row]! * 2;
    const at2 = offset2 + bins2[row]! * 2;
    const at3 = offset3 + bins3[row]! * 2;
    sums[at0]! += gradient;
    sums[at1]! += gradient;
    sums[at2]! += gradient;
    sums[at3]! += gradient;
    sums[at0 + 1]! += weight;
    sums[at1 + 1]! += weight;
    sums[at2 + 1]! += weight;
    sums[at3 + 1]! += weight;
  }
}

function addOne(
  bins: Uint8Array,
  rows: Int32Array,
  gathered: Float64Array,
  stride: number,
  sums: Float64Array,
  offset: number,
): void {
  for (let i = 0, from = 0; i < rows.length; i++) {
    const at = offset + bins[rows[i]!]! * stride;
    for (let d = 0; d < stride; d++, from++) {
      sums[at + d]! += gathered[from]!;
    }
  }
}

/**
 * Rounds the rows' derivatives to multiples of a power of two such that sums over 2^22 rows are exact in 53 bits; 2^-30 of
 * the largest at the coarsest.
 */
export function quantise(derivatives: Float64Array, rows: Int32Array, stride: number): void {
  let largest = 0;
  for (const row of rows) {
    for (let at = row * stride; at < (row + 1) * stride; at++) {
      const size = Math.abs(derivatives[at]!);
      if (size > largest) {
        largest = size;
      }
    }
  }
  if (!(largest > 0) || largest === Infinity) {
    return;
  }
  let step = 1;
  while (step * 1073741824 < largest) {
    step *= 2;
  }
  while (step * 536870912 > largest && step > 1e-290) {
    step /= 2;
  }
  const perUnit = 1 / step;
  for (const row of rows) {
    for (let at = row * stride; at < (row + 1) * stride; at++) {
      derivatives[at] = Math.round(derivatives[at]! * perUnit) * step;
    }
  }
}
