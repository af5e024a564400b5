import type { EncodedTable } from '../features/encode';
import { type GaussianScores, gaussianScores } from '../gaussian/process';
import { type Member, memberScores } from './members';

/** Members without their Gaussian processes, and the weighted sum of those as one. */
export interface Apart {
  process: GaussianScores | undefined;
  others: Member[];
}

/**
 * Takes the Gaussian processes out of members of one output. All have the same kernel, so that their mean compares a row
 * with its points once.
 */
export function processApart(members: Member[]): Apart {
  let process: GaussianScores | undefined;
  const others = members.map((member) => {
    const parts = member.parts.filter((part) => {
      if (part.kind !== 'gaussian') {
        return true;
      }
      const { kernel, weights } = part.gaussian;
      process ??= { kernel, weights: new Float64Array(weights.length) };
      for (let i = 0; i < weights.length; i++) {
        process.weights[i] += member.weight * part.weight * weights[i];
      }
      return false;
    });
    return parts.length < member.parts.length ? { ...member, parts } : member;
  });
  return { process, others };
}

/** The ensemble's mean prediction of each row, on the scale that members learn. */
export function ensembleMean(members: Member[], table: EncodedTable, rows: Int32Array): Float64Array {
  const { process, others } = processApart(members);
  const sum = process ? gaussianScores(process, table, rows) : new Float64Array(rows.length);
  for (const member of others) {
    const scores = memberScores(member, table, rows);
    for (let i = 0; i < sum.length; i++) {
      sum[i] += member.weight * scores[i];
    }
  }
  return sum;
}
