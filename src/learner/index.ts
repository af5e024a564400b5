import type { ResidualFit } from './calibration/residuals';
import type { Model } from './model/model';
import { learnResiduals, type ResidualTask, stack } from './training/combine';
import { type FoldResult, trainFold } from './training/fold';
import { prepare, type PreparedFit } from './training/prepare';
import { OF_FIT, SIZES } from './tuned';
import type { TrainInput, TrainOptions } from './types';

export type { ResidualFit } from './calibration/residuals';
export { explain, type ExplainOptions, type Explanation } from './explain/explain';
export type { Model } from './model/model';
export { predict, type PredictOptions } from './model/predict';
export { loadModel, saveModel } from './storage/stored-model';
export { learnResiduals, type ResidualTask } from './training/combine';
export type { FoldResult } from './training/fold';
export type { PreparedFit } from './training/prepare';
export * from './types';
export { LEARNER_VERSION } from './version';

/** Who does the parts of a fit that any thread may do, with the same bits. */
export interface Executor {
  /** Trains every fold (`trainFolds`). Results in any order. */
  folds(prepared: PreparedFit): Promise<FoldResult[]>;
  /** Calls `learnResiduals`. */
  residuals(prepared: PreparedFit, task: ResidualTask): Promise<ResidualFit>;
}

/**
 * Fits a model: prepares the table, trains every fold, and combines them. By itself it does so at once, on this thread: call it
 * in a worker thread. With an executor it says so by a promise.
 *
 * @throws LearnerError for input that cannot be learned from
 */
export function trainModel(input: TrainInput, executor: Executor): Promise<Model>;
export function trainModel(input: TrainInput): Model;
export function trainModel(
  input: TrainInput,
  executor: Executor | OwnThread = new OwnThread(input.options),
): Model | Promise<Model> {
  const prepared = prepare(input);
  return then(executor.folds(prepared), (results) => {
    const { residuals, reportAhead, finish } = stack(prepared, results);
    input.options.onProgress?.((partOfFit(prepared, 1) + 1) / 2);
    const learned = residuals && executor.residuals(prepared, residuals);
    // While another thread learns the residuals, if one does.
    reportAhead();
    return then(learned, (fit) => {
      const model = finish(fit);
      input.options.onProgress?.(1);
      return model;
    });
  });
}

/**
 * Trains folds one after the other, as long as `take` gives numbers of folds.
 *
 * @param onProgress hears, of the fold in hand, 0 to 1 of the most that it may take; it usually ends before
 */
export function* trainFolds(
  prepared: PreparedFit,
  take: () => number,
  {
    onProgress,
    shouldStop,
  }: { onProgress?: (fold: number, part: number) => void; shouldStop?: () => boolean } = {},
): Generator<FoldResult, void, undefined> {
  for (let fold = take(); fold < prepared.folds; fold = take()) {
    const one = fold;
    yield trainFold(prepared, one, { shouldStop, onProgress: (part) => onProgress?.(one, part) });
  }
}

/** How far a fit is whose folds are so far, both 0 to 1: preparing and combining them take their time too. */
export function partOfFit({ rows }: PreparedFit, folds: number): number {
  const { before, after } = OF_FIT[rows < SIZES.small ? 'small' : rows < SIZES.medium ? 'medium' : 'large'];
  return before + (1 - before - after) * folds;
}

/** Does all of it on this thread. */
class OwnThread {
  constructor(private readonly options: TrainOptions) {}

  folds(prepared: PreparedFit): FoldResult[] {
    const { onProgress, shouldStop } = this.options;
    const tell = (folds: number) => onProgress?.(partOfFit(prepared, folds / prepared.folds));
    const results: FoldResult[] = [];
    let next = 0;
    const hooks = { shouldStop, onProgress: (fold: number, part: number) => tell(fold + part) };
    for (const result of trainFolds(prepared, () => next++, hooks)) {
      results.push(result);
      tell(results.length);
    }
    return results;
  }

  residuals(prepared: PreparedFit, task: ResidualTask): ResidualFit {
    return learnResiduals(prepared, task);
  }
}

/** What becomes of a value, or of what a promise brings. */
function then<Value, Result>(
  value: Value | Promise<Value>,
  use: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
