import { TimeAndKey } from '../series/time-and-key';
import { isAbsent, parseNumber } from '../table';
import type { HistoryCell } from './method/history';
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
      const cell = skips(name) || this.ignored.has(name) ? undefined : cellOf(value);
      if (cell !== undefined) {
        cells.set(name, cell);
      }
    }
    return {
      key: timeAndKey.keyOf(reading, place, row, false),
      time: timeAndKey.timeOf(reading, column, place, row),
      cells,
    };
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

function numberOf(value: number): number | undefined {
  return Math.abs(value) <= MOST ? value : undefined;
}
