import { Type } from '../schema';

const count = Type.optional(Type.integer({ minimum: 0 }));

/** S 4.6. Only the operation says what to estimate; the specification marks no field as required. */
export const EstimateCostRequestSchema = Type.object({
  model_version: Type.optional(Type.text()),
  operation: Type.text({ minLength: 1 }),
  train_rows: count,
  test_rows: count,
  raw_columns: count,
  n_estimators: Type.optional(Type.integer({ minimum: 1 })),
});

export const EstimateCostResponseSchema = Type.object({ estimated_cost: Type.number() });
