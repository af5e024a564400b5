import type { EncodedTable } from '../../features/encode';
import { type GaussianScores, gaussianScores } from '../../gaussian/scores';
import { type Member, memberScores } from '../members';

/** The weighted sum of the members' Gaussian processes, as a single process. */
export interface EnsembleProcess {
  gaussian: GaussianScores;
  /** Per output. */
  base: Float64Array;
}

/** Members without their Gaussian processes, and the mean of these. */
export interface Apart {
  process: EnsembleProcess | undefined;
  others: Member[];
}

/**
 * Separates the Gaussian processes from the members. They share a kernel, so that their mean compares a row with the
 * kernel's points only once. For classes as well, the mean over members is added to the scores of each.
 */
export function processApart(members: Member[]): Apart {
  let process: EnsembleProcess | undefined;
  const others = members.map((member) => {
    const parts = member.parts.filter((part) => {
      if (part.kind !== 'gaussian') {
        return true;
      }
      const { base } = part;
      const { kernel, weights } = part.gaussian;
      process ??= {
        gaussian: { kernel, weights: new Float64Array(weights.length) },
        base: new Float64Array(base.length),
      };
      const share = member.weight * part.weight;
      addTimes(share, weights, process.gaussian.weights);
      addTimes(share, base, process.base);
      return false;
    });
    return parts.length < member.parts.length ? { ...member, parts } : member;
  });
  return { process, others };
}

function addTimes(factor: number, values: Float64Array, sum: Float64Array): void {
  for (let i = 0; i < sum.length; i++) {
    sum[i] += factor * values[i];
  }
}

/** The ensemble's mean prediction of each row, on the scale of the scores. */
export function ensembleMean(members: Member[], table: EncodedTable, rows: Int32Array): Float64Array {
  const { process, others } = processApart(members);
  const sum = process
    ? gaussianScores(process.gaussian, process.base, table, rows)
    : new Float64Array(rows.length);
  for (const member of others) {
    const scores = memberScores(member, table, rows);
    for (let i = 0; i < sum.length; i++) {
      sum[i] += member.weight * scores[i];
    }
  }
  return sum;
}
