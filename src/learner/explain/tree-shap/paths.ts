import type { Background } from '../../model/background';
import { LEAF, type Trees } from '../../trees/trees';
import { allRows, leftMasks } from '../shapley/foreground';

/**
 * The path to each leaf: its slots (see `LeafWalk`) and how the background rows fare at them. Independent of the
 * foreground row.
 */
export interface Paths {
  /** Number of background rows. */
  rows: number;
  /** The slot of a branch, or the index of a leaf. */
  slotOf: Int32Array;
  /** Per node, the background rows that pass the slot of its parent this far, as bits. */
  passes: Int32Array;
  /** Per leaf, where its slots begin in `groups`; the extra last element is the end. */
  slotsAt: Int32Array;
  groups: Int32Array;
  /** Leaves × background rows: the slots that the background row fails, as bits. */
  failedByOther: Int32Array;
}

/** Totals over the leaves: their slots, their sets of slots, and the sizes of those sets. */
export interface PathsSize {
  leaves: number;
  slots: number;
  patterns: number;
  effects: number;
}

/**
 * The totals of some trees, or undefined if they have more than `maxLeaves` leaves or a leaf has more than 16 slots.
 */
export function measurePaths(
  trees: Trees,
  background: Background,
  groupOf: Int32Array,
  maxLeaves: number,
): PathsSize | undefined {
  const size = { leaves: 0, slots: 0, patterns: 0, effects: 0 };
  if (trees.feature.length > 2 * maxLeaves) {
    return undefined;
  }
  let deepest = 0;
  eachPath(trees, leftMasks(trees, background), groupOf, {
    branch: () => undefined,
    leaf: (_, { count }) => {
      deepest = Math.max(deepest, count);
      size.leaves++;
      size.slots += count;
      size.patterns += 2 ** count;
      size.effects += 2 ** count * count;
    },
  });
  return deepest <= MAX_SLOTS ? size : undefined;
}

const MAX_SLOTS = 16;

export function findPaths(trees: Trees, background: Background, groupOf: Int32Array, size: PathsSize): Paths {
  const { rows } = background;
  const paths = {
    rows,
    slotOf: new Int32Array(trees.feature.length),
    passes: new Int32Array(trees.feature.length),
    slotsAt: new Int32Array(size.leaves + 1),
    groups: new Int32Array(size.slots),
    failedByOther: new Int32Array(size.leaves * rows),
  };
  const all = allRows(background);
  let leaf = 0;
  eachPath(trees, leftMasks(trees, background), groupOf, {
    branch: (node, slot, passed) => {
      paths.slotOf[node] = slot;
      paths.passes[trees.left[node]] = passed[0];
      paths.passes[trees.left[node] + 1] = passed[1];
    },
    leaf: (node, { count, groups, passes }) => {
      const at = paths.slotsAt[leaf];
      for (let slot = 0; slot < count; slot++) {
        paths.groups[at + slot] = groups[slot];
        for (let rest = all & ~passes[slot]; rest !== 0; rest &= rest - 1) {
          paths.failedByOther[leaf * rows + (31 - Math.clz32(rest & -rest))] |= 1 << slot;
        }
      }
      paths.slotOf[node] = leaf;
      paths.slotsAt[leaf + 1] = at + count;
      leaf++;
    },
  });
  return paths;
}

/** The slots on the path to a node: the first `count` of each list. */
interface Path {
  count: number;
  /** The group of each slot. */
  groups: number[];
  /** Background rows that follow the path at every node of the slot, as bits. */
  passes: number[];
}

interface PathVisitor {
  /** A branch with its slot, and the background rows that pass the slot as far as each child. */
  branch(node: number, slot: number, passed: [left: number, right: number]): void;
  leaf(node: number, path: Path): void;
}

/** Visits every node with the path to it. `masks` holds, per node, the background rows that would go left. */
function eachPath(trees: Trees, masks: Int32Array, groupOf: Int32Array, visitor: PathVisitor): void {
  const path: Path = { count: 0, groups: [], passes: [] };
  const from = (node: number): void => {
    const column = trees.feature[node];
    if (column === LEAF) {
      visitor.leaf(node, path);
      return;
    }
    const { count, groups, passes } = path;
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
    path.count = Math.max(count, slot + 1);
    passes[slot] = toLeft;
    from(trees.left[node]);
    passes[slot] = toRight;
    from(trees.left[node] + 1);
    passes[slot] = before;
    path.count = count;
  };
  for (const root of trees.roots) {
    from(root);
  }
}
