import { balance, type Calibration } from '../calibration/calibrate';
import { calibratedProbabilities, type Member } from '../model/members';

/** Probabilities as a prediction gives them, from the scores of each member: mixtures × classes. */
export function answers(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  mixtures: number,
  calibration: Calibration,
): Float64Array {
  const probas = calibratedProbabilities(members, scoresOf, mixtures, calibration);
  if (calibration.balance) {
    balance(probas, calibration.priors);
  }
  return probas;
}
