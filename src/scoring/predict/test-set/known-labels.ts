import type { PredictResult } from '../../../client';
import type { Label } from '../../../table';

/**
 * Labels as the train set had them. Where some labels are integers beyond 2^53, all are text here, but a service answers
 * the smaller ones as numbers: one model, one type of label.
 */
export function withKnownLabels(result: PredictResult, classes: readonly Label[] | undefined): PredictResult {
  if (classes === undefined || classes.length === 0 || !classes.every((label) => typeof label === 'string')) {
    return result;
  }
  const known = new Set<Label>(classes);
  const ofTrainSet = (label: Label): Label =>
    typeof label === 'number' && known.has(String(label)) ? String(label) : label;
  const { prediction, metadata } = result;
  return {
    ...result,
    prediction:
      prediction.kind === 'labels'
        ? { ...prediction, values: prediction.values.map(ofTrainSet) }
        : prediction,
    metadata:
      metadata.classes === undefined ? metadata : { ...metadata, classes: metadata.classes.map(ofTrainSet) },
  };
}
