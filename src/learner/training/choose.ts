import { probabilities } from '../calibration/calibrate';
import type { Scores } from '../types';
import { classificationScores, regressionScores } from './metrics';
import { type StackInput, stackWeights } from './stacking';

/** Metrics that a search may be judged by, and whether more is better. */
const METRICS: Record<string, { score: keyof Scores; sign: 1 | -1 }> = {
  accuracy: { score: 'accuracy', sign: 1 },
  roc_auc: { score: 'roc_auc', sign: 1 },
  log_loss: { score: 'log_loss', sign: -1 },
  rmse: { score: 'rmse', sign: -1 },
  mae: { score: 'mae', sign: -1 },
  r2: { score: 'r2', sign: 1 },
};

/** Is this the name of a metric of that task? */
export function knownMetric(metric: string, task: 'classification' | 'regression'): boolean {
  const forClasses = ['accuracy', 'roc_auc', 'log_loss'].includes(metric);
  return metric in METRICS && forClasses === (task === 'classification');
}

/**
 * Weights of the candidates: those of stacking, or, where a search is to be judged by another metric, the best by it
 * of stacking, equal shares, and each candidate alone.
 */
export function chooseWeights(input: StackInput, classes: number, metric: string | undefined): Float64Array {
  const stacked = stackWeights(input);
  const count = stacked.length;
  if (metric === undefined || metric === 'log_loss' || metric === 'rmse' || metric === 'r2') {
    return stacked;
  }
  const options = [stacked, new Float64Array(count).fill(1 / count)];
  for (let c = 0; c < count; c++) {
    options.push(Float64Array.from({ length: count }, (_, i) => (i === c ? 1 : 0)));
  }
  let best = stacked;
  let most = -Infinity;
  for (const weights of options) {
    const value = judge(input, weights, classes, metric);
    if (value > most) {
      most = value;
      best = weights;
    }
  }
  return best;
}

function judge(input: StackInput, weights: Float64Array, classes: number, metric: string): number {
  const mixed = new Float64Array(input.target.length * input.width);
  input.scores.forEach((one, c) => {
    for (let i = 0; i < mixed.length; i++) {
      mixed[i]! += weights[c]! * one[i]!;
    }
  });
  const scores = input.regression
    ? regressionScores(mixed, Float64Array.from(input.target))
    : classificationScores(
        probabilities(mixed, input.width, classes, 1),
        Int32Array.from(input.target),
        classes,
      );
  const { score, sign } = METRICS[metric]!;
  return sign * (scores[score] ?? -Infinity);
}
