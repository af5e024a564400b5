import { isDate } from '../../util/realms';
import { isAbsent } from '../cells/absent';
import { ABSENT, BEYOND_INT64, BEYOND_SAFE, BOOLEAN, DATE, FRACTION, WHOLE } from '../cells/classify';
import { isLong } from '../cells/errors';
import type { Sight } from './findings';

/** Bits of values that are text, and empty text; the other bits of values are those of text that reads as such values. */
export const TEXT = 8192;
const EMPTY = 16384;

export const NUMBERS = WHOLE | FRACTION | BEYOND_SAFE | BEYOND_INT64;

/** The kind of a JavaScript value: 0 where it is missing, undefined where it is nested, or too long, and no cell. */
export function kindOfValue(cell: unknown): number | undefined {
  if (typeof cell === 'number') {
    return Number.isSafeInteger(cell) ? WHOLE : Number.isNaN(cell) ? 0 : FRACTION;
  }
  if (typeof cell === 'string') {
    return cell === '' ? EMPTY : isAbsent(cell) ? ABSENT : TEXT;
  }
  if (cell === null || cell === undefined) {
    return 0;
  }
  if (typeof cell === 'boolean') {
    return BOOLEAN;
  }
  if (typeof cell === 'bigint') {
    if (isLong(cell)) {
      return undefined;
    }
    return BigInt.asIntN(64, cell) !== cell
      ? BEYOND_INT64
      : Number.isSafeInteger(Number(cell))
        ? WHOLE
        : BEYOND_SAFE;
  }
  if (isDate(cell)) {
    return Number.isNaN(cell.getTime()) ? 0 : DATE;
  }
  return undefined;
}

/** The kinds of values in a column of JavaScript values, or of a file that has types. */
export class ValueKinds {
  private any = 0;
  private readonly firsts = new Map<number, Sight>();
  private numbers = 0;
  private dates = 0;

  get isEmpty(): boolean {
    return this.any === 0;
  }

  /** How many values are numbers, or dates. */
  count(bits: number): number {
    return bits === DATE ? this.dates : this.numbers;
  }

  add(kind: number, value: unknown, row: number): void {
    if ((kind & NUMBERS) !== 0) {
      this.numbers++;
    } else if (kind === DATE) {
      this.dates++;
    }
    if ((this.any | kind) !== this.any) {
      this.any |= kind;
      this.firsts.set(kind, { row, value });
    }
  }

  has(kind: number): boolean {
    return (this.any & kind) !== 0;
  }

  /** True where no value but text, and text that may mean "missing", was seen. */
  get onlyText(): boolean {
    return (this.any & ~(TEXT | ABSENT | EMPTY)) === 0;
  }

  first(bits: number): Sight | undefined {
    const sights = [...this.firsts].filter(([kind]) => (kind & bits) !== 0).map(([, sight]) => sight);
    return sights.sort((a, b) => a.row - b.row)[0];
  }

  /** The kinds seen; NA and its like are text where the column is nothing else, or has other text. */
  settle(): number {
    if (this.has(ABSENT) && (!this.has(NUMBERS | BOOLEAN | DATE) || this.has(TEXT))) {
      const text = this.first(ABSENT | TEXT)!;
      this.any |= TEXT;
      this.firsts.set(TEXT, text);
    }
    return this.any & (NUMBERS | BOOLEAN | DATE | TEXT);
  }
}
