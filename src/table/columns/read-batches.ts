import { SliceSizer, Yielder } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { type Column, listNames, type Row, setCell } from '../cells/types';
import { builderFor, type ColumnBuilder } from './builders';
import { type ColumnBatch, isMissing, pickRows, sliceBatch } from './column-batch';
import { ColumnPlaces, COLUMNS_PER_LOOK } from './header';
import { MissingWords, type Slice, type SliceColumn, type SliceSource, tellRead } from './slices';

/** A batch is handed over when it has this many rows, or columns of this many bytes. */
const BATCH_ROWS = 20_000;
const BATCH_BYTES = 8 * 1024 * 1024;

export interface ReadOptions {
  /** A column that the table lacks: refuse the table (default), or take it as missing values. */
  missingColumns?: 'error' | 'fill';
  /** Rows per batch at most. */
  maxRows?: number;
  signal?: AbortSignal;
  /** Called with how much of the table has been read, 0 to 1, where its size is known. */
  onRead?: (part: number) => void;
}

/**
 * The rows of a table in batches of these columns, in this order; other columns are left out. An `integer`
 * column whose rows hold fractions comes as `number`. Errors: `columns.missing`, `table.invalid` with column
 * and row.
 */
export async function* gatherBatches(
  source: SliceSource,
  columns: readonly Column[],
  options: ReadOptions = {},
): AsyncIterable<ColumnBatch> {
  const { signal, maxRows = BATCH_ROWS, onRead } = options;
  const gathered = new GatheredColumns(source, columns, options);
  const sizer = new SliceSizer(columns.length, maxRows);
  for await (const slice of source.slices({ sizer, wanted: gathered.wanted, signal })) {
    if (gathered.rows > 0 && gathered.rows + slice.rows > maxRows) {
      yield* gathered.take(maxRows);
    }
    await gathered.add(slice);
    tellRead(onRead, source, slice);
    if (gathered.rows >= maxRows || gathered.bytes >= BATCH_BYTES) {
      yield* gathered.take(maxRows);
    }
    sizer.maxRows = maxRows - gathered.rows;
    await sizer.step(signal);
  }
  yield* gathered.take(maxRows);
}

/** Cells that are read in one turn of the event loop at most: about a millisecond's work. */
const FEW_CELLS = 2_000;

/** Whether rows are so few that `batchOfRows` takes them. */
export function areFew(rows: number, columns: number): boolean {
  return rows * columns <= FEW_CELLS;
}

