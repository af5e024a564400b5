import { cellAt, type Column, type ColumnData, type Label, labelAt } from '../../table';
import type { Reference, ReferenceCell, Usual } from '../reference/types';
import { MISSING_PLACE } from './nearest';

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
