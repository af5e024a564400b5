import { BLOCK_LEAVES, BlockHeader, Branch, MAX_PLACES, MAX_SLOTS, Slot } from '../kernels/layout';
import type { Background } from '../model/model';
import { goesMissingLeft, isCategoryNode, isLeft, LEAF, SET_WORDS, type Trees } from '../trees/trees';
import { LearnerError } from '../types';
import { allRows } from './shapley';

/*
 * The leaves of trees in *blocks* of up to 32 neighbours, with the paths to them. A *place* of a block is a group
 * that some branch above one of its leaves splits on; a leaf has a *slot* for each place on its own path. A row
 * passes a slot if it follows the path at every branch of that group. A mixture reaches a leaf if every slot is passed by
 * the row that supplies the group: slots that the foreground row fails must come from the background row, slots that the
 * background row fails must come from the foreground row, and the rest may come from either (interventional TreeSHAP:
 * S. Lundberg et al., 2020). Sets of leaves and of background rows are bitsets. Nothing here depends on the foreground row.
 */

/** A branch, the leaves below it (numbered from left to right), and the first of them on its right. */
interface BranchSpan {
  node: number;
  first: number;
  middle: number;
  end: number;
}

/** A leaf: where its values are, the group of each slot, and the background rows that pass it. */
interface Leaf {
  values: number;
  groups: number[];
  passes: number[];
}

/** The branches and leaves of a tree, from left to right. */
interface Paths {
  branches: BranchSpan[];
  leaves: Leaf[];
}

/** Leaves of a tree that make a block, and the places of their groups. */
interface Stretch {
  from: number;
  to: number;
  placeOf: Map<number, number>;
}

/**
 * The blocks of some trees, each as `kernels/layout.ts` describes it, as 32-bit integers.
 *
 * @param width outputs
 * @param groups number of all groups
 * @throws LearnerError where more groups are on the path to a leaf than any tree of ours has
 */
export function leafBlocks(
  trees: Trees,
  background: Background,
  groupOf: Int32Array,
  { width, groups }: { width: number; groups: number },
): Int32Array[] {
  const masks = leftMasks(trees, background);
  const blocks: Int32Array[] = [];
  trees.roots.forEach((root, tree) => {
    const paths = findPaths(trees, { masks, groupOf, all: allRows(background) }, root);
    const output = trees.width > 1 ? 0 : tree % width;
    for (const stretch of cutStretches(paths.leaves)) {
      const block = writeBlock(trees, groupOf, paths, stretch);
      block[BlockHeader.OUTPUT / WHOLE] = output * NUMBER;
      block[BlockHeader.EFFECTS / WHOLE] = output * groups * NUMBER;
      blocks.push(block);
    }
  });
  return blocks;
}

/** Per node, the background rows that would go left: bit r for row r. */
function leftMasks(trees: Trees, { columns, rows }: Background): Int32Array {
  return Int32Array.from(trees.feature, (column, node) => {
    let mask = 0;
    for (let row = 0; column !== LEAF && row < rows; row++) {
      mask |= isLeft(trees, node, columns[column][row]) ? 1 << row : 0;
    }
    return mask;
  });
}

