import type { Reference, ReferenceCell, Usual } from '../models/cards';
import type { Column, Label } from '../table/cells/types';
import { cellAt, type ColumnData, labelAt } from '../table/columns/column-batch';

/** Part of the steps that go the same way in a column that tells the time. */
const SAME_WAY = 0.95;
/** Characters of a text that is named as new. */
const SHOWN = 60;
/** A category that the train set has not: further than 1 from each that it has. */
const UNSEEN = -10;

/** A column as distances are measured in it: numbers in parts of the usual range, categories by their place in a list. */
export abstract class ComparedColumn {
  readonly name: string;
  /** The kept train rows. */
  readonly train: Float64Array;
  /** Whether places are in the order of values: of numbers and dates. */
  abstract readonly ordered: boolean;

  constructor({ name }: Column, cells: readonly ReferenceCell[], measure: (cell: Label) => number) {
    this.name = name;
    this.train = Float64Array.from(cells, (cell) => (cell === null ? MISSING_PLACE : measure(cell)));
  }

  /** Where a cell of a row stands. What the train set has not is added to `fresh`. */
  abstract place(data: ColumnData | undefined, row: number, fresh: string[]): number;
}

class ComparedNumber extends ComparedColumn {
  readonly ordered = true;
  private readonly isDate: boolean;

  constructor(
    column: Column,
    cells: readonly ReferenceCell[],
    private readonly usual: Usual & { kind: 'number' },
  ) {
    const { q05, q95, min, max } = usual;
    const width = q95 > q05 ? q95 - q05 : max - min;
    // Where all train rows have one value, any other is as far as can be.
    const scale = width > 0 ? width : Math.max(Number.MIN_VALUE, Math.abs(min) * 1e-9);
    super(column, cells, (cell) => (Number(cell) - min) / scale);
    this.scale = scale;
    this.isDate = column.type === 'date';
  }

  private readonly scale: number;

  place(data: ColumnData | undefined, row: number, fresh: string[]): number {
    const value = data === undefined ? Number.NaN : numberIn(data, row);
    const { min, max } = this.usual;
    if (Number.isNaN(value)) {
      return MISSING_PLACE;
    }
    if (value < min || value > max) {
      fresh.push(`${this.name}: ${this.isDate ? isoDate(value) : value}`);
    }
    return (value - min) / this.scale;
  }
}

class ComparedCategory extends ComparedColumn {
  readonly ordered = false;
  private readonly places: ReadonlyMap<Label, number>;

  constructor(column: Column, cells: readonly ReferenceCell[], categories: readonly Label[]) {
    const places = new Map(categories.map((label, at) => [label, at]));
    super(column, cells, (cell) => places.get(cell) ?? UNSEEN);
    this.places = places;
  }

  place(data: ColumnData | undefined, row: number, fresh: string[]): number {
    const label = data === undefined ? null : labelAt(data, row);
    if (label === null) {
      return MISSING_PLACE;
    }
    const place = this.places.get(label);
    if (place === undefined) {
      const text = String(label);
      fresh.push(`${this.name}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`);
    }
    return place ?? UNSEEN;
  }
}

/** The columns in which rows can be unlike: not ids, nor the time of rows in a series. */
export function comparedColumns({ columns, rows, usual }: Reference): ComparedColumn[] {
  return columns.flatMap((column, at): ComparedColumn[] => {
    const cells = rows.map((row) => row[at]!);
    const known = usual[at]!;
    if (known.missing === 1) {
      return [];
    }
    if (known.kind === 'number') {
      return column.type === 'date' && isClock(cells) ? [] : [new ComparedNumber(column, cells, known)];
    }
    return known.complete ? [new ComparedCategory(column, cells, known.categories)] : [];
  });
}

/** It rises, or falls, from row to row: a new row is always beyond it. */
function isClock(cells: readonly ReferenceCell[]): boolean {
  const times = cells.filter((cell) => cell !== null).map(Number);
  const steps = times.slice(1).map((time, at) => Math.sign(time - times[at]!));
  const ways = steps.filter((step) => step !== 0);
  const up = ways.filter((step) => step > 0).length;
  return ways.length > 0 && Math.max(up, ways.length - up) >= SAME_WAY * ways.length;
}

function numberIn(data: ColumnData, row: number): number {
  if (data.type === 'number' || data.type === 'integer' || data.type === 'date') {
    const value = data.values[row]!;
    return Number.isFinite(value) ? value : Number.NaN;
  }
  const cell = cellAt(data, row);
  return cell === null ? Number.NaN : Number(cell);
}

function isoDate(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

/** The distance to the nearest row alone would follow every odd one. */
const NEIGHBOURS = 5;

/** A missing value: as far as can be from any other, and equal to another missing one. */
export const MISSING_PLACE = 1e9;

/** Rows of numbers, between which the distance is the sum over the columns of the differences, each 1 at most. */
export class Nearest {
  private readonly cells: Float64Array;
  private readonly columns: number;
  private readonly rows: number;
  /** The nearest rows of the last search, the nearest first, and how many there are. */
  private readonly found = new Int32Array(NEIGHBOURS);
  private count = 0;

  /** @param columns [column][row]; MISSING_PLACE for missing values */
  constructor(columns: readonly Float64Array[], rows: number) {
    this.columns = columns.length;
    this.rows = rows;
    this.cells = new Float64Array(rows * columns.length);
    columns.forEach((column, at) => {
      column.forEach((value, row) => {
        this.cells[row * columns.length + at] = value;
      });
    });
  }

  /**
   * The distance to the fifth nearest row, or to the last one where there are fewer.
   *
   * @param from first row that is not looked at
   * @param to row after the last one that is not looked at
   */
  find(query: Float64Array, from = 0, to = 0): number {
    const { cells, columns, rows, found } = this;
    const near = [Infinity, Infinity, Infinity, Infinity, Infinity];
    let furthest = Infinity;
    this.count = 0;
    for (let row = 0; row < rows; row++) {
      if (row >= from && row < to) {
        continue;
      }
      const first = row * columns;
      let distance = 0;
      // Most rows are seen to be too far after some of their columns.
      for (let at = 0; at < columns && distance < furthest; at++) {
        const difference = Math.abs(query[at]! - cells[first + at]!);
        distance += difference < 1 ? difference : 1;
      }
      if (distance < furthest) {
        let place = Math.min(this.count, NEIGHBOURS - 1);
        this.count = Math.min(this.count + 1, NEIGHBOURS);
        for (; place > 0 && near[place - 1]! > distance; place--) {
          near[place] = near[place - 1]!;
          found[place] = found[place - 1]!;
        }
        near[place] = distance;
        found[place] = row;
        furthest = near[NEIGHBOURS - 1]!;
      }
    }
    return this.count === 0 ? 0 : near[this.count - 1]!;
  }

  /** How far each column is from the rows that were found last, on average. */
  differences(query: Float64Array): Float64Array {
    const { cells, columns, found, count } = this;
    const apart = new Float64Array(columns);
    for (let one = 0; one < count; one++) {
      const first = found[one]! * columns;
      for (let at = 0; at < columns; at++) {
        apart[at]! += Math.min(1, Math.abs(query[at]! - cells[first + at]!)) / count;
      }
    }
    return apart;
  }
}
