/** Every schema of the wire. Loading this loads typebox (tens of milliseconds), so it is loaded by `schemas()` alone. */
import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

import { EFFORTS, OUTPUT_TYPES, SYSTEMS, TASKS, V1_OUTPUT_TYPES } from './vocabulary';

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

const size = Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of bytes' }));
const hash = Type.Optional(Type.String());

/** FileInfo in the naming of the schema (S 2.1), which refuses unknown properties. */
export const FileInfoSchema = Type.Object(
  {
    format: OneOf(['csv', 'parquet']),
    hash,
    size_bytes: size,
    use_chunks: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** FileInfo in the naming of the sample requests (S 2.1); the format is the file name's extension. */
export const SampleFileInfoSchema = Type.Object(
  {
    filename: Type.String({
      pattern: '\\.(?:[cC][sS][vV]|[pP][aA][rR][qQ][uU][eE][tT])$',
      description: 'a file name that ends in .csv or .parquet',
    }),
    content_hash: hash,
    size_bytes: size,
    use_chunks: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** FileUploadInfo (S 2.2). */
export const FileUploadInfoSchema = Type.Object({
  signed_urls: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
  expires_at: Type.Number(),
  required_headers: Type.Record(Type.String(), Type.String()),
});

/** S 4.1, in the naming of the schema. */
export const PrepareTrainSetUploadRequestSchema = Type.Object({
  x_train_info: FileInfoSchema,
  y_train_info: FileInfoSchema,
  description: Type.Optional(Type.String()),
  force_reupload: Type.Optional(Type.Boolean()),
});

export const PrepareTrainSetUploadResponseSchema = Type.Object({
  train_set_upload_id: Uuid,
  x_train_info: FileUploadInfoSchema,
  y_train_info: FileUploadInfoSchema,
});

/** S 4.2, in the naming of the schema. */
export const PrepareTestSetUploadRequestSchema = Type.Object({
  fitted_train_set_id: Uuid,
  x_test_info: FileInfoSchema,
  force_reupload: Type.Optional(Type.Boolean()),
});

export const PrepareTestSetUploadResponseSchema = Type.Object({
  test_set_upload_id: Uuid,
  x_test_info: FileUploadInfoSchema,
});

const effort = OneOf(EFFORTS);
const seconds = Type.Number({ exclusiveMinimum: 0 });

/** What both shapes have. Some clients send `async_mode` with every fit: true asks for an answer before the fit has ended. */
const common = {
  train_set_upload_id: Uuid,
  svc_systems: Type.Optional(Systems),
  force_refit: Type.Optional(Type.Boolean()),
  async_mode: Type.Optional(Type.Boolean()),
};

/** S 4.3 shape A. */
export const FlatFitRequestSchema = Type.Object({
  ...common,
  task: TaskName,
  svc_config: Type.Optional(ModelConfigSchema),
  thinking_effort: Type.Optional(effort),
  thinking_timeout_s: Type.Optional(seconds),
  thinking_effort_metric: Type.Optional(Type.String()),
});

/** S 4.3 shape B. `force_refit` is not among what B replaces, so it stays where A has it. */
export const TaskConfigFitRequestSchema = Type.Object({
  ...common,
  task_config: Type.Object({ task: TaskName, svc_config: Type.Optional(ModelConfigSchema) }),
  thinking_config: Type.Optional(
    Type.Object({
      effort: Type.Optional(effort),
      timeout_secs: Type.Optional(seconds),
      metric: Type.Optional(Type.String()),
      group_col: Type.Optional(
        Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
          description: 'text or an array of text',
        }),
      ),
      time_col: Type.Optional(Type.String()),
      group_time_col: Type.Optional(Type.String()),
    }),
  ),
});

/** Not of the specification: what has become of a fit. */
export const FitStatusRequestSchema = Type.Object({ fitted_train_set_id: Uuid });

export const FitResponseSchema = Type.Object({ fitted_train_set_id: Uuid });

/** Which output types go with which task is checked by the parser. */
const predictParams = {
  output_type: Type.Optional(OneOf([...OUTPUT_TYPES.classification, ...OUTPUT_TYPES.regression])),
  quantiles: Type.Optional(
    Type.Array(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }), { minItems: 1 }),
  ),
};
const PredictTaskConfig = Type.Object({
  task: TaskName,
  svc_config: Type.Optional(ModelConfigSchema),
  predict_params: Type.Optional(Type.Object(predictParams)),
});

