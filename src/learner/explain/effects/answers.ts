import { balance, type Calibration } from '../../calibration/calibrate';
import { exp, softmax } from '../../math/numeric';
import { quickSigmoid } from '../../math/quick-sigmoid';
import type { Member } from '../../model/members';
import { calibratedProbabilities } from '../../model/predict/ensemble-probabilities';

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

/** Probabilities of one class. */
export interface Answered {
  /** Per mixture. */
  chances: Float64Array;
  /** Of each class, of a mixture. */
  chancesAt: (mixture: number) => Float64Array;
}

/**
 * The same for one class. Where the probability is the mean of those of the members, others are found for those mixtures
 * alone that are asked for.
 *
 * @param scores of each member: mixtures × width
 */
export function answersOfClass(
  members: Member[],
  scores: Float64Array[],
  mixtures: number,
  calibration: Calibration,
  of: number,
): Answered {
  const { temperature, noise, priors } = calibration;
  const { width } = members[0];
  const classes = priors.length;
  if (width < classes || !isMean(calibration)) {
    const each = new Map(members.map((member, m) => [member, scores[m]]));
    const probas = answers(members, (member) => each.get(member)!, mixtures, calibration);
    const chances = new Float64Array(mixtures);
    for (let i = 0; i < mixtures; i++) {
      chances[i] = probas[i * classes + of];
    }
    return {
      chances,
      chancesAt: (mixture) => probas.subarray(mixture * classes, (mixture + 1) * classes),
    };
  }
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  const shares = members.map(({ weight }) => ((1 - noise) * weight) / weights);
  const chances = new Float64Array(mixtures).fill(noise * priors[of]);
  const inverse = 1 / temperature;
  scores.forEach((own, m) => {
    for (let i = 0, at = 0; i < mixtures; i++, at += classes) {
      let sum = 1;
      for (let k = 0; k < classes; k++) {
        sum += k === of ? 0 : exp((own[at + k] - own[at + of]) * inverse);
      }
      chances[i] += shares[m] / sum;
    }
  });
  const chancesAt = (mixture: number): Float64Array => {
    const one = new Float64Array(classes);
    const all = priors.map((prior) => noise * prior);
    scores.forEach((own, m) => {
      softmax(own, mixture * classes, classes, one, 0, temperature);
      one.forEach((chance, k) => (all[k] += shares[m] * chance));
    });
    return all;
  };
  return { chances, chancesAt };
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
