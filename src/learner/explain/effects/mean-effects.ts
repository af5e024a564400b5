import type { Background } from '../../model/background';
import { type Member, type Part, partScores } from '../../model/members';
import { processApart } from '../../model/predict/process-apart';
import { groupFactors } from '../gaussian-process/product-factors';
import { addProductShares } from '../gaussian-process/products';
import { allRows, type Compared } from '../shapley/compared';
import { addLeafEffects } from '../tree-shap/leaf-effects';
import { LeafWalk } from '../tree-shap/leaf-walk';
import { keptWays } from './kept-ways';
import { eachLinearTerm } from './linear-terms';

/** Shapley values of a row's answer: `base` and `effects` (per group) add up to it. */
export interface GroupEffects {
  base: number;
  effects: Float64Array;
}

/**
 * Of the ensemble's mean for some rows, on the scale that members learn: exact for any number of groups.
 *
 * @param rows all with the same background and groups
 */
export function meanEffects(members: Member[], rows: Compared[]): GroupEffects[] {
  if (rows.length === 0) {
    return [];
  }
  const { background, groupOf, groups } = rows[0];
  const kept = keptWays(background, groupOf);
  const { reachedSubtrees: reached } = kept;
  const all = allRows(background);
  const found = rows.map(() => new Float64Array(groups));
  const { process, others } = processApart(members);
  let base = 0;
  if (process) {
    const { gaussian } = process;
    const about = { rows: all, share: 1 / background.rows, groups };
    rows.forEach((compared, i) => {
      const factors = groupFactors(gaussian.kernel, compared, 1);
      base = process.base[0] + addProductShares(gaussian, factors, about, found[i])[0];
    });
  }
  for (const member of others) {
    for (const part of member.parts) {
      if (part.kind === 'gaussian') {
        continue;
      }
      const weight = (member.weight * part.weight) / background.rows;
      base += weight * scoresOfBackground(part, background).reduce((sum, score) => sum + score, 0);
      if (part.kind === 'linear') {
        rows.forEach((compared, i) => addLinearEffects(part, compared, weight, found[i]));
        continue;
      }
      const { trees } = part;
      const table = kept.effectTable(trees);
      if (table === undefined) {
        rows.forEach((compared, i) =>
          addTreeEffects(part, new LeafWalk(compared, kept.ways), compared, weight, found[i]),
        );
        continue;
      }
      for (let tree = 0; tree < trees.roots.length; tree++) {
        for (let i = 0; i < rows.length; i++) {
          reached.find(table.subtrees, tree, rows[i].bins, all);
          table.add(reached, weight, 0, found[i], groups);
        }
      }
    }
  }
  return found.map((effects) => ({ base, effects }));
}

const knownScores = new WeakMap<Part, { background: Background; scores: Float64Array }>();

/** Scores of the background's rows by one part. Kept: a stream of single rows would ask for them each time. */
function scoresOfBackground(part: Part, background: Background): Float64Array {
  let known = knownScores.get(part);
  if (known?.background !== background) {
    const { columns, numbers = [], rows } = background;
    const all = Int32Array.from({ length: rows }, (_, row) => row);
    known = { background, scores: partScores(part, { columns, numbers }, all) };
    knownScores.set(part, known);
  }
  return known.scores;
}

function addLinearEffects(
  part: Part & { kind: 'linear' },
  compared: Compared,
  weight: number,
  effects: Float64Array,
): void {
  eachLinearTerm(part, compared, (column, _, own, others) => {
    let differences = 0;
    for (const other of others) {
      differences += own - other;
    }
    effects[compared.groupOf[column]] += weight * differences;
  });
}

/** What a table would give, found on the way. */
function addTreeEffects(
  { trees }: Part & { kind: 'trees' | 'votes' },
  walk: LeafWalk,
  { background }: Compared,
  weight: number,
  effects: Float64Array,
): void {
  const all = allRows(background);
  const visit = (from: number, leaf: LeafWalk) => {
    addLeafEffects(leaf, weight * trees.values[from], effects);
  };
  for (let tree = 0; tree < trees.roots.length; tree++) {
    walk.tree(trees, tree, all, visit);
  }
}
