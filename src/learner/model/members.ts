import type { EncodedTable } from '../features/encode';
import { type GaussianScores, gaussianScores } from '../gaussian/scores';
import { addLinearScores, type LinearTables } from '../linear/linear';
import { leafOf, type Trees } from '../trees/trees';
import { ClassSums } from './class-sums';
import { LeafSets } from './leaf-sets';
import { scoresOfVotes } from './votes';
import { leavesOf, type RowMajor, rowMajor, walkOf } from './walk';

/**
 * A weighted candidate in a member: `base` plus trees, one per output in turn or for all outputs; trees whose sums are
 * the votes for each class, of which the scores are made; a linear model; or a Gaussian process.
 */
export type Part =
  | { kind: 'trees'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'votes'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'linear'; weight: number; base: Float64Array; tables: LinearTables }
  | { kind: 'gaussian'; weight: number; base: Float64Array; gaussian: GaussianScores };

/** One fold's model: a weighted sum of parts, with `width` scores per row. */
export interface Member {
  weight: number;
  width: number;
  parts: Part[];
}

/** Rows that go through trees together: as many as have their bins close to the processor, within these limits. */
const BLOCK_BYTES = 262_144;
const MIN_BLOCK = 256;
const MAX_BLOCK = 4096;
/** Fewer rows are walked one by one: to prepare the trees would take longer. */
const FEW = 8;
/**
 * From so many rows on it is quicker to look up which leaves each column leaves within reach; without WebAssembly for trees
 * of so many steps or with categories alone.
 */
const MANY = 200;
const DEEP = 8;

/** Scores of one part, without its weight: rows × width, row-major, in the order of `rows` (numbers of table rows). */
export function partScores(part: Part, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = part.base.length;
  const scores = new Float64Array(rows.length * width);
  if (part.kind === 'linear') {
    for (let i = 0; i < rows.length; i++) {
      addLinearScores(part.tables, table, rows[i], 1, scores, i * width);
    }
    return scores;
  }
  if (part.kind === 'gaussian') {
    return gaussianScores(part.gaussian, part.base, table, rows);
  }
  const { base, trees } = part;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = base[i % width];
  }
  const most = Math.max(MIN_BLOCK, Math.min(MAX_BLOCK, Math.floor(BLOCK_BYTES / table.columns.length)));
  for (let start = 0; start < rows.length; start += most) {
    const block = rows.subarray(start, Math.min(rows.length, start + most));
    addTreeScores(trees, table.columns, block, width, scores.subarray(start * width));
  }
  if (part.kind === 'votes') {
    scoresOfVotes(scores, width);
  }
  return scores;
}

/** Adds what the trees say of each of `rows` to `scores`. */
function addTreeScores(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
): void {
  const { values, width: perLeaf } = trees;
  const isSingle = perLeaf === 1;
  const sets = rows.length < MANY ? undefined : new LeafSets(columns, rows, isSingle ? width : 0);
  const walk = rows.length < FEW ? undefined : walkOf(trees);
  let bins: RowMajor | undefined;
  const sums = ClassSums.open(trees, rows.length, scores);
  const own = new Int32Array(rows.length);
  const adding = isSingle && sets?.isQuick ? sets : undefined;
  adding?.scores.set(scores.subarray(0, adding.scores.length));
  const to = adding?.scores ?? scores;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    if (adding?.addTo(trees, tree, tree % width)) {
      continue;
    }
    const leaves = sums?.next ?? own;
    if (walk === undefined) {
      for (let i = 0; i < leaves.length; i++) {
        leaves[i] = leafOf(trees, trees.roots[tree], columns, rows[i]);
      }
    } else if (
      !(sets?.isQuick || isDeep(walk.depths[tree])) ||
      sets?.leavesOf(trees, tree, leaves) !== true
    ) {
      leavesOf(trees, walk, tree, columns, rows, (bins ??= rowMajor(columns, rows)), leaves);
    }
    if (sums) {
      sums.added();
    } else if (isSingle) {
      addValues(values, leaves, width, tree % width, to);
    } else {
      addAllValues(values, leaves, perLeaf, width, to);
    }
  }
  if (adding) {
    scores.set(adding.scores);
  }
  sums?.close();
  sets?.close();
}

/** Adds the only value of each row's leaf to one of its scores. */
function addValues(
  values: Float32Array,
  leaves: Int32Array,
  width: number,
  output: number,
  scores: Float64Array,
): void {
  for (let i = 0; i < leaves.length; i++) {
    scores[i * width + output] += values[leaves[i]];
  }
}

/** Adds all values of each row's leaf. */
function addAllValues(
  values: Float32Array,
  leaves: Int32Array,
  perLeaf: number,
  width: number,
  scores: Float64Array,
): void {
  for (let i = 0; i < leaves.length; i++) {
    const from = leaves[i];
    const to = i * width;
    for (let k = 0; k < perLeaf; k++) {
      scores[to + k] += values[from + k];
    }
  }
}

/** @param depth of a tree with categories 0 */
function isDeep(depth: number): boolean {
  return depth >= DEEP || depth === 0;
}

/** Scores of one member: rows × width, row-major. */
export function memberScores(member: Member, table: EncodedTable, rows: Int32Array): Float64Array {
  const sum = new Float64Array(rows.length * member.width);
  for (const part of member.parts) {
    const scores = partScores(part, table, rows);
    for (let i = 0; i < sum.length; i++) {
      sum[i] += part.weight * scores[i];
    }
  }
  return sum;
}

/** Scores of rows by the member that held each out (`holder[row]` is its number): rows × width, row-major. */
export function heldOutScores(members: Member[], holder: Uint8Array, table: EncodedTable): Float64Array {
  const { width } = members[0];
  const out = new Float64Array(holder.length * width);
  const all = Int32Array.from(holder, (_, row) => row);
  members.forEach((member, m) => {
    const rows = all.filter((row) => holder[row] === m);
    const scores = memberScores(member, table, rows);
    rows.forEach((row, i) => out.set(scores.subarray(i * width, (i + 1) * width), row * width));
  });
  return out;
}
