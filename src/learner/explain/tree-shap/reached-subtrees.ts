import { withCapacity } from '../../math/with-capacity';
import { isLeft } from '../../trees/trees';
import type { Subtrees } from './subtrees';

/**
 * Finds the subtrees that some mixture of the foreground row and a background row reaches, with the foreground row's
 * key in each.
 */
export class ReachedSubtrees {
  count = 0;
  numbers = new Int32Array(64);
  keys = new Int32Array(64);
  /** A stack of nodes to visit, with the slots failed on the path to each and the background rows that get there. */
  private nodes = new Int32Array(64);
  private failed = new Int32Array(64);
  private rows = new Int32Array(64);

  /**
   * @param bins the foreground row's bins
   * @param all every background row, as bits
   */
  find(subtrees: Subtrees, tree: number, bins: Uint8Array, all: number): void {
    const { trees, paths, numberOf, slots, branchesAt, branches } = subtrees;
    this.ensureCapacity(subtrees.maxPerTree);
    const { numbers, keys, nodes, failed, rows } = this;
    nodes[0] = trees.roots[tree];
    failed[0] = 0;
    rows[0] = all;
    let waiting = 1;
    let count = 0;
    while (waiting > 0) {
      waiting--;
      const node = nodes[waiting];
      const before = failed[waiting];
      const number = numberOf[node];
      if (number >= 0) {
        let key = before;
        let bit = slots[number];
        const end = branchesAt[number + 1];
        for (let at = branchesAt[number]; at < end; at++) {
          const branch = branches[at];
          key |= (isLeft(trees, branch, bins[trees.feature[branch]]) ? 0 : 1) << bit++;
        }
        numbers[count] = number;
        keys[count++] = key;
        continue;
      }
      const here = rows[waiting];
      const slot = 1 << paths.slotOf[node];
      const left = trees.left[node];
      const own = left + (isLeft(trees, node, bins[trees.feature[node]]) ? 0 : 1);
      const other = 2 * left + 1 - own;
      const toOwn = (before & slot) === 0 ? here : here & paths.passes[own];
      const toOther = here & paths.passes[other];
      if (toOwn !== 0) {
        nodes[waiting] = own;
        failed[waiting] = before;
        rows[waiting++] = toOwn;
      }
      if (toOther !== 0) {
        nodes[waiting] = other;
        failed[waiting] = before | slot;
        rows[waiting++] = toOther;
      }
    }
    this.count = count;
  }

  /** The stack never holds more nodes than the tree has subtrees. */
  private ensureCapacity(most: number): void {
    if (this.nodes.length < most + 1) {
      this.numbers = withCapacity(this.numbers, most + 1);
      this.keys = withCapacity(this.keys, most + 1);
      this.nodes = withCapacity(this.nodes, most + 1);
      this.failed = withCapacity(this.failed, most + 1);
      this.rows = withCapacity(this.rows, most + 1);
    }
  }
}
