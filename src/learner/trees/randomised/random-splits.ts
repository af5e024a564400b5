import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import { SET_WORDS, type Split } from '../trees';
import type { NodeRows } from './node-rows';

interface RandomSplitsInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  centers: (Float64Array | undefined)[];
}

/** Draws the splits that a node of an extremely randomised tree chooses from. */
export class RandomSplits {
  /** Per bin: 1 where rows of the node have it. */
  private readonly seen = new Uint8Array(256);
  /** A set of categories for each of a node's splits: they are valid until the next node. */
  private readonly sets: Int32Array[];

  /** @param tried most splits that a node chooses from */
  constructor(
    private readonly input: RandomSplitsInput,
    private readonly rows: NodeRows,
    private readonly random: Random,
    tried: number,
  ) {
    this.sets = Array.from({ length: tried }, () => new Int32Array(SET_WORDS));
  }

  /** Draws a border, or a set of categories, into the node's split at `place`. False if all its rows are in one bin. */
  draw(split: Split, place: number, column: number, start: number, end: number): boolean {
    const { random } = this;
    split.column = column;
    if (this.input.specs[column].category) {
      return this.drawSet(split, place, start, end);
    }
    split.set = undefined;
    const { low, high, hasMissing } = this.rows.rangeOf(column, start, end);
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
    const { random, seen } = this;
    const bins = this.input.columns[split.column];
    const { bins: count } = this.input.specs[split.column];
    const { list } = this.rows;
    seen.fill(0, 0, count);
    let distinct = 0;
    for (let i = start; i < end; i++) {
      const bin = bins[list[i]];
      distinct += 1 - seen[bin];
      seen[bin] = 1;
    }
    if (distinct < 2) {
      return false;
    }
    const set = this.sets[place];
    // One category is fixed on each side; all others, seen here or not, fall to a random side.
    const inside = random.below(distinct);
    let outside = random.below(distinct - 1);
    outside += outside >= inside ? 1 : 0;
    random.bits(count, set);
    for (let bin = 0, next = 0; bin < count; bin++) {
      if (seen[bin] === 0) {
        continue;
      }
      if (next === inside) {
        set[bin >> 5] |= 1 << (bin & 31);
      } else if (next === outside) {
        set[bin >> 5] &= ~(1 << (bin & 31));
      }
      next++;
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
