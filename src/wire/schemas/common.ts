import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

import { SYSTEMS, TASKS } from '../vocabulary';

/** Refuses unknown properties. Without it a request may hold others, which are ignored: see `knownPart`. */
export const strict = { additionalProperties: false } as const;

/** Ids are UUIDs (S 2.3 to 2.5). */
export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'a UUID',
});

export const OneOf = <const Names extends readonly string[]>(names: Names): TUnsafe<Names[number]> =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    { description: `one of ${names.join(', ')}` },
  );

/** A field of a response that may be missing or null. */
export const Maybe = <T extends TSchema>(schema: T, description?: string) =>
  Type.Optional(
    Type.Union([schema, Type.Null()], {
      description: description ?? schema.description ?? `of type ${String(schema.type)}`,
    }),
  );

export const TaskName = OneOf(TASKS);
export const Systems = Type.Array(OneOf(SYSTEMS));

/**
 * The model configuration object of a request (S 2.6), with every field the specification lists. Others are kept:
 * the learner lists those that it has no use for.
 */
export const ModelConfigSchema = Type.Object(
  {
    n_estimators: Type.Optional(Type.Integer({ minimum: 1 })),
    categorical_features_indices: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), { description: 'an array of column indices from 0' }),
    ),
    softmax_temperature: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    average_before_softmax: Type.Optional(Type.Boolean()),
    random_state: Type.Optional(Type.Integer()),
    inference_config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    ignore_pretraining_limits: Type.Optional(Type.Boolean()),
    n_preprocessing_jobs: Type.Optional(Type.Integer()),
    inference_precision: Type.Optional(Type.String()),
    fit_mode: Type.Optional(Type.String()),
    device: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], { description: 'text or an array of text' }),
    ),
    memory_saving_mode: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('auto')], { description: 'true, false or auto' }),
    ),
    model_path: Type.Optional(Type.String()),
    balance_probabilities: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: true },
);
