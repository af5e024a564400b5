import { Yielder } from '../../util/event-loop';
import { ServiceError } from '../../wire/service-error';
import { heldReadings, type PastReading } from '../readings/held-readings';
import { sortByTime } from '../readings/sort-by-time';
import type { SeriesState } from '../state/state';
import type { SeriesReading } from '../types';

/** Numbers that a table may have: it is held in full, since its rows may be in any order. */
const MAX_TABLE_NUMBERS = 10_000_000;
/** Rows that a table may have: they are held as objects until they are sorted. */
const MAX_TABLE_ROWS = 4_000_000;

/** A table of past readings in order of event time; rows at the same time stay in the order of the table. */
export interface PastReadings {
  readings: PastReading[];
  /** Plan rows: known values for times after the readings. */
  plan: PastReading[];
  /** Rows left out because they are dated in the future. */
  future: number;
}

/** The key and the time of a row. */
interface PastPlace {
  key: string | null;
  time: number;
  /** The time column. */
  column: string | undefined;
  /** Whether it has values in columns known ahead only. */
  isPlan: boolean;
}

/** How rows of a table are read; rows are counted from 1. */
export interface PastReader {
  place(reading: SeriesReading, row: number): PastPlace;
  /** Time of a key's newest reading so far; -Infinity where there is none. */
  newestOf(key: string | null): number;
  /** Called in order of time, so that columns appear in the same order as live. */
  cells(reading: SeriesReading, row: number, column: string | undefined): number[];
}

/**
 * Reads a whole table before any of it is taken.
 *
 * @param latest rows after this time are left out
 * @throws ServiceError limit.exceeded, and what the reader throws
 */
export async function readPast(
  readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
  latest: number,
  reader: PastReader,
): Promise<PastReadings> {
  const yielder = new Yielder();
  const rows: (PastPlace & { reading: SeriesReading; row: number })[] = [];
  let [row, future, numbers] = [0, 0, 0];
  for await (const reading of readings) {
    const place = reader.place(reading, ++row);
    if (place.time > latest && !place.isPlan) {
      future++;
    } else if (rows.length < MAX_TABLE_ROWS) {
      rows.push({ reading, row, ...place });
    } else {
      throw new ServiceError(
        'limit.exceeded',
        `The table has more than ${MAX_TABLE_ROWS} rows. Send a shorter period, or one key at a time.`,
      );
    }
    await yielder.due();
  }
  const past: PastReading[] = [];
  const plan: PastReading[] = [];
  const isAhead = aheadOf(rows, latest, reader);
  for (const place of await sortByTime(rows)) {
    const { reading, row: number, key, time, column } = place;
    const cells = reader.cells(reading, number, column);
    numbers += cells.length / 2 + 1;
    if (numbers > MAX_TABLE_NUMBERS) {
      throw new ServiceError(
        'limit.exceeded',
        `The table has more than ${MAX_TABLE_NUMBERS} numbers. Send a shorter period, fewer columns, or one key at a time.`,
      );
    }
    (isAhead(place) ? plan : past).push({ key, time, cells });
    await yielder.due();
  }
  return { readings: past, plan, future };
}

/** Tells plan rows from readings: all of a table that has nothing else, otherwise those after the last reading of their key. */
function aheadOf(
  rows: readonly PastPlace[],
  latest: number,
  reader: PastReader,
): (place: PastPlace) => boolean {
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
}

/** Machines that have readings newer than the table's first start over: what they hold is merged into the table. */
export async function withHeld(state: SeriesState, past: PastReading[]): Promise<MergedReadings> {
  const spans = new Map<string | null, { from: number; to: number }>();
  for (const { key, time } of past) {
    spans.set(key, { from: spans.get(key)?.from ?? time, to: time });
  }
  const held: PastReading[] = [];
  const released = new Map<string | null, readonly number[]>();
  for (const [key, { from, to }] of spans) {
    const machine = state.machines.get(key);
    if (machine !== undefined && machine.newest >= from) {
      // Rows before that depend on readings that are gone, so they stay as they are.
      const since = machine.heldFrom;
      for (const reading of heldReadings(machine)) {
        if (reading.time >= since) {
          held.push(reading);
        }
      }
      released.set(key, machine.released);
      state.forget(machine, ({ time }) => time >= since || (time >= from && time <= to));
    }
  }
  // The sort is stable: at equal times the table's reading comes last, and so wins.
  return { readings: held.length === 0 ? past : await sortByTime(held.concat(past)), released };
}
