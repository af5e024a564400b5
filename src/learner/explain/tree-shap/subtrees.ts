import { LEAF, type Trees } from '../../trees/trees';
import type { Ways } from './ways';

/**
 * Trees cut into subtrees so small that rows take few different ways through each. What a subtree says of the mixtures of
 * a row and the background's rows depends on the row by its *key* alone: the slots that the row fails on the way to the
 * subtree, and the side on which it would leave each branch in it. A subtree can be a whole tree, or a leaf.
 */
export interface Subtrees {
  trees: Trees;
  ways: Ways;
  /** Of a tree, at most. */
  mostOfTree: number;
  /** Per node the number of the subtree that begins there; -1: none. */
  numberOf: Int32Array;
  /** Per subtree its first node. */
  roots: Int32Array;
  /** Per subtree the slots on the way to it: the lowest bits of its keys. */
  slots: Uint8Array;
  /** Per subtree where its branches begin in `branches`; one more for the end of the last. */
  branchesAt: Int32Array;
  /** Nodes. Each has a bit of the key, after the slots: 1 where the row goes right. */
  branches: Int32Array;
  /** Per branch in a subtree, by its node, the place of its bit. */
  bitOf: Uint8Array;
  /** Per subtree where its keys begin in lists with an element for each; one more for the end of the last. */
  keysAt: Int32Array;
}

/** @param bits of a key, at most; a leaf by itself may have more */
export function cutTrees(trees: Trees, ways: Ways, bits: number): Subtrees {
  const { feature, left } = trees;
  const branchesBelow = countBranches(trees);
  const found: { root: number; slots: number }[] = [];
  const cut = (node: number, slots: number): void => {
    if (feature[node] === LEAF || slots + branchesBelow[node] <= bits) {
      found.push({ root: node, slots });
      return;
    }
    const below = Math.max(slots, ways.slotOf[node] + 1);
    cut(left[node], below);
    cut(left[node] + 1, below);
  };
  let mostOfTree = 0;
  for (const root of trees.roots) {
    const before = found.length;
    cut(root, 0);
    mostOfTree = Math.max(mostOfTree, found.length - before);
  }
  const count = found.length;
  const subtrees: Subtrees = {
    trees,
    ways,
    mostOfTree,
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

/** How many keys subtrees of so many bits have, all together. */
export function countKeys(trees: Trees, ways: Ways, bits: number): number {
  const branchesBelow = countBranches(trees);
  const count = (node: number, slots: number): number => {
    if (trees.feature[node] === LEAF || slots + branchesBelow[node] <= bits) {
      return 2 ** (slots + branchesBelow[node]);
    }
    const below = Math.max(slots, ways.slotOf[node] + 1);
    return count(trees.left[node], below) + count(trees.left[node] + 1, below);
  };
  return trees.roots.reduce((sum, root) => sum + count(root, 0), 0);
}

/** Per node the branches of the subtree that begins there. */
function countBranches({ feature, left }: Trees): Int32Array {
  const below = new Int32Array(feature.length);
  // Children follow their parents.
  for (let node = feature.length - 1; node >= 0; node--) {
    below[node] = feature[node] === LEAF ? 0 : 1 + below[left[node]] + below[left[node] + 1];
  }
  return below;
}

/** Visits the leaves of a subtree: their numbers, and the slots that a row of this key fails on the way to them, as bits. */
export function eachLeafOf(
  { trees, ways, roots, slots, bitOf }: Subtrees,
  number: number,
  key: number,
  visit: (leaf: number, failed: number, values: number) => void,
): void {
  const from = (node: number, failed: number): void => {
    if (trees.feature[node] === LEAF) {
      visit(ways.slotOf[node], failed, trees.left[node]);
      return;
    }
    const own = (key >>> bitOf[node]) & 1;
    from(trees.left[node] + own, failed);
    from(trees.left[node] + 1 - own, failed | (1 << ways.slotOf[node]));
  };
  from(roots[number], key & ((1 << slots[number]) - 1));
}
