import type { Trees } from '../trees/trees';
import type { ReachedLeaves } from './reached-leaves';
import type { Ways } from './ways';

/**
 * In which cells the leaves of some trees count. As effects do (see `EffectTable`), that depends on a row by nothing but
 * the slots that it fails on the way to a leaf. What a cell is, a kind of table says: a mixture of the row with a row of
 * the background. A leaf is added in some cells and taken away in others; both lists are made when a row first needs them.
 */
export abstract class CellTable {
  /** Lists one after another: how many cells to add in, how many to take away in, then these. */
  protected cells = new Uint16Array(4096);
  private length = 0;
  /** Per leaf where its sets of failed slots begin in `listAt`. */
  private readonly patternsAt: Int32Array;
  /** Where the list begins, plus 1; 0: not known yet. */
  private readonly listAt: Int32Array;

  /** @param room how many cells more lists may keep, all tables of the model together */
  constructor(
    protected readonly ways: Ways,
    private readonly room: { cells: number },
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
  protected abstract write(leaf: number, failed: number, at: number): number;

  /** Makes room for cells up to `end`. */
  protected reserve(end: number): Uint16Array {
    if (end > this.cells.length) {
      const larger = new Uint16Array(Math.max(end, 2 * this.cells.length));
      larger.set(this.cells);
      this.cells = larger;
    }
    return this.cells;
  }

  /** The group of a leaf's slot. */
  protected groupOf(leaf: number, slot: number): number {
    return this.ways.groups[this.ways.slotsAt[leaf] + slot];
  }
}
