import { SliceSizer, yieldToEventLoop } from '../util/concurrency';
import { asBytes } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { isCompressed } from './arrow/compression';
import { openArrowBytes } from './arrow/ipc';
import { type Column, emptyTable, type Row, setCell } from './cells/types';
import { type ColumnBatch, listCells } from './columns/column-batch';
import { gatherBatches, type ReadOptions } from './columns/read-batches';
import { plainCells, type SliceColumn, type SliceSource, type TableForm } from './columns/slices';
import { CsvSource } from './csv/source';
import { encodeTrainColumns, type TrainSetFiles, type TrainSetFilesOptions } from './encoder/encode';
import type { AsIs, AsIsBounds, Origin, PathOrigin } from './encoder/files';
import { encoder, retried } from './encoder/host';
import type { OpenedTable } from './encoder/protocol';
import { type ProfileOptions, profileSource, type TableProfile } from './inference/profile';
import { storedAs } from './parquet/source';
import { BytesBlob } from './storage/blob';
import { type TableFile, userFile } from './storage/table-file';
import { bufferChunks, decodedPieces, stringPieces, Utf8Text } from './text/decode';
import {
  bytesAsText,
  type Content,
  findContent,
  firstCharacter,
  noTable,
  packedContent,
  toldSize,
  unpacked,
  wholeUnpacked,
  wideEncoding,
} from './text/sniff';
import { openJsonText } from './values/json';
import { type AddedColumns, addToRows, openValue, ValueTable } from './values/tables';

/** A table that can be read more than once, in this thread or in the encoder thread. */
export interface TableSource {
  readonly form: TableForm;
  readonly names: readonly string[];
  /** Number of rows, where it is known without reading the table. */
  readonly rowCount?: number | undefined;
  /** The rows themselves, where the table came as objects. */
  readonly objects?: readonly Row[] | undefined;
  /** Where the table is a Parquet file on disk. */
  readonly parquet?: ParquetOnDisk | undefined;
  /** The first pass: settles the type of every column over all rows. Errors: `target.missing`, `table.empty`, `table.invalid`. */
  profile(options: ProfileOptions): Promise<TableProfile>;
  /**
   * The rows in batches of these columns, in this order: a lossless change of type is made, other columns are left
   * out. Errors: `columns.missing`, `table.invalid` with column and row.
   */
  batches(columns: readonly Column[], options: ReadOptions): AsyncIterable<ColumnBatch>;
  /** The rows as objects, those that came as objects as they are. Errors: `table.invalid`. */
  readRows(signal?: AbortSignal): Promise<Row[]>;
  /**
   * The table with these columns: the very value that was opened, which must be ours to change; the rows as objects, where
   * it came as text, bytes or a file. Errors: `table.invalid`, `file.unreadable`.
   */
  addColumns(added: AddedColumns, signal?: AbortSignal): Promise<unknown>;
  /** The rows in blocks that can be kept for later: fields of text stay fields, all else becomes values. */
  blocks(signal?: AbortSignal): AsyncIterable<Block>;
  /** The features and the target, a file each, in one pass. Errors: those of `batches` and `encodeBatches`. */
  encodeTrainSet(profile: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles>;
}

/** What is known of a Parquet file on disk from its footer. */
interface ParquetOnDisk {
  origin: PathOrigin;
  /** What its columns are stored as: numbers of Arrow's type enumeration. */
  stored: readonly number[];
  bytes: number;
}

/** Some rows of a table, column by column in the order of `names`. */
export interface Block {
  rows: number;
  names: readonly string[];
  columns: SliceColumn[];
}

/** Rows that are made into objects at a time. */
const STEP = 1000;

/** Rows of JavaScript values, undefined where the source holds fields of text or typed columns. */
async function valueRows(source: SliceSource, signal?: AbortSignal): Promise<Row[] | undefined> {
  const rows: Row[] = [];
  const { names } = source;
  const sizer = new SliceSizer(names.length);
  for await (const slice of source.slices({ sizer, signal })) {
    const cells: unknown[][] = [];
    for (let i = 0; i < names.length; i++) {
      const column = slice.column(i);
      if (column.kind !== 'values') {
        return undefined;
      }
      cells.push(Array.from(column.cells));
    }
    addRows(rows, names, cells, slice.rows);
    await sizer.step(signal);
  }
  return rows;
}

/** The rows in the types that their columns have over the whole table. */
async function typedRows(source: TableSource, signal?: AbortSignal): Promise<Row[]> {
  const columns = await profileColumns(source, signal);
  const names = columns.map(({ name }) => name);
  const rows: Row[] = [];
  const sizer = new SliceSizer(names.length);
  for await (const batch of columns.length === 0 ? [] : source.batches(columns, { signal, maxRows: STEP })) {
    addRows(rows, names, batch.columns.map(listCells), batch.rows);
    await sizer.step();
  }
  return rows;
}

/** None for a table without rows. */
async function profileColumns(source: TableSource, signal?: AbortSignal): Promise<Column[]> {
  try {
    const { columns } = await source.profile({ signal });
    // Numbers with a unit, and times of day, stay as they are written.
    return columns.map(({ name, unit, ...column }) =>
      unit === undefined ? { name, ...column } : { name, type: 'text' },
    );
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'table.empty') {
      return [];
    }
    throw error;
  }
}

