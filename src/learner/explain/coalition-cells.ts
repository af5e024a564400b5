import { bitCount, lowestBit } from '../math/bits';
import { CellTable } from './cell-table';
import type { Ways } from './ways';

/**
 * Cells that are coalitions of a model's groups, for each row of the background: row · 2^players + coalition, of at most
 * 11 players. See `coalitions.ts` for where a leaf is added and taken away.
 */
export class CoalitionCells extends CellTable {
  /** @param bitOf per group its bit in a coalition */
  constructor(
    ways: Ways,
    room: { cells: number },
    private readonly bitOf: Int32Array,
    private readonly players: number,
  ) {
    super(ways, room);
  }

  protected write(leaf: number, failed: number, at: number): number {
    const { inside, rows } = this.ways;
    const outside = this.coalitionOf(leaf, failed);
    const first = leaf * rows;
    let count = 0;
    for (let row = 0; row < rows; row++) {
      count += (inside[first + row] & failed) === 0 ? 1 : 0;
    }
    const end = at + 2 + count * 2 ** bitCount(outside);
    const cells = this.reserve(end);
    let add = at + 2;
    let takeAway = end;
    for (let row = 0; row < rows; row++) {
      if ((inside[first + row] & failed) !== 0) {
        continue;
      }
      const cell = row * 2 ** this.players + this.coalitionOf(leaf, inside[first + row]);
      for (let part = outside; ; part = (part - 1) & outside) {
        if (bitCount(part) & 1) {
          cells[--takeAway] = cell + part;
        } else {
          cells[add++] = cell + part;
        }
        if (part === 0) {
          break;
        }
      }
    }
    cells[at] = add - at - 2;
    cells[at + 1] = end - takeAway;
    return end;
  }

  private coalitionOf(leaf: number, slots: number): number {
    let coalition = 0;
    for (let rest = slots; rest !== 0; rest &= rest - 1) {
      coalition |= this.bitOf[this.groupOf(leaf, lowestBit(rest))];
    }
    return coalition;
  }
}
