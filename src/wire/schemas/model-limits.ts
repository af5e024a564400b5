import { Type } from '@sinclair/typebox';

const limit = Type.Optional(
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'a whole number from 0' }),
);

/** Limits of one model version (S 4.5); null, like a missing field, means that nothing binds. */
export const LimitSetSchema = Type.Object({
  train_set_max_rows: limit,
  train_set_max_cells: limit,
  test_set_max_rows: limit,
  max_classes: limit,
  max_cols: limit,
  test_set_max_rows_w_full_regression_output: limit,
  predict_row_pairs_budget: limit,
  test_set_max_cells: limit,
});

/** S 4.5 */
export const ModelLimitsResponseSchema = Type.Object({
  default_model_version: Type.Optional(Type.String()),
  max_model_limit: Type.Optional(LimitSetSchema),
  model_limits: Type.Optional(Type.Record(Type.String(), LimitSetSchema)),
  dataset_max_size_bytes: limit,
});
