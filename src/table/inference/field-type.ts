import * as text from '../cells/field-readings';
import type { Looks } from '../cells/local-formats';
import type { SliceColumn } from '../columns/table-source';
import { beyond64Warning, mixedWarning, type Settled, type Sight } from './settled';

const ANY_READING = text.WHOLE | text.NUMBER | text.COMMA_NUMBER | text.BOOLEAN | text.DATE;

type FieldColumn = Extract<SliceColumn, { kind: 'fields' }>;

/** What all fields of a column in text files can be read as. */
export class FieldTally {
  /** Fields that hold a value. */
  count = 0;
  /** The first field that can be read as nothing that those before it were. */
  odd: Sight | undefined;
  /** What all fields so far can be read as, and the marks (beyond safe, fraction) of any of them. */
  private possible = ANY_READING;
  private marks = 0;
  private grouped = false;

  constructor(
    private readonly name: string,
    private readonly looks: Looks,
  ) {}

  /** @param first the row of the first cell */
  add({ cells, comma, grouped }: FieldColumn, first: number): void {
    this.grouped ||= grouped === true;
    for (let i = 0; i < cells.length; i++) {
      if (this.possible === 0) {
        this.look(cells, i, first);
        return;
      }
      const cell = cells[i]!;
      if (cell === '') {
        continue;
      }
      const reading = text.readings(cell, comma);
      const left = this.possible & reading;
      if (left === 0) {
        if (this.count > 0) {
          this.odd = { row: first + i, value: cell };
          this.looks.others((this.possible & (text.NUMBER | text.COMMA_NUMBER)) !== 0);
        }
        this.possible = 0;
        this.count++;
        this.look(cells, i, first);
        return;
      }
      this.possible = left;
      if ((reading & text.FRACTION) !== 0) {
        this.looks.addFraction(cell, first + i, (reading & text.NUMBER) !== 0);
      }
      if ((reading & text.ABSENT) === 0) {
        this.marks |= reading;
        this.count++;
      }
    }
  }

  /** Fields of a column that is text in this file may still be numbers or dates to those who wrote it. */
  private look(cells: readonly string[], from: number, first: number): void {
    for (let i = from; i < cells.length && this.looks.alive; i++) {
      const cell = cells[i]!;
      if (cell !== '' && !text.isAbsent(cell)) {
        this.looks.add(cell, first + i);
      }
    }
  }

  settle(): Settled {
    const { possible, marks } = this;
    if (possible === 0) {
      return this.odd === undefined
        ? { type: 'text' }
        : { type: 'text', warning: mixedWarning(this.name, `${fieldKind(marks)} and text`, this.odd) };
    }
    if ((possible & text.BOOLEAN) !== 0) {
      return { type: 'boolean' };
    }
    if ((possible & text.DATE) !== 0) {
      return { type: 'date' };
    }
    if ((possible & text.WHOLE) !== 0) {
      return { type: (marks & text.BEYOND_SAFE) !== 0 ? 'bigint' : 'integer' };
    }
    if ((marks & text.FRACTION) !== 0) {
      if (!this.grouped || (possible & text.NUMBER) !== 0) {
        return { type: 'number' };
      }
      const { decimal } = this.looks;
      return decimal === ',' ? { type: 'number', decimal } : { type: 'text' };
    }
    return { type: 'text', warning: beyond64Warning(this.name) };
  }
}

function fieldKind(marks: number): string {
  if ((marks & (text.NUMBER | text.COMMA_NUMBER)) !== 0) {
    return 'numbers';
  }
  return (marks & text.DATE) !== 0 ? 'dates' : 'booleans';
}
