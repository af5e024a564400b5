import { listNames, show } from '../cells/errors';

/** Whether the text of a column begins, or ends, with white space in every cell. */
export class Padding {
  private begins = true;
  private ends = true;
  private example: string | undefined;

  /** A cell of it that has white space around it, where all of them have on one side. */
  get found(): string | undefined {
    return this.begins || this.ends ? this.example : undefined;
  }

  add(cells: ArrayLike<unknown>): void {
    for (let i = 0; i < cells.length && (this.begins || this.ends); i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell.trim() !== '') {
        this.begins &&= isWhite(cell.charCodeAt(0));
        this.ends &&= isWhite(cell.charCodeAt(cell.length - 1));
        this.example ??= cell;
      }
    }
  }
}

/** One warning for all columns whose text is read without the white space around it. */
export function paddingWarnings(padded: readonly { name: string; cell: string }[]): string[] {
  const [first] = padded;
  return first === undefined
    ? []
    : [
        `Every cell of ${padded.length === 1 ? 'column' : 'columns'} ${listNames(padded.map(({ name }) => name))} begins or ends with white space, which is left off: ${show(first.cell)} is ${show(first.cell.trim())}, and so it is when the model predicts.`,
      ];
}

const SPACE = 32;
const NO_BREAK_SPACE = 160;

/** A space of any kind that files have around their fields. */
function isWhite(code: number): boolean {
  return code <= SPACE || code === NO_BREAK_SPACE;
}
