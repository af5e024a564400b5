import { SliceSizer, Yielder } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { listNames } from '../cells/errors';
import { type Column, type Row, setCell } from '../cells/types';
import { builderFor, type TypedColumnBuilder } from './builders';
import { cellsOf, type ColumnBatch, pickRows, sliceBatch } from './column-batch';
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
export async function* batchesOf(
  source: SliceSource,
  columns: readonly Column[],
  options: ReadOptions = {},
): AsyncIterable<ColumnBatch> {
  const { signal, maxRows = BATCH_ROWS, onRead } = options;
  const indices = indicesOf(source.names, columns, options.missingColumns ?? 'error');
  const gathered = new GatheredColumns(columns, indices);
  const wanted = indices.filter((index) => index >= 0);
  const sizer = new SliceSizer(columns.length, maxRows);
  for await (const slice of source.slices({ sizer, wanted, signal })) {
    if (gathered.rows > 0 && gathered.rows + slice.rows > maxRows) {
      yield* cut(gathered.take(), maxRows);
    }
    await gathered.add(slice);
    tellRead(onRead, source, slice);
    if (gathered.rows >= maxRows || gathered.bytes >= BATCH_BYTES) {
      yield* cut(gathered.take(), maxRows);
    }
    sizer.maxRows = maxRows - gathered.rows;
    await sizer.step(signal);
  }
  yield* cut(gathered.take(), maxRows);
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
    const name = nameAmong(rows, column, columns, missingColumns);
    if (name === undefined) {
      builder.skip(rows.length);
    } else {
      const values: SliceColumn = { kind: 'values', cells: cellsOfRows(rows, name) };
      const cleaned = column.missing && new MissingWords(column.missing).clear(values);
      builder.add(cleaned?.column ?? values, 0);
      const cells = (cleaned?.cleared ?? 0) + builder.unreadable;
      if (cells > 0) {
        setCell((batch.cleaned ??= {}), column.name, cells);
      }
    }
    batch.columns.push(builder.take());
  }
  return batch;
}

/** The name that a column has in the rows; undefined where none has it, and that is allowed. */
function nameAmong(
  rows: readonly Row[],
  { name }: Column,
  columns: readonly Column[],
  missingColumns: 'error' | 'fill',
): string | undefined {
  for (const row of rows) {
    if (Object.hasOwn(row, name)) {
      return name;
    }
  }
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const indices = indicesOf(names, columns, missingColumns);
  return names[indices[columns.findIndex((one) => one.name === name)]!];
}

function cellsOfRows(rows: readonly Row[], name: string): unknown[] {
  const cells: unknown[] = [];
  for (const row of rows) {
    cells.push(Object.hasOwn(row, name) ? row[name] : undefined);
  }
  return cells;
}

/** The rows of some slices, column by column. */
class GatheredColumns {
  rows = 0;
  private readonly builders: TypedColumnBuilder[];
  private readonly words: MissingWords[];
  private cleaned: number[];

  /** @param indices where each column is in the source, -1 where it is missing there */
  constructor(
    private readonly columns: readonly Column[],
    private readonly indices: readonly number[],
  ) {
    this.builders = columns.map(builderFor);
    const known = new Map<Column['missing'], MissingWords>();
    this.words = columns.map(({ missing }) => {
      const words = known.get(missing) ?? new MissingWords(missing ?? []);
      known.set(missing, words);
      return words;
    });
    this.cleaned = columns.map(() => 0);
  }

  get bytes(): number {
    return this.builders.reduce((sum, builder) => sum + builder.bytes, 0);
  }

  async add(slice: Slice): Promise<void> {
    const yielder = new Yielder();
    for (let i = 0; i < this.builders.length; i++) {
      this.addColumn(i, slice);
      if (i % COLUMNS_PER_LOOK === COLUMNS_PER_LOOK - 1) {
        await yielder.due();
      }
    }
    this.rows += slice.rows;
  }

  private addColumn(i: number, slice: Slice): void {
    const builder = this.builders[i]!;
    const index = this.indices[i]!;
    if (index < 0) {
      builder.skip(slice.rows);
      return;
    }
    const { column, cleared } = this.words[i]!.clear(slice.column(index));
    const before = builder.unreadable;
    builder.add(column, slice.first);
    this.cleaned[i]! += cleared + builder.unreadable - before;
  }

  take(): ColumnBatch {
    const batch: ColumnBatch = { rows: this.rows, columns: this.builders.map((builder) => builder.take()) };
    if (this.cleaned.some((count) => count > 0)) {
      batch.cleaned = Object.fromEntries(
        this.columns.flatMap(({ name }, i) => (this.cleaned[i]! > 0 ? [[name, this.cleaned[i]!]] : [])),
      );
      this.cleaned = this.columns.map(() => 0);
    }
    this.rows = 0;
    return this.withRequired(batch);
  }

  /** Without the rows that lack a value where one is required. */
  private withRequired(batch: ColumnBatch): ColumnBatch {
    const required = batch.columns.filter((_, i) => this.columns[i]!.required === true);
    if (required.length === 0 || batch.rows === 0) {
      return batch;
    }
    const lists = required.map(cellsOf);
    const rows = Array.from({ length: batch.rows }, (_, row) => row).filter((row) =>
      lists.every((cells) => cells[row] !== null),
    );
    return rows.length === batch.rows ? batch : { ...pickRows(batch, rows), cleaned: batch.cleaned };
  }
}

/** A batch in parts: the slices of a file may have more rows than a batch may. */
function* cut(batch: ColumnBatch, maxRows: number): Iterable<ColumnBatch> {
  if (batch.rows === 0) {
    return;
  }
  if (batch.rows <= maxRows) {
    yield batch;
    return;
  }
  for (let from = 0; from < batch.rows; from += maxRows) {
    const part = sliceBatch(batch, from, from + maxRows);
    yield from === 0 ? { ...part, cleaned: batch.cleaned } : part;
  }
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

function indicesOf(
  names: readonly string[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill',
): number[] {
  const places = new ColumnPlaces(names);
  const missing = columns.filter(({ name }) => places.of(name) === undefined).map(({ name }) => name);
  if (missing.length > 0 && (missingColumns === 'error' || missing.length === columns.length)) {
    const lacks = missing.length === 1 ? 'a column' : 'columns';
    throw new ServiceError(
      'columns.missing',
      `The table lacks ${lacks} that the model was trained on: ${listNames(missing)}. It has ${listNames(names)}.` +
        spelledAlmost(missing, names),
    );
  }
  return columns.map(({ name }) => places.of(name) ?? -1);
}
