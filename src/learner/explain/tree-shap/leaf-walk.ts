import { lowestBit } from '../../math/bits';
import { isLeft, LEAF, type Trees } from '../../trees/trees';
import { type Compared, leftMasks } from '../shapley/compared';
import type { Ways } from './ways';

/** Distinct groups on the way to a leaf, at most. */
const MOST_SLOTS = 31;

/** `from` is where the values of the leaf begin in `trees.values`. */
export type LeafVisitor = (from: number, walk: LeafWalk) => void;

/**
 * Visits the leaves that mixtures of the row and the background's rows reach (S. Lundberg et al., 2020, interventional
 * TreeSHAP), each of them once. A *slot* is a group on the way to the leaf; a row passes it if its columns go that way at
 * every node of the group. A mixture reaches the leaf if each slot is passed by the row, where the group is the row's, or
 * by the background's row, where it is not. So the slots that the row fails must be the background's, those that the
 * background's row fails must be the row's, and others may be either's.
 */
export class LeafWalk {
  /** The group of each slot, from `groupsAt` on. */
  groups!: Int32Array;
  groupsAt = 0;
  /** Slots that the row fails, as bits. */
  failed = 0;
  /** The background's rows that pass all of these, as bits: the others are never mixed so that they come here. */
  mask = 0;
  /** Of each of those rows, from `insideAt` on, the slots that it fails, as bits. */
  inside!: Int32Array;
  insideAt = 0;
  /** The number of the leaf, where the ways through these trees are known. */
  leaf = 0;

  private trees!: Trees;
  private masks!: Int32Array;
  private ways: Ways | undefined;
  private visit!: LeafVisitor;
  private slots = 0;
  /** Per slot that the row passes, the background's rows that pass it, as bits. */
  private readonly passes = new Int32Array(MOST_SLOTS);
  private readonly ownGroups = new Int32Array(MOST_SLOTS);
  private readonly ownInside = new Int32Array(32);
  private readonly slotOf: Int8Array;

  /** @param waysOf what is known of the ways through some trees, if anything */
  constructor(
    private readonly compared: Compared,
    private readonly waysOf: (trees: Trees) => Ways | undefined,
  ) {
    this.slotOf = new Int8Array(compared.groups).fill(-1);
  }

  /**
   * One tree, from its root.
   *
   * @param rows the background's rows to mix with, as bits
   */
  tree(trees: Trees, tree: number, rows: number, visit: LeafVisitor): void {
    if (this.trees !== trees) {
      this.trees = trees;
      this.ways = this.waysOf(trees);
      this.masks = leftMasks(trees, this.compared.background);
      this.groups = this.ways?.groups ?? this.ownGroups;
      this.inside = this.ways?.inside ?? this.ownInside;
      this.groupsAt = 0;
      this.insideAt = 0;
    }
    this.visit = visit;
    if (this.ways) {
      this.along(this.ways, trees.roots[tree], 0, rows);
    } else {
      this.failed = 0;
      this.from(trees.roots[tree], rows);
    }
  }

  /** Where the ways are known. */
  private along(ways: Ways, node: number, failed: number, mask: number): void {
    const { feature, left } = this.trees;
    const { bins } = this.compared;
    let column = feature[node];
    while (column !== LEAF) {
      const bit = 1 << ways.slotOf[node];
      const rowGoesLeft = isLeft(this.trees, node, bins[column]);
      const own = left[node] + (rowGoesLeft ? 0 : 1);
      const other = left[node] + (rowGoesLeft ? 1 : 0);
      const toOther = mask & ways.passes[other];
      const toOwn = failed & bit ? mask & ways.passes[own] : mask;
      if (toOther === 0) {
        if (toOwn === 0) {
          return;
        }
        node = own;
        mask = toOwn;
      } else {
        if (toOwn !== 0) {
          this.along(ways, own, failed, toOwn);
        }
        failed |= bit;
        node = other;
        mask = toOther;
      }
      column = feature[node];
    }
    this.leaf = ways.slotOf[node];
    this.groupsAt = ways.slotsAt[this.leaf];
    this.insideAt = this.leaf * ways.rows;
    this.failed = failed;
    this.mask = mask;
    this.visit(left[node], this);
  }

  /** Where they are not: slots are found on the way. */
  private from(node: number, mask: number): void {
    const { trees, masks, slotOf, ownGroups, passes, slots, failed } = this;
    const { bins, groupOf } = this.compared;
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
      this.findInside(mask);
      this.visit(trees.left[node], this);
    }
    while (this.slots > slots) {
      slotOf[ownGroups[--this.slots]] = -1;
    }
    this.failed = failed;
  }

  private findInside(mask: number): void {
    const { slots, failed, passes, ownInside } = this;
    ownInside.fill(0);
    for (let slot = 0; slot < slots; slot++) {
      if (((failed >>> slot) & 1) === 0) {
        for (let rest = mask & ~passes[slot]; rest !== 0; rest &= rest - 1) {
          ownInside[lowestBit(rest)] |= 1 << slot;
        }
      }
    }
  }
}
