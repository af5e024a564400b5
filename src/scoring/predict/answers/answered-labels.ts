import { comparableLabel } from '../../../metrics/answer-costs';
import type { Label } from '../../../table';
import type { Prediction } from '../../../wire/prediction';
import type { AnswerRule } from '../../models/thresholds/threshold';

/** The label of each row, where a threshold decides. */
export interface AnsweredLabels {
  labels: Extract<Prediction, { kind: 'labels' }>;
  /** Only labels were asked for. */
  labelsOnly: boolean;
}

/**
 * The labels that a threshold decides on; undefined if there is no threshold, or no probabilities. If the threshold is
 * for other classes, the most probable class is answered.
 */
export function answeredBy(
  rule: AnswerRule | undefined,
  prediction: Prediction,
  classes: readonly Label[] = [],
): AnsweredLabels | undefined {
  if (rule === undefined || prediction.kind !== 'probas') {
    return undefined;
  }
  const wanted = comparableLabel(rule.label);
  const of = classes.length === 2 ? classes.findIndex((label) => comparableLabel(label) === wanted) : -1;
  const values = prediction.values.map((row): Label => {
    const at = of < 0 ? likeliest(row) : row[of]! >= rule.at ? of : 1 - of;
    return classes[at] ?? at;
  });
  return { labels: { kind: 'labels', values }, labelsOnly: rule.labelsOnly };
}

/** The index of the largest value; the first of equal ones. */
export function likeliest(values: readonly number[]): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if (values[index]! > values[best]!) {
      best = index;
    }
  }
  return best;
}
