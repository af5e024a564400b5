import { stabilityIndex } from '../../metrics/stability';
import type { DriftReference, ReferenceCell } from '../../models/cards';
import { DRIFT_WINDOW, driftBin, driftBins } from '../../models/reference';
import { Ring } from '../statistics/ring';
import type { ColumnDrift, ColumnMove, WatchedColumn } from '../types';

/** Rows between checks, and consecutive checks that it takes. */
const EVERY = 50;
const IN_A_ROW = 2;

export interface DriftState {
  bins: string;
  rows: number;
  last: string;
  columns: { psi: number; above: number }[];
}

/** Whether the newest rows differ from the train set, column by column, more than its own windows do. */
export class Drift {
  /** [row][column]: the bin of each cell. */
  private readonly bins: Ring;
  private rows: number;
  private last: string;
  private readonly columns: { psi: number; above: number }[];

  constructor(
    private readonly watched: readonly WatchedColumn[],
    state?: DriftState,
  ) {
    const width = watched.length;
    const isSame = state?.columns.length === width;
    this.bins = isSame ? Ring.fromText(width, DRIFT_WINDOW, state.bins) : new Ring(width, DRIFT_WINDOW);
    this.rows = isSame ? state.rows : 0;
    this.last = state?.last ?? '';
    this.columns = watched.map((_, at) => (isSame ? { ...state.columns[at]! } : { psi: 0, above: 0 }));
  }

  /** @param place key and time: rows with several aheads are one reading */
  add(row: Readonly<Record<string, unknown>>, place: string): void {
    if (this.watched.length === 0 || place === this.last) {
      return;
    }
    this.last = place;
    this.bins.push(this.watched.map(({ column, reference }) => driftBin(reference, cellOf(row[column]))));
    this.rows++;
    if (this.bins.size === DRIFT_WINDOW && this.rows % EVERY === 0) {
      this.check();
    }
  }

  /** All columns, the most changed relative to its threshold first. */
  get all(): ColumnDrift[] {
    return this.watched
      .map(({ column, threshold, reference }, at) => {
        const { psi } = this.columns[at]!;
        const moved = psi > threshold ? mostMoved(reference, this.countsOf(at)) : undefined;
        return { column, psi, threshold, ...(moved && { moved }) };
      })
      .sort((a, b) => b.psi * a.threshold - a.psi * b.threshold);
  }

  /** Columns above their threshold now. */
  get beyond(): ColumnDrift[] {
    return this.all.filter(({ psi, threshold }) => psi > threshold);
  }

  /** Whether some column was above its threshold in two consecutive checks. */
  get isSure(): boolean {
    return this.columns.some(({ above }) => above >= IN_A_ROW);
  }

  toJSON(): DriftState {
    const { bins, rows, last, columns } = this;
    return { bins: bins.toText(), rows, last, columns: columns.map((one) => ({ ...one })) };
  }

  private check(): void {
    this.watched.forEach(({ reference, threshold }, at) => {
      const psi = stabilityIndex(reference.shares, this.countsOf(at));
      const above = psi > threshold ? this.columns[at]!.above + 1 : 0;
      this.columns[at] = { psi, above };
    });
  }

  /** The newest rows in each bin of a column. */
  private countsOf(at: number): number[] {
    const counts = new Array<number>(driftBins(this.watched[at]!.reference)).fill(0);
    for (let row = 0; row < this.bins.size; row++) {
      counts[this.bins.at(row, at)]!++;
    }
    return counts;
  }
}

/** The values whose part of the rows has grown most, so that a person can be told what a drift is. */
function mostMoved({ edges = [], categories, shares }: DriftReference, counts: number[]): ColumnMove {
  const rows = sum(counts);
  const now = counts.map((count) => count / rows);
  const usual = shares;
  const missing = shares.length - 1;
  const moves: ColumnMove[] = [{ to: 'missing', now: now[missing]!, usual: usual[missing]! }];
  if (categories === undefined) {
    edges.forEach((value, at) => {
      const below = { now: sum(now.slice(0, at + 1)), usual: sum(usual.slice(0, at + 1)) };
      const from = { now: sum(now.slice(at + 1, missing)), usual: sum(usual.slice(at + 1, missing)) };
      moves.push({ to: 'below', value, ...below }, { to: 'from', value, ...from });
    });
  } else {
    categories.forEach((value, at) => {
      moves.push({ to: 'value', value, now: now[at]!, usual: usual[at]! });
    });
    moves.push({ to: 'other', now: now[missing - 1]!, usual: usual[missing - 1]! });
  }
  return moves.reduce((most, move) => (move.now - move.usual > most.now - most.usual ? move : most));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function cellOf(value: unknown): ReferenceCell {
  switch (typeof value) {
    case 'number':
      return Number.isNaN(value) ? null : value;
    case 'bigint':
      return Number(value);
    case 'string':
      return value === '' ? null : value;
    case 'boolean':
      return value;
    default:
      return null;
  }
}
