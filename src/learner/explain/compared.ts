import type { Background } from '../model/background';
import { isLeft, LEAF, type Trees } from '../trees/trees';

/** A row beside the rows of the background: what the walks below are given. */
export interface Compared {
  /** The row's bin in each column. */
  bins: Uint8Array;
  /** Its value in each column of numbers or dates; NaN where missing, and in others. */
  numbers: Float64Array;
  background: Background;
  /** Per column the number of its group, from 0; columns in which all rows are alike may have any. */
  groupOf: Int32Array;
  groups: number;
}

/** Of each node, the background's rows that would go left: bit r for row r. */
const goingLeft = new WeakMap<Trees, { background: Background; masks: Int32Array }>();

function leftMasks(trees: Trees, background: Background): Int32Array {
  const known = goingLeft.get(trees);
  if (known?.background === background) {
    return known.masks;
  }
  const masks = new Int32Array(trees.feature.length);
  for (let node = 0; node < masks.length; node++) {
    if (trees.feature[node] === LEAF) {
      continue;
    }
    const bins = background.columns[trees.feature[node]];
    for (let row = 0; row < background.rows; row++) {
      if (isLeft(trees, node, bins[row])) {
        masks[node] |= 1 << row;
      }
    }
  }
  goingLeft.set(trees, { background, masks });
  return masks;
}

/** All rows of the background, as bits. */
export function allRows({ rows }: Background): number {
  return rows === 32 ? -1 : (1 << rows) - 1;
}

/** Where the values of a leaf begin in `trees.values`, reached by the rows of `mask`. */
export type LeafVisitor = (from: number, mask: number, conditions: Conditions) => void;

/**
 * What must hold of a coalition of groups, so that a leaf is reached by a mixture of the row (groups of the coalition)
 * and a row of the background (the other groups): the groups `inside` belong to it, the groups `outside` do not.
 */
export interface Conditions {
  inside: Int32Array;
  insideCount: number;
  outside: Int32Array;
  outsideCount: number;
  /** The same as bits; of no use beyond 31 groups. */
  insideBits: number;
  outsideBits: number;
}

const FREE = 0;
const INSIDE = 1;
const OUTSIDE = 2;

/**
 * Visits the leaves that mixtures of the row and the background's rows reach, each with the coalitions that lead there
 * (S. Lundberg et al., 2020, interventional TreeSHAP); rows of the background that go the same way are walked together.
 */
export class LeafWalk implements Conditions {
  readonly inside: Int32Array;
  readonly outside: Int32Array;
  insideCount = 0;
  outsideCount = 0;
  insideBits = 0;
  outsideBits = 0;
  private readonly side: Uint8Array;
  private trees!: Trees;
  private masks!: Int32Array;
  private visit!: LeafVisitor;

  constructor(private readonly compared: Compared) {
    this.inside = new Int32Array(compared.groups);
    this.outside = new Int32Array(compared.groups);
    this.side = new Uint8Array(compared.groups);
  }

  /** One tree, from its root. */
  tree(trees: Trees, tree: number, visit: LeafVisitor): void {
    const { background } = this.compared;
    if (this.trees !== trees) {
      this.trees = trees;
      this.masks = leftMasks(trees, background);
    }
    this.visit = visit;
    this.from(trees.roots[tree], allRows(background));
  }

  private from(node: number, mask: number): void {
    const { trees, masks, side } = this;
    const { bins, groupOf } = this.compared;
    let column = trees.feature[node];
    while (column !== LEAF) {
      const left = trees.left[node];
      const toLeft = mask & masks[node];
      const group = groupOf[column];
      const rowGoesLeft = isLeft(trees, node, bins[column]);
      const own = rowGoesLeft ? left : left + 1;
      const alike = rowGoesLeft ? toLeft : mask ^ toLeft;
      if (side[group] === INSIDE || alike === mask) {
        node = own;
      } else if (side[group] === OUTSIDE) {
        const other = rowGoesLeft ? left + 1 : left;
        if (alike !== 0) {
          this.from(own, alike);
        }
        mask ^= alike;
        node = other;
      } else {
        const other = rowGoesLeft ? left + 1 : left;
        const differing = mask ^ alike;
        const bit = 1 << group;
        side[group] = INSIDE;
        this.inside[this.insideCount++] = group;
        this.insideBits ^= bit;
        this.from(own, differing);
        this.insideCount--;
        this.insideBits ^= bit;
        side[group] = OUTSIDE;
        this.outside[this.outsideCount++] = group;
        this.outsideBits ^= bit;
        this.from(other, differing);
        this.outsideCount--;
        this.outsideBits ^= bit;
        side[group] = FREE;
        if (alike === 0) {
          return;
        }
        mask = alike;
        node = own;
      }
      column = trees.feature[node];
    }
    this.visit(trees.left[node], mask, this);
  }
}
