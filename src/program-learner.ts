import { types } from 'node:util';

import {
  explain,
  type ExplainOptions,
  type Explanation,
  loadModel,
  type Model,
  predict,
  type PredictOptions,
  saveModel,
  trainModel,
} from './learner';
import type {
  ClassificationResult,
  FeatureColumn,
  RegressionResult,
  TargetColumn,
  TrainInput,
} from './learner/types';
import { isObject } from './util/values';
import {
  ANY_TEXT,
  anyAmong,
  BYTES,
  checkGiven,
  checkValue,
  type Form,
  LIST,
  numberFrom,
  OBJECT,
  optional,
} from './wire/given';
import { TASKS } from './wire/vocabulary';

export type { ExplainOptions, Explanation, Model, PredictOptions } from './learner';
export * from './learner/types';
export { LEARNER_VERSION } from './learner/version';

export {
  explainChecked as explain,
  loadChecked as loadModel,
  predictChecked as predict,
  saveChecked as saveModel,
  trainChecked as trainModel,
};

const TASK = anyAmong(TASKS);
const KIND = anyAmong(['number', 'date', 'text']);
const NUMBERS: Form = { must: 'a Float64Array', fits: types.isFloat64Array };

/** Numbers of texts, or of classes: -1 is a missing one. */
function codesBelow(count: number, of: string): Form {
  return {
    must: `an Int32Array of places in ${of}, from -1 to ${count - 1}`,
    fits: (value) => types.isInt32Array(value) && value.every((code) => code >= -1 && code < count),
  };
}

const MODEL: Form = {
  must: 'a model that trainModel or loadModel answered',
  fits: (value) => isObject(value) && LIST.fits(value.members) && LIST.fits(value.encoders),
};

const RESULT: Form = {
  must: 'what predict answered for these rows',
  fits: (value) =>
    isObject(value) &&
    typeof value.rows === 'number' &&
    (typeof value.mean === 'function' || NUMBERS.fits(value.probas)),
};

function checkFeatures(what: string, features: readonly FeatureColumn[]): void {
  checkValue(`${what}: features`, features, LIST);
  for (const [at, feature] of features.entries()) {
    const where = `${what}: features[${at}]`;
    checkGiven(where, feature, { name: ANY_TEXT, kind: KIND });
    if (feature.kind === 'text') {
      checkGiven(where, feature, { dictionary: LIST });
      checkGiven(where, feature, { codes: codesBelow(feature.dictionary.length, 'dictionary') });
    } else {
      checkGiven(where, feature, { values: NUMBERS });
    }
  }
}

function checkTarget(target: TargetColumn): void {
  checkGiven('trainModel: target', target, { task: TASK });
  if (target.task === 'regression') {
    checkGiven('trainModel: target', target, { values: NUMBERS });
  } else {
    checkGiven('trainModel: target', target, { classes: LIST });
    checkGiven('trainModel: target', target, { codes: codesBelow(target.classes.length, 'classes') });
  }
}

/**
 * Fits a model on this thread, which it holds meanwhile: call it in a worker thread, or in a program that does nothing else.
 *
 * @throws ServiceError `validation.failed` that names the argument; LearnerError for a table that cannot be learned from
 */
function trainChecked(input: Omit<TrainInput, 'options'> & Partial<TrainInput>): Model {
  checkGiven('trainModel', input, { features: LIST, target: OBJECT, options: optional(OBJECT) });
  checkFeatures('trainModel', input.features);
  checkTarget(input.target);
  return trainModel({ ...input, options: input.options ?? {} });
}

/**
 * Predicts rows. Columns are found by name, extra ones are ignored, and unseen categories count as rare.
 *
 * @throws ServiceError `validation.failed` that names the argument; LearnerError if a column is missing or cannot be read as
 *   the kind it was trained with
 */
function predictChecked(
  model: Model,
  features: FeatureColumn[],
  rows: number,
  options: PredictOptions = {},
): ClassificationResult | RegressionResult {
  checkValue('predict: model', model, MODEL);
  checkFeatures('predict', features);
  checkValue('predict: rows', rows, numberFrom(0));
  checkGiven('predict', options, {});
  return predict(model, features, rows, options);
}

/**
 * Explains predictions: how much each cause raised or lowered the answer, compared with rows of the train set.
 *
 * @param result of `predict` for these rows with the same options
 * @throws as `predict`
 */
function explainChecked(
  model: Model,
  features: FeatureColumn[],
  result: ClassificationResult | RegressionResult,
  options: ExplainOptions = {},
): Explanation {
  checkValue('explain: model', model, MODEL);
  checkFeatures('explain', features);
  checkValue('explain: result', result, RESULT);
  checkGiven('explain', options, {});
  return explain(model, features, result, options);
}

/** The bytes of a model, for `loadModel`; equal models give equal bytes. @throws ServiceError `validation.failed` */
function saveChecked(model: Model): Uint8Array {
  checkValue('saveModel: model', model, MODEL);
  return saveModel(model);
}

/**
 * A model from its bytes.
 *
 * @throws ServiceError `validation.failed` for what is no bytes; LearnerError for bytes that are no model, are damaged, or
 *   were written by a newer version
 */
function loadChecked(bytes: Uint8Array): Model {
  checkValue('loadModel: bytes', bytes, BYTES);
  return loadModel(bytes);
}
