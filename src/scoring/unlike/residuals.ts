import type { Yielder } from '../../util/concurrency';
import { type ComparedColumn, MISSING_PLACE } from './compared-column';

/** Columns at most, and train rows for each of them at least, so that there is something to be said of them. */
const MOST_COLUMNS = 100;
const ROWS_FOR_EACH = 4;
/** Part of the correlation matrix that is taken from the identity (ridge regression), besides a share for each column. */
const RIDGE = 10;
/** Places beyond these are seen as these, so that one column far away does not make all others look wrong. */
const LOWEST = -3;
const HIGHEST = 4;

/**
 * What columns of numbers say of each other: the residual of each one, as linear regression on all the others would
 * predict it, from the inverse of their correlation matrix.
 */
export class Residuals {
  private readonly scaled: Float64Array;

  private constructor(
    /** Which of the compared columns these are, and how many there are. */
    private readonly at: Int32Array,
    private readonly means: Float64Array,
    private readonly spreads: Float64Array,
    /** columns × columns: what a column's value counts for in another one's residual. */
    private readonly weights: Float64Array,
  ) {
    this.scaled = new Float64Array(at.length);
  }

  /** Undefined where fewer than two columns vary, or there are too many for these rows. */
  static async of(
    columns: readonly ComparedColumn[],
    rows: number,
    yielder: Yielder,
  ): Promise<Residuals | undefined> {
    const at: number[] = [];
    const means: number[] = [];
    const spreads: number[] = [];
    columns.forEach(({ ordered, train }, column) => {
      const known = train.filter((place) => place !== MISSING_PLACE).map(clipped);
      const mean = known.reduce((sum, place) => sum + place / known.length, 0);
      const spread = Math.sqrt(known.reduce((sum, place) => sum + (place - mean) ** 2 / known.length, 0));
      if (ordered && spread > 0) {
        at.push(column);
        means.push(mean);
        spreads.push(spread);
      }
    });
    const count = at.length;
    if (count < 2 || count > Math.min(MOST_COLUMNS, rows / ROWS_FOR_EACH)) {
      return undefined;
    }
    const weights = new Float64Array(count * count);
    const residuals = new Residuals(
      Int32Array.from(at),
      Float64Array.from(means),
      Float64Array.from(spreads),
      weights,
    );
    const share = Math.min(1, (RIDGE + count) / rows);
    for (let row = 0; row < rows; row++) {
      const z = residuals.standardise((column) => columns[column]!.train[row]!);
      for (let i = 0; i < count; i++) {
        for (let j = 0; j < count; j++) {
          weights[i * count + j]! += ((1 - share) * z[i]! * z[j]!) / rows;
        }
      }
      await yielder.due();
    }
    for (let i = 0; i < count; i++) {
      weights[i * count + i]! += share;
    }
    await invert(weights, count, yielder);
    const usual = await residuals.usualWidths(columns, rows, yielder);
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < count; j++) {
        weights[i * count + j]! /= usual[i]!;
      }
    }
    return residuals;
  }

  /**
   * Adds the residuals of a row to `out` (per compared column), in parts of their usual range and 1 at most, times
   * `weight`. Returns their sum without the weight, in which missing values count as the mean of the others.
   */
  addTo(out: Float64Array, query: Float64Array, weight: number): number {
    const { at, weights } = this;
    const z = this.standardise((column) => query[column]!);
    let sum = 0;
    let known = 0;
    for (let i = 0; i < z.length; i++) {
      if (query[at[i]!] === MISSING_PLACE) {
        continue;
      }
      known++;
      let residual = 0;
      for (let j = 0; j < z.length; j++) {
        residual += weights[i * z.length + j]! * z[j]!;
      }
      const size = Math.min(1, Math.abs(residual));
      out[at[i]!]! += weight * size;
      sum += size;
    }
    return known === 0 ? 0 : (sum * z.length) / known;
  }

  /** From the 5 % to the 95 % quantile of each residual over the train rows. */
  private async usualWidths(
    columns: readonly ComparedColumn[],
    rows: number,
    yielder: Yielder,
  ): Promise<Float64Array> {
    const { at, weights } = this;
    const all = Array.from(at, () => new Float64Array(rows));
    for (let row = 0; row < rows; row++) {
      const z = this.standardise((column) => columns[column]!.train[row]!);
      for (let i = 0; i < z.length; i++) {
        for (let j = 0; j < z.length; j++) {
          all[i]![row]! += weights[i * z.length + j]! * z[j]!;
        }
      }
      await yielder.due();
    }
    return Float64Array.from(all, (values) => {
      const sorted = values.sort();
      const width = sorted[Math.round(0.95 * (rows - 1))]! - sorted[Math.round(0.05 * (rows - 1))]!;
      return width > 0 ? width : Math.max(Number.MIN_VALUE, sorted[rows - 1]! - sorted[0]!);
    });
  }

  /** The places of a row as the regressions see them: a missing one is at the mean. */
  private standardise(placeOf: (column: number) => number): Float64Array {
    const { at, means, spreads, scaled } = this;
    for (let i = 0; i < at.length; i++) {
      const place = placeOf(at[i]!);
      scaled[i] = place === MISSING_PLACE ? 0 : (clipped(place) - means[i]!) / spreads[i]!;
    }
    return scaled;
  }
}

function clipped(place: number): number {
  return Math.max(LOWEST, Math.min(HIGHEST, place));
}

/** Turns a symmetric positive definite matrix into its inverse, by Gauss-Jordan elimination. */
async function invert(matrix: Float64Array, count: number, yielder: Yielder): Promise<void> {
  for (let pivot = 0; pivot < count; pivot++) {
    const scale = 1 / matrix[pivot * count + pivot]!;
    matrix[pivot * count + pivot] = 1;
    for (let j = 0; j < count; j++) {
      matrix[pivot * count + j]! *= scale;
    }
    for (let i = 0; i < count; i++) {
      const factor = matrix[i * count + pivot]!;
      if (i === pivot || factor === 0) {
        continue;
      }
      matrix[i * count + pivot] = 0;
      for (let j = 0; j < count; j++) {
        matrix[i * count + j]! -= factor * matrix[pivot * count + j]!;
      }
    }
    await yielder.due();
  }
}
