import type { Member, Part } from '../../model/members';
import { processApart } from '../../model/predict/process-apart';
import { groupFactors } from '../gaussian-process/group-factors';
import { addProductEffects } from '../gaussian-process/product-effects';
import { allRows, type ForegroundRow } from '../shapley/foreground';
import { backgroundScores } from './background-scores';
import { explanationCache } from './explanation-cache';
import { eachLinearTerm } from './linear-terms';

/** Shapley values of a row: `base` and the effects (per group) add up to its prediction. */
export interface GroupEffects {
  base: number;
  effects: Float64Array;
}

const NONE = new Float64Array(0);

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
  const cache = explanationCache(background, groupOf, groups, members);
  const all = allRows(background);
  const found = rows.map(() => new Float64Array(groups));
  const mixed = rows.map((foreground) => ({ foreground, rows: all }));
  const sums = found.map((effects) => ({ scores: NONE, effects }));
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
      base += weight * backgroundScores(part, background).reduce((sum, score) => sum + score, 0);
      if (part.kind === 'linear') {
        rows.forEach((foreground, i) => addLinearEffects(part, foreground, weight, found[i]));
        continue;
      }
      cache.blocks(part.trees, 1).add(mixed, weight, sums);
    }
  }
  return found.map((effects) => ({ base, effects }));
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
