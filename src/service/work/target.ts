import type { TargetColumn } from '../../learner';
import type { ColumnType, Label } from '../../table/cells/types';
import { type ColumnBatch, type ColumnData, labelAt, listCells } from '../../table/columns/column-batch';
import type { Task } from '../../wire/vocabulary';
import { invalid } from '../refusal';
import type { FileRef } from '../store/entries';
import { openUpload, readAll } from './columns';

interface ReadTarget {
  name: string;
  rows: number;
  target: TargetColumn;
  /** The classes are whole numbers, some beyond 2^53, held as text. */
  longClasses?: true;
}

/**
 * Reads the target file: one column, no missing values.
 *
 * @throws Refusal 422: not one column, missing or infinite values, text or dates to regress on, too many classes
 */
export async function readTarget(file: FileRef, task: Task, maxClasses: number): Promise<ReadTarget> {
  const content = await openUpload(file);
  const [column, ...others] = content.columns;
  if (column === undefined || others.length > 0) {
    throw invalid(`The target file has ${content.columns.length} columns; it must have exactly one.`);
  }
  if (content.rows === 0) {
    throw invalid('The target file has no rows.', 'EMPTY_TABLE');
  }
  const read = task === 'classification' ? readClasses : readNumbers;
  const { rows, target } = await read(column, readAll(content, file), content.rows, maxClasses);
  const isLong = task === 'classification' && column.type === 'bigint';
  return { name: column.name, rows, target, ...(isLong && { longClasses: true }) };
}

type Reader = (
  column: { name: string; type: ColumnType },
  batches: AsyncIterable<ColumnBatch>,
  count: number,
  maxClasses: number,
) => Promise<{ rows: number; target: TargetColumn }>;

const readNumbers: Reader = async ({ name, type }, batches, count) => {
  if (type === 'text' || type === 'date') {
    throw invalid(
      `The target "${name}" holds ${type === 'text' ? 'text' : 'dates'}: regression needs numbers. ` +
        'Choose classification, or another target.',
    );
  }
  const values = new Float64Array(count);
  let row = 0;
  for await (const batch of batches) {
    for (const cell of listCells(batch.columns[0]!)) {
      if (cell === null) {
        throw missing(name, row);
      }
      const value = Number(cell);
      if (!Number.isFinite(value)) {
        throw invalid(`The target "${name}" is ${value} in row ${row + 1}: regression needs finite numbers.`);
      }
      values[row++] = value;
    }
  }
  return { rows: row, target: { task: 'regression', values: values.subarray(0, row) } };
};

const readClasses: Reader = async ({ name, type }, batches, count, maxClasses) => {
  const codes = new Int32Array(count);
  const known = new Map<Label, number>();
  let row = 0;
  for await (const batch of batches) {
    const column = batch.columns[0]!;
    for (const label of readLabels(column, batch.rows)) {
      if (label === null) {
        throw missing(name, row);
      }
      if (label === Infinity || label === -Infinity) {
        throw invalid(`The target "${name}" is ${label} in row ${row + 1}, which cannot be a class.`);
      }
      let code = known.get(label);
      if (code === undefined) {
        known.set(label, (code = known.size));
        if (known.size > maxClasses) {
          throw invalid(
            `The target "${name}" has more than ${maxClasses} classes, the most that this service takes. ` +
              'Is it rather a number to regress on?',
            'LIMIT_EXCEEDED',
          );
        }
      }
      codes[row++] = code;
    }
  }
  const found = [...known.keys()];
  const classes = [...found].sort(type === 'bigint' ? compareWholeNumbers : compareLabels);
  const place = new Map(classes.map((label, at) => [label, at]));
  const sorted = found.map((label) => place.get(label)!);
  for (let i = 0; i < row; i++) {
    codes[i] = sorted[codes[i]!]!;
  }
  return { rows: row, target: { task: 'classification', classes, codes: codes.subarray(0, row) } };
};

function* readLabels(column: ColumnData, rows: number): Generator<Label | null> {
  if (column.type === 'text') {
    yield* listCells(column) as (string | null)[];
    return;
  }
  for (let row = 0; row < rows; row++) {
    const label = labelAt(column, row);
    // Adding zero makes one class of 0 and -0.
    yield typeof label === 'number' ? label + 0 : label;
  }
}

/** Numbers by value, booleans false first, text by code point (which is the order of its UTF-8 bytes). */
export function compareLabels(a: Label, b: Label): number {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  return Number(a) - Number(b);
}

/** Integers beyond 2^53 are labels of text, but numbers all the same. */
function compareWholeNumbers(a: Label, b: Label): number {
  const [first, second] = [BigInt(a), BigInt(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function missing(name: string, row: number): Error {
  return invalid(
    `The target "${name}" is missing in row ${row + 1}: leave out rows whose target is not known.`,
    'TARGET_MISSING',
  );
}
