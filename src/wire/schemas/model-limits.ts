import { Type } from '@sinclair/typebox';

import { Maybe } from './common';

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
