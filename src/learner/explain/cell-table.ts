import { bitCount, lowestBit } from '../math/bits';
import type { Ways } from './ways';

/**
 * Where leaves count in the scores of all coalitions of a model's groups. As effects do (see `EffectTable`), that depends
 * on a row by nothing but the slots that it fails on the way to a leaf. A cell is a coalition of one row of the background:
 * row · 2^players + coalition, of at most 11 players. A leaf is added in some cells and taken away in others (see `coalitions.ts`); both lists
 * are made when a row first needs them.
 */
export class CellTable {
  /** Lists one after another: how many cells to add in, how many to take away in, then these. */
  cells = new Uint16Array(4096);
  private length = 0;
  /** Per leaf where its sets of failed slots begin in `listAt`. */
  private readonly patternsAt: Int32Array;
  /** Where the list begins, plus 1; 0: not known yet. */
  private readonly listAt: Int32Array;

  /**
   * @param bitOf per group its bit in a coalition
   * @param room how many cells more lists may keep, all tables of the model together
   */
  constructor(
    private readonly ways: Ways,
    private readonly bitOf: Int32Array,
    private readonly players: number,
    private readonly room: { cells: number },
  ) {
    const leaves = ways.slotsAt.length - 1;
    this.patternsAt = new Int32Array(leaves + 1);
    for (let leaf = 0; leaf < leaves; leaf++) {
      this.patternsAt[leaf + 1] = this.patternsAt[leaf] + 2 ** (ways.slotsAt[leaf + 1] - ways.slotsAt[leaf]);
    }
    this.listAt = new Int32Array(this.patternsAt[leaves]);
  }

  /** Where the list of a leaf begins in `cells`, for a row that fails these slots there. */
  list(leaf: number, failed: number): number {
    const pattern = this.patternsAt[leaf] + failed;
    const known = this.listAt[pattern];
    if (known > 0) {
      return known - 1;
    }
    const at = this.length;
    const end = this.write(leaf, failed, at);
    if (end - at <= this.room.cells) {
      this.room.cells -= end - at;
      this.length = end;
      this.listAt[pattern] = at + 1;
    }
    return at;
  }

  private write(leaf: number, failed: number, at: number): number {
    const { inside, rows } = this.ways;
    const outside = this.coalitionOf(leaf, failed);
    const first = leaf * rows;
    let count = 0;
    for (let row = 0; row < rows; row++) {
      count += (inside[first + row] & failed) === 0 ? 1 : 0;
    }
    const some = 2 ** bitCount(outside);
    const end = at + 2 + count * some;
    if (end > this.cells.length) {
      const larger = new Uint16Array(Math.max(end, 2 * this.cells.length));
      larger.set(this.cells);
      this.cells = larger;
    }
    const { cells } = this;
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
    const { groups, slotsAt } = this.ways;
    let coalition = 0;
    for (let rest = slots; rest !== 0; rest &= rest - 1) {
      coalition |= this.bitOf[groups[slotsAt[leaf] + lowestBit(rest)]];
    }
    return coalition;
  }
}
