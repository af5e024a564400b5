import { Type } from '@sinclair/typebox';

import { EFFORTS } from '../vocabulary';
import { ModelConfigSchema, OneOf, Systems, TaskName, Uuid } from './common';

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
