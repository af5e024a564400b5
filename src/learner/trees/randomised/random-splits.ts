import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import type { Split } from '../trees';
import type { NodeRows } from './node-rows';

interface RandomSplitsInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  centers: (Float64Array | undefined)[];
}

/** Draws the splits that a node of an extremely randomised tree chooses from. */
export class RandomSplits {
  constructor(
    private readonly input: RandomSplitsInput,
    private readonly rows: NodeRows,
    private readonly random: Random,
  ) {}

  /** Draws a border, or a set of categories, into `split`. False if all rows of the node are in one bin. */
  draw(split: Split, column: number, start: number, end: number): boolean {
    const { random } = this;
    split.column = column;
    if (this.input.specs[column].category) {
      return this.drawSet(split, start, end);
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

  private drawSet(split: Split, start: number, end: number): boolean {
    const bins = this.input.columns[split.column];
    const { list } = this.rows;
    const seen = new Uint8Array(256);
    let distinct = 0;
    for (let i = start; i < end; i++) {
      const bin = bins[list[i]];
      distinct += 1 - seen[bin];
      seen[bin] = 1;
    }
    if (distinct < 2) {
      return false;
    }
    const set = new Int32Array(8);
    // One category is fixed on each side; all others, seen here or not, fall to a random side.
    const fixed = [this.random.below(distinct), this.random.below(distinct - 1)];
    fixed[1] += fixed[1] >= fixed[0] ? 1 : 0;
    let place = 0;
    for (let bin = 0; bin < this.input.specs[split.column].bins; bin++) {
      let isIn = this.random.below(2) === 1;
      if (seen[bin] === 1) {
        isIn = place === fixed[0] || (place !== fixed[1] && isIn);
        place++;
      }
      if (isIn) {
        set[bin >> 5] |= 1 << (bin & 31);
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
