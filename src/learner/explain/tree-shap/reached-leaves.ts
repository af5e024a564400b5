import { isLeft, LEAF, type Trees } from '../../trees/trees';
import type { Paths } from './paths';

/**
 * Finds the leaves that `LeafWalk` would visit, given their paths, in one pass over the nodes (parents come before
 * children).
 */
export class ReachedLeaves {
  count = 0;
  /** Indices of the leaves. */
  leaves = new Int32Array(64);
  /** Slots that the foreground row fails on the path to each, as bits. */
  failed = new Int32Array(64);
  /** Where the values of each begin in `trees.values`. */
  values = new Int32Array(64);
  /** Per node of the tree, the slots that the foreground row fails and the background rows that get here, as bits. */
  private failedAt = new Int32Array(128);
  private rowsAt = new Int32Array(128);

  /**
   * @param bins the foreground row's bins
   * @param all every background row, as bits
   */
  find(trees: Trees, paths: Paths, tree: number, bins: Uint8Array, all: number): void {
    const { roots, feature, left } = trees;
    const { slotOf, passes } = paths;
    const root = roots[tree];
    const end = tree + 1 < roots.length ? roots[tree + 1] : feature.length;
    if (this.failedAt.length < end - root) {
      this.ensureCapacity(2 * (end - root));
    }
    const { leaves, failed, values, failedAt, rowsAt } = this;
    failedAt[0] = 0;
    rowsAt[0] = all;
    let count = 0;
    for (let node = root; node < end; node++) {
      const rows = rowsAt[node - root];
      const column = feature[node];
      if (column === LEAF) {
        if (rows !== 0) {
          leaves[count] = slotOf[node];
          failed[count] = failedAt[node - root];
          values[count++] = left[node];
        }
        continue;
      }
      const child = left[node];
      const to = child - root;
      if (rows === 0) {
        rowsAt[to] = 0;
        rowsAt[to + 1] = 0;
        continue;
      }
      const own = isLeft(trees, node, bins[column]) ? 0 : 1;
      const other = 1 - own;
      const before = failedAt[node - root];
      const bit = 1 << slotOf[node];
      failedAt[to + own] = before;
      failedAt[to + other] = before | bit;
      rowsAt[to + own] = (before & bit) === 0 ? rows : rows & passes[child + own];
      rowsAt[to + other] = rows & passes[child + other];
    }
    this.count = count;
  }

  private ensureCapacity(nodes: number): void {
    this.leaves = new Int32Array(nodes);
    this.failed = new Int32Array(nodes);
    this.values = new Int32Array(nodes);
    this.failedAt = new Int32Array(nodes);
    this.rowsAt = new Int32Array(nodes);
  }
}
