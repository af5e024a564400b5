import type { Reference } from '../models/cards';
import type { ColumnBatch } from '../table/columns/column-batch';
import { Yielder } from '../util/concurrency';
import { ComparedColumn, comparedColumns, MISSING_PLACE, Nearest } from './compared-column';

/** How unlike the train set a row is. */
export interface Unlike {
  /** Part of the train rows that are less unlike the others than this row is, 0 to 1. */
  rank: number;
  /** The columns that differ most from the train rows nearest to it, at most three. */
  columns: string[];
  /** `column: value` for values outside the range of the train set, and for categories that it has not. */
  new: string[];
}

/** Rows `from` to `to` (exclusive). */
interface ComparedRows {
  from?: number;
  to?: number;
  signal?: AbortSignal;
}

const MAX_COLUMNS = 3;
/** A column is named if it differs by this part of its usual range more than train rows do from each other. */
const MIN_EXCESS = 0.1;
/** A train row is not compared with its neighbours: in a series they are nearly the same. */
const BLOCKS = 10;
/** The weight of residuals relative to the distance, each divided by its median over the train rows. */
const RESIDUALS = 0.75;

/** What rows are compared with. */
interface KnownTrainSet {
  columns: readonly ComparedColumn[];
  nearest: Nearest;
  residuals: Residuals | undefined;
  /** What residuals are multiplied by before they are added to distances. */
  weight: number;
  /** The same sums of the train rows, ascending. */
  own: Float64Array;
  /** What each column adds to that of a train row, on average. */
  usual: Float64Array;
}

/**
 * Compares rows with the kept rows of a train set by their nearest neighbours: the sum over the columns of differences
 * in parts of the usual range, 1 at most, to the fifth nearest row. Three quarters as much counts how far columns of
 * numbers are from what the others say of them: rows may lie where no train row is and keep to their law, or near them
 * and break it. The rank of both among those of the train rows (their distances to rows of other blocks) says how unusual that is.
 */
export class TrainSetComparison {
  private readonly columns: readonly ComparedColumn[];
  private readonly nearest: Nearest;
  private readonly residuals: Residuals | undefined;
  private readonly weight: number;
  private readonly own: Float64Array;
  private readonly usual: Float64Array;

  private constructor({ columns, nearest, residuals, weight, own, usual }: KnownTrainSet) {
    this.columns = columns;
    this.nearest = nearest;
    this.residuals = residuals;
    this.weight = weight;
    this.own = own;
    this.usual = usual;
  }

  /** Undefined where there are no rows to compare with. It takes some milliseconds, in turns. */
  static async of(reference: Reference): Promise<TrainSetComparison | undefined> {
    const columns = comparedColumns(reference);
    const rows = reference.rows.length;
    if (rows < 2 || columns.length === 0) {
      return undefined;
    }
    const nearest = new Nearest(
      columns.map((column) => column.train),
      rows,
    );
    const yielder = new Yielder();
    const residuals = await Residuals.of(columns, rows, yielder);
    const own = new Float64Array(rows);
    const sums = new Float64Array(rows);
    const usual = new Float64Array(columns.length);
    const usualResiduals = new Float64Array(columns.length);
    const block = Math.ceil(rows / Math.min(BLOCKS, rows));
    const query = new Float64Array(columns.length);
    for (let row = 0; row < rows; row++) {
      const from = Math.floor(row / block) * block;
      columns.forEach(({ train }, at) => {
        query[at] = train[row]!;
      });
      own[row] = nearest.find(query, from, from + block);
      const apart = nearest.differences(query);
      for (let at = 0; at < apart.length; at++) {
        usual[at]! += apart[at]! / rows;
      }
      sums[row] = residuals?.addTo(usualResiduals, query, 1 / rows) ?? 0;
      await yielder.due();
    }
    const middle = computeMedian(sums);
    const weight = middle > 0 ? (RESIDUALS * computeMedian(own)) / middle : 0;
    return new TrainSetComparison({
      columns,
      nearest,
      residuals,
      weight,
      own: own.map((distance, row) => distance + weight * sums[row]!).sort(),
      usual: usual.map((difference, at) => difference + weight * usualResiduals[at]!),
    });
  }

  /**
   * Rows of a batch, with turns of the event loop in between.
   *
   * @param names the columns of the batch; those that it lacks are missing
   */
  async compare(
    names: readonly string[],
    batch: ColumnBatch,
    { from = 0, to = batch.rows, signal }: ComparedRows = {},
  ): Promise<Unlike[]> {
    const data = this.columns.map(({ name }) => batch.columns[names.indexOf(name)]);
    const yielder = new Yielder();
    const query = new Float64Array(this.columns.length);
    const result: Unlike[] = [];
    for (let row = from; row < to; row++) {
      const fresh: string[] = [];
      this.columns.forEach((column, at) => {
        query[at] = column.place(data[at], row, fresh);
      });
      const distance = this.nearest.find(query);
      const apart = this.nearest.differences(query);
      const residuals = this.residuals?.addTo(apart, query, this.weight) ?? 0;
      const rank = this.rank(distance + this.weight * residuals);
      result.push({ rank, columns: this.differing(apart), new: fresh });
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
        signal?.throwIfAborted();
      }
    }
    return result;
  }

  private differing(apart: Float64Array): string[] {
    const excess = apart.map((difference, at) => difference - this.usual[at]!);
    const order = Array.from(excess, (_, at) => at).filter((at) => excess[at]! >= MIN_EXCESS);
    return order
      .sort((a, b) => excess[b]! - excess[a]!)
      .slice(0, MAX_COLUMNS)
      .map((at) => this.columns[at]!.name);
  }

  /** It rises with the distance without end, so that of two rows beyond all train rows the further one ranks higher. */
  private rank(distance: number): number {
    const { own } = this;
    const below = countBelow(own, distance, false);
    const upTo = countBelow(own, distance, true);
    let position = (below + upTo) / 2;
    if (upTo === below) {
      const low = own[below - 1] ?? 0;
      const high = own[below];
      position += high === undefined ? 1 - low / distance : (distance - low) / (high - low);
    }
    return Math.round((position / (own.length + 1)) * 1e5) / 1e5;
  }
}

const made = new WeakMap<Reference, Promise<TrainSetComparison | undefined>>();

/** The same for each call with the same reference. */
export function comparisonWith(reference: Reference): Promise<TrainSetComparison | undefined> {
  let comparison = made.get(reference);
  if (comparison === undefined) {
    comparison = TrainSetComparison.of(reference);
    made.set(reference, comparison);
  }
  return comparison;
}

function computeMedian(values: Float64Array): number {
  return values.slice().sort()[values.length >> 1] ?? 0;
}

/** How many of the sorted values are below, or at most, that one. */
function countBelow(sorted: Float64Array, value: number, inclusive: boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBelow = inclusive ? sorted[middle]! <= value : sorted[middle]! < value;
    if (isBelow) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

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