function addRows(
  rows: Row[],
  names: readonly string[],
  cells: readonly ArrayLike<unknown>[],
  count: number,
): void {
  for (let row = 0; row < count; row++) {
    const object: Row = {};
    for (let i = 0; i < names.length; i++) {
      const cell = cells[i]![row];
      if (cell !== undefined) {
        setCell(object, names[i]!, cell);
      }
    }
    rows.push(object);
  }
}

/** A table in memory, which this thread reads slice by slice. */
export class LocalSource implements TableSource {
  constructor(private readonly source: SliceSource) {}

  get form(): TableForm {
    return this.source.form;
  }

  get names(): readonly string[] {
    return this.source.names;
  }

  get rowCount(): number | undefined {
    return this.source.rowCount;
  }

  get objects(): readonly Row[] | undefined {
    return this.source.objects;
  }

  profile(options: ProfileOptions): Promise<TableProfile> {
    return profileSource(this.source, options);
  }

  batches(columns: readonly Column[], options: ReadOptions): AsyncIterable<ColumnBatch> {
    return gatherBatches(this.source, columns, options);
  }

  async readRows(signal?: AbortSignal): Promise<Row[]> {
    return this.objects?.slice() ?? (await valueRows(this.source, signal)) ?? typedRows(this, signal);
  }

  async addColumns(added: AddedColumns, signal?: AbortSignal): Promise<unknown> {
    const { source } = this;
    return source instanceof ValueTable && source.form !== 'parsed'
      ? source.addColumns(added)
      : addToRows(await this.readRows(signal), added);
  }

  async *blocks(signal?: AbortSignal): AsyncIterable<Block> {
    const { names } = this;
    const sizer = new SliceSizer(names.length);
    for await (const slice of this.source.slices({ sizer, signal })) {
      yield { rows: slice.rows, names, columns: names.map((_, index) => kept(slice.column(index))) };
      await sizer.step(signal);
    }
  }

  encodeTrainSet({ columns }: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles> {
    return retried(() =>
      encodeTrainColumns(columns, this.batches(columns, { signal: options.signal }), options),
    );
  }
}

/** A copy of the cells. Fields stay fields, since their types settle over all blocks. */
function kept(column: SliceColumn): SliceColumn {
  return column.kind === 'fields' ? column : { kind: 'values', cells: Array.from(plainCells(column)) };
}

/** Rows of a block. */
const BLOCK_ROWS = 2000;

/** A table that the encoder thread reads; this thread only ever sees batches of it. */
export class RemoteSource implements TableSource {
  readonly names: readonly string[];
  readonly rowCount: number | undefined;
  readonly parquet: ParquetOnDisk | undefined;

