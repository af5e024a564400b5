import { isDate } from '../../util/realms';
import { nestedCell } from '../cells/errors';
import * as text from '../cells/field-readings';
import type { Looks } from '../cells/local-formats';
import { cellsOf, type ColumnData } from '../columns/column-batch';
import { beyond64Warning, mixedWarning, type Settled, type Sight } from './settled';

/** Kinds of JavaScript values that a column can hold, as bits. */
const WHOLE = 1;
const FRACTION = 2;
/** A bigint beyond 2^53, and one beyond 64 bits. */
const BIG = 4;
const HUGE = 8;
const BOOLEAN = 16;
const DATE = 32;
const TEXT = 64;
/** Text that may mean "missing": NA and its like, and empty text. */
const ABSENT = 128;
const EMPTY = 256;

const NUMERIC = WHOLE | FRACTION | BIG | HUGE;
const KIND_NAMES: [number, string][] = [
  [NUMERIC, 'numbers'],
  [BOOLEAN, 'booleans'],
  [DATE, 'dates'],
  [TEXT, 'text'],
];

/** Kinds of values in a column of JavaScript values, or of a file that has types. */
export class ValueTally {
  /** Kinds of values seen, and where the first of each kind was. */
  private kinds = 0;
  private readonly firsts = new Map<number, Sight>();

  constructor(
    private readonly name: string,
    private readonly looks: Looks,
  ) {}

  get isEmpty(): boolean {
    return this.kinds === 0;
  }

  /** True where no value but text, and text that may mean "missing", was seen. */
  get onlyText(): boolean {
    return (this.kinds & ~(TEXT | ABSENT | EMPTY)) === 0;
  }

  get firstText(): Sight | undefined {
    return this.firsts.get(TEXT);
  }

  /** @param first the row of the first cell */
  add(cells: ArrayLike<unknown>, first: number): void {
    let kinds = this.kinds;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      let kind: number;
      if (typeof cell === 'number') {
        kind = Number.isSafeInteger(cell) ? WHOLE : Number.isNaN(cell) ? 0 : FRACTION;
      } else if (typeof cell === 'string') {
        kind = cell === '' ? EMPTY : text.isAbsent(cell) ? ABSENT : TEXT;
        if (kind === TEXT && this.looks.alive) {
          this.looks.add(cell, first + i);
        }
      } else {
        kind = this.otherKind(cell, first + i);
      }
      if ((kinds | kind) !== kinds) {
        kinds |= kind;
        this.firsts.set(kind, { row: first + i, value: cell });
      }
    }
    this.kinds = kinds;
  }

  private otherKind(cell: unknown, row: number): number {
    if (cell === null || cell === undefined) {
      return 0;
    }
    if (typeof cell === 'boolean') {
      return BOOLEAN;
    }
    if (typeof cell === 'bigint') {
      return BigInt.asIntN(64, cell) !== cell ? HUGE : Number.isSafeInteger(Number(cell)) ? WHOLE : BIG;
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? 0 : DATE;
    }
    throw nestedCell(this.name, row, cell);
  }

  addTyped(data: ColumnData, first: number): void {
    if (data.type === 'text' || data.type === 'bigint' || data.type === 'boolean') {
      // All cells of these are of one kind (a bigint may still be small), so the quick way out is common.
      const known = data.type === 'text' ? TEXT : data.type === 'boolean' ? BOOLEAN : BIG;
      if (data.type === 'text') {
        this.addText(data, first);
      } else if ((this.kinds & known) === 0) {
        this.add(cellsOf(data), first);
      }
    } else if (data.type === 'integer') {
      this.add(data.values, first);
    } else {
      // A column that was stored as floating point stays so, even where all of its values are whole.
      const at = data.values.findIndex((value) => !Number.isNaN(value));
      if (at >= 0) {
        this.add([data.type === 'date' ? new Date(data.values[at]!) : 0.5], first + at);
      }
    }
  }

  private addText(data: ColumnData, first: number): void {
    if ((this.kinds & TEXT) !== 0 && !this.looks.alive) {
      return;
    }
    const cells = cellsOf(data);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell !== 'string') {
        continue;
      }
      if ((this.kinds & TEXT) === 0) {
        this.kinds |= TEXT;
        this.firsts.set(TEXT, { row: first + i, value: cell });
      }
      if (!this.looks.alive) {
        return;
      }
      if (cell !== '' && !text.isAbsent(cell)) {
        this.looks.add(cell, first + i);
      }
    }
  }

  settle(): Settled {
    let { kinds } = this;
    if ((kinds & ABSENT) !== 0 && ((kinds & NUMERIC) === 0 || (kinds & (BOOLEAN | DATE | TEXT)) !== 0)) {
      kinds |= TEXT;
      const absent = this.firsts.get(ABSENT)!;
      const known = this.firsts.get(TEXT);
      this.firsts.set(TEXT, known !== undefined && known.row < absent.row ? known : absent);
    }
    const present = KIND_NAMES.filter(([bits]) => (kinds & bits) !== 0);
    if (present.length > 1) {
      const sights = present.map(([bits]) => this.firstOf(bits)).sort((a, b) => a.row - b.row);
      const names = present.map(([, name]) => name);
      return { type: 'text', warning: mixedWarning(this.name, names.join(' and '), sights[1]!) };
    }
    if ((kinds & NUMERIC) !== 0) {
      return this.settleNumbers(kinds);
    }
    return { type: (kinds & BOOLEAN) !== 0 ? 'boolean' : (kinds & DATE) !== 0 ? 'date' : 'text' };
  }

  private settleNumbers(kinds: number): Settled {
    if ((kinds & FRACTION) !== 0) {
      return { type: 'number' };
    }
    if ((kinds & HUGE) !== 0) {
      return { type: 'text', warning: beyond64Warning(this.name) };
    }
    return { type: (kinds & BIG) !== 0 ? 'bigint' : 'integer' };
  }

  private firstOf(bits: number): Sight {
    let first: Sight | undefined;
    for (const [kind, sight] of this.firsts) {
      if ((kind & bits) !== 0 && (first === undefined || sight.row < first.row)) {
        first = sight;
      }
    }
    return first!;
  }
}
