import type { Background } from '../../model/background';
import { LEAF, type Trees } from '../../trees/trees';
import { allRows, leftMasks } from '../shapley/compared';

/** What is known of the way to each leaf of some trees, whatever the row: its slots, as `LeafWalk` has them. */
export interface Ways {
  /** Rows of the background. */
  rows: number;
  /** Of a branch its slot, of a leaf its number. */
  slotOf: Int32Array;
  /** Per node the background's rows that pass the slot of the branch above it as far as here, as bits. */
  passes: Int32Array;
  /** Per leaf where its slots begin in `groups`; one more for the end of the last. */
  slotsAt: Int32Array;
  groups: Int32Array;
  /** leaves × rows of the background: the slots that the row fails, as bits. */
  inside: Int32Array;
}

/** How large things become: leaves, their slots, and the sets of these with a number for each slot. */
export interface WaysSize {
  leaves: number;
  slots: number;
  patterns: number;
  effects: number;
}

/** The sizes of some trees; undefined where they have more than so many leaves, or a leaf has more than 16 slots. */
export function waysSize(
  trees: Trees,
  background: Background,
  groupOf: Int32Array,
  mostLeaves: number,
): WaysSize | undefined {
  const size = { leaves: 0, slots: 0, patterns: 0, effects: 0 };
  if (trees.feature.length > 2 * mostLeaves) {
    return undefined;
  }
  let deepest = 0;
  eachWay(trees, leftMasks(trees, background), groupOf, {
    branch: () => undefined,
    leaf: (_, { count }) => {
      deepest = Math.max(deepest, count);
      size.leaves++;
      size.slots += count;
      size.patterns += 2 ** count;
      size.effects += 2 ** count * count;
    },
  });
  return deepest <= MOST_SLOTS ? size : undefined;
}

const MOST_SLOTS = 16;

export function findWays(trees: Trees, background: Background, groupOf: Int32Array, size: WaysSize): Ways {
  const { rows } = background;
  const ways = {
    rows,
    slotOf: new Int32Array(trees.feature.length),
    passes: new Int32Array(trees.feature.length),
    slotsAt: new Int32Array(size.leaves + 1),
    groups: new Int32Array(size.slots),
    inside: new Int32Array(size.leaves * rows),
  };
  const all = allRows(background);
  let leaf = 0;
  eachWay(trees, leftMasks(trees, background), groupOf, {
    branch: (node, slot, passed) => {
      ways.slotOf[node] = slot;
      ways.passes[trees.left[node]] = passed[0];
      ways.passes[trees.left[node] + 1] = passed[1];
    },
    leaf: (node, { count, groups, passes }) => {
      const at = ways.slotsAt[leaf];
      for (let slot = 0; slot < count; slot++) {
        ways.groups[at + slot] = groups[slot];
        for (let rest = all & ~passes[slot]; rest !== 0; rest &= rest - 1) {
          ways.inside[leaf * rows + (31 - Math.clz32(rest & -rest))] |= 1 << slot;
        }
      }
      ways.slotOf[node] = leaf;
      ways.slotsAt[leaf + 1] = at + count;
      leaf++;
    },
  });
  return ways;
}

/** The slots on the way to a node: the first `count` of each list. */
interface Way {
  count: number;
  /** The group of each slot. */
  groups: number[];
  /** The background's rows that go this way at each node of the slot, as bits. */
  passes: number[];
}

interface WayVisitor {
  /** A branch, its slot, and the background's rows that pass it as far as its two children. */
  branch(node: number, slot: number, passed: [left: number, right: number]): void;
  leaf(node: number, way: Way): void;
}

/** Visits all nodes of some trees, each with the way to it. `masks`: per node the background's rows that would go left. */
function eachWay(trees: Trees, masks: Int32Array, groupOf: Int32Array, visitor: WayVisitor): void {
  const way: Way = { count: 0, groups: [], passes: [] };
  const from = (node: number): void => {
    const column = trees.feature[node];
    if (column === LEAF) {
      visitor.leaf(node, way);
      return;
    }
    const { count, groups, passes } = way;
    const group = groupOf[column];
    let slot = 0;
    while (slot < count && groups[slot] !== group) {
      slot++;
    }
    const before = slot < count ? passes[slot] : -1;
    const toLeft = before & masks[node];
    const toRight = before & ~masks[node];
    visitor.branch(node, slot, [toLeft, toRight]);
    groups[slot] = group;
    way.count = Math.max(count, slot + 1);
    passes[slot] = toLeft;
    from(trees.left[node]);
    passes[slot] = toRight;
    from(trees.left[node] + 1);
    passes[slot] = before;
    way.count = count;
  };
  for (const root of trees.roots) {
    from(root);
  }
}
