import { SliceSizer } from '../../util/event-loop';
import { ServiceError } from '../../wire/service-error';
import { listNames } from '../cells/errors';
import type { Column } from '../cells/types';
import { sliceBatch } from './batch-rows';
import { builderFor } from './builders';
import type { ColumnBatch } from './column-batch';
import { type SliceSource, tellRead } from './slices';

/** A batch is handed over when it has this many rows, or columns of this many bytes. */
const BATCH_ROWS = 20_000;
const BATCH_BYTES = 8 * 1024 * 1024;

export interface BatchOptions {
  /** A column that the table lacks: refuse the table (default), or take it as missing values. */
  missingColumns?: 'error' | 'fill';
  /** Rows per batch at most. */
  maxRows?: number;
  signal?: AbortSignal;
  /** Told the part of the table that has been read, 0 to 1, where its size is known. */
  onRead?: (part: number) => void;
}

/**
 * The rows of a table in batches of these columns, in this order; other columns are left out. An `integer`
 * column whose rows hold fractions comes as `number`. Errors: `columns.missing`, `table.invalid` with column
 * and row.
 */
export async function* batchesOf(
  source: SliceSource,
  columns: readonly Column[],
  options: BatchOptions = {},
): AsyncIterable<ColumnBatch> {
  const { signal, maxRows = BATCH_ROWS, onRead } = options;
  const indices = indicesOf(source.names, columns, options.missingColumns ?? 'error');
  const builders = columns.map(builderFor);
  const wanted = indices.filter((index) => index >= 0);
  const sizer = new SliceSizer(columns.length, maxRows);
  let rows = 0;
  const take = (): ColumnBatch => {
    const batch = { rows, columns: builders.map((builder) => builder.take()) };
    rows = 0;
    return batch;
  };
  for await (const slice of source.slices({ sizer, wanted, signal })) {
    if (rows > 0 && rows + slice.rows > maxRows) {
      yield* cut(take(), maxRows);
    }
    let bytes = 0;
    for (let i = 0; i < builders.length; i++) {
      const builder = builders[i]!;
      if (indices[i]! < 0) {
        builder.skip(slice.rows);
      } else {
        builder.add(slice.column(indices[i]!), slice.first);
      }
      bytes += builder.bytes;
    }
    rows += slice.rows;
    tellRead(onRead, source, slice);
    if (rows >= maxRows || bytes >= BATCH_BYTES) {
      yield* cut(take(), maxRows);
    }
    sizer.maxRows = maxRows - rows;
    await sizer.step(signal);
  }
  if (rows > 0) {
    yield* cut(take(), maxRows);
  }
}

/** A batch in parts: the slices of a file may have more rows than are wanted. */
function* cut(batch: ColumnBatch, maxRows: number): Iterable<ColumnBatch> {
  if (batch.rows <= maxRows) {
    yield batch;
    return;
  }
  for (let from = 0; from < batch.rows; from += maxRows) {
    yield sliceBatch(batch, from, from + maxRows);
  }
}

function indicesOf(
  names: readonly string[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill',
): number[] {
  const known = new Map(names.map((name, index) => [name, index]));
  const missing = columns.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (missing.length > 0 && (missingColumns === 'error' || missing.length === columns.length)) {
    const lacks = missing.length === 1 ? 'a column' : 'columns';
    throw new ServiceError(
      'columns.missing',
      `The table lacks ${lacks} that the model was trained on: ${listNames(missing)}. It has ${listNames(names)}.`,
    );
  }
  return columns.map(({ name }) => known.get(name) ?? -1);
}
