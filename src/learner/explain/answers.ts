import { balance, type Calibration } from '../calibration/calibrate';
import { quickSigmoid } from '../math/quick-sigmoid';
import { calibratedProbabilities } from '../model/ensemble-probabilities';
import type { Member } from '../model/members';

/** Probabilities as a prediction gives them, from the scores of each member: mixtures × classes. */
export function answers(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  mixtures: number,
  calibration: Calibration,
): Float64Array {
  if (members[0].width === 1 && calibration.priors.length === 2 && isMean(calibration)) {
    return answersOfTwo(members, scoresOf, mixtures, calibration);
  }
  const probas = calibratedProbabilities(members, scoresOf, mixtures, calibration);
  if (calibration.balance) {
    balance(probas, calibration.priors);
  }
  return probas;
}

/** Whether the probability is the mean of those of the members, and nothing follows that is not linear. */
export function isMean({ averageScores, softmaxTemperature, balance: isBalanced }: Calibration): boolean {
  return !averageScores && softmaxTemperature === 1 && !isBalanced;
}

function answersOfTwo(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  mixtures: number,
  { temperature, noise, priors }: Calibration,
): Float64Array {
  const probas = new Float64Array(mixtures * 2);
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  for (const member of members) {
    const scores = scoresOf(member);
    const share = (member.weight / weights) * (1 - noise);
    for (let i = 0; i < mixtures; i++) {
      probas[2 * i + 1] += share * quickSigmoid(scores[i] / temperature);
    }
  }
  for (let i = 0; i < probas.length; i += 2) {
    probas[i + 1] += noise * priors[1];
    probas[i] = 1 - probas[i + 1];
  }
  return probas;
}
