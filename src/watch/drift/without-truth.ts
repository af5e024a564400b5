import type { Changes } from '../alarms/changes';
import type { ColumnDrift, WatchChange, WatchedModel } from '../types';
import { Drift, type DriftState } from './drift';
import { MissingTruths, type MissingTruthsState } from './missing-truths';

const MOST_REASONS = 5;

export interface WithoutTruthState {
  silence: MissingTruthsState;
  silent: boolean;
  drift: DriftState;
  /** Whether drift has been reported. */
  drifted: boolean;
}

/** A predicted row. */
export interface RowSeen {
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
