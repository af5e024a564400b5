import { Type } from '@sinclair/typebox';

import { EFFORTS } from '../vocabulary';
import { ModelConfigSchema, OneOf, strict, Systems, TaskName, Uuid } from './common';

const effort = OneOf(EFFORTS);
const seconds = Type.Number({ exclusiveMinimum: 0 });

/** S 4.3 shape A. */
export const FlatFitRequestSchema = Type.Object(
  {
    train_set_upload_id: Uuid,
    task: TaskName,
    svc_systems: Type.Optional(Systems),
    svc_config: Type.Optional(ModelConfigSchema),
    thinking_effort: Type.Optional(effort),
    thinking_timeout_s: Type.Optional(seconds),
    thinking_effort_metric: Type.Optional(Type.String()),
    force_refit: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** S 4.3 shape B. `force_refit` is not among what B replaces, so it stays where A has it. */
export const TaskConfigFitRequestSchema = Type.Object(
  {
    train_set_upload_id: Uuid,
    task_config: Type.Object({ task: TaskName, svc_config: Type.Optional(ModelConfigSchema) }, strict),
    svc_systems: Type.Optional(Systems),
    thinking_config: Type.Optional(
      Type.Object(
        {
          effort: Type.Optional(effort),
          timeout_secs: Type.Optional(seconds),
          metric: Type.Optional(Type.String()),
        },
        strict,
      ),
    ),
    force_refit: Type.Optional(Type.Boolean()),
  },
  strict,
);

export const FitResponseSchema = Type.Object({ fitted_train_set_id: Uuid });