/** S 4.4 */
export const PredictRequestSchema = Type.Object({
  test_set_upload_id: Uuid,
  fitted_train_set_id: Uuid,
  task_config: PredictTaskConfig,
  force_refit: Type.Optional(Type.Boolean()),
});
/** The same without the objects that it has on the wire: what a client is asked for. Options are for the service to check. */
export const FlatPredictRequestSchema = Type.Object({
  test_set_upload_id: Uuid,
  fitted_train_set_id: Uuid,
  task: TaskName,
  ...predictParams,
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
  output_type: Type.Optional(OneOf(V1_OUTPUT_TYPES)),
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

const limit = Maybe(Type.Integer({ minimum: 0 }), 'a whole number from 0');

/** Limits of one model version (S 4.5); null, like a missing field, means that nothing binds. */
export const LimitSetSchema = Type.Object({
  train_set_max_rows: limit,
  train_set_max_cells: limit,
  /** Not of the specification: where it is told, `train_set_max_cells` is what one estimator takes of the train set. */
  train_set_max_upload_cells: limit,
  test_set_max_rows: limit,
  max_classes: limit,
  max_cols: limit,
  test_set_max_rows_w_full_regression_output: limit,
  predict_row_pairs_budget: limit,
  test_set_max_cells: limit,
});

/** S 4.5 */
export const ModelLimitsResponseSchema = Type.Object({
  default_model_version: Maybe(Type.String()),
  max_model_limit: Maybe(LimitSetSchema, 'an object of limits'),
  model_limits: Maybe(Type.Record(Type.String(), LimitSetSchema), 'an object of versions and their limits'),
  dataset_max_size_bytes: limit,
});

/** The limits of S 4.5, and how large train sets are fitted. Not of the specification: the hosted service has it. */
export const SettingsResponseSchema = Type.Composite([
  ModelLimitsResponseSchema,
  Type.Object({
    async_settings: Maybe(
      Type.Object({
        use_above_trainset_size_bytes: Maybe(Type.Number({ minimum: 0 })),
        poll_timeout_secs: Maybe(Type.Number({ exclusiveMinimum: 0 })),
      }),
      'an object',
    ),
  }),
]);

const tokens = Maybe(Type.Number(), 'a number of tokens');

/**
 * What an account has used, in tokens: of one budget, or of one a day and one a month. A limit of -1 is none. Not of the
 * specification: the hosted service has it, and both forms were seen.
 */
export const UsageResponseSchema = Type.Union(
  [
    Type.Object({
      current_usage: Type.Number(),
      usage_limit: Type.Number(),
      reset_time: Maybe(Type.String()),
    }),
    Type.Object({ daily_tokens_used: Type.Number(), daily_token_limit: tokens }),
    Type.Object({ monthly_tokens_used: Type.Number(), monthly_token_limit: tokens }),
  ],
  {
    description:
      'an object with current_usage and usage_limit, or with daily_tokens_used or monthly_tokens_used',
  },
);

const count = Type.Optional(Type.Integer({ minimum: 0 }));

/** S 4.6, which marks no field as required. Without an operation a predict is meant. */
export const EstimateCostRequestSchema = Type.Object({
  model_version: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String({ minLength: 1 })),
  train_rows: count,
  test_rows: count,
  raw_columns: count,
  n_estimators: Type.Optional(Type.Integer({ minimum: 1 })),
  thinking_effort: Type.Optional(OneOf(EFFORTS)),
});

export const EstimateCostResponseSchema = Type.Object({ estimated_cost: Type.Number() });
