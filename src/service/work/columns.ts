import { createReadStream } from 'node:fs';
import path from 'node:path';
import { getHeapStatistics } from 'node:v8';

import type { FeatureColumn } from '../../learner';
import { NeedsMemory } from '../../table/arrow/heavy-modules';
import { isAbsent } from '../../table/cells/classify';
import { parseDate } from '../../table/cells/parse-date';
import { parseNumber } from '../../table/cells/parse-number';
import type { ColumnType } from '../../table/cells/types';
import { type ColumnBatch, type ColumnData, listCells } from '../../table/columns/column-batch';
import { readTableFile } from '../../table/encoder/files';
import { crc32c, crc32cToBase64 } from '../../table/storage/crc32c';
import { assertWithoutLinks, fileSystemCode } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import { invalid, Refusal, unreadableNow } from '../refusal';
import { type FeatureShape, type FileRef, readFailure } from '../store/entries';
import { LastRead, RowStore, SpillFile, TextDictionary, TextNeed, type TextRoom } from './text-columns';

/** The kind that the learner gets a column as. Booleans are numbers 0 and 1. */
function chooseKind(type: ColumnType): FeatureShape['kind'] {
  return type === 'text' || type === 'date' ? type : 'number';
}

export interface ColumnBounds {
  rows: number;
  cells: number;
  columns: number;
}

export interface Features {
  rows: number;
  /** Columns of the file, wanted or not. */
  width: number;
  columns: FeatureColumn[];
  shapes: FeatureShape[];
  /** Columns of the file that were not asked for. */
  extra: string[];
  /** Frees what the columns take on disk. They must not be read after that. */
  close: () => void;
}

/**
 * Reads the features from a file, batch by batch.
 *
 * @param wanted columns as they were trained, in that order; default: all columns as they are in the file
 * @param fitFolder of a fit: where columns go that are too much for the memory; without one all stay there
 * @throws Refusal 422: unreadable file, no rows, over a bound, columns missing, or a value of the wrong type; 413: a
 *   column of more text than the memory bears; NeedsMemory
 */
