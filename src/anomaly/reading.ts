import { TimeAndKey } from '../series/time-and-key';
import { isAbsent, parseNumber } from '../table';
import { ServiceError } from '../wire/service-error';
import type { HistoryCell } from './method/history';
import { MOST_SENSORS } from './method/layout';
import type { AnomalyReading, ReadingPlace } from './types';

/** No sensor measures more: squares of it would be infinite. */
const MOST = 1e100;
/** Characters of a word that count. */
const MOST_CHARACTERS = 200;

/** A reading as a detector takes it. */
export interface MachineReading {
  key: string | null;
  /** undefined: that of its arrival. */
  time: number | undefined;
  cells: Map<string, HistoryCell>;
}

/** Reads key, time and cells of readings. */
export class ReadingReader {
  private readonly timeAndKey: TimeAndKey;

  /** @param ignored columns that are no sensors, beside those of key and time */
  constructor(
    columns: ConstructorParameters<typeof TimeAndKey>[0],
    private readonly ignored: ReadonlySet<string>,
  ) {
    this.timeAndKey = new TimeAndKey(columns);
  }

  /**
   * @param row of a table, counted from 1
   * @throws ServiceError `time.invalid`, `columns.missing`
   */
  read(reading: AnomalyReading, place: ReadingPlace = {}, row?: number): MachineReading {
    const { timeAndKey } = this;
    const column = place.time === undefined ? timeAndKey.timeColumn(reading) : undefined;
    const skips = timeAndKey.skips(column);
    const cells = new Map<string, HistoryCell>();
    for (const [name, value] of Object.entries(reading)) {
      const cell = skips(name) || this.ignored.has(name) ? undefined : readCell(value);
      if (cell !== undefined) {
        cells.set(name, cell);
      }
    }
    return {
      key: timeAndKey.readKey(reading, place, row, false),
      time: timeAndKey.readTime(reading, column, place, row),
      cells,
    };
  }

  /**
   * Reads a row of a table of past readings; undefined where it has no values.
   * @param row counted from 1
   * @throws ServiceError as `read`
   */
  readPast(
    reading: AnomalyReading,
    place: ReadingPlace | undefined,
    row: number,
  ): (MachineReading & { time: number }) | undefined {
    const { time, ...placed } = this.read(reading, place, row);
    if (placed.cells.size === 0) {
      return undefined;
    }
    if (time === undefined) {
      throw new ServiceError(
        'time.invalid',
        `Row ${row} has no time, which a row of a table of past readings needs. Name its column under Time, or send readings one by one as they come.`,
      );
    }
    return { ...placed, time };
  }
}

/** A number, or a word that stands for a state; undefined where nothing is told. */
function readCell(value: unknown): HistoryCell | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return readNumber(Number(value));
  }
  if (typeof value === 'boolean') {
    return String(value);
  }
  if (typeof value !== 'string') {
    return undefined;
  }
  const text = value.trim();
  if (text === '' || isAbsent(text)) {
    return undefined;
  }
  const number = parseNumber(text, false);
  return number === undefined ? text.slice(0, MOST_CHARACTERS) : readNumber(number);
}

function readNumber(value: number): number | undefined {
  return Math.abs(value) <= MOST ? value : undefined;
}

/** Machines of a node. */
const MOST_MACHINES = 1000;
/** What all machines may hold, in bytes: 1,000 of 5 sensors take some 400 MB. */
const MAX_BYTES = 700 * 1024 * 1024;
/** What a machine of so many columns holds at most, beside what grows with its columns. */
const BYTES_OF_MACHINE = 150_000;
const BYTES_OF_COLUMN = 80_000;
/** Columns that an error names at most. */
const MOST_NAMED = 5;
/** Columns of a reading: numbers and states. */
export const MOST_COLUMNS = 200;

/** The columns of each key, and whether they hold numbers. */
export type MachineColumns = Map<string | null, ReadonlyMap<string, boolean>>;

/** Adds the columns of a reading to those of its key. @throws ServiceError `limit.exceeded`, `validation.failed` */
export function checkCells(
  key: string | null,
  cells: ReadonlyMap<string, HistoryCell>,
  columns: MachineColumns,
): void {
  const known = columns.get(key);
  if (cells.size === 0) {
    throw new ServiceError(
      'validation.failed',
      known === undefined
        ? 'The reading has no values: no column of it is a number or a word. Look at Key, Time and Ignore, and at what the message holds.'
        : `The reading${key === null ? '' : ` of "${key}"`} has no value in any of its columns (${shortList([...known.keys()])}): all of its sensors may be dead.`,
    );
  }
  const added = [...cells].filter(([name]) => known?.has(name) !== true);
  if (added.length > 0) {
    checkColumns(key, new Map([...(known ?? []), ...added.map(tellNumber)]), columns);
  }
}

function shortList(names: readonly string[]): string {
  return names.length > MOST_NAMED ? `${names.slice(0, MOST_NAMED).join(', ')} …` : names.join(', ');
}

function tellNumber([name, cell]: [string, HistoryCell]): [string, boolean] {
  return [name, typeof cell === 'number'];
}

function checkColumns(key: string | null, all: ReadonlyMap<string, boolean>, columns: MachineColumns): void {
  if (!columns.has(key) && columns.size >= MOST_MACHINES) {
    throw new ServiceError(
      'limit.exceeded',
      `"${key ?? ''}" would be machine number ${MOST_MACHINES + 1}: at most ${MOST_MACHINES} are known by a node. If each reading has a key of its own, Key names the wrong column; else use a second anomaly node for some of the keys.`,
    );
  }
  const numbers = [...all.values()].filter(Boolean).length;
  if (numbers > MOST_SENSORS || all.size > MOST_COLUMNS) {
    throw new ServiceError(
      'limit.exceeded',
      `The readings have ${numbers} columns of numbers${key === null ? '' : ` for the key "${key}"`}, and ${all.size} in all: at most ${MOST_SENSORS} sensors, and ${MOST_COLUMNS} columns, are looked at together. Name those that say nothing under Ignore, or split the message.`,
    );
  }
  const others = [...columns].filter(([of]) => of !== key).map(([, { size }]) => size);
  if ([...others, all.size].reduce((sum, size) => sum + estimateBytes(size), 0) > MAX_BYTES) {
    throw new ServiceError(
      'limit.exceeded',
      `${others.length} keys fill the memory that is set aside for what is usual (${MAX_BYTES / 1024 / 1024} MB): ` +
        `"${key ?? ''}" is refused. Use fewer columns (Ignore), or a second anomaly node for some of the keys.`,
    );
  }
  columns.set(key, all);
}

/** What a machine of so many columns holds at most. */
function estimateBytes(columns: number): number {
  return BYTES_OF_MACHINE + columns * BYTES_OF_COLUMN;
}
