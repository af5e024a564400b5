import { Type } from '../schema';
import { SYSTEMS, TASKS } from '../vocabulary';

/** Refuses unknown properties. Without it a request may hold others, which are ignored: see `knownPart`. */
export const strict = { additionalProperties: false } as const;

/** Ids are UUIDs (S 2.3 to 2.5). */
export const Uuid = Type.text({
  pattern: /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
  description: 'a UUID',
});

export const TaskName = Type.oneOf(TASKS);
export const Systems = Type.array(Type.oneOf(SYSTEMS));

/**
 * The model configuration object of a request (S 2.6), with every field the specification lists. Others are kept:
 * the learner lists those that it has no use for.
 */
export const ModelConfigSchema = Type.object(
  {
    n_estimators: Type.optional(Type.integer({ minimum: 1 })),
    categorical_features_indices: Type.optional(
      Type.array(Type.integer({ minimum: 0 }), { description: 'an array of column indices from 0' }),
    ),
    softmax_temperature: Type.optional(Type.number({ exclusiveMinimum: 0 })),
    average_before_softmax: Type.optional(Type.boolean()),
    random_state: Type.optional(Type.integer()),
    inference_config: Type.optional(Type.record(Type.unknown())),
    ignore_pretraining_limits: Type.optional(Type.boolean()),
    n_preprocessing_jobs: Type.optional(Type.integer()),
    inference_precision: Type.optional(Type.text()),
    fit_mode: Type.optional(Type.text()),
    device: Type.optional(Type.anyOf([Type.text(), Type.array(Type.text())], 'text or an array of text')),
    memory_saving_mode: Type.optional(Type.boolean()),
    model_path: Type.optional(Type.text()),
    balance_probabilities: Type.optional(Type.boolean()),
  },
  { additionalProperties: true },
);
