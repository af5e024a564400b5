/** Tasks of a model (S 4.3). */
export const TASKS = ['classification', 'regression'] as const;

export type Task = (typeof TASKS)[number];

/** What a predict answers with (S 4.4; `main`, which it does not list, is mean, median, mode and quantiles at once). */
export type OutputType = 'probas' | 'preds' | 'mean' | 'median' | 'mode' | 'quantiles' | 'main' | 'full';

/** The output types that a model of a task has. */
export const OUTPUT_TYPES: Readonly<Record<Task, readonly OutputType[]>> = {
  classification: ['probas', 'preds'],
  regression: ['mean', 'median', 'mode', 'quantiles', 'main', 'full'],
};

/** Whether the levels of quantiles may be asked for with an output type. */
export function takesQuantiles(output: OutputType | undefined): boolean {
  return output === 'quantiles' || output === 'main';
}

/** The output type that a predict without one answers with (S 4.4). */
export const DEFAULT_OUTPUT_TYPE: Readonly<Record<Task, OutputType>> = {
  classification: 'probas',
  regression: 'mean',
};

/** The quantiles of a `quantiles`, `main` or `full` prediction where none are asked for. */
export const DEFAULT_QUANTILES: readonly number[] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** The systems that a fit can apply (S 4.3). */
export const SYSTEMS = ['preprocessing', 'text', 'thinking'] as const;

export type System = (typeof SYSTEMS)[number];

/** What is held out of rows that belong together: whole groups, or blocks of time in which they go on. */
export const FOLDS = ['groups', 'blocks'] as const;

/** How hard a thinking fit tries (S 4.3). */
export const EFFORTS = ['medium', 'high'] as const;

export type Effort = (typeof EFFORTS)[number];

/**
 * What a cost can be estimated of (S 4.6). `predict` alone is of the specification: the others are predicts of a model
 * that thought, or that the service keeps in its cache, and the thinking fit.
 */
export const OPERATIONS = ['predict', 'cache_predict', 'thinking_fit', 'thinking_predict'] as const;

/** A label of a classification target as JSON can carry it. */
export type Label = string | number | boolean;