  private constructor(
    readonly form: TableForm,
    private readonly origin: Origin,
    { names, rowCount, parquet }: OpenedTable,
  ) {
    this.names = names;
    this.rowCount = rowCount;
    this.parquet = origin.kind === 'path' && parquet !== undefined ? { origin, ...parquet } : undefined;
  }

  /** Opens a table in the encoder thread. Errors: `file.unreadable`, `table.invalid`, `table.empty`. */
  static async open(
    origin: Origin,
    signal?: AbortSignal,
    form: TableForm = origin.kind === 'path' ? 'file' : 'parsed',
  ): Promise<RemoteSource> {
    const sendable = origin.kind === 'bytes' ? { ...origin, bytes: await shared(origin.bytes) } : origin;
    const opened = await retried(() =>
      encoder.start({ name: 'open', origin: sendable }, signal).result<OpenedTable>(),
    );
    // The file must not change between passes: their rows are joined.
    const known = sendable.kind === 'path' ? { ...sendable, version: opened.version } : sendable;
    return new RemoteSource(form, known, opened);
  }

  profile({ signal, onRead, ...options }: ProfileOptions): Promise<TableProfile> {
    return retried(() =>
      encoder
        .start({ name: 'profile', origin: this.origin, options }, signal)
        .result<TableProfile>((answer) => {
          if (answer.kind === 'read') {
            onRead?.(answer.part);
          }
        }),
    );
  }

  /** Batches, each asked for when it is needed. */
  async *batches(
    columns: readonly Column[],
    { signal, onRead, ...options }: ReadOptions,
  ): AsyncIterable<ColumnBatch> {
    const job = encoder.start({ name: 'read', origin: this.origin, columns: [...columns], options }, signal);
    let done = false;
    try {
      for (;;) {
        job.send({ kind: 'pull' });
        const answer = await job.next();
        if (answer.kind !== 'batch') {
          done = true;
          return;
        }
        if (answer.part !== undefined) {
          onRead?.(answer.part);
        }
        yield answer.batch;
      }
    } catch (error) {
      done = true;
      throw error;
    } finally {
      if (!done) {
        job.abort();
      }
    }
  }

  readRows(signal?: AbortSignal): Promise<Row[]> {
    return typedRows(this, signal);
  }

  async addColumns(added: AddedColumns, signal?: AbortSignal): Promise<unknown> {
    return addToRows(await this.readRows(signal), added);
  }

  async *blocks(signal?: AbortSignal): AsyncIterable<Block> {
    const { columns } = await this.profile({ signal });
    const names = columns.map(({ name }) => name);
    for await (const batch of this.batches(columns, { maxRows: BLOCK_ROWS, signal })) {
      const cells = batch.columns.map((data) => ({ kind: 'values' as const, cells: listCells(data) }));
      yield { rows: batch.rows, names, columns: cells };
    }
  }

