import { LEVELS } from '../../metrics/regression';
import { isLabel, isNumber } from '../predictions/issued';
import type { OpenPrediction } from '../predictions/open-predictions';
import type { LossMeasure } from '../types';
import type { TruthScores } from './live-scores';

const LEAST_PROBABILITY = 1e-15;

/** The loss by which such a prediction is judged. */
export function measureOf({ issued }: OpenPrediction): LossMeasure {
  switch (issued.kind) {
    case 'band':
    case 'number':
      return 'mae';
    case 'classes':
      return 'log_loss';
    case 'label':
      return 'error';
  }
}

/** Scores a prediction; undefined where the truth is of another kind. */
export function scoreTruth(prediction: OpenPrediction, truth: unknown): TruthScores | undefined {
  const { issued, left, now } = prediction;
  if (issued.kind === 'band' || issued.kind === 'number') {
    if (!isNumber(truth)) {
      return undefined;
    }
    const isBand = issued.kind === 'band' && left !== undefined;
    const width = isBand ? issued.high - issued.low : 0;
    return {
      loss: Math.abs(truth - issued.middle),
      corrected: isBand ? Math.abs(truth - left.middle) : NaN,
      now: isNumber(now) ? Math.abs(truth - now) : NaN,
      pinball: prediction.nine === undefined ? NaN : pinballOf(prediction.nine, truth),
      told: isBand ? 1 - 2 * issued.level : NaN,
      held: isBand ? Number(left.low <= truth && truth <= left.high) : NaN,
      widen: width > 0 && isBand ? (left.high - left.low) / width : NaN,
    };
  }
  if (!isLabel(truth)) {
    return undefined;
  }
  const label = String(truth);
  const isRight = String(issued.label) === label;
  const scores = { corrected: NaN, now: NaN, pinball: NaN, told: NaN, held: NaN, widen: NaN };
  if (issued.kind === 'label') {
    return { ...scores, loss: isRight ? 0 : 1, now: isLabel(now) ? Number(String(now) !== label) : NaN };
  }
  const { probabilities, rest } = issued;
  const probability = (of: string): number => probabilities.find(([name]) => name === of)?.[1] ?? rest;
  return {
    ...scores,
    loss: -Math.log(Math.max(LEAST_PROBABILITY, probability(label))),
    told: probability(String(issued.label)),
    held: Number(isRight),
  };
}

/** Mean over the nine levels. */
function pinballOf(quantiles: readonly number[], truth: number): number {
  const sum = LEVELS.reduce((total, level, k) => {
    const above = truth - quantiles[k]!;
    return total + (above >= 0 ? level * above : (level - 1) * above);
  }, 0);
  return sum / LEVELS.length;
}
