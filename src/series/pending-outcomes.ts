import { BoundedMap } from '../util/collections';
import type { SeriesFeatures } from './features';
import { type KeptRow, type Machine, ROW_LEFT, type WaitingRow } from './machine';
import { columnOutcome, eventOutcome, NOT_YET, type OutcomeOrNotYet } from './outcome';
import type { Sensors } from './sensors';
import type { SeriesSettings } from './types';

/** Cells that all rows kept may have together: wide rows mean fewer than `keep`. */
const MAX_CELLS = 5_000_000;

/** The newest settled rows, and how many there are of each outcome. */
export class RowsWithOutcome {
  private rows: KeptRow[] = [];
  private head = 0;
  private cells = 0;
  private readonly counts = new Map<number, number>();

  /** @param onTooWide called when wide rows leave space for fewer than `keep`, with how many are kept */
  constructor(
    private readonly keep: number,
    private readonly onTooWide: (rows: number) => void,
  ) {}

  get size(): number {
    return this.rows.length - this.head;
  }

  add(row: KeptRow): void {
    this.rows.push(row);
    this.cells += row.row.length;
    this.counts.set(row.truth, (this.counts.get(row.truth) ?? 0) + 1);
    while (this.size > this.keep || (this.cells > MAX_CELLS && this.size > 1)) {
      if (this.size <= this.keep) {
        this.onTooWide(this.size);
      }
      this.forget(this.rows[this.head++]!);
    }
    if (this.head > 1024 && this.head > this.rows.length / 2) {
      this.rows = this.rows.slice(this.head);
      this.head = 0;
    }
  }

  /** Forgets the rows for which this is true. */
  dropWhere(isDropped: (row: KeptRow) => boolean): void {
    const left: KeptRow[] = [];
    for (const row of this) {
      if (isDropped(row)) {
        this.forget(row);
      } else {
        left.push(row);
      }
    }
    this.rows = left;
    this.head = 0;
  }

  /** Gives each row the value of its outcome's code, and forgets those whose outcome has none (NaN). */
  translate(values: readonly number[]): void {
    for (const row of this) {
      this.discount(row.truth);
      row.truth = values[row.truth]!;
      this.counts.set(row.truth, (this.counts.get(row.truth) ?? 0) + 1);
    }
    this.dropWhere(({ truth }) => Number.isNaN(truth));
  }

  /** How many rows each outcome has. */
  get outcomes(): ReadonlyMap<number, number> {
    return this.counts;
  }

  *[Symbol.iterator](): IterableIterator<KeptRow> {
    for (let i = this.head; i < this.rows.length; i++) {
      yield this.rows[i]!;
    }
  }

  private forget({ row, truth }: KeptRow): void {
    this.cells -= row.length;
    this.discount(truth);
  }

  private discount(truth: number): void {
    const count = this.counts.get(truth)! - 1;
    if (count === 0) {
      this.counts.delete(truth);
    } else {
      this.counts.set(truth, count);
    }
  }
}

/** The newest rows whose outcome a message will bring, by id. */
export class WaitingRows {
  private readonly rows: BoundedMap<string, WaitingRow>;
  /** By key: ids with their times, in order of arrival. */
  private readonly byKey = new Map<string | null, Map<string, number>>();

  constructor(keep: number) {
    this.rows = new BoundedMap(keep, ({ key }, id) => this.forget(key, id));
  }

  get size(): number {
    return this.rows.size;
  }

  add(id: string, row: WaitingRow): void {
    let ids = this.byKey.get(row.key);
    if (ids === undefined) {
      ids = new Map();
      this.byKey.set(row.key, ids);
    }
    ids.set(id, row.time);
    this.rows.set(id, row);
  }

  /** Removes and returns the row with an id. */
  take(id: string): WaitingRow | undefined {
    const row = this.rows.get(id);
    if (row !== undefined) {
      this.rows.delete(id);
      this.forget(row.key, id);
    }
    return row;
  }

  get(id: string): WaitingRow | undefined {
    return this.rows.get(id);
  }

  /** The id of a key's row at a time, or else of the last one before it. */
  idAt(key: string | null, time: number): string | undefined {
    let best: { id: string; at: number } | undefined;
    for (const [id, at] of this.byKey.get(key) ?? []) {
      if (at <= time && (best === undefined || at >= best.at)) {
        best = { id, at };
      }
    }
    return best?.id;
  }

  dropWhere(isDropped: (row: WaitingRow) => boolean): void {
    for (const [id, row] of this.rows) {
      if (isDropped(row)) {
        this.take(id);
      }
    }
  }

  values(): IterableIterator<WaitingRow> {
    return this.rows.values();
  }

  private forget(key: string | null, id: string): void {
    const ids = this.byKey.get(key);
    ids?.delete(id);
    if (ids?.size === 0) {
      this.byKey.delete(key);
    }
  }
}

