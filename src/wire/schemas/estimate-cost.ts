import { Type } from '@sinclair/typebox';

import { EFFORTS } from '../vocabulary';
import { OneOf } from './common';

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
