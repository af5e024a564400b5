import { inspect } from 'node:util';

import { GIVEN_TYPES, knownZone } from '../table';
import { ServiceError } from '../wire/service-error';
import type { PredictRequest, PredictSettings, TrainRequest } from './types';

/** What a value must be, in words, and whether it is. Values that are left out are always right. */
interface Rule {
  must: string;
  holds: (value: unknown) => boolean;
}

const number = (min: number, max = Infinity, integer = false): Rule => ({
  must: `a ${integer ? 'whole ' : ''}number of at least ${min}${max === Infinity ? '' : ` and at most ${max}`}`,
  holds: (value) =>
    typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value)),
});

const oneOf = (...words: readonly string[]): Rule => ({
  must: `one of ${words.join(', ')}`,
  holds: (value) => words.includes(value as string),
});

const TEXT: Rule = { must: 'a text', holds: (value) => typeof value === 'string' };
const TEXTS: Rule = {
  must: 'an array of texts',
  holds: (value) => Array.isArray(value) && value.every(TEXT.holds),
};
const OBJECT: Rule = {
  must: 'an object',
  holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const TYPES: Rule = {
  must: `an object of column names with one of ${GIVEN_TYPES.join(', ')} each`,
  holds: (value) =>
    OBJECT.holds(value) &&
    Object.values(value as object).every((type) => (GIVEN_TYPES as readonly unknown[]).includes(type)),
};

const CLEANING = {
  missingWords: TEXTS,
  unreadable: oneOf('error', 'missing'),
  timezone: {
    must: 'the name of a time zone such as Europe/Berlin or UTC',
    holds: (value: unknown) => typeof value === 'string' && knownZone(value) !== undefined,
  },
};

function isThinking(value: unknown): boolean {
  return OBJECT.holds(value) && oneOf('medium', 'high').holds((value as { effort?: unknown }).effort);
}

const TRAINING: Partial<Record<keyof TrainRequest, Rule>> = {
  target: TEXT,
  model: TEXT,
  ignore: TEXTS,
  types: TYPES,
  task: oneOf('auto', 'classification', 'regression'),
  systems: TEXTS,
  options: OBJECT,
  holdout: number(0, 50),
  order: oneOf('auto', 'time', 'none'),
  group: TEXT,
  relativeTo: TEXT,
  embargo: number(0, Infinity, true),
  ...CLEANING,
  missingTarget: oneOf('leaveOut', 'error'),
  thinking: { must: 'an object with effort medium or high', holds: isThinking },
};

const ASKING: Partial<Record<keyof PredictRequest, Rule>> = {
  task: oneOf('classification', 'regression'),
  options: OBJECT,
  missingColumns: oneOf('error', 'fill'),
  ...CLEANING,
  property: TEXT,
};

const SETTINGS: Partial<Record<keyof PredictSettings, Rule>> = {
  batchRows: number(1, Infinity, true),
  batchMs: number(0, 3_600_000),
  queueRows: number(1, Infinity, true),
  queueBytes: number(1),
  overflow: oneOf('reject', 'dropOldest'),
  noModel: oneOf('error', 'wait'),
  maxCost: number(0),
};

/** A program's requests are checked here; a node has read its fields before, with their own names in its errors. */
export const checkTraining = (request: TrainRequest): void => check('train', TRAINING, request);
export const checkAsking = (request: PredictRequest): void => check('predict', ASKING, request);
export const checkSettings = (settings: PredictSettings): void => check('settings', SETTINGS, settings);

/** @throws ServiceError `validation.failed` */
function check<T extends object>(what: string, rules: Partial<Record<keyof T, Rule>>, given: T): void {
  for (const [name, rule] of Object.entries(rules) as [keyof T & string, Rule][]) {
    const value = given[name];
    if (value !== undefined && !rule.holds(value)) {
      const shown = inspect(value, { depth: 1, breakLength: Infinity }).slice(0, 100);
      throw new ServiceError('validation.failed', `${what}: ${name} must be ${rule.must}, not ${shown}.`);
    }
  }
}
