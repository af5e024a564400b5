import { createReadStream } from 'node:fs';
import path from 'node:path';

import type { FeatureColumn } from '../../../learner';
import type { ColumnType } from '../../../table/cells/types';
import type { ColumnBatch } from '../../../table/columns/column-batch';
import { readTableFile } from '../../../table/files/read-table-file';
import { NeedsMemory } from '../../../table/packages/heavy-modules';
import { crc32c, crc32cToBase64 } from '../../../table/storage/crc32c';
import { assertWithoutLinks, fileSystemCode } from '../../../util/files';
import { ServiceError } from '../../../wire/service-error';
import { invalid, Refusal, unreadableNow } from '../../refusal';
import type { FeatureShape } from '../../store/entries/entries';
import type { FileRef } from '../../store/entries/file-ref';
import { readFailure } from '../../store/entries/read-failure';
import { columnStore } from './feature-columns';

/** The kind that the learner gets a column as. Booleans are numbers 0 and 1. */
function kindOf(type: ColumnType): FeatureShape['kind'] {
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
    wanted ?? content.columns.map(({ name, type }): FeatureShape => ({ name, type, kind: kindOf(type) }));
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
