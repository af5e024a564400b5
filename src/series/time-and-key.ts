import { DateReader, whyNotDate } from '../table/cells/parse-date';
import { show } from '../table/cells/types';
import { listCells } from '../table/columns/column-batch';
import type { TableSource } from '../table/open';
import { DAY } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import type { Machine } from './machine';
import type { PushOptions, SeriesReading, SeriesSettings } from './types';

const TIME_NAMES = new Set(['time', 'timestamp', 'ts', 'date']);
/** Readings come one by one, so no other row tells which comes first. */
const SEND_ISO = 'Send it with the year first, such as 2026-01-31 12:00, or as milliseconds since 1970.';
/** How far a clock may be ahead of ours without being wrong. */
export const AHEAD_OF_US = 60_000;
/** A series that runs ahead of our clock, such as a simulation, advances in steps; a clock gone wrong leaps. */
const LEAP_STEPS = 20;

/** The time column: the configured one, else one with a usual name in any case; undefined where there is none. */
export function findTimeColumn(names: readonly string[], given: string | undefined): string | undefined {
  return given ?? names.find((name) => TIME_NAMES.has(name.toLowerCase()));
}

/** Reads the event time and the key of readings. */
export class TimeAndKey {
  private readonly dates: DateReader;

  constructor(private readonly settings: Pick<SeriesSettings, 'key' | 'time'> & { timezone?: string }) {
    this.dates = new DateReader({ zone: settings.timezone });
  }

  /** The column of the time in a reading; undefined where it has none. */
  timeColumn(reading: SeriesReading): string | undefined {
    return findTimeColumn(Object.keys(reading), this.settings.time);
  }

  /** Which columns of a reading are not sensors: its time and its key. */
  skips(timeColumn: string | undefined): (name: string) => boolean {
    const { key, time } = this.settings;
    return (name) => name === timeColumn || name === key || name === time;
  }

  /**
   * Milliseconds since 1970; undefined where the reading has none.
   *
   * @param row of a table, counted from 1
   * @throws ServiceError time.invalid
   */
  readTime(
    reading: SeriesReading,
    column: string | undefined,
    options: PushOptions,
    row: number | undefined,
  ): number | undefined {
    const { time: given } = options;
    const cell = given ?? (column === undefined ? undefined : reading[column]);
    if (cell === undefined || cell === null || cell === '') {
      if (given === undefined && this.settings.time === undefined) {
        return undefined;
      }
      throw noTime(column, row);
    }
    return this.instant(cell, given === undefined ? column : undefined, row);
  }

  /** @throws ServiceError time.invalid */
  instant(cell: unknown, column?: string, row?: number): number {
    const time = Math.round(this.dates.instant(cell));
    if (Number.isNaN(time)) {
      throw invalidTime(column, row, whyNotDate(show(cell), cell, undefined, SEND_ISO));
    }
    return time;
  }

  /**
   * null where there are no keys.
   *
   * @param isPlan a plan without a key is for all keys
   * @throws ServiceError columns.missing
   */
  readKey(
    reading: SeriesReading,
    options: PushOptions,
    row: number | undefined,
    isPlan: boolean,
  ): string | null {
    const { key: column } = this.settings;
    const cell = options.key ?? (column === undefined ? undefined : reading[column]);
    if (cell !== '' && (typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'boolean')) {
      return `${cell}`;
    }
    if (column === undefined || isPlan) {
      return null;
    }
    throw new ServiceError(
      'columns.missing',
      `${row === undefined ? 'The reading' : `Row ${row}`} has no value in "${column}", the column of the key.`,
    );
  }
}

/** The error of a reading without a time, where it cannot count as of now. @param row of a table, counted from 1 */
export function noTime(column: string | undefined, row: number | undefined): ServiceError {
  return invalidTime(
    column,
    row,
    'this reading has no time. Send it with the time at which it was taken, as the others have it.',
  );
}

function invalidTime(column: string | undefined, row: number | undefined, problem: string): ServiceError {
  const where = [
    ...(column === undefined ? ['Time'] : [`Column "${column}"`]),
    ...(row === undefined ? [] : [`row ${row}`]),
  ];
  return new ServiceError('time.invalid', `${where.join(', ')}: ${problem}`);
}

/** How far from the newest reading a time may be that still belongs to it, in milliseconds: some steps, or a day where there is none yet. */
export function countNear(machine: Machine | undefined): number {
  const step = machine?.step ?? NaN;
  return Number.isNaN(step) ? DAY : Math.max(LEAP_STEPS * step, AHEAD_OF_US);
}

/** Whether a time is wrong because it lies in the future. */
export function isFuture(time: number, arrival: number, machine: Machine | undefined): boolean {
  if (time <= arrival + AHEAD_OF_US) {
    return false;
  }
  if (machine === undefined || Number.isNaN(machine.step)) {
    return time > Math.max(arrival, machine?.newest ?? arrival) + DAY;
  }
  return time - machine.newest > Math.max(LEAP_STEPS * machine.step, AHEAD_OF_US);
}

/** The time to use for a reading from the future: its arrival, or one step after the newest where that clock is not ours. */
export function timeInstead(arrival: number, machine: Machine | undefined): number {
  if (machine === undefined || machine.newest === -Infinity) {
    return arrival;
  }
  const step = Number.isNaN(machine.step) ? AHEAD_OF_US : machine.step;
  const isNear =
    arrival > machine.newest && arrival - machine.newest <= Math.max(LEAP_STEPS * step, AHEAD_OF_US);
  return isNear ? arrival : machine.newest + Math.max(1, Math.round(step));
}

/** The end of a message about a machine: ` of "pump 3"`; empty where there are no keys. */
export function ofKey(key: string | null): string {
  return key === null ? '' : ` of ${show(key)}`;
}

export interface ReadingsOptions {
  signal?: AbortSignal;
  /** Columns whose cells stay text; left out: that of the time. */
  texts?: readonly string[];
  /** Called with the share of the table read so far, 0 to 1, where its size is known. */
  onRead?: (part: number) => void;
}

/** Forms whose cells are text: types are inferred over the whole column. */
const OF_TEXT = ['parsed', 'file'];
/** Rows converted at a time. */
const STEP = 1000;

/**
 * The rows of a table as readings, in order and in bounded memory. Objects are passed through. In tables of text the
 * types are inferred over whole columns; the time stays text and is read in the configured zone, as for single readings.
 * Errors: `table.invalid`, `table.empty`, `file.unreadable`.
 */
export async function* readReadings(
  source: TableSource,
  settings: Pick<SeriesSettings, 'time' | 'missingWords' | 'unreadable'>,
  { signal, texts, onRead }: ReadingsOptions = {},
): AsyncGenerator<SeriesReading> {
  if (source.objects !== undefined || !OF_TEXT.includes(source.form)) {
    yield* await source.readRows(signal);
    return;
  }
  const { missingWords, unreadable } = settings;
  const times = texts ?? [findTimeColumn(source.names, settings.time) ?? []].flat();
  const types =
    source.parquet === undefined ? Object.fromEntries(times.map((name) => [name, 'text' as const])) : {};
  const { columns } = await source.profile({ types, missingWords, unreadable, signal });
  const names = columns.map(({ name }) => name);
  for await (const batch of source.batches(columns, { signal, onRead, maxRows: STEP })) {
    const cells = batch.columns.map(listCells);
    for (let row = 0; row < batch.rows; row++) {
      yield Object.fromEntries(names.map((name, column) => [name, cells[column]![row]]));
    }
  }
}
