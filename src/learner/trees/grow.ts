import type { ColumnSpec } from '../features/encode';
import type { Random } from '../math/random';
import { WEAK_CATEGORIES } from '../tuned';
import type { GrowSpace, HistogramLayout } from './grow-space';
import type { Objective } from './loss';
import type { SplitCandidate, SplitRules } from './splits';
import { isLeft, type TreeBuilder } from './trees';

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

/** Mean number of rows per bin above which a histogram pays off. It changes the time alone. */
const MIN_ROWS_PER_BIN = 1;

/** What one tree is grown from. */
interface Growth {
  /**
   * The rows to grow by, and rows that are only sorted into the leaves: those of the space. Both are put in the order of the
   * leaves.
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
  /** What a weak category gains by chance for each of its levels. */
  private chance = 0;

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
      root.histogram = this.isSmall(root) ? undefined : this.buildHistogram(root, growth);
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

  /** Lays out the histogram of each picked column. */
  private plan({ picked, rows, weak, rules }: Growth): void {
    this.space.search.begin(rules);
    const offsets = new Int32Array(picked.length);
    const columns: Uint8Array[] = [];
    let size = 0;
    for (let i = 0; i < picked.length; i++) {
      offsets[i] = size;
      columns.push(this.space.column(picked[i]));
      size += this.specs[picked[i]].bins * (this.width + 1);
    }
    this.picked = picked;
    this.layout = { columns, offsets, stride: this.width + 1 };
    this.smallNodeRows = this.width === 1 ? (MIN_ROWS_PER_BIN * size) / (2 * picked.length) : 0;
    this.size = size;
    this.chance = weak ? chanceGain(this.space.gradHess, rows, this.width) : 0;
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
    return leaf.end - leaf.start <= this.smallNodeRows;
  }

  private worthSearching(leaf: OpenLeaf, rules: GrowRules): boolean {
    return leaf.depth < rules.maxDepth && leaf.sums[this.width] >= 2 * rules.minHessian;
  }

  private buildHistogram(leaf: OpenLeaf, { rows }: Growth): Float64Array {
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
      small.histogram = this.buildHistogram(small, growth);
    }
    const { histogram } = parent;
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
    this.space.removeRows(histogram, this.layout, growth.rows, small.start, small.end);
    this.work += (small.end - small.start) * this.picked.length * this.width;
  }

  private search(leaf: OpenLeaf, growth: Growth): void {
    const { rules, random, rows, weak } = growth;
    if (!this.worthSearching(leaf, rules)) {
      return;
    }
    const { best, histogram, start, end } = leaf;
    const { search, gradHess } = this.space;
    const sampled = rules.nodeColumns < 1;
    const count = this.picked.length;
    const sampledColumns = sampled
      ? random.sample(count, Math.max(1, Math.ceil(count * rules.nodeColumns)))
      : undefined;
    const tried = sampledColumns ? sampledColumns.length : count;
    if (!histogram) {
      this.work += (end - start) * tried;
    }
    search.enter(leaf.sums);
    for (let k = 0; k < tried; k++) {
      const i = sampledColumns ? sampledColumns[k] : k;
      const column = this.picked[i];
      const spec = this.specs[column];
      const chance = weak?.[column] === 1 ? this.chance : 0;
      if (histogram) {
        search.byHistogram(histogram, this.layout.offsets[i], spec, column, best, chance);
      } else {
        search.byRows({ rows, start, end }, gradHess, this.layout.columns[i], spec, column, best, chance);
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

/**
 * What the best partition of uninformative levels gains per level, in units of the mean squared gradient per hessian:
 * half of the levels are above their mean, by √(2/π) standard deviations on average.
 */
const CHANCE_GAIN = 2 / Math.PI;

interface Learned {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  rows: Int32Array;
}

/**
 * Finds categorical columns with many levels that differ no more than by chance, by the F ratio of an analysis of
 * variance (R. A. Fisher, 1925) of the first gradients: the variance between levels, by that within them. When sorted by
 * gradient, that many levels can always be partitioned at some gain, and in small trees such splits would displace
 * informative columns. The fewer rows a level has, the more it takes: without two rows in some level nothing shows that
 * levels differ. Returns 1 per such column; undefined if there are none.
 *
 * @param room of a run that has not begun: its contents are overwritten
 */
export function weakCategories(
  { columns, specs, objective, rows }: Learned,
  { scores, gradHess }: Pick<GrowSpace, 'scores' | 'gradHess'>,
): Uint8Array | undefined {
  const asked = specs.flatMap(({ category, bins }, column) =>
    category && bins - 1 > WEAK_CATEGORIES.levels ? [column] : [],
  );
  if (asked.length === 0) {
    return undefined;
  }
  const { width } = objective;
  const base = objective.base(rows);
  for (let i = 0; i < scores.length; i++) {
    scores[i] = base[i % width];
  }
  const between = new Float64Array(asked.length);
  const levels = new Float64Array(asked.length);
  let squares = 0;
  let hessians = 0;
  for (let output = 0; output < width; output++) {
    objective.gradHess(scores, rows, output, gradHess);
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i] * 2;
      squares += gradHess[at] * gradHess[at];
      hessians += gradHess[at + 1];
    }
    asked.forEach((column, i) => {
      const found = betweenLevels(columns[column], rows, gradHess);
      between[i] += found.gain;
      levels[i] += found.levels - 1;
    });
  }
  const weak = new Uint8Array(specs.length);
  const values = rows.length * width;
  const total = hessians > 0 ? (squares * values) / hessians : 0;
  asked.forEach((column, i) => {
    const free = values - levels[i] - width;
    const isWeak = free < 1 || between[i] * free < WEAK_CATEGORIES.ratio * levels[i] * (total - between[i]);
    weak[column] = isWeak ? 1 : 0;
  });
  return weak.includes(1) ? weak : undefined;
}

/** The gain of splitting all levels apart, and the number of levels. */
function betweenLevels(
  bins: Uint8Array,
  rows: Int32Array,
  gradHess: Float64Array,
): { gain: number; levels: number } {
  const gradients = new Float64Array(256);
  const hessians = new Float64Array(256);
  for (let i = 0; i < rows.length; i++) {
    const bin = bins[rows[i]];
    gradients[bin] += gradHess[rows[i] * 2];
    hessians[bin] += gradHess[rows[i] * 2 + 1];
  }
  let gain = 0;
  let levels = 0;
  let gradient = 0;
  let hessian = 0;
  for (let bin = 0; bin < 256; bin++) {
    if (hessians[bin] > 0) {
      levels++;
      gain += (gradients[bin] * gradients[bin]) / hessians[bin];
      gradient += gradients[bin];
      hessian += hessians[bin];
    }
  }
  return { gain: hessian > 0 ? gain - (gradient * gradient) / hessian : 0, levels };
}

/**
 * What a weak category gains by chance for each of its levels, in a tree of these rows.
 *
 * @param gradHess rows × (width + 1), for all rows of the table
 */
export function chanceGain(gradHess: Float64Array, rows: Int32Array, width: number): number {
  let squares = 0;
  let hessians = 0;
  for (let i = 0; i < rows.length; i++) {
    const at = rows[i] * (width + 1);
    for (let d = 0; d < width; d++) {
      squares += gradHess[at + d] * gradHess[at + d];
    }
    hessians += gradHess[at + width];
  }
  return hessians > 0 ? (CHANCE_GAIN * squares) / hessians : 0;
}
