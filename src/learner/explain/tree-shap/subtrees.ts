import { LEAF, type Trees } from '../../trees/trees';
import type { Paths } from './paths';

/**
 * Trees cut into subtrees that are small enough for many rows to share their decisions. What a subtree contributes
 * depends on the foreground row only through its *key*: the slots it fails on the path to the subtree, and the side
 * it takes at each branch inside. A subtree may be a whole tree or a single leaf.
 */
export interface Subtrees {
  trees: Trees;
  paths: Paths;
  /** Most subtrees of one tree. */
  maxPerTree: number;
  /** Per node, the index of the subtree rooted there, or -1. */
  numberOf: Int32Array;
  /** Per subtree, its root node. */
  roots: Int32Array;
  /** Per subtree, the number of slots on the path to it. They are the lowest bits of its keys. */
  slots: Uint8Array;
  /** Per subtree, where its branches begin in `branches`; the extra last element is the end. */
  branchesAt: Int32Array;
  /** Nodes. Each has a bit of the key, after the slots: 1 if the row goes right. */
  branches: Int32Array;
  /** The key bit of each branch, by node. */
  bitOf: Uint8Array;
  /** Per subtree, where its keys begin in lists with one element per key; the extra last element is the end. */
  keysAt: Int32Array;
}

/** @param bits most bits of a key; a single leaf may exceed it */
export function cutTrees(trees: Trees, paths: Paths, bits: number): Subtrees {
  const { feature, left } = trees;
  const branchesBelow = countBranches(trees);
  const found: { root: number; slots: number }[] = [];
  const cut = (node: number, slots: number): void => {
    if (feature[node] === LEAF || slots + branchesBelow[node] <= bits) {
      found.push({ root: node, slots });
      return;
    }
    const below = Math.max(slots, paths.slotOf[node] + 1);
    cut(left[node], below);
    cut(left[node] + 1, below);
  };
  let maxPerTree = 0;
  for (const root of trees.roots) {
    const before = found.length;
    cut(root, 0);
    maxPerTree = Math.max(maxPerTree, found.length - before);
  }
  const count = found.length;
  const subtrees: Subtrees = {
    trees,
    paths,
    maxPerTree,
    numberOf: new Int32Array(feature.length).fill(-1),
    roots: Int32Array.from(found, ({ root }) => root),
    slots: Uint8Array.from(found, ({ slots }) => slots),
    branchesAt: new Int32Array(count + 1),
    branches: new Int32Array(found.reduce((sum, { root }) => sum + branchesBelow[root], 0)),
    bitOf: new Uint8Array(feature.length),
    keysAt: new Int32Array(count + 1),
  };
  const { numberOf, branchesAt, branches, bitOf, keysAt } = subtrees;
  found.forEach(({ root, slots }, number) => {
    let end = branchesAt[number];
    const collect = (node: number): void => {
      if (feature[node] === LEAF) {
        return;
      }
      bitOf[node] = slots + end - branchesAt[number];
      branches[end++] = node;
      collect(left[node]);
      collect(left[node] + 1);
    };
    collect(root);
    numberOf[root] = number;
    branchesAt[number + 1] = end;
    keysAt[number + 1] = keysAt[number] + 2 ** (slots + branchesBelow[root]);
  });
  return subtrees;
}

/** The number of keys of all subtrees of at most `bits` bits. */
export function countKeys(trees: Trees, paths: Paths, bits: number): number {
  const branchesBelow = countBranches(trees);
  const count = (node: number, slots: number): number => {
    if (trees.feature[node] === LEAF || slots + branchesBelow[node] <= bits) {
      return 2 ** (slots + branchesBelow[node]);
    }
    const below = Math.max(slots, paths.slotOf[node] + 1);
    return count(trees.left[node], below) + count(trees.left[node] + 1, below);
  };
  return trees.roots.reduce((sum, root) => sum + count(root, 0), 0);
}

/** Per node, the number of branches in the subtree rooted there. */
function countBranches({ feature, left }: Trees): Int32Array {
  const below = new Int32Array(feature.length);
  // Children follow their parents.
  for (let node = feature.length - 1; node >= 0; node--) {
    below[node] = feature[node] === LEAF ? 0 : 1 + below[left[node]] + below[left[node] + 1];
  }
  return below;
}

/**
 * Visits the leaves of a subtree with their index, the slots failed on the path by a row with this key (as bits), and
 * the offset of their values.
 */
export function eachLeafOf(
  { trees, paths, roots, slots, bitOf }: Subtrees,
  number: number,
  key: number,
  visit: (leaf: number, failed: number, values: number) => void,
): void {
  const from = (node: number, failed: number): void => {
    if (trees.feature[node] === LEAF) {
      visit(paths.slotOf[node], failed, trees.left[node]);
      return;
    }
    const own = (key >>> bitOf[node]) & 1;
    from(trees.left[node] + own, failed);
    from(trees.left[node] + 1 - own, failed | (1 << paths.slotOf[node]));
  };
  from(roots[number], key & ((1 << slots[number]) - 1));
}
