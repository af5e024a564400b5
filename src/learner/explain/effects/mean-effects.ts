import type { Background } from '../../model/background';
import { type Member, type Part, partScores } from '../../model/members';
import { processApart } from '../../model/predict/process-apart';
import { groupFactors } from '../gaussian-process/group-factors';
import { addProductEffects } from '../gaussian-process/product-effects';
import { allRows, type ForegroundRow } from '../shapley/foreground';
import { addLeafEffects } from '../tree-shap/leaf-effects';
import { LeafWalk } from '../tree-shap/leaf-walk';
import { explanationCache } from './explanation-cache';
import { eachLinearTerm } from './linear-terms';

/** Shapley values of a row: `base` and the effects (per group) add up to its prediction. */
export interface GroupEffects {
  base: number;
  effects: Float64Array;
}

/**
 * Exact Shapley values of the ensemble's mean, for any number of groups, in the units of the members' scores.
 *
 * @param rows all with the same background and groups
 */
export function meanEffects(members: Member[], rows: ForegroundRow[]): GroupEffects[] {
  if (rows.length === 0) {
    return [];
  }
  const { background, groupOf, groups } = rows[0];
  const cache = explanationCache(background, groupOf);
  const { reachedSubtrees: reached } = cache;
  const all = allRows(background);
  const found = rows.map(() => new Float64Array(groups));
  const { process, others } = processApart(members);
  let base = 0;
  if (process) {
    const { gaussian } = process;
    const about = { rows: all, share: 1 / background.rows, groups };
    rows.forEach((foreground, i) => {
      const factors = groupFactors(gaussian.kernel, foreground, 1);
      base = process.base[0] + addProductEffects(gaussian, factors, about, found[i])[0];
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
        rows.forEach((foreground, i) => addLinearEffects(part, foreground, weight, found[i]));
        continue;
      }
      const { trees } = part;
      const table = cache.effectTable(trees);
      if (table === undefined) {
        rows.forEach((foreground, i) =>
          addTreeEffects(part, new LeafWalk(foreground, cache.paths), foreground, weight, found[i]),
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

/** One part's scores of the background rows. Cached, because a stream of single rows asks for them every time. */
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
  foreground: ForegroundRow,
  weight: number,
  effects: Float64Array,
): void {
  eachLinearTerm(part, foreground, (column, _, own, others) => {
    let differences = 0;
    for (const other of others) {
      differences += own - other;
    }
    effects[foreground.groupOf[column]] += weight * differences;
  });
}

/** The effects that the table would give, computed without it. */
function addTreeEffects(
  { trees }: Part & { kind: 'trees' | 'votes' },
  walk: LeafWalk,
  { background }: ForegroundRow,
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
