import {
  applyTemperature,
  type Calibration,
  mixWithPriors,
  probabilities,
} from '../../calibration/calibrate';
import type { EncodedTable } from '../../features/encode';
import { gaussianScores } from '../../gaussian/scores';
import { type Member, memberScores } from '../members';
import { processApart } from './process-apart';

/** The ensemble's calibrated class probabilities, before balancing: rows × classes. */
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
    for (let i = 0; i < part.length; i++) {
      sum[i] += member.weight * part[i];
    }
  }
  const mean = averageScores ? probabilities(sum, width, classes, temperature) : normalised(sum, classes);
  mixWithPriors(mean, calibration);
  applyTemperature(mean, calibration);
  return mean;
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
