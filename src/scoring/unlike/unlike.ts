import type { ColumnBatch } from '../../table';
import { Yielder } from '../../util/concurrency';
import type { Reference } from '../reference/types';
import { ComparedColumn, comparedColumns, Nearest } from './compared-column';
import { Residuals } from './residuals';

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

/**
 * Compares rows with the kept rows of a train set by their nearest neighbours: the sum over the columns of differences
 * in parts of the usual range, 1 at most, to the fifth nearest row. Three quarters as much counts how far columns of
 * numbers are from what the others say of them: rows may lie where no train row is and keep to their law, or near them
 * and break it. The rank of both among those of the train rows (their distances to rows of other blocks) says how unusual that is.
 */
export class TrainSetComparison {
  private constructor(
    private readonly columns: readonly ComparedColumn[],
    private readonly nearest: Nearest,
    private readonly residuals: Residuals | undefined,
    /** What residuals are multiplied by before they are added to distances. */
    private readonly weight: number,
    /** The same sums of the train rows, ascending. */
    private readonly own: Float64Array,
    /** What each column adds to that of a train row, on average. */
    private readonly usual: Float64Array,
  ) {}

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
    const middle = medianOf(sums);
    const weight = middle > 0 ? (RESIDUALS * medianOf(own)) / middle : 0;
    return new TrainSetComparison(
      columns,
      nearest,
      residuals,
      weight,
      own.map((distance, row) => distance + weight * sums[row]!).sort(),
      usual.map((difference, at) => difference + weight * usualResiduals[at]!),
    );
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
      const rank = this.rankOf(distance + this.weight * residuals);
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
  private rankOf(distance: number): number {
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

function medianOf(values: Float64Array): number {
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
