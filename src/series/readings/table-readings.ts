import { cellsOf, readBatches, readRows, type TableSource } from '../../table';
import type { SeriesReading, SeriesSettings } from '../types';
import { timeColumnOf } from './time-and-key';

export interface ReadingsOptions {
  signal?: AbortSignal;
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
