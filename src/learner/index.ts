import type { Model } from './model/model';
import { type FoldResult, trainFold } from './training/candidates/fold';
import { combine } from './training/ensemble/combine';
import { prepare } from './training/preparation/prepare';
import type { TrainInput } from './types';

export type { ResidualFit } from './calibration/residuals';
export { explain, type ExplainOptions, type Explanation } from './explain/explain';
export type { Model } from './model/model';
export { predict, type PredictOptions } from './model/predict/predict';
export { loadModel, saveModel } from './model/storage/serialize';
export { type FoldHooks, type FoldResult, trainFold } from './training/candidates/fold';
export { combine, stack } from './training/ensemble/combine';
export { learnResiduals, type ResidualTask } from './training/ensemble/regression';
export { prepare, type PreparedFit } from './training/preparation/prepare';
export * from './types';
export { LEARNER_VERSION } from './version';

/** prepare, trainFold for every fold, combine. Synchronous: call it in a worker thread. */
export function trainModel(input: TrainInput): Model {
  const { onProgress, shouldStop } = input.options;
  const prepared = prepare(input);
  const folds: FoldResult[] = [];
  for (let fold = 0; fold < prepared.folds; fold++) {
    const hooks = {
      shouldStop,
      onProgress: (fraction: number) => onProgress?.((fold + fraction) / prepared.folds),
    };
    folds.push(trainFold(prepared, fold, hooks));
    onProgress?.((fold + 1) / prepared.folds);
  }
  return combine(prepared, folds);
}
