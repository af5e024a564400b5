import { bitCount, lowestBit } from '../../math/bits';
import { withCapacity } from '../../math/with-capacity';
import type { Trees } from '../../trees/trees';
import type { Paths } from './paths';
import type { ReachedLeaves } from './reached-leaves';

/**
 * For each leaf, the coalitions to whose Möbius transform it contributes (see `effects/coalition-effects.ts`), for
 * every background row at once: cell row · 2^players + coalition, with at most 11 players. The cells depend on the
 * foreground row only through the slots that it fails on the path to the leaf, so they are computed once per set of
 * failed slots, on first use.
 */
export class CoalitionTable {
  /** The lists, one after another: how many cells to add to, how many to subtract from, then those cells. */
  private cells = new Uint16Array(4096);
  private length = 0;
  /** Per leaf, where its sets of failed slots begin in `listAt`. */
  private readonly patternsAt: Int32Array;
  /** Where the list begins, plus 1; 0 while it has not been computed. */
  private readonly listAt: Int32Array;

  /**
   * @param budget how many more cells may be cached, shared by all tables of the model
   * @param bitOf the bit of each group in a coalition
   */
  constructor(
    private readonly paths: Paths,
    private readonly budget: { cells: number },
    private readonly bitOf: Int32Array,
    private readonly players: number,
  ) {
    const leaves = paths.slotsAt.length - 1;
    this.patternsAt = new Int32Array(leaves + 1);
    for (let leaf = 0; leaf < leaves; leaf++) {
      this.patternsAt[leaf + 1] =
        this.patternsAt[leaf] + 2 ** (paths.slotsAt[leaf + 1] - paths.slotsAt[leaf]);
    }
    this.listAt = new Int32Array(this.patternsAt[leaves]);
  }

  /**
   * Adds `weight` times the reached leaves of a tree to the scores of all cells.
   *
   * @param output the output that a tree with one value per leaf is for
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

  /** Where the list of a leaf begins in `cells`, for a foreground row that fails these slots. */
  private list(leaf: number, failed: number): number {
    const pattern = this.patternsAt[leaf] + failed;
    const known = this.listAt[pattern];
    if (known > 0) {
      return known - 1;
    }
    const at = this.length;
    const end = this.write(leaf, failed, at);
    if (end - at <= this.budget.cells) {
      this.budget.cells -= end - at;
      this.length = end;
      this.listAt[pattern] = at + 1;
    }
    return at;
  }

  /** Writes the list to `cells` from `at` on, and returns its end. */
  private write(leaf: number, failed: number, at: number): number {
    const { failedByOther, rows } = this.paths;
    const outside = this.coalitionOf(leaf, failed);
    const first = leaf * rows;
    let count = 0;
    for (let row = 0; row < rows; row++) {
      count += (failedByOther[first + row] & failed) === 0 ? 1 : 0;
    }
    const end = at + 2 + count * 2 ** bitCount(outside);
    this.cells = withCapacity(this.cells, end);
    const { cells } = this;
    let add = at + 2;
    let takeAway = end;
    for (let row = 0; row < rows; row++) {
      if ((failedByOther[first + row] & failed) !== 0) {
        continue;
      }
      const cell = row * 2 ** this.players + this.coalitionOf(leaf, failedByOther[first + row]);
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
    const { paths } = this;
    let coalition = 0;
    for (let rest = slots; rest !== 0; rest &= rest - 1) {
      coalition |= this.bitOf[paths.groups[paths.slotsAt[leaf] + lowestBit(rest)]];
    }
    return coalition;
  }
}
