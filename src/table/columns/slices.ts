import type { SliceSizer } from '../../util/concurrency';
import { emptyTable, invalidTable } from '../cells/errors';
import type { Row } from '../cells/types';
import { assertWidth } from './bounds';
import { cellsOf, type ColumnData } from './column-batch';

/** The input forms that docs/architecture.md lists. `parsed` is a table read from text or bytes, `file` one on disk. */
export type TableForm = 'row' | 'rows' | 'columns' | 'matrix' | 'arrow' | 'parsed' | 'file';

/**
 * The cells of one column in one slice: JavaScript values, the fields of a text file (empty = missing;
 * `comma` tells that numbers may have a decimal comma, `grouped` that a comma may group thousands as well), or a
 * column that has its type already.
 */
export type SliceColumn =
  | { kind: 'values'; cells: ArrayLike<unknown> }
  | { kind: 'fields'; cells: readonly string[]; comma: boolean; grouped?: boolean }
  | { kind: 'typed'; data: ColumnData };

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
  return column.kind === 'typed' ? cellsOf(column.data) : column.cells;
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
