import type { Background } from '../../model/background';
import { isLeft, LEAF, type Trees } from '../../trees/trees';
import { leftMasks } from '../shapley/compared';

/** Leaves of a block, at most: each has a bit of a 32-bit number. */
export const MOST_OF_BLOCK = 32;

/**
 * The leaves of trees in *blocks* of up to 32 that stand side by side, and what is known of the ways to them, whatever the
 * row. A *place* is a group by which some branch above a leaf of the block splits; a leaf has a *slot* for each place on its
 * way. A row passes a slot if it goes that way at every branch of the group.
 */
export interface LeafBlocks {
  trees: Trees;
  /** Rows of the background. */
  rows: number;
  /** Per tree its first block; one more for the end of the last. Each list below that begins so ends so. */
  blocksAt: Int32Array;
  /** Per block its first leaf, its first place and its first branch. */
  leavesAt: Int32Array;
  placesAt: Int32Array;
  branchesAt: Int32Array;
  /** Per place its group. */
  groups: Int32Array;
  /** Per branch its node, its place in the block, and the leaves of the block on its left and on its right, as bits. */
  nodes: Int32Array;
  branchPlaces: Uint8Array;
  toLeft: Int32Array;
  toRight: Int32Array;
  /** Per leaf where its values begin in `trees.values`, and its first slot. */
  valuesAt: Int32Array;
  slotsAt: Int32Array;
  /** Per slot its place in the block, and the background's rows that pass it, as bits. */
  slotPlaces: Uint8Array;
  passes: Int32Array;
  /** Places of a block, at most. */
  mostPlaces: number;
  /** Slots of a leaf, at most. */
  mostSlots: number;
}

/** A branch, the leaves below it (by their numbers from left to right), and the first one on its right. */
interface Branch {
  node: number;
  first: number;
  middle: number;
  end: number;
}

/** A leaf, and the slots on the way to it: groups, and the background's rows that pass. */
interface Leaf {
  values: number;
  groups: number[];
  passes: number[];
}

export function leafBlocks(trees: Trees, background: Background, groupOf: Int32Array): LeafBlocks {
  const leaves = trees.feature.reduce((sum, feature) => sum + (feature === LEAF ? 1 : 0), 0);
  const masks = leftMasks(trees, background);
  const [blocksAt, leavesAt, placesAt, branchesAt] = [[0], [0], [0], [0]];
  const groups: number[] = [];
  const branches: { node: number; place: number; left: number; right: number }[] = [];
  const slots: { place: number; passes: number }[] = [];
  const valuesAt = new Int32Array(leaves);
  const slotsAt = new Int32Array(leaves + 1);
  let leaf = 0;
  let mostPlaces = 0;
  let mostSlots = 0;
  for (const root of trees.roots) {
    const tree = waysOf(trees, masks, groupOf, root);
    for (let from = 0; from < tree.leaves.length; from += MOST_OF_BLOCK) {
      const own = tree.leaves.slice(from, from + MOST_OF_BLOCK);
      const placeOf = new Map<number, number>();
      for (const { groups: onWay } of own) {
        onWay.forEach((group) => placeOf.set(group, placeOf.get(group) ?? placeOf.size));
      }
      for (const { node, first, middle, end } of tree.branches) {
        const left = bitsBetween(first - from, middle - from);
        const right = bitsBetween(middle - from, end - from);
        if ((left | right) !== 0) {
          branches.push({ node, place: placeOf.get(groupOf[trees.feature[node]])!, left, right });
        }
      }
      for (const { values, groups: onWay, passes } of own) {
        valuesAt[leaf++] = values;
        onWay.forEach((group, slot) => slots.push({ place: placeOf.get(group)!, passes: passes[slot] }));
        slotsAt[leaf] = slots.length;
        mostSlots = Math.max(mostSlots, onWay.length);
      }
      groups.push(...placeOf.keys());
      mostPlaces = Math.max(mostPlaces, placeOf.size);
      leavesAt.push(leaf);
      placesAt.push(groups.length);
      branchesAt.push(branches.length);
    }
    blocksAt.push(leavesAt.length - 1);
  }
  return {
    ...{ trees, rows: background.rows, valuesAt, slotsAt, mostPlaces, mostSlots },
    blocksAt: Int32Array.from(blocksAt),
    leavesAt: Int32Array.from(leavesAt),
    placesAt: Int32Array.from(placesAt),
    branchesAt: Int32Array.from(branchesAt),
    groups: Int32Array.from(groups),
    nodes: Int32Array.from(branches, ({ node }) => node),
    branchPlaces: Uint8Array.from(branches, ({ place }) => place),
    toLeft: Int32Array.from(branches, ({ left }) => left),
    toRight: Int32Array.from(branches, ({ right }) => right),
    slotPlaces: Uint8Array.from(slots, ({ place }) => place),
    passes: Int32Array.from(slots, ({ passes }) => passes),
  };
}

/** Bits `from` to `to` (not included), as far as a block has them. */
function bitsBetween(from: number, to: number): number {
  const [low, high] = [Math.max(0, from), Math.min(MOST_OF_BLOCK, to)];
  if (low >= high) {
    return 0;
  }
  return high - low === MOST_OF_BLOCK ? -1 : ((1 << (high - low)) - 1) << low;
}

/** The branches of a tree and its leaves, from left to right. */
function waysOf(
  trees: Trees,
  masks: Int32Array,
  groupOf: Int32Array,
  root: number,
): { branches: Branch[]; leaves: Leaf[] } {
  const branches: Branch[] = [];
  const leaves: Leaf[] = [];
  const from = (node: number, groups: number[], passes: number[]): void => {
    const column = trees.feature[node];
    if (column === LEAF) {
      leaves.push({ values: trees.left[node], groups, passes });
      return;
    }
    const group = groupOf[column];
    const known = groups.indexOf(group);
    const slot = known < 0 ? groups.length : known;
    const onWay = known < 0 ? [...groups, group] : groups;
    const before = known < 0 ? -1 : passes[known];
    const through = (mask: number) => {
      const own = passes.slice();
      own[slot] = before & mask;
      return own;
    };
    const branch = { node, first: leaves.length, middle: 0, end: 0 };
    branches.push(branch);
    from(trees.left[node], onWay, through(masks[node]));
    branch.middle = leaves.length;
    from(trees.left[node] + 1, onWay, through(~masks[node]));
    branch.end = leaves.length;
  };
  from(root, [], []);
  return { branches, leaves };
}

/**
 * Per place of a block, to `own`: the leaves of which the row passes the slot of this place, as bits; those that have none
 * included.
 *
 * @param bins of the row, per column
 */
export function findPasses(
  { trees, placesAt, branchesAt, nodes, branchPlaces, toLeft, toRight }: LeafBlocks,
  block: number,
  bins: Uint8Array,
  own: Int32Array,
): void {
  const places = placesAt[block + 1] - placesAt[block];
  for (let place = 0; place < places; place++) {
    own[place] = -1;
  }
  for (let at = branchesAt[block]; at < branchesAt[block + 1]; at++) {
    const node = nodes[at];
    const isToLeft = isLeft(trees, node, bins[trees.feature[node]]);
    own[branchPlaces[at]] &= ~(isToLeft ? toRight[at] : toLeft[at]);
  }
}
