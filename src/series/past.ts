import { Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import { heldReadings, type KeptRow, type PastReading, sortByTime } from './machine';
import type { SeriesState } from './state';
import { noTime } from './time-and-key';
import {
  type PackedList,
  PlacedReading,
  type PushOptions,
  type SeriesOutcome,
  type SeriesReading,
  type SeriesRow,
  type SeriesTable,
} from './types';

/** Numbers that a table may have: it is held in full, since its rows may be in any order. */
const MAX_TABLE_NUMBERS = 10_000_000;
const NOTHING_TOLD: PushOptions = {};
/** Rows that a table may have: they are held as objects until they are sorted. */
const MAX_TABLE_ROWS = 4_000_000;

/** A table of past readings in order of event time; rows at the same time stay in the order of the table. */
export interface PastReadings {
  readings: PastReading[];
  /** Plan rows: known values for times after the readings. */
  plan: PastReading[];
  /** Rows left out because they are dated in the future. */
  future: number;
  /** Whether rows tell their time. */
  isTimed: boolean;
  /** Rows of a table that tell none, where a key has several. */
  crowded: number;
  /** Rows that have other values than another one of their key and time, in the same columns. */
  replaced: number;
}

/** The key and the time of a row. */
interface PastPlace {
  key: string | null;
  /** undefined: the row tells none. */
  time: number | undefined;
  /** The time column. */
  column: string | undefined;
  /** Whether it has values in columns known ahead only. */
  isPlan: boolean;
}

interface PastRow extends PastPlace {
  time: number;
  reading: SeriesReading;
  row: number;
}

/** How rows of a table are read; rows are counted from 1. */
interface PastReader {
  /** undefined: the row is empty, and left out. */
  place(reading: SeriesReading, row: number, told: PushOptions): PastPlace | undefined;
  /** Time of a key's newest reading so far; -Infinity where there is none. */
  newestOf(key: string | null): number;
  /** Called in order of time, so that columns appear in the same order as live. */
  cells(reading: SeriesReading, row: number, column: string | undefined, isPlan: boolean): number[];
}

/**
 * Reads a whole table before any of it is taken.
 *
 * @param arrival the time of rows that tell none, where all are so
 * @param latest rows after this time are left out
 * @throws ServiceError limit.exceeded, and what the reader throws
 */
export async function readPast(
  readings: SeriesTable,
  arrival: number,
  latest: number,
  reader: PastReader,
): Promise<PastReadings> {
  const yielder = new Yielder();
  const rows: PastRow[] = [];
  const untimed: PastRow[] = [];
  let [row, future, numbers, replaced] = [0, 0, 0, 0];
  for await (const given of readings) {
    const isPlaced = given instanceof PlacedReading;
    const reading = isPlaced ? given.cells : given;
    const place = reader.place(reading, ++row, isPlaced ? given : NOTHING_TOLD);
    if (place === undefined) {
      continue;
    }
    const { time = NaN, ...rest } = place;
    if (time > latest && !place.isPlan) {
      future++;
    } else if (rows.length < MAX_TABLE_ROWS) {
      rows.push({ reading, row, time, ...rest });
      if (Number.isNaN(time)) {
        untimed.push(rows.at(-1)!);
      }
    } else {
      throw new ServiceError(
        'limit.exceeded',
        `The table has more than ${MAX_TABLE_ROWS} rows. Send a shorter period, or one key at a time.`,
      );
    }
    await yielder.due();
  }
  const isTimed = rows.length > untimed.length || future > 0;
  if (isTimed && untimed.length > 0) {
    throw noTime(untimed[0]!.column, untimed[0]!.row);
  }
  const crowded = giveTimes(untimed, arrival);
  const past: PastReading[] = [];
  const plan: PastReading[] = [];
  const isAhead = makeAhead(rows, latest, reader);
  const last = new Map<string | null, PastReading>();
  for (const place of await sortByTime(rows)) {
    const { reading, row: number, key, time, column } = place;
    const isPlan = isAhead(place);
    const cells = reader.cells(reading, number, column, isPlan);
    numbers += cells.length / 2 + 1;
    if (numbers > MAX_TABLE_NUMBERS) {
      throw new ServiceError(
        'limit.exceeded',
        `The table has more than ${MAX_TABLE_NUMBERS} numbers. Send a shorter period, fewer columns, or one key at a time.`,
      );
    }
    const taken = { key, time, cells };
    (isPlan ? plan : past).push(taken);
    if (!isPlan) {
      replaced += isOther(last.get(key), taken) ? 1 : 0;
      last.set(key, taken);
    }
    await yielder.due();
  }
  return { readings: past, plan, future, isTimed, crowded, replaced };
}

/** Whether a reading has another value in a column than the one before it, of the same time. Cells are columns and values in turns. */
function isOther(before: PastReading | undefined, { time, cells }: PastReading): boolean {
  if (before?.time !== time) {
    return false;
  }
  const values = new Map<number, number>();
  for (let i = 0; i < before.cells.length; i += 2) {
    values.set(before.cells[i]!, before.cells[i + 1]!);
  }
  for (let i = 0; i < cells.length; i += 2) {
    const value = values.get(cells[i]!);
    if (value !== undefined && !Number.isNaN(value) && value !== cells[i + 1]) {
      return true;
    }
  }
  return false;
}

/**
 * Gives rows that tell no time those of now: the last of each key the time of its arrival, those before it a millisecond
 * less each. @returns how many rows there are where a key has several, otherwise 0
 */
function giveTimes(rows: readonly PastRow[], arrival: number): number {
  const later = new Map<string | null, number>();
  for (let i = rows.length - 1; i >= 0; i--) {
    const { key } = rows[i]!;
    const after = later.get(key) ?? 0;
    rows[i]!.time = arrival - after;
    later.set(key, after + 1);
  }
  return later.size === rows.length ? 0 : rows.length;
}

/** Tells plan rows from readings: all of a table that has nothing else, otherwise those after the last reading of their key. */
function makeAhead(
  rows: readonly PastRow[],
  latest: number,
  reader: PastReader,
): (place: PastRow) => boolean {
  const newest = new Map<string | null, number>();
  for (const { key, time, isPlan } of rows) {
    if (!isPlan) {
      newest.set(key, Math.max(newest.get(key) ?? reader.newestOf(key), time));
    }
  }
  return ({ key, time, isPlan }) =>
    isPlan && (newest.size === 0 || time > Math.min(latest, newest.get(key) ?? reader.newestOf(key)));
}

/** A table together with what machines held of the same time. */
interface MergedReadings {
  readings: PastReading[];
  /** Of machines that start over, by key: the time up to which their rows had been released, for each ahead. */
  released: ReadonlyMap<string | null, readonly number[]>;
  /** Rows kept of readings of the table, which stay where the table itself tells no outcome of theirs. */
  former: readonly KeptRow[];
}

/**
 * Machines that have readings newer than the table's first start over: what they hold is merged into the table. Rows of
 * readings that are gone, and not in the table either, stay as they are: a table may have gaps.
 */
export async function withHeld(state: SeriesState, past: PastReading[]): Promise<MergedReadings> {
  const first = new Map<string | null, number>();
  for (const { key, time } of past) {
    first.set(key, first.get(key) ?? time);
  }
  const told = new Map<string | null, Set<number>>();
  for (const { key, time } of past) {
    const machine = state.machines.get(key);
    if (machine !== undefined && machine.newest >= first.get(key)!) {
      told.set(key, (told.get(key) ?? new Set()).add(time));
    }
  }
  const held: PastReading[] = [];
  const released = new Map<string | null, readonly number[]>();
  const former: KeptRow[] = [];
  for (const key of first.keys()) {
    const machine = state.machines.get(key);
    const times = told.get(key);
    if (machine !== undefined && times !== undefined) {
      const since = machine.heldFrom;
      for (const reading of heldReadings(machine)) {
        if (reading.time >= since) {
          held.push(reading);
        }
      }
      released.set(key, machine.released);
      for (const row of state.kept) {
        if (row.key === key && row.time < since && times.has(row.time)) {
          former.push(row);
        }
      }
      state.forget(machine, ({ time }) => time >= since || times.has(time));
    }
  }
  // The sort is stable: at equal times the table's reading comes last, and so wins.
  return { readings: held.length === 0 ? past : await sortByTime(held.concat(past)), released, former };
}

/** Rows of one reading: they differ by their time ahead, in their first cells alone. */
interface PackedRows {
  readonly key: string | null;
  readonly time: number;
  /** The cells that all of them share, at their positions in a row. */
  readonly base: Float64Array;
  /** The first cells of each, one after the other. */
  readonly heads: Float64Array;
}

/** Numbers held for the rows of a table: those of many wide rows are the newest that they leave space for. */
const MAX_NUMBERS = 20_000_000;

/** The newest rows of past readings. A year of hours with 24 times ahead takes 27 MB; as objects it takes ten times that. */
export class PastRows implements PackedList<SeriesRow> {
  numbers = 0;
  private readonly packed = new Queue<PackedRows>();
  private readonly byKey = new Map<string | null, Map<number, PackedRows>>();

  constructor(
    private readonly state: SeriesState,
    private readonly most: number,
  ) {}

  get length(): number {
    return Math.min(this.most, this.packed.size * this.state.rowAheads.length);
  }

  get total(): number {
    return this.packed.total * this.state.rowAheads.length;
  }

  get width(): number {
    return this.state.features.columns().length + 1;
  }

  /** Takes the rows of a reading, one for each time ahead. */
  add(key: string | null, time: number, base: Float64Array, rows: readonly Float64Array[]): void {
    const { headCells } = this.state.features;
    const heads = new Float64Array(rows.length * headCells);
    rows.forEach((row, k) => heads.set(row.subarray(0, headCells), k * headCells));
    const packed = { key, time, base, heads };
    let ofKey = this.byKey.get(key);
    if (ofKey === undefined) {
      ofKey = new Map();
      this.byKey.set(key, ofKey);
    }
    ofKey.set(time, packed);
    this.packed.push(packed);
    this.numbers += base.length + heads.length;
    while ((this.packed.size - 1) * rows.length >= this.most || this.numbers > MAX_NUMBERS) {
      this.forgetOldest();
    }
  }

  private forgetOldest(): void {
    const oldest = this.packed.shift();
    this.numbers -= oldest.base.length + oldest.heads.length;
    if (this.of(oldest.key, oldest.time) === oldest) {
      this.byKey.get(oldest.key)!.delete(oldest.time);
    }
  }

  of(key: string | null, time: number): PackedRows | undefined {
    return this.byKey.get(key)?.get(time);
  }

  /** The row for the time ahead at an index of `rowAheads`. */
  unpack({ base, heads }: PackedRows, k: number): Float64Array {
    const { headCells } = this.state.features;
    const row = base.slice();
    row.set(heads.subarray(k * headCells, (k + 1) * headCells));
    return row;
  }

  slice(from: number, to: number): SeriesRow[] {
    const { state, length } = this;
    const aheads = state.rowAheads;
    const skipped = this.packed.size * aheads.length - length;
    const rows: SeriesRow[] = [];
    for (let i = from + skipped; i < Math.min(to, length) + skipped; i++) {
      const packed = this.packed.at(Math.floor(i / aheads.length))!;
      const { key, time } = packed;
      const k = i % aheads.length;
      rows.push({
        series: state.address(key, time, aheads[k]!),
        row: state.features.cells(this.unpack(packed, k), key),
      });
    }
    return rows;
  }
}

/** The newest outcomes of past readings; the row of most is among the rows. */
export class PastOutcomes implements PackedList<SeriesOutcome> {
  private readonly packed = new Queue<KeptRow | { of: PackedRows; k: number; truth: number }>();

  constructor(
    private readonly outcomeOf: (row: KeptRow) => SeriesOutcome,
    private readonly state: SeriesState,
    private readonly rows: PastRows,
    private readonly most: number,
  ) {}

  get length(): number {
    return this.packed.size;
  }

  get total(): number {
    return this.packed.total;
  }

  get width(): number {
    return this.rows.width + 1;
  }

  add(kept: KeptRow): void {
    const { key, time, ahead, truth } = kept;
    const of = this.rows.of(key, time);
    this.packed.push(of === undefined ? kept : { of, k: this.state.rowAheads.indexOf(ahead), truth });
    if (this.length > this.most) {
      this.packed.shift();
    }
  }

  slice(from: number, to: number): SeriesOutcome[] {
    const outcomes: SeriesOutcome[] = [];
    for (let i = from; i < Math.min(to, this.length); i++) {
      const one = this.packed.at(i)!;
      outcomes.push(this.outcomeOf('of' in one ? this.unpacked(one) : one));
    }
    return outcomes;
  }

  private unpacked({ of, k, truth }: { of: PackedRows; k: number; truth: number }): KeptRow {
    const { key, time } = of;
    return { key, time, ahead: this.state.rowAheads[k]!, row: this.rows.unpack(of, k), truth };
  }
}

class Queue<T> {
  /** How many have been pushed. */
  total = 0;
  private list: T[] = [];
  private head = 0;

  get size(): number {
    return this.list.length - this.head;
  }

  at(index: number): T | undefined {
    return this.list[this.head + index];
  }

  push(one: T): void {
    this.list.push(one);
    this.total++;
  }

  /** Takes the oldest, of at least one. */
  shift(): T {
    const oldest = this.list[this.head++]!;
    if (this.head > 1024 && this.head > this.list.length / 2) {
      this.list = this.list.slice(this.head);
      this.head = 0;
    }
    return oldest;
  }
}