  encodeTrainSet({ columns }: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles> {
    return retried(() => encodeTrainColumns(columns, this.origin, options));
  }
}

const COPY = 8 * 1024 * 1024;

/** The bytes in shared memory, so that they are copied once and not for every look at them. */
async function shared(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  for (let at = 0; at < bytes.length; at += COPY) {
    copy.set(bytes.subarray(at, at + COPY), at);
    await yieldToEventLoop();
  }
  return copy;
}

/** A Parquet file on disk whose columns already are these: `fileAsIs` may send it as it is. Nothing is read. */
export function fitsAsIs({ parquet, names }: TableSource, columns: readonly Column[]): boolean {
  return parquet !== undefined && storedAs(columns, names, parquet.stored);
}

/**
 * A Parquet file on disk whose columns already are these, to be sent byte for byte; undefined where it has
 * to be encoded again, or has more rows or bytes than `most`. Given as the table that was opened from it, it
 * must not have changed since. Errors: `file.unreadable`, `table.invalid`.
 */
export async function fileAsIs(
  file: string | TableSource,
  columns: readonly Column[],
  options: { signal?: AbortSignal; most?: AsIsBounds; onRead?: (part: number) => void } = {},
): Promise<TableFile | undefined> {
  const { signal, most = {}, onRead } = options;
  const origin: PathOrigin | undefined =
    typeof file === 'string' ? { kind: 'path', path: file } : file.parquet?.origin;
  if (origin === undefined) {
    return undefined;
  }
  const known = await retried(() =>
    encoder
      .start({ name: 'asIs', origin, columns: [...columns], most }, signal)
      .result<AsIs | undefined>((answer) => {
        if (answer.kind === 'read') {
          onRead?.(answer.part);
        }
      }),
  );
  return known === undefined ? undefined : userFile(origin.path, 'parquet', known);
}

export interface OpenOptions {
  signal?: AbortSignal;
}

/**
 * A table in memory, in any of the forms that docs/tables.md lists. The value is not copied: it must not change
 * while it is read. Errors: `table.empty`, `table.invalid` with what was wrong and where.
 */
export async function openTable(value: unknown, { signal }: OpenOptions = {}): Promise<TableSource> {
  if (typeof value === 'string') {
    return new LocalSource(await openText(value, signal));
  }
  const bytes = asBytes(value);
  if (bytes === undefined) {
    return new LocalSource(await openValue(value, undefined, signal));
  }
  if (bytes.length === 0) {
    throw emptyTable('The Buffer is empty.');
  }
  const content = findContent(bytes);
  const isSlow = content === 'parquet' || (content === 'arrow' && (await isCompressed(new BytesBlob(bytes))));
  return isSlow
    ? RemoteSource.open({ kind: 'bytes', bytes }, signal)
    : new LocalSource(await openBytes(content, bytes, signal));
}

async function openText(text: string, signal?: AbortSignal): Promise<SliceSource> {
  const start = firstCharacter(text);
  if (start === '') {
    throw emptyTable('The text is empty; a CSV table needs a header line and rows.');
  }
  if (start === '{' || start === '[') {
    return openJsonText(text, signal);
  }
  const bytes = bytesAsText(text);
  if (bytes !== undefined) {
    throw bytes;
  }
  return CsvSource.open('parsed', stringPieces(text));
}

async function openBytes(
  content: Exclude<Content, 'parquet'>,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<SliceSource> {
  switch (content) {
    case 'arrow':
      return openArrowBytes(bytes, signal);
    case 'json':
      return openJsonBytes(bytes, signal);
    case 'gzip':
      return openGzip(bytes, signal);
    case 'binary':
      throw noTable(bytes, 'The Buffer', 'holds neither text (CSV, JSON) nor Parquet nor Arrow.');
    case 'csv':
      return CsvSource.open('parsed', decodedPieces(bufferChunks(bytes), bytes.length));
  }
}

/** CSV in gzip, unpacked anew each time that it is read, or JSON. */
async function openGzip(bytes: Uint8Array, signal?: AbortSignal): Promise<SliceSource> {
  const chunks = bufferChunks(bytes);
  if ((await packedContent('The Buffer', chunks)) === 'json') {
    return openJsonBytes(await wholeUnpacked('The Buffer', chunks, signal), signal);
  }
  return CsvSource.open('parsed', decodedPieces(unpacked(chunks), toldSize(bytes)));
}

async function openJsonBytes(bytes: Uint8Array, signal?: AbortSignal): Promise<SliceSource> {
  return openJsonText(
    wideEncoding(bytes) !== undefined ? await decodeAll(bytes) : new Utf8Text(bytes),
    signal,
  );
}

async function decodeAll(bytes: Uint8Array): Promise<string> {
  let text = '';
  for await (const piece of decodedPieces(bufferChunks(bytes), bytes.length)()) {
    text += piece;
  }
  return text;
}

/**
 * A table on disk: CSV, TSV, Parquet or Arrow, recognised by content and read as a stream in the encoder
 * thread, never whole. Errors: `file.unreadable`, `table.invalid`, `table.empty`.
 */
export async function openTableFile(path: string, { signal }: OpenOptions = {}): Promise<TableSource> {
  return RemoteSource.open({ kind: 'path', path }, signal);
}
