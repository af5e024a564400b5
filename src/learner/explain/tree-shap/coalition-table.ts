import { bitCount, lowestBit } from '../../math/bits';
import { withRoom } from '../../math/with-room';
import type { Trees } from '../../trees/trees';
import type { ReachedLeaves } from './reached-leaves';
import type { Ways } from './ways';

/**
 * In which coalitions the leaves of some trees count, for each row of the background: cell row · 2^players + coalition, of
 * at most 11 players. That depends on the row that is explained by nothing but the slots that it fails on the way to a
 * leaf. A leaf is added in some cells and taken away in others (see `coalitions.ts`); both lists are made when a row first
 * needs them.
 */
export class CoalitionTable {
  /** Lists one after another: how many cells to add in, how many to take away in, then these. */
  private cells = new Uint16Array(4096);
  private length = 0;
  /** Per leaf where its sets of failed slots begin in `listAt`. */
  private readonly patternsAt: Int32Array;
  /** Where the list begins, plus 1; 0: not known yet. */
  private readonly listAt: Int32Array;

  /**
   * @param room how many cells more lists may keep, all tables of the model together
   * @param bitOf per group its bit in a coalition
   */
  constructor(
    private readonly ways: Ways,
    private readonly room: { cells: number },
    private readonly bitOf: Int32Array,
    private readonly players: number,
  ) {
    const leaves = ways.slotsAt.length - 1;
    this.patternsAt = new Int32Array(leaves + 1);
    for (let leaf = 0; leaf < leaves; leaf++) {
      this.patternsAt[leaf + 1] = this.patternsAt[leaf] + 2 ** (ways.slotsAt[leaf + 1] - ways.slotsAt[leaf]);
    }
    this.listAt = new Int32Array(this.patternsAt[leaves]);
  }

  /**
   * Adds what a tree says, times `weight`, to the scores of all cells.
   *
   * @param output of a tree with one value a leaf the output that it is for
   * @param scores cells × width
   */
  add(
    { count, leaves, failed, values: from }: ReachedLeaves,
    { values, width: perLeaf }: Trees,
    weight: number,
    output: number,
    scores: Float64Array,
    width: number,
  ): void {
    for (let i = 0; i < count; i++) {
      const list = this.list(leaves[i], failed[i]);
      const { cells } = this;
      const middle = list + 2 + cells[list];
      const end = middle + cells[list + 1];
      for (let k = 0; k < perLeaf; k++) {
        const value = weight * values[from[i] + k];
        const to = output + k;
        for (let at = list + 2; at < middle; at++) {
          scores[cells[at] * width + to] += value;
        }
        for (let at = middle; at < end; at++) {
          scores[cells[at] * width + to] -= value;
        }
      }
    }
  }

  /** Where the list of a leaf begins in `cells`, for a row that fails these slots there. */
  private list(leaf: number, failed: number): number {
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

  /** Writes the list to `cells` from `at` on, and returns where it ends. */
  private write(leaf: number, failed: number, at: number): number {
    const { inside, rows } = this.ways;
    const outside = this.coalitionOf(leaf, failed);
    const first = leaf * rows;
    let count = 0;
    for (let row = 0; row < rows; row++) {
      count += (inside[first + row] & failed) === 0 ? 1 : 0;
    }
    const end = at + 2 + count * 2 ** bitCount(outside);
    this.cells = withRoom(this.cells, end);
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
    const { ways } = this;
    let coalition = 0;
    for (let rest = slots; rest !== 0; rest &= rest - 1) {
      coalition |= this.bitOf[ways.groups[ways.slotsAt[leaf] + lowestBit(rest)]];
    }
    return coalition;
  }
}
