import type { SliceSizer } from '../../util/concurrency';
import { emptyTable, invalidTable, type Row } from '../cells/types';
import { type ColumnData, listCells } from './column-batch';
import { assertWidth } from './header';

/** The forms that docs/tables.md lists. `parsed` is a table read from text or bytes, `file` one on disk. */
export type TableForm = 'row' | 'rows' | 'columns' | 'matrix' | 'arrow' | 'parsed' | 'file';

/**
 * The cells of one column in one slice: JavaScript values, the fields of a text file (empty = missing;
 * `comma` tells that numbers may have a decimal comma, `grouped` that a comma may group thousands as well), or a
 * column that has its type already; `ofDay`: times of day or durations, in milliseconds.
 */
export type SliceColumn =
  | { kind: 'values'; cells: ArrayLike<unknown> }
  | { kind: 'fields'; cells: readonly string[]; comma: boolean; grouped?: boolean }
  | { kind: 'typed'; data: ColumnData; ofDay?: true };

/** A few consecutive rows, processed in one turn of the event loop. */
export interface Slice {
  /** Number of the first row, from 0. */
  readonly first: number;
  readonly rows: number;
  /** How much of the table has been read with it, 0 to 1, where its bytes tell; else its rows may. */
  readonly part?: number;
  /** The cells of the column with this index in the source's `names`; valid until the next call. */
  column(index: number): SliceColumn;
}

export interface SliceOptions {
  sizer: SliceSizer;
  /** Indices of the columns that will be asked for; a source may leave the others unread. */
  wanted?: readonly number[];
  signal?: AbortSignal;
}

/** A table that this thread can read more than once: a format's reader, or values in memory. */
export interface SliceSource {
  readonly form: TableForm;
  readonly names: readonly string[];
  /** Number of rows, where it is known without reading the table. */
  readonly rowCount?: number;
  /** The rows themselves, where the table came as objects. */
  readonly objects?: readonly Row[];
  /** Sentences for the user on how the table was read; complete once its slices have been. */
  readonly warnings?: readonly string[];
  slices(options: SliceOptions): Iterable<Slice> | AsyncIterable<Slice>;
}

/** How much of a table has been read with a slice, 0 to 1, where its size is known. */
export function tellRead(
  onRead: ((part: number) => void) | undefined,
  { rowCount }: SliceSource,
  { part, first, rows }: Slice,
): void {
  const known = part ?? (rowCount === undefined || rowCount === 0 ? undefined : (first + rows) / rowCount);
  if (known !== undefined) {
    onRead?.(known);
  }
}

/** The cells of a slice as plain values. */
export function plainCells(column: SliceColumn): ArrayLike<unknown> {
  return column.kind === 'typed' ? listCells(column.data) : column.cells;
}

/** Refuses a header without columns, with too many, or with duplicate names. */
export function checkNames(names: readonly string[]): void {
  if (names.length === 0) {
    throw emptyTable('The table has no columns.');
  }
  assertWidth(names.length);
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) {
      throw invalidTable(
        name.trim() === ''
          ? 'Two columns have no name in the header. Every column needs a name of its own.'
          : `Column name "${name}" appears twice in the header. Every column needs its own name.`,
      );
    }
    seen.add(name);
  }
}

/**
 * Words that mean "missing" in a table, such as "n/v" or -999. Case and spaces around them do not matter; a word of spaces
 * alone stands for any cell of white space.
 */
export class MissingWords {
  private readonly words: ReadonlySet<string>;
  private readonly numbers: ReadonlySet<number>;

  constructor(words: readonly string[]) {
    const plain = words.filter((word) => word !== '').map(normal);
    this.words = new Set(plain);
    this.numbers = new Set(
      plain.map((word) => (word === '' ? NaN : Number(word))).filter((value) => !Number.isNaN(value)),
    );
  }

  get isEmpty(): boolean {
    return this.words.size === 0;
  }

  /** The same cells with such words as missing values, and how many there were. */
  clear(column: SliceColumn): { column: SliceColumn; cleared: number } {
    const cells = this.isEmpty || this.cannotHold(column) ? [] : plainCells(column);
    const found: number[] = [];
    for (let i = 0; i < cells.length; i++) {
      if (this.means(cells[i])) {
        found.push(i);
      }
    }
    if (found.length === 0) {
      return { column, cleared: 0 };
    }
    const cleared = found.length;
    if (column.kind === 'fields') {
      return { column: { ...column, cells: without(column.cells, found, '') }, cleared };
    }
    return { column: { kind: 'values', cells: without(cells, found, null) }, cleared };
  }

  private cannotHold(column: SliceColumn): boolean {
    return column.kind === 'typed' && column.data.type !== 'text' && this.numbers.size === 0;
  }

  /** Whether a cell is such a word. */
  means(cell: unknown): boolean {
    if (typeof cell === 'string') {
      return cell !== '' && (this.words.has(cell) || this.words.has(normal(cell)));
    }
    return (typeof cell === 'number' || typeof cell === 'bigint') && this.numbers.has(Number(cell));
  }
}

function normal(word: string): string {
  return word.trim().toLowerCase();
}

function without<T>(cells: ArrayLike<T>, rows: readonly number[], missing: T): T[] {
  const copy = Array.from(cells);
  for (const row of rows) {
    copy[row] = missing;
  }
  return copy;
}
