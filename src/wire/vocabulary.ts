/** Tasks of a model (S 4.3). */
export const TASKS = ['classification', 'regression'] as const;

export type Task = (typeof TASKS)[number];

/** An output type. */
interface Output {
  task: Task;
  /** The kind of prediction that it is (`wire/prediction`). */
  kind: 'labels' | 'probas' | 'numbers' | 'quantiles' | 'main' | 'full';
  /** The levels of its quantiles may be asked for. */
  takesQuantiles?: true;
  /** It has a distribution for each row, whose width the answer tells. */
  hasBars?: true;
  /** The deprecated route v1 knows it (S 4.7). */
  inV1?: true;
}

/** What a predict answers with (S 4.4; `main`, which it does not list, is mean, median, mode and quantiles at once). */
export const OUTPUTS = {
  probas: { task: 'classification', kind: 'probas', inV1: true },
  preds: { task: 'classification', kind: 'labels', inV1: true },
  mean: { task: 'regression', kind: 'numbers', inV1: true },
  median: { task: 'regression', kind: 'numbers' },
  mode: { task: 'regression', kind: 'numbers' },
  quantiles: { task: 'regression', kind: 'quantiles', takesQuantiles: true },
  main: { task: 'regression', kind: 'main', takesQuantiles: true },
  full: { task: 'regression', kind: 'full', hasBars: true, inV1: true },
} as const satisfies Record<string, Output>;

export type OutputType = keyof typeof OUTPUTS;

/** The output types of a task. */
export type OutputOf<T extends Task> = {
  [Name in OutputType]: (typeof OUTPUTS)[Name]['task'] extends T ? Name : never;
}[OutputType];

const ALL = Object.entries(OUTPUTS) as [OutputType, Output][];

/** The output types that a model of a task has. */
export const OUTPUT_TYPES: Readonly<Record<Task, readonly OutputType[]>> = {
  classification: ALL.filter(([, { task }]) => task === 'classification').map(([name]) => name),
  regression: ALL.filter(([, { task }]) => task === 'regression').map(([name]) => name),
};

/** Those of the deprecated route v1. */
export const V1_OUTPUT_TYPES: readonly OutputType[] = ALL.filter(([, { inV1 }]) => inV1).map(
  ([name]) => name,
);

/** Whether the levels of quantiles may be asked for with an output type. */
export function takesQuantiles(output: OutputType | undefined): boolean {
  return output !== undefined && (OUTPUTS[output] as Output).takesQuantiles === true;
}

/** Whether an output type has a distribution for each row, as wide as only the answer tells. */
export function hasBars(output: OutputType | undefined): boolean {
  return output !== undefined && (OUTPUTS[output] as Output).hasBars === true;
}

/** Whether an answer has quantiles in it: a full distribution has some beside its bars. */
export function hasQuantiles(output: OutputType | undefined): boolean {
  return takesQuantiles(output) || hasBars(output);
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