/** Default allowed lateness, in median steps of the machine. */
const LATE_STEPS = 3;
/** With many aheads, rows kept per reading: neighbouring aheads are much alike, and a longer past is worth more. */
const AHEADS_KEPT = 4;
/** Numbers held in cached row bases, beside at least one base of each machine. */
const MAX_BASES = 2_000_000;
/** Bases of a machine that make room for a new one of it. */
const BASES_LET_GO = 2;

/** An outcome, as released. */
interface Released {
  machine: Machine;
  /** The row with it, where it left to be predicted. */
  left: KeptRow | undefined;
}

/**
 * Waits for outcomes. A row is released once the readings up to its outcome are in; it is settled, and kept for train
 * sets, once the watermark has passed and no late reading can change it. Both are functions of the readings, so all there
 * is to remember is how far each machine has come.
 */
export class PendingOutcomes {
  private readonly sensors: Sensors;
  private readonly features: SeriesFeatures;
  private readonly kept: RowsWithOutcome;
  private readonly stride: number;
  private bases = 0;
  /** Rows released but not settled, over all machines, and how many there are of each outcome. */
  unsettled = 0;
  readonly unsettledOutcomes = new Map<number, number>();

  constructor(
    private readonly settings: SeriesSettings,
    { sensors, features, kept }: { sensors: Sensors; features: SeriesFeatures; kept: RowsWithOutcome },
    private readonly onKept: (row: KeptRow) => void,
  ) {
    this.sensors = sensors;
    this.features = features;
    this.kept = kept;
    this.stride = Math.max(1, Math.floor(settings.aheads.length / AHEADS_KEPT));
  }

  /** Whether outcomes come from the readings. */
  get isFromReadings(): boolean {
    const { kind } = this.settings.outcome;
    return kind === 'column' || kind === 'event';
  }

  /** The watermark of a machine: readings before it are too late. */
  watermark(machine: Machine): number {
    const late = this.settings.late ?? LATE_STEPS * machine.step;
    if (!Number.isNaN(late)) {
      machine.watermark = Math.max(machine.watermark, machine.newest - late);
    }
    return machine.watermark;
  }

  /** Rows before this time are settled, so readings that only they need can be forgotten. */
  settledUntil(machine: Machine): number {
    const wait = this.isFromReadings ? 2 * this.settings.aheads.at(-1)! : 0;
    return this.watermark(machine) - wait;
  }

  /** Whether the reading at an index gives a row: every reading, or the first of each interval. */
  isRow(machine: Machine, index: number): boolean {
    const { every } = this.settings;
    if (every === undefined || index === 0) {
      return true;
    }
    const { clock } = machine;
    return Math.floor(clock.time(index) / every) !== Math.floor(clock.time(index - 1) / every);
  }

  base(machine: Machine, time: number): Float64Array {
    const { bases } = machine;
    const known = bases.get(time);
    if (known !== undefined) {
      return known;
    }
    const base = this.features.base(machine, time);
    // Where room is short it is for new rows: an old one is soon needed no more, and would take the place of one that is.
    if (this.bases + base.length <= MAX_BASES || time === machine.newest) {
      bases.set(time, base);
      this.bases += base.length;
      this.makeRoom(bases);
    }
    return base;
  }

  /** Lets go of the oldest bases of a machine, a few at a time, so that none loses all to the others. */
  private makeRoom(bases: Map<number, Float64Array>): void {
    let letGo = 0;
    for (const [time, { length }] of bases) {
      if (this.bases <= MAX_BASES || bases.size === 1 || letGo++ === BASES_LET_GO) {
        break;
      }
      bases.delete(time);
      this.bases -= length;
    }
  }

  /** Releases the rows whose outcome is now known, one after the other. */
  *release(machine: Machine): IterableIterator<Released> {
    if (!this.isFromReadings) {
      return;
    }
    const { aheads } = this.settings;
    for (let k = 0; k < aheads.length; k++) {
      const { clock } = machine;
      // Indexes may shift while the caller awaits between two rows; times do not.
      for (;;) {
        const index = clock.countUntil(machine.released[k]!);
        if (index >= clock.size || clock.time(index) + aheads[k]! > machine.newest) {
          break;
        }
        const time = clock.time(index);
        const truth = this.isRow(machine, index) ? this.truth(machine, time, aheads[k]!) : undefined;
        if (truth === NOT_YET) {
          break;
        }
        machine.released[k] = time;
        if (truth !== undefined) {
          const isKept = this.isKept(time, k);
          const hasLeft = clock.value(index) === ROW_LEFT;
          const row = isKept || hasLeft ? this.rowWithOutcome(machine, time, k, truth) : undefined;
          if (isKept) {
            this.hold(machine.unsettled[k]!, row!);
          }
          yield { machine, left: hasLeft ? row : undefined };
        }
      }
    }
  }

