import type { ColumnSpec } from '../features/encode';
import { closing } from '../kernels/scratch';
import { indices } from '../math/order';
import type { Random } from '../math/random';
import { NodeRows } from './node-rows';
import { type Split, TreeBuilder, type Trees } from './trees';

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
  /** Called after each tree, with the part of all trees that is grown, 0 to 1. */
  onTree?: (part: number) => void;
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
  const tried = Math.min(rules.nodeColumns, input.columns.length);
  return closing(new NodeRows({ ...input, base: input.base[0], tried }), (rows) => {
    const grower = new RandomisedGrower(input, rules, random, rows, tried);
    for (let tree = 0; tree < rules.trees; tree++) {
      grower.grow();
      input.onTree?.((tree + 1) / rules.trees);
    }
    return { base: input.base, trees: grower.builder.finish(), work: grower.work };
  });
}

interface OpenNode {
  node: number;
  start: number;
  end: number;
}

class RandomisedGrower {
  readonly builder: TreeBuilder;
  work = 0;
  /** Columns, in an order that is shuffled as they are tried. */
  private readonly order: Int32Array;
  /** The sum of a node's values, or its rows of each class. */
  private readonly totals: Float64Array;
  private readonly leafValues: Float64Array;
  private readonly splits: RandomSplits;
  /** What a node chooses from. */
  private readonly drawn: Split[];
  /** Per class, where the values of a leaf with only that class begin; -1 if there is none yet. */
  private readonly pure: Int32Array;

  constructor(
    private readonly input: RandomisedInput,
    private readonly rules: RandomisedRules,
    private readonly random: Random,
    private readonly rows: NodeRows,
    tried: number,
  ) {
    const { classes, base, specs } = input;
    this.builder = new TreeBuilder(base.length);
    this.order = indices(specs.length);
    this.pure = new Int32Array(classes).fill(-1);
    this.totals = new Float64Array(rows.width);
    this.leafValues = new Float64Array(base.length);
    this.splits = new RandomSplits(input, rows, random);
    this.drawn = Array.from({ length: tried }, () => ({
      column: 0,
      bin: 0,
      missingLeft: false,
      set: undefined,
    }));
  }

  grow(): void {
    const { builder, rows } = this;
    const open: OpenNode[] = [{ node: builder.addRoot(), start: 0, end: rows.list.length }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, start, end } = next;
      const split = this.sum(start, end) ? this.chooseSplit(start, end) : undefined;
      if (split === undefined) {
        this.setLeaf(node, end - start);
        continue;
      }
      const child = builder.split(node, split);
      const middle = rows.divide(split, start, end);
      open.push({ node: child + 1, start: middle, end }, { node: child, start, end: middle });
    }
  }

  /** Sums a node. Returns false if it has to be a leaf. */
  private sum(start: number, end: number): boolean {
    const { totals } = this;
    const { list, codes, values } = this.rows;
    totals.fill(0);
    if (codes.length > 0) {
      for (let i = start; i < end; i++) {
        totals[codes[list[i]]]++;
      }
      return end - start >= 2 * this.rules.minLeaf && totals.indexOf(end - start) < 0;
    }
    let isVaried = false;
    const first = values[list[start]];
    for (let i = start; i < end; i++) {
      totals[0] += values[list[i]];
      isVaried ||= values[list[i]] !== first;
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
  private chooseSplit(start: number, end: number): Split | undefined {
    const { order, random, splits, drawn, rows } = this;
    rows.enter();
    // Two rows are parted by any split alike.
    const most = end - start > 2 ? drawn.length : 1;
    let tried = 0;
    for (let i = 0; i < order.length && tried < most; i++) {
      const other = i + random.below(order.length - i);
      const column = order[other];
      order[other] = order[i];
      order[i] = column;
      this.work += end - start;
      tried += splits.draw(drawn[tried], tried, column, start, end) ? 1 : 0;
    }
    rows.sumLeft(drawn, tried, start, end);
    let best: Split | undefined;
    let highest = -Infinity;
    for (let i = 0; i < tried; i++) {
      const gain = this.computeGain(i, end - start);
      if (gain > highest) {
        highest = gain;
        best = drawn[i];
      }
    }
    return best;
  }

  /**
   * How much the i-th drawn split lowers the squared error (for classes, the Gini impurity), up to a constant; -∞ if a leaf
   * is too small.
   */
  private computeGain(i: number, count: number): number {
    const { totals } = this;
    const { counts, sums, width } = this.rows;
    const own = counts[i];
    const rest = count - own;
    if (own < this.rules.minLeaf || rest < this.rules.minLeaf) {
      return -Infinity;
    }
    let gain = 0;
    for (let k = 0; k < width; k++) {
      const left = sums[i * width + k];
      const right = totals[k] - left;
      gain += (left * left) / own + (right * right) / rest;
    }
    return gain;
  }
}

interface RandomSplitsInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  centers: (Float64Array | undefined)[];
}

/** Draws the splits that a node of an extremely randomised tree chooses from. */
class RandomSplits {
  constructor(
    private readonly input: RandomSplitsInput,
    private readonly rows: NodeRows,
    private readonly random: Random,
  ) {}

  /** Draws a border, or a set of categories, into the node's split at `place`. False if all its rows are in one bin. */
  draw(split: Split, place: number, column: number, start: number, end: number): boolean {
    const { random } = this;
    split.column = column;
    if (this.input.specs[column].category) {
      return this.drawSet(split, place, start, end);
    }
    split.set = undefined;
    const { low, high, hasMissing } = this.rows.findRange(column, start, end);
    if (low >= high && !hasMissing) {
      return false;
    }
    // Sometimes all known values go to one side, and the missing ones to the other.
    if (low >= high || (hasMissing && random.below(high - low + 1) === 0)) {
      split.bin = high;
      split.missingLeft = false;
      return true;
    }
    split.bin = borderBetween(this.input.centers[column]!, low, high, random.uniform());
    split.missingLeft = random.below(2) === 1;
    return true;
  }

  private drawSet(split: Split, place: number, start: number, end: number): boolean {
    const { random, rows } = this;
    const { seen } = rows;
    const distinct = rows.countSeen(split.column, start, end);
    if (distinct < 2) {
      return false;
    }
    const set = rows.sets[place];
    // One category is fixed on each side; all others, seen here or not, fall to a random side.
    const inside = random.below(distinct);
    let outside = random.below(distinct - 1);
    outside += outside >= inside ? 1 : 0;
    random.bits(this.input.specs[split.column].bins, set);
    const last = Math.max(inside, outside);
    for (let word = 0, next = 0; next <= last; word++) {
      for (let bits = seen[word]; bits !== 0 && next <= last; bits &= bits - 1, next++) {
        if (next === inside) {
          set[word] |= bits & -bits;
        } else if (next === outside) {
          set[word] &= ~(bits & -bits);
        }
      }
    }
    split.bin = 0;
    split.missingLeft = (set[0] & 1) === 1;
    split.set = set;
    return true;
  }
}

/** The last bin from `low` to `high` - 1 whose mean is at most the fraction `part` of the way from `low`'s to `high`'s. */
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
