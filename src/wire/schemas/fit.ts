import { Type } from '../schema';
import { EFFORTS } from '../vocabulary';
import { ModelConfigSchema, Systems, TaskName, Uuid } from './common';

const effort = Type.oneOf(EFFORTS);
const seconds = Type.number({ exclusiveMinimum: 0 });

/** What both shapes have. Some clients send `async_mode` with every fit: true asks for an answer before the fit has ended. */
const common = {
  train_set_upload_id: Uuid,
  svc_systems: Type.optional(Systems),
  force_refit: Type.optional(Type.boolean()),
  async_mode: Type.optional(Type.boolean()),
};

/** S 4.3 shape A. */
export const FlatFitRequestSchema = Type.object({
  ...common,
  task: TaskName,
  svc_config: Type.optional(ModelConfigSchema),
  thinking_effort: Type.optional(effort),
  thinking_timeout_s: Type.optional(seconds),
  thinking_effort_metric: Type.optional(Type.text()),
});

/** S 4.3 shape B. `force_refit` is not among what B replaces, so it stays where A has it. */
export const TaskConfigFitRequestSchema = Type.object({
  ...common,
  task_config: Type.object({ task: TaskName, svc_config: Type.optional(ModelConfigSchema) }),
  thinking_config: Type.optional(
    Type.object({
      effort: Type.optional(effort),
      timeout_secs: Type.optional(seconds),
      metric: Type.optional(Type.text()),
    }),
  ),
});

/** Not of the specification: what has become of a fit. */
export const FitStatusRequestSchema = Type.object({ fitted_train_set_id: Uuid });

export const FitResponseSchema = Type.object({ fitted_train_set_id: Uuid });
