import { Type } from '../schema';
import { OUTPUT_TYPES } from '../vocabulary';
import { ModelConfigSchema, TaskName, Uuid } from './common';

/** Which output types go with which task is checked by the parser. */
const PredictTaskConfig = Type.object({
  task: TaskName,
  svc_config: Type.optional(ModelConfigSchema),
  predict_params: Type.optional(
    Type.object({
      output_type: Type.optional(Type.oneOf([...OUTPUT_TYPES.classification, ...OUTPUT_TYPES.regression])),
      quantiles: Type.optional(
        Type.array(Type.number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }), { minItems: 1 }),
      ),
    }),
  ),
});

/** S 4.4 */
export const PredictRequestSchema = Type.object({
  test_set_upload_id: Uuid,
  fitted_train_set_id: Uuid,
  task_config: PredictTaskConfig,
  force_refit: Type.optional(Type.boolean()),
});

/** Not of the specification: a predict that brings its rows, and those to train on or the id of a model. */
export const RowsPredictRequestSchema = Type.object({
  task_config: PredictTaskConfig,
  x_train: Type.optional(Type.array(Type.unknown(), { minItems: 1 })),
  y_train: Type.optional(Type.array(Type.unknown(), { minItems: 1 })),
  x_test: Type.array(Type.unknown(), { minItems: 1 }),
  context: Type.optional(Type.object({ model_id: Uuid })),
});

/** S 2.7. The shape of `prediction` depends on the request: see `readPrediction`. */
export const PredictResponseSchema = Type.object({
  prediction: Type.anyOf(
    [Type.array(Type.unknown()), Type.record(Type.unknown())],
    'an array, or an object for output type full',
  ),
  metadata: Type.maybe(
    Type.object({
      test_set_num_rows: Type.maybe(Type.integer({ minimum: 0 }), 'a whole number from 0'),
      test_set_num_cols: Type.maybe(Type.integer({ minimum: 0 }), 'a whole number from 0'),
      package_version: Type.maybe(Type.text()),
      task: Type.maybe(Type.text()),
      classes: Type.maybe(
        Type.array(Type.anyOf([Type.text(), Type.number(), Type.boolean()], 'text, a number, true or false')),
        'an array of labels',
      ),
    }),
    'an object',
  ),
});