export async function readFeatures(
  file: FileRef,
  bounds: ColumnBounds,
  wanted?: readonly FeatureShape[],
  fitFolder?: string,
): Promise<Features> {
  const { content, names, shapes, places } = await openFor(file, bounds, wanted);
  checkBounds(content.rows, names.length, bounds);
  const { builders, close } = columnStore(shapes, content.rows, fitFolder);
  let rows = 0;
  try {
    for await (const batch of readAll(content, file, places)) {
      if (rows + batch.rows > content.rows) {
        throw invalid('The file holds more rows than it says.');
      }
      builders.forEach((build, at) => build.add(batch.columns[at]!, rows));
      rows += batch.rows;
    }
    if (rows === 0) {
      throw invalid('The file has no rows.', 'EMPTY_TABLE');
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    rows,
    width: names.length,
    columns: builders.map((build) => build.finish(rows)),
    shapes: [...shapes],
    extra: names.filter((name) => !places.includes(name)),
    close,
  };
}

interface Selection {
  content: Awaited<ReturnType<typeof openUpload>>;
  /** Columns of the file, wanted or not. */
  names: string[];
  shapes: readonly FeatureShape[];
  /** The columns of the file that stand for the shapes, in their order. */
  places: string[];
}

/** A file and the columns wanted from it, by name where they have names. */
async function openFor(
  file: FileRef,
  bounds: ColumnBounds,
  wanted: readonly FeatureShape[] | undefined,
): Promise<Selection> {
  const open = (shapes: readonly FeatureShape[] | undefined): Promise<Selection['content']> =>
    openUpload(file, {
      types: textTypes(file, shapes),
      ...(shapes === undefined ? {} : { wanted: shapes.map(({ name }) => name) }),
      onOpen: (columns, rows) => checkBounds(rows ?? 0, columns.length, bounds),
    });
  const content = await open(wanted);
  const names = content.columns.map((column) => column.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw invalid(`The file has two columns named "${twice}".`);
  }
  const shapes =
    wanted ?? content.columns.map(({ name, type }): FeatureShape => ({ name, type, kind: chooseKind(type) }));
  if (shapes.length === 0) {
    throw invalid('The file has no columns.');
  }
  const places = shapes.map((shape) => shape.name);
  const missing = places.filter((name) => !names.includes(name));
  if (missing.length === 0) {
    return { content, names, shapes, places };
  }
  if (names.length === places.length && (areNumbered(names) || areNumbered(places))) {
    const renamed = shapes.map((shape, at) => ({ ...shape, name: names[at]! }));
    return { content: await open(renamed), names, shapes, places: names };
  }
  throw invalid(`Columns of the train set are missing: ${missing.join(', ')}.`, 'COLUMNS_MISSING');
}

/** Whether the names are only positions counted from 0, as in a table without column names. */
function areNumbered(names: readonly string[]): boolean {
  return names.every((name, at) => name === String(at));
}

/** Text that looks like numbers in a small test file ("007") is still the text it was in the train file. */
function textTypes(
  { format }: FileRef,
  wanted: readonly FeatureShape[] = [],
): Record<string, ColumnType> | undefined {
  if (format !== 'csv') {
    return undefined;
  }
  const text = wanted.filter(({ type }) => type === 'text');
  return Object.fromEntries(text.map(({ name }) => [name, 'text' as const]));
}

/**
 * @throws Refusal 422 for a file that is not a table; one with code UPLOAD_DAMAGED for other bytes than uploaded; 503
 *   for one that cannot be read now
 */
export async function openUpload(
  ref: FileRef,
  options: Parameters<typeof readTableFile>[2] = {},
): ReturnType<typeof readTableFile> {
  if (ref.file !== undefined) {
    await assertWithoutLinks(path.dirname(ref.file)).catch(async (error: unknown) => {
      throw await readFailure('uploaded file', ref, error, damaged);
    });
  }
  if (ref.crc !== undefined) {
    await verify(ref, ref.crc);
  }
  try {
    const types = { ...ref.types, ...options.types };
    return await readTableFile(ref.data ?? ref.file, ref.format, { ...options, types });
  } catch (error) {
    throw await openFailure(ref, error);
  }
}

async function openFailure(ref: FileRef, error: unknown): Promise<Error> {
  if (error instanceof NeedsMemory) {
    return error;
  }
  if (error instanceof ServiceError && error.code === 'file.unreadable' && ref.file !== undefined) {
    return readFailure('uploaded file', ref, error, damaged);
  }
  return error instanceof Refusal ? error : notTable(ref.format, error);
}

async function verify(ref: FileRef & { file: string }, expected: string): Promise<void> {
  let crc = 0;
  try {
    const stream: AsyncIterable<Buffer> = createReadStream(ref.file, { highWaterMark: 1024 * 1024 });
    for await (const data of stream) {
      crc = crc32c(data, crc);
    }
  } catch (error) {
    throw await readFailure('uploaded file', ref, error, damaged);
  }
  if (crc32cToBase64(crc) !== expected) {
    throw damaged('its checksum is wrong');
  }
}

function damaged(reason: string): Refusal {
  return new Refusal({
    status: 404,
    errorCode: 'UPLOAD_DAMAGED',
    message: `The uploaded file cannot be read any more (${reason}): upload it again.`,
  });
}

/** The batches of a file. @throws Refusal 422 where the file turns out not to be a table, 503 where it cannot be read now */
export async function* readAll(
  content: { batches(names?: readonly string[]): AsyncIterable<ColumnBatch> },
  ref: FileRef,
  names?: readonly string[],
): AsyncGenerator<ColumnBatch> {
  try {
    yield* content.batches(names);
  } catch (error) {
    // It is opened again for the rows.
    throw await openFailure(ref, error);
  }
}

function notTable(format: string, error: unknown): Error {
  const code = fileSystemCode(error);
  if (code !== undefined) {
    return unreadableNow('uploaded file', code);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return invalid(`The uploaded ${format} file cannot be read: ${reason}`, 'FILE_UNREADABLE');
}

function checkBounds(rows: number, columns: number, bounds: ColumnBounds): void {
  const over = (what: string, value: number, max: number): Error =>
    invalid(`The table has ${value} ${what}; this service takes at most ${max}.`, 'LIMIT_EXCEEDED');
  if (rows > bounds.rows) {
    throw over('rows', rows, bounds.rows);
  }
  if (columns > bounds.columns) {
    throw over('columns', columns, bounds.columns);
  }
  if (rows * columns > bounds.cells) {
    throw over('cells', rows * columns, bounds.cells);
  }
}

/** Bytes of columns that stay in memory: numbers and codes of a whole file, and its texts. */
const NUMBER_BYTES = 128 * 1024 * 1024;
const TEXT_BYTES = 64 * 1024 * 1024;
/** Part of the heap of this thread that the texts of one column may take. */
const HEAP_SHARE = 0.8;
/** Up to this many bytes, texts become strings at once, which is quicker. */
const LITTLE_TEXT = 256 * 1024;

/** Gathers the cells of one column as the learner takes them. */
interface FeatureBuilder {
  /** @throws Refusal 422 for a value of the wrong type, 413 for more text than the memory bears */
  add(data: ColumnData, row: number): void;
  finish(rows: number): FeatureColumn;
}

/** Where the columns of one file are kept. */
interface ColumnStore {
  builders: FeatureBuilder[];
  /** Removes what is on disk; the columns must not be read after that. */
  close: () => void;
}

/**
 * Builders for the columns of a file. Columns that do not fit in memory go to a file; they are read back one at a time,
 * when the learner asks for them.
 *
 * @param fitFolder of a fit: where that file goes; without one everything stays in memory
 */
function columnStore(
  shapes: readonly FeatureShape[],
  rows: number,
  fitFolder: string | undefined,
): ColumnStore {
  const spill = fitFolder === undefined ? undefined : new SpillFile(fitFolder);
  const room: TextRoom = { left: TEXT_BYTES, spill };
  const numbers = shapes.reduce((sum, { kind }) => sum + rows * (kind === 'text' ? 4 : 8), 0);
  const onDisk = spill !== undefined && numbers > NUMBER_BYTES ? spill : undefined;
  const last = new LastRead();
  const texts = (): Texts => {
    const need = new TextNeed(fitFolder !== undefined);
    return { need, dictionary: new TextDictionary(room, need) };
  };
  const builders = shapes.map((shape) =>
    shape.kind === 'text'
      ? textBuilder(shape, new RowStore(Int32Array, rows, onDisk), texts(), last)
      : numberBuilder(shape, shape.kind, new RowStore(Float64Array, rows, onDisk), last),
  );
  return { builders, close: () => spill?.close() };
}

interface Texts {
  need: TextNeed;
  dictionary: TextDictionary;
}

function textBuilder(
  { name }: FeatureShape,
  store: RowStore<Int32Array>,
  { dictionary, need }: Texts,
  last: LastRead,
): FeatureBuilder {
  return {
    add(data, row) {
      store.put(makeCodes(data, dictionary), row);
      if (need.bytes > heapForTexts()) {
        throw tooMuchText(name, row);
      }
    },
    finish(rows) {
      if (store.inMemory && need.strings <= LITTLE_TEXT) {
        return { name, kind: 'text', codes: store.read(rows), dictionary: dictionary.toStrings() };
      }
      const column = {
        name,
        kind: 'text' as const,
        get codes(): Int32Array {
          return last.get(column, 'codes', () => store.read(rows));
        },
        get dictionary(): string[] {
          return last.get(column, 'dictionary', () => dictionary.toStrings());
        },
      };
      return column;
    },
  };
}

function makeCodes(data: ColumnData, dictionary: TextDictionary): Int32Array {
  if (data.type !== 'text') {
    const cells = listCells(data);
    const codes = new Int32Array(cells.length);
    cells.forEach((cell, at) => {
      const text = cell instanceof Date ? cell.toISOString() : String(cell);
      const bytes = Buffer.from(text);
      codes[at] = cell === null ? -1 : dictionary.findCode(bytes, 0, bytes.length);
    });
    return codes;
  }
  const { offsets, missing } = data;
  const bytes = Buffer.from(data.bytes.buffer, data.bytes.byteOffset, data.bytes.byteLength);
  const codes = new Int32Array(offsets.length - 1);
  for (let at = 0; at < codes.length; at++) {
    codes[at] = missing?.[at] === 1 ? -1 : dictionary.findCode(bytes, offsets[at]!, offsets[at + 1]!);
  }
  return codes;
}

/** Bytes. */
function heapForTexts(): number {
  return (heapLimit ??= getHeapStatistics().heap_size_limit) * HEAP_SHARE;
}

let heapLimit: number | undefined;

function tooMuchText(name: string, row: number): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'LIMIT_EXCEEDED',
    message:
      `Column "${name}" holds more different text than the memory of this service can hold: by row ${row + 1} it needs ` +
      `more than ${Math.floor(heapForTexts() / 1e6)} MB. Leave the column out, shorten its texts, or use fewer rows.`,
    retryable: false,
  });
}

