import { Yielder } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import type { KeptRow } from '../kept-row';
import { heldReadings, type PastReading } from '../readings/held-readings';
import { sortByTime } from '../readings/sort-by-time';
import { noTime } from '../readings/time-and-key';
import type { SeriesState } from '../state/state';
import { PlacedReading, type PushOptions, type SeriesReading, type SeriesTable } from '../types';

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
export interface PastReader {
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
  let [row, future, numbers] = [0, 0, 0];
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
  const isAhead = aheadOf(rows, latest, reader);
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
    (isPlan ? plan : past).push({ key, time, cells });
    await yielder.due();
  }
  return { readings: past, plan, future, isTimed, crowded };
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
function aheadOf(rows: readonly PastRow[], latest: number, reader: PastReader): (place: PastRow) => boolean {
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
export interface MergedReadings {
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