  /** Settles rows that no late reading can change any more. */
  settle(machine: Machine): void {
    const watermark = this.watermark(machine);
    // A column's value is interpolated, and the second reading may be up to `ahead` after its time.
    const tail = this.settings.outcome.kind === 'column' ? 1 : 0;
    for (const [k, rows] of machine.unsettled.entries()) {
      let count = 0;
      while (count < rows.length && rows[count]!.time + (1 + tail) * rows[count]!.ahead <= watermark) {
        this.letGo(rows[count]!);
        this.kept.add(rows[count]!);
        this.onKept(rows[count]!);
        machine.keptUntil[k] = rows[count]!.time;
        count++;
      }
      rows.splice(0, count);
    }
    const until = this.settledUntil(machine);
    for (const [time, { length }] of machine.bases) {
      if (time > until && this.isFromReadings) {
        break;
      }
      machine.bases.delete(time);
      this.bases -= length;
    }
  }

  /** After a late or repeated reading: recomputes the unsettled rows that it affects. */
  revise(machine: Machine, time: number): void {
    this.forgetBases(machine, time);
    const { clock } = machine;
    const at = clock.countUntil(time - 1);
    const before = at > 0 ? clock.time(at - 1) : time;
    machine.unsettled.forEach((rows, k) => {
      const ahead = this.settings.aheads[k]!;
      const from = before - ahead;
      while (rows.length > 0 && rows.at(-1)!.time > from) {
        this.letGo(rows.pop()!);
      }
      // Settled rows stay as they are: a reading within the allowed lateness cannot affect them.
      const last = Math.max(from, machine.keptUntil[k]!);
      for (let i = clock.countUntil(last); i < clock.size; i++) {
        const rowTime = clock.time(i);
        if (rowTime > machine.released[k]!) {
          break;
        }
        if (this.isRow(machine, i) && this.isKept(rowTime, k)) {
          const truth = this.truth(machine, rowTime, ahead);
          if (truth !== undefined && truth !== NOT_YET) {
            this.hold(rows, this.rowWithOutcome(machine, rowTime, k, truth));
          }
        }
      }
    });
  }

  /** Forgets the cached bases of rows at a time or later: they have changed. */
  forgetBases(machine: Machine, time = -Infinity): void {
    for (const [base, { length }] of machine.bases) {
      if (base >= time) {
        machine.bases.delete(base);
        this.bases -= length;
      }
    }
  }

  /** Gives unsettled rows the value of their outcome's code, and forgets those whose outcome has none (NaN). */
  translate(machine: Machine, values: readonly number[]): void {
    for (const rows of machine.unsettled) {
      for (const row of rows.splice(0)) {
        this.letGo(row);
        const truth = values[row.truth]!;
        if (!Number.isNaN(truth)) {
          this.hold(rows, { ...row, truth });
        }
      }
    }
  }

  /** Call before a machine is forgotten. */
  forget(machine: Machine): void {
    machine.unsettled.flat().forEach((row) => this.letGo(row));
    for (const { length } of machine.bases.values()) {
      this.bases -= length;
    }
  }

  private hold(rows: KeptRow[], row: KeptRow): void {
    rows.push(row);
    this.unsettled++;
    this.unsettledOutcomes.set(row.truth, (this.unsettledOutcomes.get(row.truth) ?? 0) + 1);
  }

  private letGo({ truth }: KeptRow): void {
    this.unsettled--;
    const count = this.unsettledOutcomes.get(truth)! - 1;
    if (count === 0) {
      this.unsettledOutcomes.delete(truth);
    } else {
      this.unsettledOutcomes.set(truth, count);
    }
  }

  private truth(machine: Machine, time: number, ahead: number): OutcomeOrNotYet {
    const { outcome } = this.settings;
    if (outcome.kind !== 'column' && outcome.kind !== 'event') {
      return undefined;
    }
    const sensor = this.sensors.get(outcome.column);
    if (outcome.kind === 'event') {
      return eventOutcome(machine, { operator: outcome.operator, sensor }, time, ahead);
    }
    return sensor === undefined ? undefined : columnOutcome(machine, sensor, time, ahead);
  }

  private rowWithOutcome(machine: Machine, time: number, k: number, truth: number): KeptRow {
    const ahead = this.settings.aheads[k]!;
    const row = this.features.row(machine, this.base(machine, time), time, ahead);
    return { key: machine.key, time, ahead, row, truth };
  }

  /** With many aheads, each reading keeps some of them, in rotation. */
  private isKept(time: number, k: number): boolean {
    return this.stride === 1 || (k + hashTime(time)) % this.stride === 0;
  }
}

/** A hash of a time that differs between neighbours, whatever the step of the series. */
function hashTime(time: number): number {
  const low = time | 0;
  const mixed = Math.imul(low ^ (low >>> 15) ^ Math.floor(time / 4_294_967_296), 0x9e3779b1);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
