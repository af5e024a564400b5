import type { Background } from '../../model/background';
import { isLeft, LEAF, type Trees } from '../../trees/trees';
import { leftMasks } from '../shapley/foreground';

/** Most leaves of a block: each is a bit of a 32-bit integer. */
export const BLOCK_LEAVES = 32;

/**
 * The leaves of trees in *blocks* of up to 32 neighbours, with the paths to them. A *place* of a block is a group
 * that some branch above one of its leaves splits on; a leaf has a *slot* for each place on its own path. A row
 * passes a slot if it follows the path at every branch of that group. Sets of leaves and of background rows are
 * bitsets. Nothing here depends on the foreground row.
 */
export interface LeafBlocks {
  trees: Trees;
  /** Number of background rows. */
  rows: number;
  /**
   * Per tree, its first block; the extra last element is the end, here and in the lists below that mark beginnings.
   */
  blocksAt: Int32Array;
  /** Per block, its first leaf, its first place and its first branch. */
  leavesAt: Int32Array;
  placesAt: Int32Array;
  branchesAt: Int32Array;
  /** Per place, its group. */
  groups: Int32Array;
  /** Per branch: its node, its place in the block, and the block's leaves to its left and right, as bits. */
  nodes: Int32Array;
  branchPlaces: Uint8Array;
  toLeft: Int32Array;
  toRight: Int32Array;
  /** Per leaf, where its values begin in `trees.values`, and its first slot. */
  valuesAt: Int32Array;
  slotsAt: Int32Array;
  /** Per slot, its place in the block and the background rows that pass it, as bits. */
  slotPlaces: Uint8Array;
  passes: Int32Array;
  /** Most places of a block. */
  maxPlaces: number;
  /** Most slots of a leaf. */
  maxSlots: number;
}

/** A branch, the leaves below it (numbered from left to right), and the first of them on its right. */
interface Branch {
  node: number;
  first: number;
  middle: number;
  end: number;
}

/** A leaf, with the group of each slot and the background rows that pass it. */
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
  let maxPlaces = 0;
  let maxSlots = 0;
  for (const root of trees.roots) {
    const tree = pathsOf(trees, masks, groupOf, root);
    for (let from = 0; from < tree.leaves.length; from += BLOCK_LEAVES) {
      const own = tree.leaves.slice(from, from + BLOCK_LEAVES);
      const placeOf = new Map<number, number>();
      for (const { groups: onPath } of own) {
        onPath.forEach((group) => placeOf.set(group, placeOf.get(group) ?? placeOf.size));
      }
      for (const { node, first, middle, end } of tree.branches) {
        const left = bitsBetween(first - from, middle - from);
        const right = bitsBetween(middle - from, end - from);
        if ((left | right) !== 0) {
          branches.push({ node, place: placeOf.get(groupOf[trees.feature[node]])!, left, right });
        }
      }
      for (const { values, groups: onPath, passes } of own) {
        valuesAt[leaf++] = values;
        onPath.forEach((group, slot) => slots.push({ place: placeOf.get(group)!, passes: passes[slot] }));
        slotsAt[leaf] = slots.length;
        maxSlots = Math.max(maxSlots, onPath.length);
      }
      groups.push(...placeOf.keys());
      maxPlaces = Math.max(maxPlaces, placeOf.size);
      leavesAt.push(leaf);
      placesAt.push(groups.length);
      branchesAt.push(branches.length);
    }
    blocksAt.push(leavesAt.length - 1);
  }
  return {
    ...{ trees, rows: background.rows, valuesAt, slotsAt, maxPlaces, maxSlots },
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

/** Bits `from` to `to` (exclusive), clipped to the size of a block. */
function bitsBetween(from: number, to: number): number {
  const [low, high] = [Math.max(0, from), Math.min(BLOCK_LEAVES, to)];
  if (low >= high) {
    return 0;
  }
  return high - low === BLOCK_LEAVES ? -1 : ((1 << (high - low)) - 1) << low;
}

/** The branches and leaves of a tree, from left to right. */
function pathsOf(
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
    const onPath = known < 0 ? [...groups, group] : groups;
    const before = known < 0 ? -1 : passes[known];
    const through = (mask: number) => {
      const own = passes.slice();
      own[slot] = before & mask;
      return own;
    };
    const branch = { node, first: leaves.length, middle: 0, end: 0 };
    branches.push(branch);
    from(trees.left[node], onPath, through(masks[node]));
    branch.middle = leaves.length;
    from(trees.left[node] + 1, onPath, through(~masks[node]));
    branch.end = leaves.length;
  };
  from(root, [], []);
  return { branches, leaves };
}

/**
 * Writes to `own`, per place, the leaves whose slot the foreground row passes, as bits. Leaves without a slot for the
 * place count as passed.
 *
 * @param bins the foreground row's bin in each column
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
