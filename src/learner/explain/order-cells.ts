import { lowestBit } from '../math/bits';
import { CellTable } from './cell-table';
import type { Orders } from './orders';
import type { Ways } from './ways';

/**
 * Cells that are the steps of orders. A leaf is reached at the steps after the last group inside has become the row's, and
 * before the first one outside has: it is added at the first of these steps, and taken away at the one after the last.
 */
export class OrderCells extends CellTable {
  constructor(
    ways: Ways,
    room: { cells: number },
    private readonly orders: Orders,
  ) {
    super(ways, room);
  }

  protected write(leaf: number, failed: number, at: number): number {
    const { inside, rows } = this.ways;
    const { perRow, steps, turns, groups } = this.orders;
    const most = 2 * rows * perRow;
    const cells = this.reserve(at + 2 + most);
    let add = at + 2;
    let takeAway = at + 2 + most;
    for (let row = 0; row < rows; row++) {
      const own = inside[leaf * rows + row];
      if ((own & failed) !== 0) {
        continue;
      }
      for (let order = row * perRow; order < (row + 1) * perRow; order++) {
        let begin = 0;
        let end = steps;
        for (let slots = own; slots !== 0; slots &= slots - 1) {
          begin = Math.max(begin, turns[order * groups + this.groupOf(leaf, lowestBit(slots))]);
        }
        for (let slots = failed; slots !== 0; slots &= slots - 1) {
          end = Math.min(end, turns[order * groups + this.groupOf(leaf, lowestBit(slots))]);
        }
        if (begin < end) {
          cells[add++] = order * steps + begin;
          if (end < steps) {
            cells[--takeAway] = order * steps + end;
          }
        }
      }
    }
    cells[at] = add - at - 2;
    cells[at + 1] = at + 2 + most - takeAway;
    cells.copyWithin(add, takeAway, at + 2 + most);
    return add + cells[at + 1];
  }
}
