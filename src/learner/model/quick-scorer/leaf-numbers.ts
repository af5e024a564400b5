import { LEAF, type Trees } from '../../trees/trees';

/** Most leaves of a tree: each is a bit of a set. */
export const MAX_LEAVES = 32;

/** The range of a tree's nodes. */
export function nodesOf({ roots, feature }: Trees, tree: number): { root: number; end: number } {
  return { root: roots[tree], end: tree + 1 < roots.length ? roots[tree + 1] : feature.length };
}

/** Numbers the leaves of one tree at a time, from left to right. */
export class LeafNumbers {
  /** Per node of the tree, its number of leaves, and the first of them. */
  private readonly counts = new Uint8Array(2 * MAX_LEAVES);
  private readonly firsts = new Uint8Array(2 * MAX_LEAVES);
  private root = 0;

  /** @param values per leaf, receives where its values begin in `Trees.values` */
  constructor(readonly values: Int32Array = new Int32Array(MAX_LEAVES)) {}

  get count(): number {
    return this.counts[0];
  }

  /** @returns false if the tree has too many leaves */
  number({ feature, left }: Trees, root: number, end: number): boolean {
    if (end - root > 2 * MAX_LEAVES - 1) {
      return false;
    }
    const { counts, firsts, values } = this;
    this.root = root;
    // Children come after their parents.
    for (let node = end - 1; node >= root; node--) {
      const child = left[node] - root;
      counts[node - root] = feature[node] === LEAF ? 1 : counts[child] + counts[child + 1];
    }
    firsts[0] = 0;
    for (let node = root; node < end; node++) {
      const first = firsts[node - root];
      if (feature[node] === LEAF) {
        values[first] = left[node];
      } else {
        const child = left[node] - root;
        firsts[child] = first;
        firsts[child + 1] = first + counts[child];
      }
    }
    return true;
  }

  /** The leaves on the left of a branch, as bits: at most 31. */
  leftOf({ left }: Trees, node: number): number {
    const child = left[node] - this.root;
    return ((1 << this.counts[child]) - 1) << this.firsts[child];
  }
}
