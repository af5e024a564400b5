import type { EncodedTable } from '../features/encode';
import { type GaussianScores, gaussianScores } from '../gaussian/scores';
import type { LinearTables } from '../linear/linear';
import type { Trees } from '../trees/trees';
import { linearScores } from './scores/linear-scores';
import { addTreeScores } from './scores/tree-scores';
import { scoresOfVotes } from './votes';

/**
 * A weighted candidate in a member: `base` plus trees, one per output in turn or one for all outputs; trees whose
 * sums are votes for each class and are turned into scores; a linear model; or a Gaussian process.
 */
export type Part =
  | { kind: 'trees'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'votes'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'linear'; weight: number; base: Float64Array; tables: LinearTables }
  | { kind: 'gaussian'; weight: number; base: Float64Array; gaussian: GaussianScores };

/** The model of one fold: a weighted sum of parts, with `width` scores per row. */
export interface Member {
  weight: number;
  width: number;
  parts: Part[];
}

/**
 * Rows that go through the trees together: as many as have their bins in the processor's cache, within these limits.
 */
const BLOCK_BYTES = 262_144;
const MIN_BLOCK = 256;
const MAX_BLOCK = 4096;

/** Scores of one part, before its weight: rows × width, in the order of `rows` (indices of table rows). */
export function partScores(part: Part, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = part.base.length;
  const scores = new Float64Array(rows.length * width);
  if (part.kind === 'linear') {
    return linearScores(part.tables, table, rows);
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

/** Scores of one member: rows × width. */
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

/** Scores of rows by the member that held them out (`holder[row]` is its index): rows × width. */
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
