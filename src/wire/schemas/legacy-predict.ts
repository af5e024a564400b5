import { Type } from '@sinclair/typebox';

import { Maybe, OneOf, TaskName } from './common';

/** The `data` part of the deprecated `/v1/predict` (S 4.7). */
export const LegacyPredictRequestSchema = Type.Object({
  model_id: Type.String({ minLength: 1 }),
  task: TaskName,
  systems: Type.Optional(Type.Array(Type.String())),
  n_estimators: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  model_path: Type.Optional(Type.String()),
  categorical_features_indices: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
  softmax_temperature: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  average_before_softmax: Type.Optional(Type.Boolean()),
  ignore_pretraining_limits: Type.Optional(Type.Boolean()),
  inference_precision: Type.Optional(Type.String()),
  random_state: Type.Optional(Type.Integer()),
  balance_probabilities: Type.Optional(Type.Boolean()),
  output_type: Type.Optional(OneOf(['probas', 'preds', 'mean', 'full'])),
});

export const LegacyPredictResponseSchema = Type.Object({
  prediction: Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Type.Unknown())], {
    description: 'an array, or an object for output type full',
  }),
  duration_seconds: Maybe(Type.Number()),
  task: Maybe(Type.String()),
  params: Maybe(Type.Record(Type.String(), Type.Unknown()), 'an object'),
  used_credits: Maybe(Type.Number()),
  remaining_quota: Maybe(Type.Number()),
});
