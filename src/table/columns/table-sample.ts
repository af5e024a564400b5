import type { Column, Label } from '../cells/types';
import { cellAt, type ColumnBatch, type ColumnData, countRows, isMissing, labelAt } from './column-batch';

/** What to take of a table while it is read or written. */
export interface SampleChoice {
  columns: string[];
  /** Numbers of the rows to take whole, ascending. */
  rows: Int32Array;
  /** The first rows of runs of consecutive rows, ascending, and the rows of each. */
  runs: { first: Int32Array; length: number };
}

/** A few rows of a table, and the extent of its columns over all of its rows. */
export interface TableSample {
  rows: number;
  /** In the order that was asked for. */
  columns: ColumnSample[];
}

export type ColumnSample = NumberSample | CategorySample;

/** Numbers and dates (milliseconds since 1970); whole numbers beyond 2^53 rounded, but for `cells`. */
export interface NumberSample {
  kind: 'number';
  /** Of the rows taken whole; whole numbers beyond 2^53 as text, null for missing. */
  cells: (Label | null)[];
  /** Rows without a value. */
  missing: number;
  /** NaN where no row has a value. */
  min: number;
  max: number;
  /** Of the runs, one after the other; NaN for missing. */
  values: Float64Array;
}

/** Text and truth values. */
export interface CategorySample {
  kind: 'category';
  cells: (Label | null)[];
  missing: number;
  /** Different values in the order in which they come, and the rows that have each. */
  categories: Label[];
  counts: number[];
  /** There are no others. */
  complete: boolean;
  /** Of the runs: indices of `categories`; −1 for missing, −2 for others. */
  codes: Int32Array;
}

/** A column of more different values is no longer looked through. */
const MAX_CATEGORIES = 1000;
/** Characters of a text that is kept. */
const MAX_TEXT = 1000;

/** Gathers a sample from batches of a table, in the order of its rows. */
export class TableSampler {
  private rows = 0;
  private readonly at: number[];
  private readonly gathered: Gathered[];
  /** Of the rows and runs asked for, those before the next batch. */
  private rowsTaken = 0;

  constructor(
    columns: readonly Column[],
    private readonly choice: SampleChoice,
  ) {
    this.at = choice.columns.map((name) => columns.findIndex((column) => column.name === name));
    const places = choice.runs.first.length * choice.runs.length;
    this.gathered = this.at.map((at) => {
      const type = columns[at]?.type;
      return type === 'text' || type === 'boolean' ? new Categories(places) : new Numbers(places);
    });
  }

  add(batch: ColumnBatch): void {
    const { rows, runs } = this.choice;
    const end = this.rows + batch.rows;
    const whole: number[] = [];
    for (; this.rowsTaken < rows.length && rows[this.rowsTaken]! < end; this.rowsTaken++) {
      whole.push(rows[this.rowsTaken]! - this.rows);
    }
    const parts: Part[] = [];
    runs.first.forEach((first, run) => {
      const from = Math.max(first, this.rows);
      const to = Math.min(first + runs.length, end);
      if (from < to) {
        parts.push({ from: from - this.rows, to: to - this.rows, place: run * runs.length + from - first });
      }
    });
    this.gathered.forEach((column, index) => column.add(batch.columns[this.at[index]!]!, whole, parts));
    this.rows = end;
  }

  take(): TableSample {
    return { rows: this.rows, columns: this.gathered.map((column) => column.take()) };
  }
}

/** Rows `from` to `to` (exclusive) of a batch, and where in the runs they stand. */
interface Part {
  from: number;
  to: number;
  place: number;
}

interface Gathered {
  add(column: ColumnData, whole: readonly number[], parts: readonly Part[]): void;
  take(): ColumnSample;
}

class Numbers implements Gathered {
  private readonly cells: (Label | null)[] = [];
  private readonly values: Float64Array;
  private filled = 0;
  private missing = 0;
  private min = Infinity;
  private max = -Infinity;

  constructor(places: number) {
    this.values = new Float64Array(places);
  }

  add(column: ColumnData, whole: readonly number[], parts: readonly Part[]): void {
    const numbers = readNumbers(column);
    for (const value of numbers) {
      if (!Number.isFinite(value)) {
        this.missing++;
        continue;
      }
      if (value < this.min) {
        this.min = value;
      }
      if (value > this.max) {
        this.max = value;
      }
    }
    for (const row of whole) {
      const value = column.type === 'bigint' ? labelAt(column, row) : numbers[row]!;
      this.cells.push(typeof value === 'number' && !Number.isFinite(value) ? null : value);
    }
    for (const { from, to, place } of parts) {
      this.values.set(numbers.subarray(from, to), place);
      this.filled = place + to - from;
    }
  }

  take(): NumberSample {
    const { cells, missing } = this;
    const isEmpty = this.min > this.max;
    return {
      kind: 'number',
      cells,
      missing,
      min: isEmpty ? Number.NaN : this.min,
      max: isEmpty ? Number.NaN : this.max,
      values: this.values.slice(0, this.filled),
    };
  }
}

class Categories implements Gathered {
  private readonly cells: (Label | null)[] = [];
  private readonly known = new Map<Label, number>();
  private readonly counts: number[] = [];
  private readonly codes: Int32Array;
  private filled = 0;
  private missing = 0;
  private complete = true;

  constructor(places: number) {
    this.codes = new Int32Array(places);
  }

  add(column: ColumnData, whole: readonly number[], parts: readonly Part[]): void {
    const rows = countRows(column);
    const codes = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      codes[row] = this.readCode(column, row);
    }
    for (const row of whole) {
      const label = labelAt(column, row);
      this.cells.push(typeof label === 'string' ? label.slice(0, MAX_TEXT) : label);
    }
    for (const { from, to, place } of parts) {
      this.codes.set(codes.subarray(from, to), place);
      this.filled = place + to - from;
    }
  }

  take(): CategorySample {
    const { cells, missing, counts, complete } = this;
    const codes = this.codes.slice(0, this.filled);
    return { kind: 'category', cells, missing, categories: [...this.known.keys()], counts, complete, codes };
  }

  private readCode(column: ColumnData, row: number): number {
    if (isMissing(column, row)) {
      this.missing++;
      return -1;
    }
    if (!this.complete) {
      return -2;
    }
    const label = labelAt(column, row)!;
    const code = this.known.get(label);
    if (code !== undefined) {
      this.counts[code]!++;
      return code;
    }
    if (this.known.size >= MAX_CATEGORIES || (typeof label === 'string' && label.length > MAX_TEXT)) {
      this.complete = false;
      return -2;
    }
    this.known.set(label, this.counts.push(1) - 1);
    return this.counts.length - 1;
  }
}

function readNumbers(column: ColumnData): Float64Array {
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      return column.values;
    default:
      return Float64Array.from({ length: countRows(column) }, (_, row) =>
        Number(cellAt(column, row) ?? Number.NaN),
      );
  }
}
