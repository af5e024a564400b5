import { inspect } from 'node:util';

import { FIT, PREDICT, problemWith, type Setting } from '../settings';
import { choice, flag, freeText, numberIn, object } from '../settings/kinds';
import { ServiceError } from '../wire/service-error';
import { FOLDS } from '../wire/vocabulary';
import type { PredictRequest, PredictSettings, TrainRequest } from './types';

/** What a program may give by the same rules as a dialog; values that are left out are always right. */
type Rules<T> = Partial<Record<keyof T, Setting>>;

const TRAINING: Rules<TrainRequest> = {
  target: FIT.target,
  model: FIT.model,
  ignore: FIT.ignore,
  types: FIT.types,
  task: FIT.task,
  systems: FIT.systems,
  options: FIT.options,
  holdout: FIT.holdout,
  order: FIT.order,
  group: FIT.group,
  folds: choice(FOLDS),
  relativeTo: FIT.relativeTo,
  embargo: FIT.embargo,
  costs: FIT.costs,
  threshold: FIT.threshold,
  replace: FIT.replace,
  missingTarget: FIT.missingTarget,
  missingWords: FIT.missingWords,
  unreadable: FIT.unreadable,
  timezone: FIT.timezone,
  thinking: object(),
};

const THINKING: Rules<NonNullable<TrainRequest['thinking']>> = {
  effort: FIT.thinkingEffort,
  timeoutSecs: FIT.thinkingTimeout,
  metric: FIT.thinkingMetric,
};

const ASKING: Rules<PredictRequest> = {
  task: PREDICT.task,
  options: object(),
  missingColumns: PREDICT.missingColumns,
  missingWords: PREDICT.missingWords,
  unreadable: PREDICT.unreadable,
  timezone: PREDICT.timezone,
  property: freeText(),
  flat: flag(),
  explain: flag(),
  explainAbove: PREDICT.explainAbove,
  unlike: flag(),
  threshold: numberIn({ min: 0, max: 1 }),
  evaluate: flag(),
};

const SETTINGS: Rules<PredictSettings> = {
  batchRows: PREDICT.batchRows,
  batchMs: PREDICT.batchMs,
  queueRows: PREDICT.queue,
  queueBytes: numberIn({ min: 1 }),
  overflow: PREDICT.overflow,
  // A program has no message to pass on.
  noModel: choice(['error', 'wait']),
  maxCost: PREDICT.maxCost,
};

/** A program's requests are checked here; a node has read its fields before, with their own names in its errors. */
export function checkTraining(request: TrainRequest): void {
  checkByRules('train', TRAINING, request);
  if (request.thinking !== undefined) {
    checkByRules('train: thinking', THINKING, { effort: '', ...request.thinking });
  }
}

export const checkAsking = (request: PredictRequest): void => checkByRules('predict', ASKING, request);
export const checkSettings = (settings: PredictSettings): void =>
  checkByRules('settings', SETTINGS, settings);

/** Checks what a program gives by the rules of settings. @throws ServiceError `validation.failed` */
export function checkByRules<T extends object>(what: string, rules: Rules<T>, given: T): void {
  for (const [name, setting] of Object.entries(rules) as [keyof T & string, Setting][]) {
    const value = given[name];
    const problem = value === undefined ? undefined : problemWith(setting, value, 'value');
    if (problem !== undefined) {
      const shown = inspect(value, { depth: 1, breakLength: Infinity }).slice(0, 100);
      const found = problem.startsWith('must be') ? `, not ${shown}` : '';
      throw new ServiceError('validation.failed', `${what}: ${name} ${problem}${found}.`);
    }
  }
}
