import { DateReader, isAbsent, parseNumber, show, whyNotDate } from '../table';
import { ServiceError } from '../wire/service-error';
import type { HistoryCell } from './method/history';
import type { AnomalyReading, ReadingPlace } from './types';

const TIME_NAMES = new Set(['time', 'timestamp', 'ts', 'date']);
const MOST = 1e100;
/** Characters of a word that count. */
const MOST_CHARACTERS = 200;

interface Columns {
  key: string | undefined;
  time: string | undefined;
  ignore: ReadonlySet<string>;
}

/** A reading as a detector takes it. */
export interface MachineReading {
  key: string | null;
  /** undefined: that of its arrival. */
  time: number | undefined;
  cells: Map<string, HistoryCell>;
}

/** Reads key, time and cells of readings. */
export class ReadingReader {
  private readonly dates: DateReader;

  constructor(
    private readonly columns: Columns,
    timezone: string | undefined,
  ) {
    this.dates = new DateReader({ zone: timezone });
  }

  /** @throws ServiceError `time.invalid`, `columns.missing` */
  read(reading: AnomalyReading, place: ReadingPlace = {}): MachineReading {
    const { key: keyColumn, ignore } = this.columns;
    const timeColumn =
      this.columns.time ?? Object.keys(reading).find((name) => TIME_NAMES.has(name.toLowerCase()));
    const cells = new Map<string, HistoryCell>();
    for (const [name, value] of Object.entries(reading)) {
      const cell = name === timeColumn || name === keyColumn || ignore.has(name) ? undefined : cellOf(value);
      if (cell !== undefined) {
        cells.set(name, cell);
      }
    }
    return {
      key: this.key(reading, place),
      time: this.time(place.time ?? (timeColumn === undefined ? undefined : reading[timeColumn]), timeColumn),
      cells,
    };
  }

  private key(reading: AnomalyReading, place: ReadingPlace): string | null {
    const { key: column } = this.columns;
    const key = place.key ?? (column === undefined ? undefined : reading[column]);
    if (key !== '' && (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean')) {
      return String(key);
    }
    if (column === undefined) {
      return null;
    }
    throw new ServiceError(
      'columns.missing',
      `The reading has no value in "${column}", the column of the key.`,
    );
  }

  private time(value: unknown, column: string | undefined): number | undefined {
    if (value === undefined || value === null || value === '') {
      if (this.columns.time === undefined) {
        return undefined;
      }
      throw new ServiceError(
        'time.invalid',
        `Column "${this.columns.time}": this reading has no time. Send it with the time at which it was taken.`,
      );
    }
    const time = Math.round(this.dates.instant(value));
    if (Number.isNaN(time)) {
      const where = column === undefined ? 'Time' : `Column "${column}"`;
      throw new ServiceError('time.invalid', `${where}: ${whyNotDate(show(value), value, undefined)}`);
    }
    return time;
  }
}

/** A number, or a word that stands for a state; undefined where nothing is told. */
function cellOf(value: unknown): HistoryCell | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return numberOf(Number(value));
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
  return number === undefined ? text.slice(0, MOST_CHARACTERS) : numberOf(number);
}

/** No sensor measures more: squares of it would be infinite. */
function numberOf(value: number): number | undefined {
  return Math.abs(value) <= MOST ? value : undefined;
}