function findPaths(
  trees: Trees,
  { masks, groupOf, all }: { masks: Int32Array; groupOf: Int32Array; all: number },
  root: number,
): Paths {
  const branches: BranchSpan[] = [];
  const leaves: Leaf[] = [];
  const from = (node: number, groups: number[], passes: number[]): void => {
    const column = trees.feature[node];
    if (column === LEAF) {
      if (groups.length > MAX_SLOTS) {
        throw new LearnerError(
          `A tree asks for more than ${MAX_SLOTS} causes in a row: such a model has no explanations.`,
        );
      }
      leaves.push({ values: trees.left[node], groups, passes });
      return;
    }
    const group = groupOf[column];
    const known = groups.indexOf(group);
    const slot = known < 0 ? groups.length : known;
    const onPath = known < 0 ? [...groups, group] : groups;
    const before = known < 0 ? all : passes[known];
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

function cutStretches(leaves: Leaf[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (let from = 0, to = 0; from < leaves.length; from = to) {
    const placeOf = new Map<number, number>();
    for (; to < leaves.length && to < from + BLOCK_LEAVES; to++) {
      const added = leaves[to].groups.filter((group) => !placeOf.has(group));
      if (to > from && placeOf.size + added.length > MAX_PLACES) {
        break;
      }
      added.forEach((group) => placeOf.set(group, placeOf.size));
    }
    stretches.push({ from, to, placeOf });
  }
  return stretches;
}

const WHOLE = 4;
const NUMBER = 8;

function writeBlock(
  trees: Trees,
  groupOf: Int32Array,
  paths: Paths,
  { from, to, placeOf }: Stretch,
): Int32Array {
  const leaves = paths.leaves.slice(from, to);
  const branches = paths.branches.filter(({ first, end }) => first < to && end > from);
  const sets = branches.filter(({ node }) => isCategoryNode(trees, node)).length;
  const slots = leaves.reduce((sum, { groups }) => sum + groups.length, 0);
  const { width } = trees;
  // After the values of the leaves, and a 0 for each output.
  const groupsAt = BlockHeader.BYTES + (leaves.length + 1) * width * WHOLE;
  const setsAt = groupsAt + placeOf.size * WHOLE;
  const branchesAt = setsAt + sets * SET_WORDS * WHOLE;
  const leavesAt = branchesAt + branches.length * Branch.BYTES;
  const slotsAt = leavesAt + leaves.length * WHOLE;
  const size = Math.ceil((slotsAt + slots * Slot.BYTES) / NUMBER) * NUMBER;
  const words = new Int32Array(size / WHOLE);
  const put = (at: number, value: number) => (words[at / WHOLE] = value);
  put(BlockHeader.SIZE, size);
  put(BlockHeader.VALUES, BlockHeader.BYTES + (leaves.length - BLOCK_LEAVES) * width * WHOLE);
  put(BlockHeader.PLACES, placeOf.size);
  put(BlockHeader.GROUPS, groupsAt);
  put(BlockHeader.BRANCHES, branchesAt);
  put(BlockHeader.LEAVES, leavesAt);
  put(BlockHeader.SLOTS, slotsAt);
  words.set([...placeOf.keys()], groupsAt / WHOLE);
  const values = new Float32Array(words.buffer, BlockHeader.BYTES, leaves.length * width);
  let slot = slotsAt;
  leaves.forEach((leaf, i) => {
    const own = trees.values.subarray(leaf.values, leaf.values + width);
    values.set(own, (leaves.length - 1 - i) * width);
    put(leavesAt + i * WHOLE, leaf.groups.length);
    leaf.groups.forEach((group, place) => {
      put(slot + Slot.PLACE, placeOf.get(group)!);
      put(slot + Slot.PASSES, leaf.passes[place]);
      slot += Slot.BYTES;
    });
  });
  const bytes = new Uint8Array(words.buffer);
  let set = setsAt;
  branches.forEach(({ node, first, middle, end }, i) => {
    const at = branchesAt + i * Branch.BYTES;
    const lowest = goesMissingLeft(trees, node) ? 0 : 1;
    put(at + Branch.COLUMN, trees.feature[node]);
    bytes[at + Branch.FROM] = lowest;
    bytes[at + Branch.LIMIT] = trees.bin[node] + 1 - lowest;
    bytes[at + Branch.PLACE] = placeOf.get(groupOf[trees.feature[node]])!;
    put(at + Branch.TO_LEFT, bitsBetween(first - from, Math.min(middle, to) - from));
    put(at + Branch.TO_RIGHT, bitsBetween(middle - from, Math.min(end, to) - from));
    if (isCategoryNode(trees, node)) {
      const own = trees.setAt[node];
      bytes[at + Branch.IS_SET] = 1;
      put(at + Branch.SET, set);
      words.set(trees.sets.subarray(own, own + SET_WORDS), set / WHOLE);
      set += SET_WORDS * WHOLE;
    }
  });
  return words;
}

/** Bits `from` to `high` (exclusive), of which `from` may be negative. */
function bitsBetween(from: number, high: number): number {
  const low = Math.max(0, from);
  if (low >= high) {
    return 0;
  }
  return high - low === BLOCK_LEAVES ? -1 : ((1 << (high - low)) - 1) << low;
}
