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
