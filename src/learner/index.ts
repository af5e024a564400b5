/* eslint-disable @typescript-eslint/no-unused-vars */
import { LearnerError } from './types';
import type {
  ClassificationResult,
  FeatureColumn,
  FitReport,
  Label,
  RegressionResult,
  TrainInput,
} from './types';

export * from './types';

/** A fitted model. Plain data; `report` and the fields here are its public part. */
export interface Model {
  readonly task: 'classification' | 'regression';
  /** Empty for regression. */
  readonly classes: Label[];
  readonly features: { name: string; kind: FeatureColumn['kind'] }[];
  readonly report: FitReport;
}

/** What every fold needs, made once from the input: structured-cloneable, its big arrays in shared memory. */
export interface Prepared {
  /** How many folds are to be trained: indices 0 … folds - 1, in any order, anywhere. */
  readonly folds: number;
}

/** What one fold learned: structured-cloneable. */
export interface FoldResult {
  readonly fold: number;
}

export interface FoldHooks {
  onProgress?: (fraction: number) => void;
  shouldStop?: () => boolean;
}

/** @throws LearnerError for missing target values, columns of unequal length, or no rows at all. */
export function prepare(_input: TrainInput): Prepared {
  throw new LearnerError('The learner is not built yet.');
}

/** Trains one fold. The result depends on `prepared` and `fold` alone: the same bits wherever it runs. */
export function trainFold(_prepared: Prepared, _fold: number, _hooks?: FoldHooks): FoldResult {
  throw new LearnerError('The learner is not built yet.');
}

/** Joins all folds of `prepared` (in any order) to a model, with its calibration and report. */
export function combine(_prepared: Prepared, _folds: FoldResult[]): Model {
  throw new LearnerError('The learner is not built yet.');
}

/** prepare, every fold in turn, combine. Synchronous: call it in a worker. */
export function train(input: TrainInput): Model {
  const prepared = prepare(input);
  const folds: FoldResult[] = [];
  for (let fold = 0; fold < prepared.folds; fold++) folds.push(trainFold(prepared, fold));
  return combine(prepared, folds);
}

/**
 * Predicts `rows` rows. Columns are found by name; extra ones are ignored; unseen categories count as rare ones.
 * @throws LearnerError when a column is missing or cannot be read as the kind it was trained with.
 */
export function predict(
  _model: Model,
  _features: FeatureColumn[],
  _rows: number,
): ClassificationResult | RegressionResult {
  throw new LearnerError('The learner is not built yet.');
}

/** The model as bytes: equal models give equal bytes on one major of Node. */
export function saveModel(_model: Model): Uint8Array {
  throw new LearnerError('The learner is not built yet.');
}

/** @throws LearnerError when the bytes are not a model, are damaged, or were written by a newer version. */
export function loadModel(_bytes: Uint8Array): Model {
  throw new LearnerError('The learner is not built yet.');
}
