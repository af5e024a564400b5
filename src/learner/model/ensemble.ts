import { calibrated, type Calibration, probabilities } from '../calibration/calibrate';
import type { EncodedTable } from '../features/encode';
import { type GaussianScores, gaussianScores } from '../gaussian/scores';
import { addTimes } from '../math/matrix';
import { type Member, memberScores } from './model';

/** The class probabilities that an ensemble answers: rows × classes. */
export function ensembleProbabilities(
  members: Member[],
  table: EncodedTable,
  rows: Int32Array,
  calibration: Calibration,
): Float64Array {
  const { process, others } = processApart(members);
  const shared = process && gaussianScores(process.gaussian, process.base, table, rows);
  return calibratedProbabilities(
    others,
    (member) => withShared(memberScores(member, table, rows), shared),
    rows.length,
    calibration,
  );
}

/** Adds the shared Gaussian process to the scores of a member. */
export function withShared(scores: Float64Array, shared: Float64Array | undefined): Float64Array {
  for (let i = 0; shared && i < scores.length; i++) {
    scores[i] += shared[i];
  }
  return scores;
}

/** The same, given the scores of each member: rows × width. */
export function calibratedProbabilities(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  rows: number,
  calibration: Calibration,
): Float64Array {
  const { temperature, averageScores, priors } = calibration;
  const classes = priors.length;
  const width = members[0].width;
  const sum = new Float64Array(rows * (averageScores ? width : classes));
  for (const member of members) {
    const scores = scoresOf(member);
    const part = averageScores ? scores : probabilities(scores, width, classes, temperature);
    addTimes(member.weight, part, sum);
  }
  const mean = averageScores ? probabilities(sum, width, classes, temperature) : normalised(sum, classes);
  return calibrated(mean, calibration);
}

function normalised(probas: Float64Array, classes: number): Float64Array {
  for (let at = 0; at < probas.length; at += classes) {
    let total = 0;
    for (let k = 0; k < classes; k++) {
      total += probas[at + k];
    }
    for (let k = 0; k < classes; k++) {
      probas[at + k] /= total;
    }
  }
  return probas;
}

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

/** The ensemble's mean prediction of each row, on the scale of the scores. */
export function ensembleMean(members: Member[], table: EncodedTable, rows: Int32Array): Float64Array {
  const { process, others } = processApart(members);
  const sum = process
    ? gaussianScores(process.gaussian, process.base, table, rows)
    : new Float64Array(rows.length);
  for (const member of others) {
    addTimes(member.weight, memberScores(member, table, rows), sum);
  }
  return sum;
}