/** As `batchesOf`, of a few rows that are objects without getters: one batch, at once. Errors as there. */
export function batchOfRows(
  rows: readonly Row[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill' = 'error',
): ColumnBatch {
  const batch: ColumnBatch = { rows: rows.length, columns: [] };
  for (const column of columns) {
    const builder = builderFor(column);
    const cells = cellsAmong(rows, column.name) ?? cellsOfLike(rows, column, columns, missingColumns);
    if (cells === undefined) {
      builder.skip(rows.length);
    } else {
      const values: SliceColumn = { kind: 'values', cells };
      builder.add(column.missing ? builder.cleared(values, new MissingWords(column.missing)) : values, 0);
      if (builder.cleaned > 0) {
        setCell((batch.cleaned ??= {}), column.name, builder.cleaned);
      }
    }
    batch.columns.push(builder.take());
  }
  return batch;
}

/** The cells of a name; undefined where no row has it. */
function cellsAmong(rows: readonly Row[], name: string): unknown[] | undefined {
  const cells: unknown[] = [];
  let isThere = false;
  for (const row of rows) {
    const isOwn = Object.hasOwn(row, name);
    cells.push(isOwn ? row[name] : undefined);
    isThere ||= isOwn;
  }
  return isThere ? cells : undefined;
}

/** The cells of the name that stands for a column in the rows; undefined where none does, and that is allowed. */
function cellsOfLike(
  rows: readonly Row[],
  column: Column,
  columns: readonly Column[],
  missingColumns: 'error' | 'fill',
): unknown[] | undefined {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const index = findIndices(names, columns, missingColumns)[columns.indexOf(column)]!;
  return index < 0 ? undefined : cellsAmong(rows, names[index]!);
}

/** One column on its way into a batch. */
interface GatheredColumn {
  column: Column;
  /** Where it is in the source, -1 where it is missing there. */
  index: number;
  builder: ColumnBuilder;
  words: MissingWords | undefined;
}

/** The rows of some slices, column by column. */
class GatheredColumns {
  rows = 0;
  bytes = 0;
  /** The indices of the columns that the source has. */
  readonly wanted: number[] = [];
  private readonly columns: GatheredColumn[] = [];
  /** The columns that each row needs a value in. */
  private readonly required: number[] = [];

  constructor({ names }: SliceSource, columns: readonly Column[], { missingColumns = 'error' }: ReadOptions) {
    const indices = findIndices(names, columns, missingColumns);
    // Columns of one table share the list of words.
    const words = new Map<Column['missing'], MissingWords>();
    for (const [at, column] of columns.entries()) {
      const { missing, required } = column;
      if (missing !== undefined && !words.has(missing)) {
        words.set(missing, new MissingWords(missing));
      }
      const index = indices[at]!;
      this.columns.push({ column, index, builder: builderFor(column), words: words.get(missing) });
      if (index >= 0) {
        this.wanted.push(index);
      }
      if (required === true) {
        this.required.push(at);
      }
    }
  }

  async add(slice: Slice): Promise<void> {
    const yielder = new Yielder();
    this.rows += slice.rows;
    this.bytes = 0;
    let done = 0;
    for (const { index, builder, words } of this.columns) {
      if (index < 0) {
        builder.skip(slice.rows);
      } else {
        const cells = slice.column(index);
        builder.add(words === undefined ? cells : builder.cleared(cells, words), slice.first);
      }
      this.bytes += builder.bytes;
      if (++done % COLUMNS_PER_LOOK === 0) {
        await yielder.due();
      }
    }
  }

  /** What was gathered, in parts: the slices of a file may have more rows than a batch may. */
  *take(maxRows: number): Iterable<ColumnBatch> {
    const whole: ColumnBatch = { rows: this.rows, columns: [] };
    for (const { column, builder } of this.columns) {
      whole.columns.push(builder.take());
      if (builder.cleaned > 0) {
        setCell((whole.cleaned ??= {}), column.name, builder.cleaned);
        builder.cleaned = 0;
      }
    }
    this.rows = 0;
    this.bytes = 0;
    const batch = withRequired(whole, this.required);
    if (batch.rows > 0 && batch.rows <= maxRows) {
      yield batch;
      return;
    }
    for (let from = 0; from < batch.rows; from += maxRows) {
      const part = sliceBatch(batch, from, from + maxRows);
      yield from === 0 ? { ...part, cleaned: batch.cleaned } : part;
    }
  }
}

/** Without the rows that lack a value in one of these columns. */
function withRequired(batch: ColumnBatch, columns: readonly number[]): ColumnBatch {
  if (columns.length === 0) {
    return batch;
  }
  const rows: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    let isWhole = true;
    for (const column of columns) {
      isWhole &&= !isMissing(batch.columns[column]!, row);
    }
    if (isWhole) {
      rows.push(row);
    }
  }
  return rows.length === batch.rows ? batch : { ...pickRows(batch, rows), cleaned: batch.cleaned };
}

/** Says of which missing column the table has one whose name differs in case alone. */
function spelledAlmost(missing: readonly string[], names: readonly string[]): string {
  const plain = (name: string) => name.trim().toLowerCase();
  const known = new Map(names.map((name) => [plain(name), name]));
  const name = missing.find((one) => known.has(plain(one)));
  return name === undefined
    ? ''
    : ` Names must match exactly, case and spaces included: "${known.get(plain(name))}" is not "${name}".`;
}

function findIndices(
  names: readonly string[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill',
): number[] {
  const places = new ColumnPlaces(names);
  const indices: number[] = [];
  const missing: string[] = [];
  for (const { name } of columns) {
    const index = places.of(name);
    indices.push(index ?? -1);
    if (index === undefined) {
      missing.push(name);
    }
  }
  if (missing.length > 0 && (missingColumns === 'error' || missing.length === columns.length)) {
    const lacks = missing.length === 1 ? 'a column' : 'columns';
    throw new ServiceError(
      'columns.missing',
      `The table lacks ${lacks} that the model was trained on: ${listNames(missing)}. It has ${listNames(names)}.` +
        spelledAlmost(missing, names),
    );
  }
  return indices;
}
