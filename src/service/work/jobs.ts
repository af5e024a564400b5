import type { MessagePort } from 'node:worker_threads';

import type { ExplainOptions, FitReport, PredictOptions, TrainOptions } from '../../learner';
import type { Label } from '../../table/cells/types';
import type { OutputType, Task } from '../../wire/vocabulary';
import type { ServiceLimits } from '../options';
import type { FeatureShape, FileRef, ModelEntry } from '../store/entries';

/** What the fit threads are asked to do: a whole fit, or to help one with its folds. */
export type FitTask = FitJob | AssistJob;

export interface FitJob {
  kind: 'fit';
  x: FileRef;
  y: FileRef;
  task: Task;
  options: TrainOptions;
  limits: ServiceLimits;
  /** Where the model goes. */
  modelFile: string;
  /** One per helper; see `folds.ts`. */
  helpers: MessagePort[];
}

interface AssistJob {
  kind: 'assist';
  port: MessagePort;
}

/** What a fit tells of the model that it has written. */
export interface FitOutcome extends Pick<
  ModelEntry,
  'targetName' | 'features' | 'classes' | 'longClasses' | 'rows' | 'bytes' | 'crc'
> {
  report: FitReport;
}

/** What the predict threads are asked to do: score a file, load a model ahead of the first file, or check one. */
export type PredictTask = PredictJob | { kind: 'load'; model: ModelRef } | CheckJob;

/** Whether a model that came from elsewhere can be used, and is what its entry says. */
export interface CheckJob {
  kind: 'check';
  /** Its bytes. */
  file: string;
  entry: { task: Task; classes?: Label[]; features: FeatureShape[] };
}

export interface ModelRef {
  id: string;
  file: string;
  /** Of the file. */
  bytes: number;
  crc: string;
}

export interface PredictJob {
  kind: 'predict';
  model: ModelRef;
  features: FeatureShape[];
  x: FileRef;
  outputType: OutputType;
  quantiles: readonly number[];
  /** Labels are whole numbers, held as text. */
  longClasses?: true;
  options: PredictOptions;
  explain?: ExplainJob;
  limits: ServiceLimits;
}

/** Which causes of the predictions are asked for; see `ExplainOptions`. */
export type ExplainJob = Pick<ExplainOptions, 'groups' | 'of' | 'above'>;

/** Why rows are predicted as they are: a base and its row of effects add up to a prediction. */
export interface ExplainedRows {
  /** The causes: groups of columns, or single columns. */
  groups: string[];
  /** Per cause with a column of numbers of its name: its 10 % and 90 % quantile over the train set. */
  usual: ([low: number, high: number] | null)[];
  /** And the mean of that column over the background rows. */
  means: (number | null)[];
  /** The rows explained, from 0. */
  rows: number[];
  /** Rows to be explained beyond the most that one request may have. */
  left: number;
  /** Classification: the class explained in each of them, by its number. */
  classes?: number[];
  /** Probabilities of that class, or means. */
  predictions: number[];
  bases: number[];
  /** [row explained][cause] */
  effects: number[][];
}

export interface ScoredFile {
  /** The value of `prediction` as JSON. */
  json: Uint8Array;
  rows: number;
  columns: number;
  /** Columns of the test file that the train set does not have; they were not read. */
  extra: string[];
  /** Where it was asked for, and the model can tell. */
  explanation?: ExplainedRows;
}
