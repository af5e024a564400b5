import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import { isLeft, type Split, TreeBuilder, type Trees } from '../trees';
import { sumBelow, sumOfSet } from './left-sums';
import { RandomSplits } from './random-splits';

/** How to grow extremely randomised trees. */
export interface RandomisedRules {
  trees: number;
  /** Minimum rows of a leaf. */
  minLeaf: number;
  /** Columns tried at each node. */
  nodeColumns: number;
}

export interface RandomisedInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  /** Rows to learn from. */
  rows: Int32Array;
  /** Per row of the table, a value or the index of its class. */
  target: ArrayLike<number>;
  /** Number of classes; 0 for regression. */
  classes: number;
  /** Per column, the mean value of its bins; undefined for categories. */
  centers: (Float64Array | undefined)[];
  /** Per output: what the trees add to. */
  base: Float64Array;
}

/** Trees whose leaf values add up to a value, or to the votes for each class; and their cost in rows × columns. */
export interface Randomised {
  base: Float64Array;
  trees: Trees;
  work: number;
}

/**
 * Extremely randomised trees (P. Geurts, D. Ernst and L. Wehenkel, 2006): every tree learns from all rows; a node
 * draws one random split for each of some random columns and takes the best. Their mean is smoother than boosted
 * steps.
 */
export function growRandomised(input: RandomisedInput, rules: RandomisedRules, random: Random): Randomised {
  const grower = new RandomisedGrower(input, rules, random);
  for (let tree = 0; tree < rules.trees; tree++) {
    grower.grow();
  }
  return { base: input.base, trees: grower.builder.finish(), work: grower.work };
}

interface OpenNode {
  node: number;
  start: number;
  end: number;
}

class RandomisedGrower {
  readonly builder: TreeBuilder;
  work = 0;
  readonly rows: Int32Array;
  private readonly scratch: Int32Array;
  /** Columns, in an order that is shuffled as they are tried. */
  private readonly order: Int32Array;
  /** Per row of the table, its value less the base, or its class. */
  readonly values: Float64Array;
  readonly codes: Int32Array;
  /** The sum of values or the rows of each class, for a node and for its left side. */
  private readonly totals: Float64Array;
  readonly left: Float64Array;
  private readonly leafValues: Float64Array;
  private readonly splits: RandomSplits;
  /** Per class, where the values of a leaf with only that class begin; -1 if there is none yet. */
  private readonly pure: Int32Array;

  constructor(
    readonly input: RandomisedInput,
    private readonly rules: RandomisedRules,
    private readonly random: Random,
  ) {
    const { rows, classes, base, target, specs } = input;
    this.builder = new TreeBuilder(base.length);
    this.rows = rows.slice();
    this.scratch = new Int32Array(rows.length);
    this.order = Int32Array.from(specs, (_, column) => column);
    this.values = classes > 0 ? new Float64Array(0) : Float64Array.from(target, (value) => value - base[0]);
    this.codes = classes > 0 ? Int32Array.from(target) : new Int32Array(0);
    this.pure = new Int32Array(classes).fill(-1);
    this.totals = new Float64Array(Math.max(1, classes));
    this.left = new Float64Array(Math.max(1, classes));
    this.leafValues = new Float64Array(base.length);
    this.splits = new RandomSplits(input, this.rows, random);
  }

  grow(): void {
    const open: OpenNode[] = [{ node: this.builder.addRoot(), start: 0, end: this.rows.length }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, start, end } = next;
      const split = this.sum(start, end) ? this.bestOf(start, end) : undefined;
      if (split === undefined) {
        this.setLeaf(node, end - start);
        continue;
      }
      const child = this.builder.split(node, split);
      const middle = this.divide(node, split.column, start, end);
      open.push({ node: child + 1, start: middle, end }, { node: child, start, end: middle });
    }
  }

  /** Sums a node. Returns false if it has to be a leaf. */
  private sum(start: number, end: number): boolean {
    const { rows, totals, codes, values } = this;
    totals.fill(0);
    if (codes.length > 0) {
      for (let i = start; i < end; i++) {
        totals[codes[rows[i]]]++;
      }
      return end - start >= 2 * this.rules.minLeaf && totals.indexOf(end - start) < 0;
    }
    let isVaried = false;
    const first = values[rows[start]];
    for (let i = start; i < end; i++) {
      totals[0] += values[rows[i]];
      isVaried ||= values[rows[i]] !== first;
    }
    return end - start >= 2 * this.rules.minLeaf && isVaried;
  }

  private setLeaf(node: number, count: number): void {
    const { totals, leafValues, input, rules } = this;
    const { width } = this.builder;
    const only = input.classes > 0 ? totals.indexOf(count) : -1;
    if (only >= 0 && this.pure[only] >= 0) {
      this.builder.shareLeaf(node, this.pure[only]);
      return;
    }
    const first = input.classes === 2 ? 1 : 0;
    for (let k = 0; k < width; k++) {
      leafValues[k] = totals[first + k] / (count * rules.trees);
    }
    const at = this.builder.setLeaf(node, leafValues);
    if (only >= 0) {
      this.pure[only] = at;
    }
  }

  /** The best of one random split for each of some random columns; undefined if all columns are constant. */
  private bestOf(start: number, end: number): Split | undefined {
    const { order, random, rules, splits } = this;
    let best: Split | undefined;
    let highest = -Infinity;
    let tried = 0;
    for (let i = 0; i < order.length && tried < rules.nodeColumns; i++) {
      const other = i + random.below(order.length - i);
      const column = order[other];
      order[other] = order[i];
      order[i] = column;
      const split = splits.draw(column, start, end);
      this.work += end - start;
      if (split === undefined) {
        continue;
      }
      tried++;
      const gain = this.gainOf(split, start, end);
      if (gain > highest) {
        highest = gain;
        best = split;
      }
    }
    return best;
  }

  /** How much a split lowers the squared error (for classes, the Gini impurity), up to a constant; -∞ if a leaf is too small. */
  private gainOf(split: Split, start: number, end: number): number {
    const { left, totals } = this;
    const count = split.set
      ? sumOfSet(this, split.column, split.set, start, end)
      : sumBelow(this, split, start, end);
    const rest = end - start - count;
    if (count < this.rules.minLeaf || rest < this.rules.minLeaf) {
      return -Infinity;
    }
    let gain = 0;
    for (let k = 0; k < left.length; k++) {
      const right = totals[k] - left[k];
      gain += (left[k] * left[k]) / count + (right * right) / rest;
    }
    return gain;
  }

  private divide(node: number, column: number, start: number, end: number): number {
    const { rows, scratch } = this;
    const bins = this.input.columns[column];
    const { trees } = this.builder;
    let to = start;
    let right = 0;
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const isIn = isLeft(trees, node, bins[row]) ? 1 : 0;
      rows[to] = row;
      scratch[right] = row;
      to += isIn;
      right += 1 - isIn;
    }
    for (let i = 0; i < right; i++) {
      rows[to + i] = scratch[i];
    }
    return to;
  }
}
