import { Yielder } from '../../util/event-loop';
import { ServiceError } from '../../wire/service-error';
import { heldReadings, type PastReading } from '../readings/held-readings';
import { inOrderOfTime } from '../readings/time-order';
import type { SeriesState } from '../state/state';
import type { SeriesReading } from '../types';

/** Numbers that a table of past readings may have: it is held whole, since its rows may be in any order. */
const MAX_TABLE_NUMBERS = 10_000_000;
/** Its rows: each has a time, and most have a number. They are objects until their columns are known. */
const MAX_TABLE_ROWS = 4_000_000;

/** A table of past readings, in the order of their time; of two at the same time the later row is last. */
export interface PastReadings {
  readings: PastReading[];
  /** What is known of the time after them. */
  plan: PastReading[];
  /** Rows left out because their time has not come. */
  future: number;
}

/** Whose a row is, and of when. */
interface PastPlace {
  key: string | null;
  time: number;
  /** That of the time. */
  column: string | undefined;
  /** Whether it says something of columns known ahead, and nothing else. */
  isPlan: boolean;
}

/** How a row of a table is read; rows are counted from 1. */
export interface PastReader {
  place(reading: SeriesReading, row: number): PastPlace;
  /** Time of the newest reading held of a key; -Infinity where there is none. */
  newestOf(key: string | null): number;
  /** Called in the order of time, so that columns are found in the order in which they would have come. */
  cells(reading: SeriesReading, row: number, column: string | undefined): number[];
}

/**
 * Reads a table whole, before any of it is taken.
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
        `The table has more than ${MAX_TABLE_ROWS} rows. Give a shorter time, or one key at a time.`,
      );
    }
    await yielder.due();
  }
  const past: PastReading[] = [];
  const plan: PastReading[] = [];
  const isAhead = aheadOf(rows, latest, reader);
  for (const place of await inOrderOfTime(rows)) {
    const { reading, row: number, key, time, column } = place;
    const cells = reader.cells(reading, number, column);
    numbers += cells.length / 2 + 1;
    if (numbers > MAX_TABLE_NUMBERS) {
      throw new ServiceError(
        'limit.exceeded',
        `The table has more than ${MAX_TABLE_NUMBERS} numbers. Give a shorter time, fewer columns, or one key at a time.`,
      );
    }
    (isAhead(place) ? plan : past).push({ key, time, cells });
    await yielder.due();
  }
  return { readings: past, plan, future };
}

/** Tells rows of plans from readings: all of a table that has no others, else those that come after the others of their key. */
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

/** Machines that have seen later readings than a table's first start over, with what they hold and the table. */
export async function withHeld(state: SeriesState, past: PastReading[]): Promise<PastReading[]> {
  const spans = new Map<string | null, { from: number; to: number }>();
  for (const { key, time } of past) {
    spans.set(key, { from: spans.get(key)?.from ?? time, to: time });
  }
  const held: PastReading[] = [];
  for (const [key, { from, to }] of spans) {
    const machine = state.machines.get(key);
    if (machine !== undefined && machine.newest >= from) {
      // Rows before that rest on readings that are gone: they stay as they are.
      const since = machine.heldFrom;
      for (const reading of heldReadings(machine)) {
        if (reading.time >= since) {
          held.push(reading);
        }
      }
      state.forget(machine, ({ time }) => time >= since || (time >= from && time <= to));
    }
  }
  // Sorting keeps the order of equals: what the table says of a time comes last, and so counts.
  return held.length === 0 ? past : inOrderOfTime(held.concat(past));
}
