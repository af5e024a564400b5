import type { ColumnSpec } from '../../features/encode';
import type { Random } from '../../math/random';
import type { Split } from '../trees';

/** Draws the splits that a node of an extremely randomised tree chooses from. */
export class RandomSplits {
  /** Per column, 1 if none of the rows misses its value. */
  private readonly isComplete: Uint8Array;

  /** @param rows of the trees; a node is a range of them */
  constructor(
    private readonly input: {
      columns: Uint8Array[];
      specs: ColumnSpec[];
      centers: (Float64Array | undefined)[];
    },
    private readonly rows: Int32Array,
    private readonly random: Random,
  ) {
    this.isComplete = Uint8Array.from(input.columns, (bins) => (rows.every((row) => bins[row] > 0) ? 1 : 0));
  }

  /** A random border, or a random set of categories; undefined if all rows of the node are in one bin. */
  draw(column: number, start: number, end: number): Split | undefined {
    const { rows, random } = this;
    const bins = this.input.columns[column];
    if (this.input.specs[column].category) {
      return this.drawSet(column, start, end);
    }
    let low = 256;
    let high = 0;
    let missing = 0;
    if (this.isComplete[column] === 1) {
      for (let i = start; i < end; i++) {
        const bin = bins[rows[i]];
        low = bin < low ? bin : low;
        high = bin > high ? bin : high;
      }
    } else {
      for (let i = start; i < end; i++) {
        const bin = bins[rows[i]];
        // Branch-free: missing values (bin 0) count as 256 for the minimum.
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
    // Sometimes all known values go to one side, and the missing ones to the other.
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
    // One category is fixed on each side; all others, seen here or not, fall to a random side.
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
