import { isObject } from '../../util/values';
import { table } from '../lazy';

type Row = Record<string, unknown>;

/** A table with predictions attached to it, in one of the forms in which a predict node answers. */
export interface PredictedTable {
  readonly rows: number;
  /** What is attached to a row under a name; undefined where nothing is. */
  cell(row: number, name: string): unknown;
  /** The cells of a row by their columns. Not to be changed. */
  cells(row: number): Row;
  /** Puts a value in place of one that is there. The table that was given, and its rows, stay as they are. */
  put(row: number, name: string, value: unknown): void;
  /** The table with what was put; the one that was given where nothing was. */
  readonly table: unknown;
}

/**
 * Undefined for what is no table of rows.
 *
 * @throws ServiceError `limit.exceeded` for too many columns, `table.invalid` for a sparse array
 */
export function predictedTable(value: unknown): PredictedTable | undefined {
  if (Array.isArray(value)) {
    table().assertDense(value, 'The table');
    return Array.isArray(value[0]) ? new MatrixTable(value as unknown[][]) : new RowsTable(value, false);
  }
  if (!isObject(value)) {
    return undefined;
  }
  table().ownNames(value);
  const cells = Object.values(value);
  return cells.length > 0 && cells.every((cell) => Array.isArray(cell))
    ? new ColumnsTable(value as Record<string, unknown[]>)
    : new RowsTable([value], true);
}

/** An array of objects, or one object. */
class RowsTable implements PredictedTable {
  private copied: unknown[] | undefined;

  constructor(
    private readonly given: readonly unknown[],
    private readonly isOne: boolean,
  ) {}

  get rows(): number {
    return this.given.length;
  }

  cell(row: number, name: string): unknown {
    return own(this.cells(row), name);
  }

  cells(row: number): Row {
    const cells = (this.copied ?? this.given)[row];
    return isObject(cells) ? cells : {};
  }

  put(row: number, name: string, value: unknown): void {
    this.copied ??= [...this.given];
    this.copied[row] = { ...this.cells(row), [name]: value };
  }

  get table(): unknown {
    const rows = this.copied ?? this.given;
    return this.isOne ? rows[0] : rows;
  }
}

/** An object of arrays. */
class ColumnsTable implements PredictedTable {
  readonly rows: number;
  private copied: Record<string, unknown[]> | undefined;
  private readonly own = new Set<string>();

  constructor(private readonly given: Record<string, unknown[]>) {
    this.rows = Math.max(...Object.values(given).map(({ length }) => length));
  }

  cell(row: number, name: string): unknown {
    return (own(this.copied ?? this.given, name) as unknown[] | undefined)?.[row];
  }

  cells(row: number): Row {
    return Object.fromEntries(
      Object.entries(this.copied ?? this.given).map(([name, values]) => [name, values[row]]),
    );
  }

  put(row: number, name: string, value: unknown): void {
    if (!this.own.has(name)) {
      this.copied = { ...(this.copied ?? this.given), [name]: [...this.given[name]!] };
      this.own.add(name);
    }
    this.copied![name]![row] = value;
  }

  get table(): unknown {
    return this.copied ?? this.given;
  }
}

/** An array of arrays whose first one names the columns. */
class MatrixTable implements PredictedTable {
  private copied: unknown[][] | undefined;

  constructor(private readonly given: unknown[][]) {}

  get rows(): number {
    return this.given.length - 1;
  }

  cell(row: number, name: string): unknown {
    const at = this.given[0]!.indexOf(name);
    return at === -1 ? undefined : this.line(row)[at];
  }

  cells(row: number): Row {
    const line = this.line(row);
    return Object.fromEntries(this.given[0]!.map((name, at) => [String(name), line[at]]));
  }

  put(row: number, name: string, value: unknown): void {
    this.copied ??= [...this.given];
    this.copied[row + 1] = this.line(row).with(this.given[0]!.indexOf(name), value);
  }

  get table(): unknown {
    return this.copied ?? this.given;
  }

  private line(row: number): unknown[] {
    return (this.copied ?? this.given)[row + 1] ?? [];
  }
}

function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Row)[name] : undefined;
}
