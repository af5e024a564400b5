import type { ColumnType } from '../../../table/cells/types';
import { isObject } from '../../../util/values';
import { invalid } from '../../refusal';
import type { FileRef } from '../../store/entries/file-ref';

/** A bigint is a whole number beyond 2^53. */
type Cell = string | number | boolean | bigint | null | undefined;

type RowsFile = FileRef & { data: Uint8Array };

/**
 * Rows of a request as a file in memory. Those of a form are a Parquet file: the only element, which needs nothing more. In
 * a JSON body a row is an array, whose columns are then named `0`, `1`, …, or an object; a column with any text is text, as
 * JSON says it, whatever the text looks like.
 *
 * @param name of the property, for messages
 * @throws Refusal 422 that names the row
 */
export function rowsFile(rows: unknown[], name: string): RowsFile {
  const [sent] = rows;
  if (sent instanceof Uint8Array) {
    return { format: 'parquet', data: sent };
  }
  const columns = rows.some(Array.isArray) ? columnsOfArrays(rows, name) : columnsOfObjects(rows, name);
  return csvFile(columns, rows.length);
}

/** A list of labels or numbers, or of arrays with one each, as a file of one column. @throws Refusal 422 */
export function targetFile(values: unknown[], name: string): RowsFile {
  if (values[0] instanceof Uint8Array) {
    return rowsFile(values, name);
  }
  const cells = values.map((value, row) => {
    const inner = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
    return cellOf(inner, `${name}[${row}]`);
  });
  return csvFile(new Map([['target', cells]]), cells.length);
}

type Columns = Map<string, Cell[]>;

function columnsOfArrays(rows: unknown[], name: string): Columns {
  const width = (rows[0] as unknown[]).length;
  const columns = Array.from({ length: width }, (): Cell[] => new Array<Cell>(rows.length));
  rows.forEach((row, at) => {
    if (!Array.isArray(row) || row.length !== width || width === 0) {
      throw invalid(`${name}[${at}] must be an array of ${Math.max(1, width)} cells, as the first row is.`);
    }
    row.forEach((cell, column) => (columns[column]![at] = cellOf(cell, `${name}[${at}][${column}]`)));
  });
  return new Map(columns.map((cells, at) => [String(at), cells]));
}

function columnsOfObjects(rows: unknown[], name: string): Columns {
  const columns: Columns = new Map();
  rows.forEach((row, at) => {
    if (!isObject(row)) {
      throw invalid(`${name}[${at}] must be an array of cells, or an object.`);
    }
    for (const [column, cell] of Object.entries(row)) {
      let cells = columns.get(column);
      if (cells === undefined) {
        columns.set(column, (cells = new Array<Cell>(rows.length)));
      }
      cells[at] = cellOf(cell, `${name}[${at}].${column}`);
    }
  });
  if (columns.size === 0) {
    throw invalid(`${name} has no columns.`);
  }
  return columns;
}

function cellOf(cell: unknown, path: string): Cell {
  if (cell === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof cell)) {
    return cell as Cell;
  }
  throw invalid(`${path} must be a number, text, true, false or null.`);
}

function csvFile(columns: Columns, rows: number): RowsFile {
  const types = Object.fromEntries([...columns].map(([name, cells]) => [name, typeOf(cells)]));
  const texts = [...columns].map(([name, cells]) => ({ cells, isText: types[name] === 'text' }));
  const lines = [[...columns.keys()].map(quoted).join(',')];
  for (let row = 0; row < rows; row++) {
    lines.push(texts.map(({ cells, isText }) => field(cells[row], isText)).join(','));
  }
  lines.push('');
  return { format: 'csv', types, data: new Uint8Array(Buffer.from(lines.join('\n'))) };
}

function typeOf(cells: Cell[]): ColumnType {
  const kinds = new Set(cells.map((cell) => typeof (cell ?? undefined)));
  kinds.delete('undefined');
  if (kinds.has('bigint') && cells.every((cell) => (cell ?? undefined) === undefined || isWhole(cell))) {
    return 'bigint';
  }
  if (kinds.delete('bigint')) {
    kinds.add('number');
  }
  if (kinds.has('string') || kinds.size > 1) {
    return 'text';
  }
  return kinds.has('boolean') ? 'boolean' : 'number';
}

function isWhole(cell: Cell): boolean {
  return typeof cell === 'bigint' || Number.isInteger(cell);
}

/** A missing cell is quoted nothing: an empty line would be no row. */
function field(cell: Cell, isText: boolean): string {
  return cell === null || cell === undefined ? '""' : isText ? quoted(String(cell)) : String(cell);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
