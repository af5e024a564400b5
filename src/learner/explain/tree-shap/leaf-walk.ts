import { lowestBit } from '../../math/bits';
import { isLeft, LEAF, type Trees } from '../../trees/trees';
import { type ForegroundRow, leftMasks } from '../shapley/foreground';
import type { Paths } from './paths';

/** Most distinct groups on the path to a leaf. */
const MAX_SLOTS = 31;

/** `from` is the offset of the leaf's values in `trees.values`. */
export type LeafVisitor = (from: number, walk: LeafWalk) => void;

/**
 * Visits, once each, the leaves that some mixture of the foreground row and a background row reaches (interventional
 * TreeSHAP: S. Lundberg et al., 2020). A *slot* is a distinct group on the path to a leaf. A row passes the slot if
 * its values follow the path at every node of that group. A mixture reaches the leaf if every slot is passed by the
 * row that supplies the group: slots that the foreground row fails must come from the background row, slots that the
 * background row fails must come from the foreground row, and the rest may come from either.
 */
export class LeafWalk {
  /** The groups of the slots, from `groupsAt` on. */
  groups!: Int32Array;
  groupsAt = 0;
  /** Slots that the foreground row fails, as bits. */
  failed = 0;
  /** Background rows that pass all of those, as bits. No mixture with any other row reaches the leaf. */
  mask = 0;
  /** For each of these rows, from `failedByOtherAt` on, the slots that it fails, as bits. */
  failedByOther!: Int32Array;
  failedByOtherAt = 0;
  /** The index of the leaf, if the paths of these trees are known. */
  leaf = 0;

  private trees!: Trees;
  private masks!: Int32Array;
  private paths: Paths | undefined;
  private visit!: LeafVisitor;
  private slots = 0;
  /** Per slot that the foreground row passes, the background rows that pass it, as bits. */
  private readonly passes = new Int32Array(MAX_SLOTS);
  private readonly ownGroups = new Int32Array(MAX_SLOTS);
  private readonly ownFailedByOther = new Int32Array(32);
  private readonly slotOf: Int8Array;

  /** @param pathsOf the paths of some trees, if they have been computed */
  constructor(
    private readonly foreground: ForegroundRow,
    private readonly pathsOf: (trees: Trees) => Paths | undefined,
  ) {
    this.slotOf = new Int8Array(foreground.groups).fill(-1);
  }

  /**
   * Walks one tree from its root.
   *
   * @param rows background rows to mix with, as bits
   */
  tree(trees: Trees, tree: number, rows: number, visit: LeafVisitor): void {
    if (this.trees !== trees) {
      this.trees = trees;
      this.paths = this.pathsOf(trees);
      this.masks = leftMasks(trees, this.foreground.background);
      this.groups = this.paths?.groups ?? this.ownGroups;
      this.failedByOther = this.paths?.failedByOther ?? this.ownFailedByOther;
      this.groupsAt = 0;
      this.failedByOtherAt = 0;
    }
    this.visit = visit;
    if (this.paths) {
      this.along(this.paths, trees.roots[tree], 0, rows);
    } else {
      this.failed = 0;
      this.from(trees.roots[tree], rows);
    }
  }

  /** With known paths. */
  private along(paths: Paths, node: number, failed: number, mask: number): void {
    const { feature, left } = this.trees;
    const { bins } = this.foreground;
    let column = feature[node];
    while (column !== LEAF) {
      const bit = 1 << paths.slotOf[node];
      const rowGoesLeft = isLeft(this.trees, node, bins[column]);
      const own = left[node] + (rowGoesLeft ? 0 : 1);
      const other = left[node] + (rowGoesLeft ? 1 : 0);
      const toOther = mask & paths.passes[other];
      const toOwn = failed & bit ? mask & paths.passes[own] : mask;
      if (toOther === 0) {
        if (toOwn === 0) {
          return;
        }
        node = own;
        mask = toOwn;
      } else {
        if (toOwn !== 0) {
          this.along(paths, own, failed, toOwn);
        }
        failed |= bit;
        node = other;
        mask = toOther;
      }
      column = feature[node];
    }
    this.leaf = paths.slotOf[node];
    this.groupsAt = paths.slotsAt[this.leaf];
    this.failedByOtherAt = this.leaf * paths.rows;
    this.failed = failed;
    this.mask = mask;
    this.visit(left[node], this);
  }

  /** Without: slots are found during the walk. */
  private from(node: number, mask: number): void {
    const { trees, masks, slotOf, ownGroups, passes, slots, failed } = this;
    const { bins, groupOf } = this.foreground;
    let column = trees.feature[node];
    while (column !== LEAF && mask !== 0) {
      const left = trees.left[node];
      const rowGoesLeft = isLeft(trees, node, bins[column]);
      const own = rowGoesLeft ? left : left + 1;
      const alike = rowGoesLeft ? masks[node] : ~masks[node];
      const differing = mask & ~alike;
      if (differing === 0) {
        node = own;
      } else {
        const group = groupOf[column];
        let slot = slotOf[group];
        if (slot >= 0 && (this.failed >>> slot) & 1) {
          this.from(own, mask & alike);
          mask = differing;
        } else {
          let passed = -1;
          if (slot < 0) {
            slot = this.slots++;
            slotOf[group] = slot;
            ownGroups[slot] = group;
          } else {
            passed = passes[slot];
          }
          passes[slot] = passed & alike;
          this.from(own, mask);
          passes[slot] = passed;
          this.failed |= 1 << slot;
          mask = differing & passed;
        }
        node = rowGoesLeft ? left + 1 : left;
      }
      column = trees.feature[node];
    }
    if (mask !== 0) {
      this.mask = mask;
      this.findFailedByOther(mask);
      this.visit(trees.left[node], this);
    }
    while (this.slots > slots) {
      slotOf[ownGroups[--this.slots]] = -1;
    }
    this.failed = failed;
  }

  private findFailedByOther(mask: number): void {
    const { slots, failed, passes, ownFailedByOther } = this;
    ownFailedByOther.fill(0);
    for (let slot = 0; slot < slots; slot++) {
      if (((failed >>> slot) & 1) === 0) {
        for (let rest = mask & ~passes[slot]; rest !== 0; rest &= rest - 1) {
          ownFailedByOther[lowestBit(rest)] |= 1 << slot;
        }
      }
    }
  }
}
