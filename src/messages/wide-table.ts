import { datesAmong, datesInHeader, setCell } from '../table';
import { ServiceError } from '../wire/service-error';
import { type Found, nameOf } from './items';
import { timeAmong } from './times';

/** A table with a column for each time, as spreadsheets and pivot tables have them. */
export interface WideTable {
  /** The columns that are times. */
  times: readonly string[];
  /** The column beside them, whose cells say which sensor, or which machine, a row is of; undefined where there is none. */
  label?: string;
}

/**
 * Whether the names of a table are times in the main. Undefined where they are not, and where a column has the times.
 * @throws ServiceError `table.invalid` where several columns stand beside them
 */
export function wideTable(names: readonly string[]): WideTable | undefined {
  const times = datesAmong(names);
  if (times === undefined || timeAmong(names) !== undefined) {
    return undefined;
  }
  const others = names.filter((name) => !times.includes(name));
  if (others.length > 1) {
    throw new ServiceError(
      'table.invalid',
      `${datesInHeader(times)} So a row has no time. Give a row for each time, with the time in a column of its own, or leave one column beside the times, which names the sensors.`,
    );
  }
  return { times, label: others[0] };
}

/**
 * The reading of each time: a column for each row, or where a key is told by the label, a reading for each.
 * @param keyColumn the column of the key, where a person chose one
 */
export class Turned {
  private readonly found = new Map<string, Found>();

  constructor(
    private readonly table: WideTable,
    private readonly keyColumn: string | undefined,
  ) {}

  get readings(): IterableIterator<Found> {
    return this.found.values();
  }

  add(row: Readonly<Record<string, unknown>>): void {
    const { times, label } = this.table;
    const name = (label === undefined ? undefined : nameOf(row[label])) ?? 'value';
    const isKey = label !== undefined && label === this.keyColumn;
    for (const time of times) {
      const which = JSON.stringify([isKey ? name : '', time]);
      const one = this.found.get(which) ?? { key: isKey ? name : undefined, time, values: {} };
      this.found.set(which, one);
      setCell(one.values, isKey ? 'value' : name, row[time]);
    }
  }
}
