import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import { isLeft, type Split, TreeBuilder, type Trees } from '../trees';
import { sumBelow } from './sum-below';

/** How extremely randomised trees are grown. */
export interface RandomisedRules {
  trees: number;
  /** Rows of a leaf, at least. */
  minLeaf: number;
  /** Columns tried at each node. */
  nodeColumns: number;
}

export interface RandomisedInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  /** Rows to learn from. */
  rows: Int32Array;
  /** Per row of the table: a value, or the number of its class. */
  target: ArrayLike<number>;
  /** Number of classes; 0 for numbers. */
  classes: number;
  /** Of each column the mean value of its bins; undefined for categories. */
  centers: (Float64Array | undefined)[];
  /** outputs: what the trees add to. */
  base: Float64Array;
}

/** Trees whose leaf values add up to a number, or to the votes for each class; and their cost in rows × columns. */
export interface Randomised {
  base: Float64Array;
  trees: Trees;
  work: number;
}

/**
 * Extremely randomised trees (P. Geurts, D. Ernst and L. Wehenkel, 2006): every tree learns from all rows; a node tries
 * one random border of each of some random columns, and takes the best. Their mean is smoother than boosted steps.
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
  private readonly spare: Int32Array;
  /** Columns, in an order that is shuffled as they are tried. */
  private readonly order: Int32Array;
  /** Per row of the table: its value less the base, or its class. */
  readonly values: Float64Array;
  readonly codes: Int32Array;
  /** The sum of values, or the rows of each class: of a node, and of what goes left. */
  private readonly totals: Float64Array;
  readonly left: Float64Array;
  private readonly goes = new Uint8Array(256);
  private readonly leafValues: Float64Array;
  /** Per column: 1 where none of the rows misses its value. */
  private readonly isWhole: Uint8Array;
  /** Per class where the values of a leaf of that class alone begin; -1: there is none yet. */
  private readonly pure: Int32Array;

  constructor(
    readonly input: RandomisedInput,
    private readonly rules: RandomisedRules,
    private readonly random: Random,
  ) {
    const { rows, classes, base, target, specs } = input;
    this.builder = new TreeBuilder(base.length);
    this.rows = rows.slice();
    this.spare = new Int32Array(rows.length);
    this.order = Int32Array.from(specs, (_, column) => column);
    this.values = classes > 0 ? new Float64Array(0) : Float64Array.from(target, (value) => value - base[0]);
    this.codes = classes > 0 ? Int32Array.from(target) : new Int32Array(0);
    this.pure = new Int32Array(classes).fill(-1);
    this.totals = new Float64Array(Math.max(1, classes));
    this.left = new Float64Array(Math.max(1, classes));
    this.leafValues = new Float64Array(base.length);
    this.isWhole = Uint8Array.from(input.columns, (bins) => (rows.every((row) => bins[row] > 0) ? 1 : 0));
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

  /** Sums up a node; false where it is to be a leaf. */
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

  /** The best of one random split for each of some random columns; undefined where all columns are constant. */
  private bestOf(start: number, end: number): Split | undefined {
    const { order, random, rules } = this;
    let best: Split | undefined;
    let highest = -Infinity;
    let tried = 0;
    for (let i = 0; i < order.length && tried < rules.nodeColumns; i++) {
      const other = i + random.below(order.length - i);
      const column = order[other];
      order[other] = order[i];
      order[i] = column;
      const split = this.draw(column, start, end);
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

  /** A random border, or a random set of categories; undefined where all rows of the node are in one bin. */
  private draw(column: number, start: number, end: number): Split | undefined {
    const { rows, random } = this;
    const bins = this.input.columns[column];
    if (this.input.specs[column].category) {
      return this.drawSet(column, start, end);
    }
    let low = 256;
    let high = 0;
    let missing = 0;
    if (this.isWhole[column] === 1) {
      for (let i = start; i < end; i++) {
        const bin = bins[rows[i]];
        low = bin < low ? bin : low;
        high = bin > high ? bin : high;
      }
    } else {
      for (let i = start; i < end; i++) {
        const bin = bins[rows[i]];
        // Missing values, bin 0, count as 256 from below: no branch.
        const known = ((bin - 1) & 255) + 1;
        low = known < low ? known : low;
        high = bin > high ? bin : high;
        missing += bin === 0 ? 1 : 0;
      }
    }
    const hasMissing = missing > 0 && missing < end - start;
    if (low >= high && !hasMissing) {
      return undefined;
    }
    // Now and then all known values are on one side, and the missing ones on the other.
    if (low >= high || (hasMissing && random.below(high - low + 1) === 0)) {
      return { column, bin: high, missingLeft: false, set: undefined };
    }
    const bin = borderBetween(this.input.centers[column]!, low, high, random.uniform());
    return { column, bin, missingLeft: random.below(2) === 1, set: undefined };
  }

  private drawSet(column: number, start: number, end: number): Split | undefined {
    const bins = this.input.columns[column];
    const seen = new Uint8Array(256);
    let distinct = 0;
    for (let i = start; i < end; i++) {
      const bin = bins[this.rows[i]];
      distinct += 1 - seen[bin];
      seen[bin] = 1;
    }
    if (distinct < 2) {
      return undefined;
    }
    const set = new Int32Array(8);
    // One category on each side, the others and those that are not in this node by chance.
    const fixed = [this.random.below(distinct), this.random.below(distinct - 1)];
    fixed[1] += fixed[1] >= fixed[0] ? 1 : 0;
    let place = 0;
    for (let bin = 0; bin < this.input.specs[column].bins; bin++) {
      let isIn = this.random.below(2) === 1;
      if (seen[bin] === 1) {
        isIn = place === fixed[0] || (place !== fixed[1] && isIn);
        place++;
      }
      if (isIn) {
        set[bin >> 5] |= 1 << (bin & 31);
      }
    }
    return { column, bin: 0, missingLeft: (set[0] & 1) === 1, set };
  }

  /** Which bins of a category column go left. */
  private mark(set: Int32Array, bins: number): void {
    for (let bin = 0; bin < bins; bin++) {
      this.goes[bin] = (set[bin >> 5] >>> (bin & 31)) & 1;
    }
  }

  /** By how much the split lowers the squared error (of classes the Gini impurity), up to a constant; -∞ for small leaves. */
  private gainOf(split: Split, start: number, end: number): number {
    const { left, totals } = this;
    const count = split.set ? this.sumOfSet(split, split.set, start, end) : sumBelow(this, split, start, end);
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

  /** Sums up what goes left by a set of categories, in `left`. Returns the number of rows. */
  private sumOfSet({ column }: Split, set: Int32Array, start: number, end: number): number {
    const { rows, left, codes, values, goes } = this;
    const bins = this.input.columns[column];
    this.mark(set, this.input.specs[column].bins);
    let count = 0;
    left.fill(0);
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const isIn = goes[bins[row]];
      count += isIn;
      if (codes.length > 0) {
        left[codes[row]] += isIn;
      } else {
        left[0] += isIn * values[row];
      }
    }
    return count;
  }

  private divide(node: number, column: number, start: number, end: number): number {
    const { rows, spare } = this;
    const bins = this.input.columns[column];
    const { trees } = this.builder;
    let to = start;
    let right = 0;
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const isIn = isLeft(trees, node, bins[row]) ? 1 : 0;
      rows[to] = row;
      spare[right] = row;
      to += isIn;
      right += 1 - isIn;
    }
    for (let i = 0; i < right; i++) {
      rows[to + i] = spare[i];
    }
    return to;
  }
}

/** The last bin from `low` to `high` - 1 whose mean is at most a share `part` of the way from that of `low` to `high`'s. */
function borderBetween(centers: Float64Array, low: number, high: number, part: number): number {
  const border = centers[low] + part * (centers[high] - centers[low]);
  let first = low;
  let last = high - 1;
  while (first < last) {
    const middle = (first + last + 1) >> 1;
    if (centers[middle] <= border) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}