function numberBuilder(
  shape: FeatureShape,
  kind: 'number' | 'date',
  store: RowStore<Float64Array>,
  last: LastRead,
): FeatureBuilder {
  return {
    add: (data, row) => store.put(cellNumbers(data, shape, kind, row), row),
    finish(rows) {
      const { name } = shape;
      if (store.inMemory) {
        return { name, kind, values: store.read(rows) };
      }
      const column = {
        name,
        kind,
        get values(): Float64Array {
          return last.get(column, 'values', () => store.read(rows));
        },
      };
      return column;
    },
  };
}

/**
 * The cells of a batch as numbers; missing ones are NaN.
 *
 * @param first number of the first row, from 0
 * @throws Refusal 422 naming column and row, for a value of another type than the column's
 */
function cellNumbers(
  data: ColumnData,
  shape: FeatureShape,
  kind: 'number' | 'date',
  first: number,
): Float64Array {
  const alike = kind === 'date' ? data.type === 'date' : data.type === 'number' || data.type === 'integer';
  if (alike) {
    return (data as ColumnData & { type: 'number' }).values;
  }
  const convert = converter(shape, data.type);
  const cells = listCells(data);
  const values = new Float64Array(cells.length);
  cells.forEach((cell, at) => {
    const value = cell === null ? NaN : convert(cell);
    if (value === undefined) {
      throw wrongType(shape, first + at, cell);
    }
    values[at] = value;
  });
  return values;
}

