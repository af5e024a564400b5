import { Type } from '@sinclair/typebox';

import { OUTPUT_TYPES } from '../vocabulary';
import { Maybe, ModelConfigSchema, OneOf, TaskName, Uuid } from './common';

/** S 4.4. Which output types go with which task is checked by the parser. */
export const PredictRequestSchema = Type.Object({
  test_set_upload_id: Uuid,
  fitted_train_set_id: Uuid,
  task_config: Type.Object({
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
  }),
  force_refit: Type.Optional(Type.Boolean()),
});

/** S 2.7. The shape of `prediction` depends on the request: see `readPrediction`. */
export const PredictResponseSchema = Type.Object({
  prediction: Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Type.Unknown())], {
    description: 'an array, or an object for output type full',
  }),
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
