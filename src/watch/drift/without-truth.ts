import type { Changes } from '../alarms/changes';
import type { ColumnDrift, WatchChange, WatchedModel } from '../types';
import { Drift, type DriftState } from './drift';
import { Silence, type SilenceState } from './silence';

const MOST_REASONS = 5;

export interface WithoutTruthState {
  silence: SilenceState;
  silent: boolean;
  drift: DriftState;
  /** What was told of it last. */
  drifted: boolean;
}

/** A row that is predicted. */
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
 * What rows tell by themselves: that truths have stopped coming, and that columns drift. Drift is the reason of a decay,
 * and is told alone only where no truth comes.
 */
export class WithoutTruth {
  private readonly silence: Silence;
  private drift: Drift;
  private drifted: boolean;
  /** No truth comes any more. */
  silent: boolean;

  constructor(
    private readonly changes: Changes,
    private model: WatchedModel,
    state?: WithoutTruthState,
  ) {
    this.silence = new Silence(state?.silence);
    this.silent = state?.silent ?? false;
    this.drift = new Drift(model.drift ?? [], state?.drift);
    this.drifted = state?.drifted ?? false;
  }

  /** Every column with a threshold, the most changed first. */
  get columns(): ColumnDrift[] {
    return this.drift.all;
  }

  /** Columns that are beyond their threshold now: what may be the reason of a decay. */
  get reasons(): ColumnDrift[] {
    return this.drift.beyond.slice(0, MOST_REASONS);
  }

  row(seen: RowSeen): WatchChange[] {
    const { key, time, row } = seen;
    if (row !== undefined) {
      this.drift.add(row, `${key ?? ''} ${time}`);
    }
    return [...this.missTruth(seen), ...this.driftAlone(time)];
  }

  /** A truth has come, of one key or (left out) for all of them. */
  truth(key: string | undefined): void {
    this.silence.truth(key);
    this.silent = false;
    this.drifted = false;
  }

  /** Another model is in charge, or its columns are known better. */
  modelChanged(model: WatchedModel): void {
    if (model.id !== this.model.id || !sameColumns(model, this.model)) {
      this.drift = new Drift(model.drift ?? []);
      this.drifted = false;
    }
    this.model = model;
  }

  toJSON(): WithoutTruthState {
    const { silence, silent, drift, drifted } = this;
    return { silence: silence.toJSON(), silent, drift: drift.toJSON(), drifted };
  }

  private missTruth({ key, time, ahead, continues = false }: RowSeen): WatchChange[] {
    if (!continues) {
      this.silence.message();
    }
    if (ahead === null || ahead <= 0) {
      return [];
    }
    const missed = this.silence.row(key ?? '', time, ahead);
    if (missed === undefined || this.silent || !this.changes.mayTell('no_truth', undefined, time)) {
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
    if (this.drifted || !this.changes.mayTell('drift', undefined, time)) {
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
