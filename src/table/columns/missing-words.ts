import { plainCells, type SliceColumn } from './slices';

/**
 * Words that mean "missing" in a table, such as "n/v" or -999. Case and spaces around them do not matter; a word of spaces
 * alone stands for any cell of white space.
 */
export class MissingWords {
  private readonly words: ReadonlySet<string>;
  private readonly numbers: ReadonlySet<number>;

  constructor(words: readonly string[]) {
    const plain = words.filter((word) => word !== '').map(normal);
    this.words = new Set(plain);
    this.numbers = new Set(
      plain.map((word) => (word === '' ? NaN : Number(word))).filter((value) => !Number.isNaN(value)),
    );
  }

  get isEmpty(): boolean {
    return this.words.size === 0;
  }

  /** The same cells with such words as missing values, and how many there were. */
  clear(column: SliceColumn): { column: SliceColumn; cleared: number } {
    const cells = this.isEmpty || this.cannotHold(column) ? [] : plainCells(column);
    const found: number[] = [];
    for (let i = 0; i < cells.length; i++) {
      if (this.means(cells[i])) {
        found.push(i);
      }
    }
    if (found.length === 0) {
      return { column, cleared: 0 };
    }
    const cleared = found.length;
    if (column.kind === 'fields') {
      return { column: { ...column, cells: without(column.cells, found, '') }, cleared };
    }
    return { column: { kind: 'values', cells: without(cells, found, null) }, cleared };
  }

  private cannotHold(column: SliceColumn): boolean {
    return column.kind === 'typed' && column.data.type !== 'text' && this.numbers.size === 0;
  }

  /** Whether a cell is such a word. */
  means(cell: unknown): boolean {
    if (typeof cell === 'string') {
      return cell !== '' && (this.words.has(cell) || this.words.has(normal(cell)));
    }
    return (typeof cell === 'number' || typeof cell === 'bigint') && this.numbers.has(Number(cell));
  }
}

function normal(word: string): string {
  return word.trim().toLowerCase();
}

function without<T>(cells: ArrayLike<T>, rows: readonly number[], missing: T): T[] {
  const copy = Array.from(cells);
  for (const row of rows) {
    copy[row] = missing;
  }
  return copy;
}
