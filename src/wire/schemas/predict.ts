import { Type } from '@sinclair/typebox';

import { OUTPUT_TYPES } from '../vocabulary';
import { Maybe, ModelConfigSchema, OneOf, TaskName, Uuid } from './common';

/** Which output types go with which task is checked by the parser. */
const PredictTaskConfig = Type.Object({
  task: TaskName,
  svc_config: Type.Optional(ModelConfigSchema),
  predict_params: Type.Optional(
    Type.Object({
      output_type: Type.Optional(OneOf([...OUTPUT_TYPES.classification, ...OUTPUT_TYPES.regression])),
      quantiles: Type.Optional(
        Type.Array(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }), { minItems: 1 }),
      ),
    }),
  ),
});

/** S 4.4 */
export const PredictRequestSchema = Type.Object({
  test_set_upload_id: Uuid,
  fitted_train_set_id: Uuid,
  task_config: PredictTaskConfig,
  force_refit: Type.Optional(Type.Boolean()),
});

/** Not of the specification: a predict that brings its rows, and those to train on or the id of a model. */
export const RowsPredictRequestSchema = Type.Object({
  task_config: PredictTaskConfig,
  x_train: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1 })),
  y_train: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1 })),
  x_test: Type.Array(Type.Unknown(), { minItems: 1 }),
  context: Type.Optional(Type.Object({ model_id: Uuid })),
});

/**
 * S 2.7. The shape of `prediction` depends on the request: see `readPrediction`. Not of the specification: in its place
 * there may be `prediction_uri`, a signed URL whose JSON body is the prediction.
 */
export const PredictResponseSchema = Type.Object({
  prediction: Maybe(
    Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Type.Unknown())]),
    'an array, or an object for output type full',
  ),
  prediction_uri: Maybe(Type.String({ minLength: 1 })),
  metadata: Maybe(
    Type.Object({
      test_set_num_rows: Maybe(Type.Integer({ minimum: 0 }), 'a whole number from 0'),
      test_set_num_cols: Maybe(Type.Integer({ minimum: 0 }), 'a whole number from 0'),
      package_version: Maybe(Type.String()),
      task: Maybe(Type.String()),
      classes: Maybe(
        Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
        'an array of labels',
      ),
    }),
    'an object',
  ),
});
