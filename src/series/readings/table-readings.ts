import { cellsOf, readBatches, readRows, type TableSource } from '../../table';
import type { SeriesReading, SeriesSettings } from '../types';
import { timeColumnOf } from './intake';

export interface ReadingsOptions {
  signal?: AbortSignal;
  /** Told the part of the table that has been read, 0 to 1, where its size is known. */
  onRead?: (part: number) => void;
}

/** Forms whose cells are text, so that a column's type is found over all of them. */
const OF_TEXT = ['parsed', 'file'];
/** Rows that are made into readings at a time. */
const STEP = 1000;

/**
 * The rows of a table as readings, in its order and in bounded memory. Rows that came as objects are those very
 * objects. Of text, numbers and truth values are found over the whole column, as in every table; the time stays text,
 * which is read in the zone of the settings as that of a single reading is.
 * Errors: `table.invalid`, `table.empty`, `file.unreadable`.
 */
export async function* readingsOf(
  source: TableSource,
  settings: Pick<SeriesSettings, 'time' | 'missingWords' | 'unreadable'>,
  { signal, onRead }: ReadingsOptions = {},
): AsyncGenerator<SeriesReading> {
  if (source.objects !== undefined || !OF_TEXT.includes(source.form)) {
    yield* await readRows(source, { signal });
    return;
  }
  const { missingWords, unreadable } = settings;
  const time = timeColumnOf(source.names, settings.time);
  const types = time === undefined || source.parquet !== undefined ? {} : { [time]: 'text' as const };
  const { columns } = await source.profile({ types, missingWords, unreadable, signal });
  const names = columns.map(({ name }) => name);
  for await (const batch of readBatches(source, columns, { signal, onRead, maxRows: STEP })) {
    const cells = batch.columns.map(cellsOf);
    for (let row = 0; row < batch.rows; row++) {
      yield Object.fromEntries(names.map((name, column) => [name, cells[column]![row]]));
    }
  }
}
