import { isDate } from '../../util/realms';
import { isLong } from '../cells/errors';
import { plainCells, type SliceColumn } from '../columns/slices';

/** More different rows than these are not few. */
const MAX_DISTINCT = 50;
/** In a longer table they are not counted. */
const MAX_COUNTED = 5000;

/** Counts the different rows of a table, as long as they are few. */
export class DistinctRows {
  private readonly seen = new Set<string>();
  private rows = 0;
  private columns: ArrayLike<unknown>[] = [];

  /** How many there are, undefined where they are many, or most of them differ. */
  get count(): number | undefined {
    return this.isCounting && this.seen.size * 2 <= this.rows ? this.seen.size : undefined;
  }

  private get isCounting(): boolean {
    return this.seen.size <= MAX_DISTINCT && this.rows <= MAX_COUNTED;
  }

  add(column: SliceColumn): void {
    if (this.isCounting) {
      // The cells of a slice may be valid only until the next column is asked for.
      this.columns.push(Array.from(plainCells(column)));
    }
  }

  endSlice(rows: number): void {
    for (let row = 0; row < rows && this.columns.length > 0 && this.isCounting; row++) {
      this.seen.add(this.columns.map((cells) => keyOf(cells[row])).join('\0'));
    }
    this.rows += rows;
    this.columns = [];
  }
}

/** Cells with equal keys count as equal; of long text the beginning tells. */
function keyOf(cell: unknown): string {
  if (typeof cell === 'string') {
    return cell.slice(0, 1000);
  }
  const isPlain =
    typeof cell === 'bigint' ? !isLong(cell) : typeof cell !== 'object' || cell === null || isDate(cell);
  return isPlain ? String(cell) : typeof cell;
}
