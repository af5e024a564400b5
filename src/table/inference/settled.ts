import { show } from '../cells/errors';
import type { TextLook } from '../cells/local-formats';
import type { ColumnType, Decimal } from '../cells/types';

/** A cell and its row, counted from 0. */
export interface Sight {
  row: number;
  value: unknown;
}

/** What a column is taken as. */
export interface Settled {
  type: ColumnType;
  decimal?: Decimal;
  warning?: string;
  /** Text that looks like something else, wholly. */
  look?: { like: TextLook; whole: boolean; example: Sight };
  /** The first cell that makes the column text. */
  text?: Sight;
}

/** @param odd the first cell that is not of the kind of those before it */
export function mixedWarning(column: string, kinds: string, odd: Sight): string {
  return `Column "${column}" holds ${kinds}, so it is taken as text; the first odd value is ${show(odd.value)} in row ${odd.row + 1}.`;
}

export function beyond64Warning(column: string): string {
  return `Column "${column}" holds whole numbers beyond 64 bits, so it is taken as text.`;
}
