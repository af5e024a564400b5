import type { Costs } from '../../metrics/thresholds';
import { type FeatureColumn, LearnerError, type TrainOptions } from '../types';
import type { HoldOut } from './parts';
import { knownMetric } from './stacking';

/** A number of rows (≥ 1), a fraction of them (< 1), or their indices. */
export type Subsample = number | Int32Array;

/** Validated options. */
export interface LearnerSettings {
  /** Undefined: chosen by the size of the table. */
  estimators: number | undefined;
  seed: number;
  categoryColumns: number[];
  temperature: number | undefined;
  averageScores: boolean;
  balance: boolean;
  /** What each estimator learns from, used cyclically; empty for all rows. */
  subsample: Subsample[];
  holdOut: HoldOut;
  /** The index of the column that the target is the change from. */
  relativeTo: number | undefined;
  costs: Costs | undefined;
  /** Which threshold decides between two classes; if undefined, the answer is the most probable class. */
  threshold: 'accuracy' | 'f1' | 'costs' | number | undefined;
  thinking:
    | { effort: 'medium' | 'high'; timeoutSecs: number | undefined; metric: string | undefined }
    | undefined;
  workBudget: number | undefined;
  used: Record<string, unknown>;
  ignored: string[];
}

/** Options that do not apply to regression. */
const FOR_CLASSES = new Set(['softmax_temperature', 'average_before_softmax', 'balance_probabilities']);
/** Blocks where their number is not given: with an embargo, or where the order of rows turns out to matter. */
export const DEFAULT_BLOCKS = 25;
const NOT_OPTIONS = new Set(['onProgress', 'shouldStop', 'workBudget']);

/** @throws LearnerError for an option of the wrong type or out of range */
export function readOptions(
  options: TrainOptions,
  features: FeatureColumn[],
  task: 'classification' | 'regression',
): LearnerSettings {
  const settings: LearnerSettings = {
    estimators: undefined,
    seed: 0,
    categoryColumns: [],
    temperature: undefined,
    averageScores: false,
    balance: false,
    subsample: [],
    costs: undefined,
    threshold: undefined,
    holdOut: { blocks: undefined, embargo: 0, group: undefined, groupIsFeature: true, folds: 'groups' },
    relativeTo: undefined,
    thinking: undefined,
    workBudget: options.workBudget,
    used: {},
    ignored: [],
  };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || NOT_OPTIONS.has(name)) {
      continue;
    }
    const meant = task === 'classification' || !FOR_CLASSES.has(name);
    if (meant && readOption(settings, name, value, features)) {
      settings.used[name] ??= value;
    } else if (name !== 'inference_config') {
      settings.ignored.push(name);
    }
  }
  const { thinking } = settings;
  if (thinking?.metric !== undefined && !knownMetric(thinking.metric, task)) {
    settings.ignored.push('thinking.metric');
    thinking.metric = undefined;
  }
  settings.ignored.sort();
  return settings;
}

function readOption(
  settings: LearnerSettings,
  name: string,
  value: unknown,
  features: FeatureColumn[],
): boolean {
  switch (name) {
    case 'n_estimators':
      settings.estimators = Math.min(10, wholeNumber(name, value, 1));
      return true;
    case 'random_state':
      settings.seed = wholeNumber(name, value, -Number.MAX_SAFE_INTEGER);
      return true;
    case 'softmax_temperature':
      if (typeof value !== 'number' || !(value > 0 && value < Infinity)) {
        throw new LearnerError(`Option ${name} must be a number above 0.`);
      }
      settings.temperature = value;
      return true;
    case 'average_before_softmax':
      settings.averageScores = flag(name, value);
      return true;
    case 'balance_probabilities':
      settings.balance = flag(name, value);
      return true;
    case 'categorical_features_indices':
      settings.categoryColumns = columnNumbers(name, value, features.length);
      return true;
    case 'inference_config':
      return readInferenceConfig(settings, value, features);
    case 'thinking':
      settings.thinking = readThinking(value);
      settings.used[name] = { ...settings.thinking };
      return true;
    default:
      return false;
  }
}

function wholeNumber(name: string, value: unknown, min: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) {
    const bound = min >= 0 ? ` of at least ${min}` : '';
    throw new LearnerError(`Option ${name} must be a whole number${bound}.`);
  }
  return value;
}

function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') {
    throw new LearnerError(`Option ${name} must be true or false.`);
  }
  return value;
}

function columnNumbers(name: string, value: unknown, columns: number): number[] {
  const valid = (i: unknown): i is number =>
    Number.isSafeInteger(i) && (i as number) >= 0 && (i as number) < columns;
  if (!Array.isArray(value) || !value.every(valid)) {
    throw new LearnerError(`Option ${name} must be a list of column numbers from 0 to ${columns - 1}.`);
  }
  return value;
}

