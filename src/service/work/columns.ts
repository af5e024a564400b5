import { createReadStream } from 'node:fs';
import type { FeatureColumn } from '../../learner';
import {
  cellsOf,
  type ColumnBatch,
  type ColumnData,
  crc32c,
  crc32cToBase64,
  readTableFile,
} from '../../table';
import { isAbsent, parseDate, parseNumber } from '../../table/text-cells';
import type { ColumnType } from '../../table/types';
import { invalid, Refusal } from '../refusal';
import type { FeatureShape } from '../store/entries';
import type { FileRef } from './jobs';

/** The kind that the learner gets a column as. Booleans are numbers 0 and 1. */
export function kindOf(type: ColumnType): FeatureShape['kind'] {
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
}

/**
 * Reads the features from a file, batch by batch.
 *
 * @param wanted columns as they were trained, in that order; default: all columns as they are in the file
 * @throws Refusal 422: unreadable file, no rows, over a bound, columns missing, or a value of the wrong type
 */
export async function readFeatures(
  file: FileRef,
  bounds: ColumnBounds,
  wanted?: readonly FeatureShape[],
): Promise<Features> {
  const content = await openFile(file, {
    types: textTypes(file, wanted),
    ...(wanted === undefined ? {} : { wanted: wanted.map(({ name }) => name) }),
    onOpen: (names, rows) => checkBounds(rows ?? 0, names.length, bounds),
  });
  const names = content.columns.map((column) => column.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw invalid(`The file has two columns named "${twice}".`);
  }
  const shapes =
    wanted ?? content.columns.map(({ name, type }): FeatureShape => ({ name, type, kind: kindOf(type) }));
  const missing = shapes.map((shape) => shape.name).filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw invalid(`Columns of the train set are missing: ${missing.join(', ')}.`, 'COLUMNS_MISSING');
  }
  if (shapes.length === 0) {
    throw invalid('The file has no columns.');
  }
  checkBounds(content.rows, names.length, bounds);
  const builders = shapes.map((shape) => builder(shape, content.rows));
  const wantedNames = shapes.map(({ name }) => name);
  let rows = 0;
  for await (const batch of readAll(content, wantedNames)) {
    if (rows + batch.rows > content.rows) {
      throw invalid('The file holds more rows than it says.');
    }
    builders.forEach((build, at) => build.add(batch.columns[at]!, rows));
    rows += batch.rows;
  }
  if (rows === 0) {
    throw invalid('The file has no rows.', 'EMPTY_TABLE');
  }
  return {
    rows,
    width: names.length,
    columns: builders.map((build) => build.finish(rows)),
    shapes: [...shapes],
    extra: names.filter((name) => !shapes.some((shape) => shape.name === name)),
  };
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

/** @throws Refusal 422 for a file that cannot be read; one with code UPLOAD_DAMAGED for other bytes than uploaded */
export async function openFile(
  { file, data, format, crc }: FileRef,
  options: Parameters<typeof readTableFile>[2] = {},
): ReturnType<typeof readTableFile> {
  if (crc !== undefined) {
    await verify(file, crc);
  }
  try {
    return await readTableFile(data ?? file, format, options);
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable(format, error);
  }
}

async function verify(file: string, expected: string): Promise<void> {
  let crc = 0;
  try {
    for await (const data of createReadStream(file, {
      highWaterMark: 1024 * 1024,
    }) as AsyncIterable<Buffer>) {
      crc = crc32c(data, crc);
    }
  } catch (error) {
    throw damaged((error as Error).message);
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

/** The batches of a file. @throws Refusal 422 where the file turns out to be damaged */
export async function* readAll(
  content: { batches(names?: readonly string[]): AsyncIterable<ColumnBatch> },
  names?: readonly string[],
): AsyncGenerator<ColumnBatch> {
  try {
    yield* content.batches(names);
  } catch (error) {
    throw unreadable('table', error);
  }
}

function unreadable(format: string, error: unknown): Error {
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

interface Builder {
  add(data: ColumnData, row: number): void;
  finish(rows: number): FeatureColumn;
}

function builder(shape: FeatureShape, rows: number): Builder {
  return shape.kind === 'text' ? textBuilder(shape, rows) : numberBuilder(shape, shape.kind, rows);
}

function textBuilder({ name }: FeatureShape, rows: number): Builder {
  const codes = new Int32Array(rows);
  const known = new Map<string, number>();
  return {
    add(data, row) {
      for (const cell of cellsOf(data)) {
        if (cell === null) {
          codes[row++] = -1;
          continue;
        }
        const text = cell instanceof Date ? cell.toISOString() : String(cell);
        let code = known.get(text);
        if (code === undefined) {
          known.set(flat(text), (code = known.size));
        }
        codes[row++] = code;
      }
    },
    finish: (count) => ({
      name,
      kind: 'text',
      codes: count === rows ? codes : codes.slice(0, count),
      dictionary: [...known.keys()],
    }),
  };
}

/** A copy of its own: a string that was cut from the text of a whole batch would keep all of that in memory. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

function numberBuilder(shape: FeatureShape, kind: 'number' | 'date', rows: number): Builder {
  const values = new Float64Array(rows);
  return {
    add(data, row) {
      if ((data.type === 'number' || data.type === 'integer') && kind === 'number') {
        values.set(data.values, row);
      } else if (data.type === 'date' && kind === 'date') {
        values.set(data.values, row);
      } else {
        const convert = converter(shape, data.type);
        for (const cell of cellsOf(data)) {
          const value = cell === null ? Number.NaN : convert(cell);
          if (value === undefined) {
            throw wrongType(shape, row, cell);
          }
          values[row++] = value;
        }
      }
    },
    finish: (count) => ({
      name: shape.name,
      kind,
      values: count === rows ? values : values.slice(0, count),
    }),
  };
}

type Convert = (cell: unknown) => number | undefined;

/** How a cell of another type becomes a value of this column; undefined where it doesn't. */
function converter(shape: FeatureShape, from: ColumnType): Convert {
  if (shape.kind === 'date') {
    return from === 'text' ? (cell) => dateOf(String(cell)) : () => undefined;
  }
  switch (from) {
    case 'text':
      return shape.type === 'boolean' ? (cell) => booleanOf(String(cell)) : (cell) => numberOf(String(cell));
    case 'date':
      return () => undefined;
    default:
      return Number;
  }
}

/** The words of the table readers: `NA` and empty text are missing here too, and a time without a zone is UTC. */
function numberOf(text: string): number | undefined {
  return parseNumber(text, false);
}

function booleanOf(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  return word === 'true' ? 1 : word === 'false' ? 0 : numberOf(text);
}

function dateOf(text: string): number | undefined {
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
