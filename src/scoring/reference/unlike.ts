import type { ColumnBatch } from '../../table';
import { Yielder } from '../../util/event-loop';
import { ComparedColumn, comparedColumns } from './compared-column';
import { Nearest } from './nearest';
import type { Reference } from './types';

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
/** A train row is not compared with those beside it: in a series they are nearly the same. */
const BLOCKS = 10;

/**
 * Compares rows with the kept rows of a train set by their nearest neighbours: the sum over the columns of differences
 * in parts of the usual range, 1 at most, to the fifth nearest row. Its rank among the distances of the train rows to
 * those of other blocks says how unusual that is. Nothing is learned, and columns of any type are told from each other.
 */
export class TrainSetComparison {
  private constructor(
    private readonly columns: readonly ComparedColumn[],
    private readonly nearest: Nearest,
    /** Distances of the train rows to each other, ascending. */
    private readonly own: Float64Array,
    /** By how much each column differs between a train row and those nearest to it, on average. */
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
    const own = new Float64Array(rows);
    const usual = new Float64Array(columns.length);
    const block = Math.ceil(rows / Math.min(BLOCKS, rows));
    const yielder = new Yielder();
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
      await yielder.due();
    }
    return new TrainSetComparison(columns, nearest, own.sort(), usual);
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
      result.push({ rank: this.rankOf(distance), columns: this.differing(query), new: fresh });
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
        signal?.throwIfAborted();
      }
    }
    return result;
  }

  private differing(query: Float64Array): string[] {
    const excess = this.nearest.differences(query).map((difference, at) => difference - this.usual[at]!);
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
