import { isAbsent } from '../../../table/cells/classify';
import { parseDate } from '../../../table/cells/parse-date';
import { parseNumber } from '../../../table/cells/parse-number';
import type { ColumnType } from '../../../table/cells/types';
import { cellsOf, type ColumnData } from '../../../table/columns/column-batch';
import { invalid } from '../../refusal';
import type { FeatureShape } from '../../store/entries/entries';

/**
 * The cells of a batch as numbers; missing ones are NaN.
 *
 * @param first number of the first row, from 0
 * @throws Refusal 422 naming column and row, for a value of another type than the column's
 */
export function cellNumbers(
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
  const cells = cellsOf(data);
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
