import { lowestBit } from '../math/bits';
import { withRoom } from '../math/with-room';
import type { Background } from '../model/background';
import { leafOf } from '../trees/trees';
import { eachOrder, mixturesOf, type Orders } from './orders';
import type { ReachedSubtrees } from './reached-subtrees';
import { eachLeafOf, type Subtrees } from './subtrees';

/** In place of the number of a leaf: none of the subtree. */
const NONE = 0xff;
/** Bytes of a change. */
const BYTES = 4;

/**
 * Where, along orders, the mixtures of a row and the background's rows change from one leaf of a subtree to another, by the
 * key of the row: found once for all rows that take the same way, when a row first does.
 */
export class OrderTable {
  /** Per key where its changes begin, plus 1; 0: not known yet. */
  private readonly at: Int32Array;
  /** How many changes, then the mixture at which each happens; one such list for each key that is known. */
  private mixtures = new Uint16Array(1024);
  /** Two for each of these: the leaf before and the one after, by their numbers in the subtree. */
  private leaves = new Uint8Array(2048);
  private length = 0;
  /** Per subtree the number of its first leaf, and per leaf where its values begin in `trees.values`. */
  private readonly firstLeaf: Int32Array;
  private readonly valuesAt: Int32Array;
  /** rows of the background × outputs: what the trees say of them. */
  private readonly starts: Float64Array;
  /** Per mixture, while changes are looked for, the leaf before and after; and the mixtures that have any. */
  private readonly before: Uint8Array;
  private readonly after: Uint8Array;
  private changed: number[] = [];
  /** Values of a subtree's leaves, and 0 for none. */
  private readonly values = new Float64Array(NONE + 1);

  /**
   * @param width outputs
   * @param room bytes that changes may take in addition, all tables of the model together
   */
  constructor(
    readonly subtrees: Subtrees,
    background: Background,
    private readonly orders: Orders,
    private readonly width: number,
    private readonly room: { bytes: number },
  ) {
    const { roots, keysAt, trees, ways } = subtrees;
    this.at = new Int32Array(keysAt[roots.length]);
    this.firstLeaf = new Int32Array(roots.length);
    this.valuesAt = new Int32Array(ways.slotsAt.length - 1);
    for (let number = 0; number < roots.length; number++) {
      let first = Infinity;
      eachLeafOf(subtrees, number, 0, (leaf, _, values) => {
        this.valuesAt[leaf] = values;
        first = Math.min(first, leaf);
      });
      this.firstLeaf[number] = first;
    }
    this.starts = new Float64Array(background.rows * width);
    trees.roots.forEach((root, tree) => {
      const output = trees.width > 1 ? 0 : tree % width;
      for (let row = 0; row < background.rows; row++) {
        const from = leafOf(trees, root, background.columns, row);
        for (let k = 0; k < trees.width; k++) {
          this.starts[row * width + output + k] += trees.values[from + k];
        }
      }
    });
    const mixtures = mixturesOf(orders);
    this.before = new Uint8Array(mixtures).fill(NONE);
    this.after = new Uint8Array(mixtures).fill(NONE);
  }

  /** Adds `weight` times what all trees say at the first step of each order. */
  addStarts(weight: number, scores: Float64Array): void {
    const { starts, width } = this;
    eachOrder(this.orders, (first, _, row) => {
      for (let k = 0; k < width; k++) {
        scores[first * width + k] += weight * starts[row * width + k];
      }
    });
  }

  /**
   * Adds `weight` times the changes in reached subtrees to the later steps.
   *
   * @param output of a tree with one value a leaf the output that it is for
   * @param scores mixtures × width
   */
  addChanges(reached: ReachedSubtrees, weight: number, output: number, scores: Float64Array): void {
    const { subtrees, firstLeaf, valuesAt, values, width } = this;
    const { trees } = subtrees;
    for (let i = 0; i < reached.count; i++) {
      const number = reached.numbers[i];
      const first = firstLeaf[number];
      const leafCount = subtrees.branchesAt[number + 1] - subtrees.branchesAt[number] + 1;
      const list = this.changesOf(number, reached.keys[i]);
      const { mixtures, leaves } = this;
      const end = list + 1 + mixtures[list];
      for (let k = 0; k < trees.width; k++) {
        for (let leaf = 0; leaf < leafCount; leaf++) {
          values[leaf] = weight * trees.values[valuesAt[first + leaf] + k];
        }
        const to = output + k;
        for (let at = list + 1; at < end; at++) {
          scores[mixtures[at] * width + to] += values[leaves[2 * at + 1]] - values[leaves[2 * at]];
        }
      }
    }
  }

  /** Where the list of changes begins, of a subtree for rows of this key. */
  private changesOf(number: number, key: number): number {
    const slot = this.subtrees.keysAt[number] + key;
    const known = this.at[slot];
    if (known > 0) {
      return known - 1;
    }
    this.findChanges(number, key);
    const { length, changed } = this;
    const end = length + 1 + changed.length;
    this.mixtures = withRoom(this.mixtures, end);
    this.leaves = withRoom(this.leaves, 2 * end);
    this.mixtures[length] = changed.length;
    changed.forEach((mixture, i) => {
      const to = length + 1 + i;
      this.mixtures[to] = mixture;
      this.leaves[2 * to] = this.before[mixture];
      this.leaves[2 * to + 1] = this.after[mixture];
      this.before[mixture] = NONE;
      this.after[mixture] = NONE;
    });
    if (end - length <= this.room.bytes / BYTES) {
      this.room.bytes -= BYTES * (end - length);
      this.length = end;
      this.at[slot] = length + 1;
    }
    return length;
  }

  /**
   * A leaf is reached at the steps after the last group inside has become the row's, and before the first one outside
   * has. What is reached at the first step is the same for all rows.
   */
  private findChanges(number: number, key: number): void {
    const { before, after, firstLeaf } = this;
    const { ways } = this.subtrees;
    const { perRow, steps, turns, groups } = this.orders;
    this.changed = [];
    eachLeafOf(this.subtrees, number, key, (leaf, failed) => {
      const slotsAt = ways.slotsAt[leaf];
      for (let row = 0; row < ways.rows; row++) {
        const inside = ways.inside[leaf * ways.rows + row];
        if ((inside & failed) !== 0) {
          continue;
        }
        for (let order = row * perRow; order < (row + 1) * perRow; order++) {
          let begin = 0;
          let end = steps;
          for (let slots = inside; slots !== 0; slots &= slots - 1) {
            begin = Math.max(begin, turns[order * groups + ways.groups[slotsAt + lowestBit(slots)]]);
          }
          for (let slots = failed; slots !== 0; slots &= slots - 1) {
            end = Math.min(end, turns[order * groups + ways.groups[slotsAt + lowestBit(slots)]]);
          }
          if (begin >= end) {
            continue;
          }
          if (begin > 0) {
            this.mark(after, order * steps + begin, leaf - firstLeaf[number]);
          }
          if (end < steps) {
            this.mark(before, order * steps + end, leaf - firstLeaf[number]);
          }
        }
      }
    });
  }

  private mark(side: Uint8Array, mixture: number, leaf: number): void {
    if (this.before[mixture] === NONE && this.after[mixture] === NONE) {
      this.changed.push(mixture);
    }
    side[mixture] = leaf;
  }
}
