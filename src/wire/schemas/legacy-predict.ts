import { Type } from '../schema';
import { TaskName } from './common';

/** The `data` part of the deprecated `/v1/predict` (S 4.7). */
export const LegacyPredictRequestSchema = Type.object({
  model_id: Type.text({ minLength: 1 }),
  task: TaskName,
  systems: Type.optional(Type.array(Type.text())),
  n_estimators: Type.optional(Type.integer({ minimum: 1, maximum: 10 })),
  model_path: Type.optional(Type.text()),
  categorical_features_indices: Type.optional(Type.array(Type.integer({ minimum: 0 }))),
  softmax_temperature: Type.optional(Type.number({ exclusiveMinimum: 0 })),
  average_before_softmax: Type.optional(Type.boolean()),
  ignore_pretraining_limits: Type.optional(Type.boolean()),
  inference_precision: Type.optional(Type.text()),
  random_state: Type.optional(Type.integer()),
  balance_probabilities: Type.optional(Type.boolean()),
  output_type: Type.optional(Type.oneOf(['probas', 'preds', 'mean', 'full'])),
});

export const LegacyPredictResponseSchema = Type.object({
  prediction: Type.anyOf(
    [Type.array(Type.unknown()), Type.record(Type.unknown())],
    'an array, or an object for output type full',
  ),
  duration_seconds: Type.maybe(Type.number()),
  task: Type.maybe(Type.text()),
  params: Type.maybe(Type.record(Type.unknown()), 'an object'),
  used_credits: Type.maybe(Type.number()),
  remaining_quota: Type.maybe(Type.number()),
});