type Convert = (cell: unknown) => number | undefined;

/** How a cell of another type becomes a value of this column; undefined where it doesn't. */
function converter(shape: FeatureShape, from: ColumnType): Convert {
  if (shape.kind === 'date') {
    return from === 'text' ? (cell) => parseTime(String(cell)) : () => undefined;
  }
  switch (from) {
    case 'text':
      return shape.type === 'boolean'
        ? (cell) => parseBoolean(String(cell))
        : (cell) => parseFiniteNumber(String(cell));
    case 'date':
      return () => undefined;
    default:
      return Number;
  }
}

/** The words of the table readers: `NA` and empty text are missing here too, and a time without a zone is UTC. */
function parseFiniteNumber(text: string): number | undefined {
  return parseNumber(text, false);
}

function parseBoolean(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  return word === 'true' ? 1 : word === 'false' ? 0 : parseFiniteNumber(text);
}

function parseTime(text: string): number | undefined {
  const value = parseDate(text);
  return Number.isNaN(value) && text !== '' && !isAbsent(text) ? undefined : value;
}

function wrongType(shape: FeatureShape, row: number, cell: unknown): Error {
  const wanted = shape.kind === 'date' ? 'a date' : shape.type === 'boolean' ? 'a boolean' : 'a number';
  const shown = JSON.stringify(String(cell)).slice(0, 60);
  return invalid(
    `Column "${shape.name}", row ${row + 1}: ${shown} is not ${wanted}, which the train set has there.`,
  );
}
