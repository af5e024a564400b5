import { balance, type Calibration } from '../../calibration/calibrate';
import { exp, softmax } from '../../math/numeric';
import { quickSigmoid } from '../../math/quick-sigmoid';
import type { Member } from '../../model/members';
import { calibratedProbabilities } from '../../model/predict/ensemble-probabilities';

/** Probabilities as `predict` returns them, from the scores of each member: mixtures × classes. */
export function answeredProbabilities(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  mixtures: number,
  calibration: Calibration,
): Float64Array {
  if (members[0].width === 1 && calibration.priors.length === 2 && averagesProbabilities(calibration)) {
    return twoClassProbabilities(members, scoresOf, mixtures, calibration);
  }
  const probas = calibratedProbabilities(members, scoresOf, mixtures, calibration);
  if (calibration.balance) {
    balance(probas, calibration.priors);
  }
  return probas;
}

/** Probabilities of one class. */
export interface ClassProbability {
  /** Per mixture. */
  probabilities: Float64Array;
  /** Of every class, for one mixture. */
  allAt: (mixture: number) => Float64Array;
}

/**
 * The same for one class. If the ensemble averages its members' probabilities, the other classes are computed only
 * for the mixtures asked for.
 *
 * @param scores of each member: mixtures × width
 */
export function classProbability(
  members: Member[],
  scores: Float64Array[],
  mixtures: number,
  calibration: Calibration,
  of: number,
): ClassProbability {
  const { temperature, noise, priors } = calibration;
  const { width } = members[0];
  const classes = priors.length;
  if (width < classes || !averagesProbabilities(calibration)) {
    const each = new Map(members.map((member, m) => [member, scores[m]]));
    const probas = answeredProbabilities(members, (member) => each.get(member)!, mixtures, calibration);
    const probabilities = new Float64Array(mixtures);
    for (let i = 0; i < mixtures; i++) {
      probabilities[i] = probas[i * classes + of];
    }
    return {
      probabilities,
      allAt: (mixture) => probas.subarray(mixture * classes, (mixture + 1) * classes),
    };
  }
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  const shares = members.map(({ weight }) => ((1 - noise) * weight) / weights);
  const probabilities = new Float64Array(mixtures).fill(noise * priors[of]);
  const inverse = 1 / temperature;
  scores.forEach((own, m) => {
    for (let i = 0, at = 0; i < mixtures; i++, at += classes) {
      let sum = 1;
      for (let k = 0; k < classes; k++) {
        sum += k === of ? 0 : exp((own[at + k] - own[at + of]) * inverse);
      }
      probabilities[i] += shares[m] / sum;
    }
  });
  const allAt = (mixture: number): Float64Array => {
    const one = new Float64Array(classes);
    const all = priors.map((prior) => noise * prior);
    scores.forEach((own, m) => {
      softmax(own, mixture * classes, classes, one, 0, temperature);
      one.forEach((chance, k) => (all[k] += shares[m] * chance));
    });
    return all;
  };
  return { probabilities, allAt };
}

/** Whether the ensemble's probability is the mean of its members', with only linear steps after that. */
export function averagesProbabilities({
  averageScores,
  softmaxTemperature,
  balance: isBalanced,
}: Calibration): boolean {
  return !averageScores && softmaxTemperature === 1 && !isBalanced;
}

function twoClassProbabilities(
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