/** Reads the keys of `inference_config`, in any case. @returns whether any of them is used */
function readInferenceConfig(settings: LearnerSettings, value: unknown, features: FeatureColumn[]): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LearnerError('Option inference_config must be an object.');
  }
  const used: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value as Record<string, unknown>)) {
    if (entry === null || entry === undefined) {
      continue;
    }
    const shown = readInferenceOption(settings, key.toUpperCase(), entry, features);
    if (shown === undefined) {
      settings.ignored.push(`inference_config.${key}`);
    } else {
      used[key] = shown;
    }
  }
  if (settings.threshold === 'costs' && settings.costs === undefined) {
    throw new LearnerError(
      'Option inference_config.THRESHOLD is costs, but inference_config.COSTS is missing.',
    );
  }
  // An embargo concerns the rows next to a block.
  if (settings.holdOut.embargo > 0 || settings.holdOut.folds === 'blocks') {
    settings.holdOut.blocks ??= DEFAULT_BLOCKS;
  }
  if (Object.keys(used).length === 0) {
    return false;
  }
  settings.used.inference_config = used;
  return true;
}

/** Reads one key. @returns what the report shows for it; undefined if it is ignored */
function readInferenceOption(
  settings: LearnerSettings,
  key: string,
  entry: unknown,
  features: FeatureColumn[],
): unknown {
  const name = `inference_config.${key}`;
  switch (key) {
    case 'SUBSAMPLE_SAMPLES': {
      settings.subsample = readSubsample(entry);
      const shown = settings.subsample.map((one) => (typeof one === 'number' ? one : one.length));
      return Array.isArray(entry) ? shown : entry;
    }
    case 'BLOCKS':
      return (settings.holdOut.blocks = wholeNumber(name, entry, 2));
    case 'EMBARGO':
      return (settings.holdOut.embargo = wholeNumber(name, entry, 0));
    case 'GROUP':
      settings.holdOut.group = readColumn(name, entry, features);
      return entry;
    case 'RELATIVE_TO':
      settings.relativeTo = readColumn(name, entry, features);
      return entry;
    case 'COSTS':
      return (settings.costs = readCosts(name, entry));
    case 'THRESHOLD':
      return (settings.threshold = readThreshold(name, entry));
    case 'GROUP_AS_FEATURE':
      return (settings.holdOut.groupIsFeature = flag(name, entry));
    case 'FOLDS':
      return (settings.holdOut.folds = readFolds(name, entry));
    default:
      return undefined;
  }
}

function readFolds(name: string, value: unknown): HoldOut['folds'] {
  if (value === 'groups' || value === 'blocks' || value === 'random') {
    return value;
  }
  throw new LearnerError(`Option ${name} must be groups, blocks or random.`);
}

function readCosts(name: string, value: unknown): Costs {
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((cost) => Number.isFinite(cost));
  if (!Array.isArray(value) || value.length !== 2 || !value.every(isPair)) {
    throw new LearnerError(
      `Option ${name} must be two lists of two numbers: the costs of answering the first and the second class, for rows of the first and of the second.`,
    );
  }
  return value as Costs;
}

function readThreshold(name: string, value: unknown): LearnerSettings['threshold'] {
  if (value === 'accuracy' || value === 'f1' || value === 'costs') {
    return value;
  }
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw new LearnerError(`Option ${name} must be accuracy, f1, costs, or a number from 0 to 1.`);
  }
  return value;
}

/** The index of a column given by name or by index. */
function readColumn(name: string, value: unknown, features: FeatureColumn[]): number {
  const at = typeof value === 'string' ? features.findIndex((one) => one.name === value) : value;
  if (!Number.isSafeInteger(at) || features[at as number] === undefined) {
    throw new LearnerError(
      `Option ${name} must be the name or the number (from 0) of a column of the train set, not ${JSON.stringify(value)}.`,
    );
  }
  return at as number;
}

function readSubsample(entry: unknown): Subsample[] {
  const name = 'Option inference_config.SUBSAMPLE_SAMPLES';
  const list = Array.isArray(entry) ? (entry as unknown[]) : [entry];
  if (list.length === 0) {
    throw new LearnerError(`${name} is an empty list.`);
  }
  return list.map((one) => {
    if (typeof one === 'number' && one > 0) {
      return one;
    }
    const rows = Array.isArray(one) ? (one as unknown[]) : [];
    if (rows.length === 0 || !rows.every((row) => Number.isSafeInteger(row) && (row as number) >= 0)) {
      throw new LearnerError(
        `${name} must be a number above 0, or a list with a number or a list of row numbers (from 0) per estimator.`,
      );
    }
    return Int32Array.from(rows as number[]);
  });
}

function readThinking(value: unknown): LearnerSettings['thinking'] {
  const given = value as { effort?: unknown; timeoutSecs?: unknown; metric?: unknown };
  if (given.effort !== 'medium' && given.effort !== 'high') {
    throw new LearnerError('Thinking effort must be medium or high.');
  }
  if (given.timeoutSecs !== undefined && !((given.timeoutSecs as number) > 0)) {
    throw new LearnerError('The thinking timeout must be a number of seconds above 0.');
  }
  const timeoutSecs = typeof given.timeoutSecs === 'number' ? given.timeoutSecs : undefined;
  const metric = typeof given.metric === 'string' ? given.metric : undefined;
  return { effort: given.effort, timeoutSecs, metric };
}
