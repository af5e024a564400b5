import { isCategoryNode, LEAF, MAX_TREE_DEPTH, SET_WORDS, type Trees } from '../../trees/trees';
import { areFinite, isArrayOf, isRecord, must } from './soundness';

/**
 * Checks trees, which may be anything, so that every walk from a root ends at a leaf: each node has one parent, before it
 * in its own tree; columns, sets and values are where nodes say.
 *
 * @param columns that a node may split by
 * @param width of the outputs: a leaf has a value for each, or one
 * @throws LearnerError
 */
export function checkTrees(value: unknown, columns: number, width: number): asserts value is Trees {
  must(isRecord(value), 'it has a part without trees');
  const trees = value as unknown as Trees;
  const { roots, feature, bin, flags, left, setAt, sets, values } = trees;
  const nodes = feature instanceof Uint16Array ? feature.length : -1;
  must(
    isArrayOf(Int32Array, roots) &&
      isArrayOf(Uint8Array, bin, nodes) &&
      isArrayOf(Uint8Array, flags, nodes) &&
      isArrayOf(Int32Array, left, nodes) &&
      isArrayOf(Int32Array, setAt, nodes) &&
      isArrayOf(Int32Array, sets) &&
      isArrayOf(Float32Array, values),
    'its trees lack a part',
  );
  must(trees.width === 1 || trees.width === width, 'its trees are of other outputs');
  must(areFinite(values), 'a leaf is not a number');
  must(roots.length > 0 ? roots[0] === 0 : nodes === 0, 'its trees begin elsewhere');
  const lastValue = values.length - trees.width;
  const lastSet = sets.length - SET_WORDS;
  /** 0 for a root, and for a node that no other one has as its child. */
  const depth = new Uint16Array(nodes);
  for (let tree = 0; tree < roots.length; tree++) {
    const root: number = roots[tree];
    const end: number = tree + 1 < roots.length ? roots[tree + 1] : nodes;
    must(root < end && end <= nodes, 'a tree ends before it begins');
    for (let node = root; node < end; node++) {
      const next = left[node];
      must(depth[node] > 0 || node === root, 'a node is in no tree');
      if (feature[node] === LEAF) {
        must(next >= 0 && next <= lastValue, 'a leaf has no value');
        continue;
      }
      must(feature[node] < columns, 'a node splits by a column that is not there');
      must(next > node && next + 1 < end, 'a node has no children after it');
      must(depth[next] === 0 && depth[next + 1] === 0, 'a node has two parents');
      must(depth[node] < MAX_TREE_DEPTH, 'a tree is too deep');
      must(!isCategoryNode(trees, node) || (setAt[node] >= 0 && setAt[node] <= lastSet), 'a node has no set');
      depth[next] = depth[next + 1] = depth[node] + 1;
    }
  }
}
