import { stabilityIndex } from '../metrics/stability';
import type { DriftReference, ReferenceCell } from '../models/cards';
import { DRIFT_WINDOW, driftBin, driftBins } from '../models/reference';
import { BoundedMap } from '../util/collections';
import type { Changes } from './alarms';
import { Ring } from './statistics';
import type { ColumnDrift, ColumnMove, WatchChange, WatchedColumn, WatchedModel } from './types';

/** Rows between checks, and consecutive checks that it takes. */
const EVERY = 50;
const IN_A_ROW = 2;

interface DriftState {
  bins: string;
  rows: number;
  last: string;
  columns: { psi: number; above: number }[];
}

/** Whether the newest rows differ from the train set, column by column, more than its own windows do. */
class Drift {
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
    this.bins.push(this.watched.map(({ column, reference }) => driftBin(reference, makeCell(row[column]))));
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
        const moved = psi > threshold ? mostMoved(reference, this.readCounts(at)) : undefined;
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
      const psi = stabilityIndex(reference.shares, this.readCounts(at));
      const above = psi > threshold ? this.columns[at]!.above + 1 : 0;
      this.columns[at] = { psi, above };
    });
  }

  /** The newest rows in each bin of a column. */
  private readCounts(at: number): number[] {
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

function makeCell(value: unknown): ReferenceCell {
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

/** Truths are missing after this many times `ahead`. */
const OVERDUE = 3;
/** A gap between rows counts for at most this share of `ahead`: a machine that is off owes no truths. */
const STEP_SHARE = 0.25;
const MOST_KEYS = 1000;

interface Waiting {
  /** Of the newest row, milliseconds since 1970. */
  time: number;
  since: number;
  /** Milliseconds during which rows came and no truth. */
  waited: number;
  /** The same at the start of the newest message; left out where that has no row of this key. */
  before?: number;
}

type MissingTruthsState = [key: string, waiting: Waiting][];

/** Notices that rows come but truths do not: after three times `ahead` something has stopped delivering them. */
class MissingTruths {
  private readonly keys = new BoundedMap<string, Waiting>(MOST_KEYS);
  /** Keys with rows in the newest message. */
  private readonly ofMessage = new Set<string>();

  constructor(state: MissingTruthsState = []) {
    for (const [key, waiting] of state) {
      this.keys.set(key, { ...waiting });
    }
  }

  /** Call at the start of a message: truths can arrive between messages, but not between the rows of one. */
  message(): void {
    this.ofMessage.clear();
  }

  /** Call for each predicted row. @returns since when truths are missing, if they are */
  row(key: string, time: number, ahead: number): { since: number; waited: number } | undefined {
    const waiting = this.keys.get(key);
    const isFirst = !this.ofMessage.has(key);
    this.ofMessage.add(key);
    if (waiting === undefined) {
      this.keys.set(key, { time, since: time, waited: 0, before: 0 });
      return undefined;
    }
    if (time > waiting.time) {
      waiting.waited += Math.min(time - waiting.time, STEP_SHARE * ahead);
      waiting.time = time;
    }
    if (isFirst) {
      waiting.before = waiting.waited;
    }
    return (waiting.before ?? waiting.waited) > OVERDUE * ahead ? waiting : undefined;
  }

  /** Call for each truth, with its key, or without one for all keys. */
  truth(key?: string): void {
    if (key === undefined) {
      this.keys.clear();
    } else {
      this.keys.delete(key);
    }
  }

  toJSON(): MissingTruthsState {
    return Array.from(this.keys, ([key, waiting]) => [key, { ...waiting }]);
  }
}

const MOST_REASONS = 5;

export interface WithoutTruthState {
  silence: MissingTruthsState;
  silent: boolean;
  drift: DriftState;
  /** Whether drift has been reported. */
  drifted: boolean;
}

/** A predicted row. */
interface RowSeen {
  key: string | null;
  /** Milliseconds since 1970. */
  time: number;
  ahead: number | null;
  row?: Readonly<Record<string, unknown>>;
  /** It came in one message with the row before. */
  continues?: boolean;
}

/**
 * What rows show without truths: that truths have stopped coming, and that columns drift. Drift explains a decay; on its own
 * it is reported only while no truths come.
 */
export class WithoutTruth {
  private readonly missing: MissingTruths;
  private drift: Drift;
  private drifted: boolean;
  /** Truths have stopped coming. */
  silent: boolean;

  constructor(
    private readonly changes: Changes,
    private model: WatchedModel,
    state?: WithoutTruthState,
  ) {
    this.missing = new MissingTruths(state?.silence);
    this.silent = state?.silent ?? false;
    this.drift = new Drift(model.drift ?? [], state?.drift);
    this.drifted = state?.drifted ?? false;
  }

  /** Every column with a threshold, the most changed first. */
  get columns(): ColumnDrift[] {
    return this.drift.all;
  }

  /** Columns above their threshold: possible reasons for a decay. */
  get reasons(): ColumnDrift[] {
    return this.drift.beyond.slice(0, MOST_REASONS);
  }

  row(seen: RowSeen): WatchChange[] {
    const { key, time, row } = seen;
    if (row !== undefined) {
      this.drift.add(row, `${key ?? ''} ${time}`);
    }
    return [...this.missingTruths(seen), ...this.driftAlone(time)];
  }

  /** Call for each truth, with its key, or without one for all keys. */
  truth(key: string | undefined): void {
    this.missing.truth(key);
    this.silent = false;
    this.drifted = false;
  }

  /** Another model is in charge, or its watched columns have changed. */
  modelChanged(model: WatchedModel): void {
    if (model.id !== this.model.id || !sameColumns(model, this.model)) {
      this.drift = new Drift(model.drift ?? []);
      this.drifted = false;
    }
    this.model = model;
  }

  toJSON(): WithoutTruthState {
    const { missing, silent, drift, drifted } = this;
    return { silence: missing.toJSON(), silent, drift: drift.toJSON(), drifted };
  }

  private missingTruths({ key, time, ahead, continues = false }: RowSeen): WatchChange[] {
    if (!continues) {
      this.missing.message();
    }
    if (ahead === null || ahead <= 0) {
      return [];
    }
    const missed = this.missing.row(key ?? '', time, ahead);
    if (missed === undefined || this.silent || !this.changes.mayReport('no_truth', undefined, time)) {
      return [];
    }
    this.silent = true;
    const { since, waited: value } = missed;
    return [
      this.changes.tell({ what: 'no_truth', model: this.model.name, since, value, limit: 3 * ahead }, time),
    ];
  }

  private driftAlone(time: number): WatchChange[] {
    const drifted = this.silent && this.drift.isSure ? this.drift.beyond : [];
    if (drifted.length === 0) {
      return [];
    }
    if (this.drifted || !this.changes.mayReport('drift', undefined, time)) {
      return [];
    }
    this.drifted = true;
    const [{ psi, threshold }] = drifted as [ColumnDrift];
    const why = this.reasons;
    return [
      this.changes.tell(
        { what: 'drift', model: this.model.name, since: time, value: psi, limit: threshold, why },
        time,
      ),
    ];
  }
}

function sameColumns({ drift: a = [] }: WatchedModel, { drift: b = [] }: WatchedModel): boolean {
  return (
    a === b ||
    (a.length === b.length &&
      a.every(({ column, threshold }, at) => b[at]!.column === column && b[at]!.threshold === threshold))
  );
}
