import { Type } from '../schema';
import { ModelLimitsResponseSchema } from './model-limits';

/** The limits of S 4.5, and how large train sets are fitted. Not of the specification: the hosted service has it. */
export const SettingsResponseSchema = Type.object({
  ...ModelLimitsResponseSchema.properties,
  async_settings: Type.maybe(
    Type.object({
      use_above_trainset_size_bytes: Type.maybe(Type.number({ minimum: 0 })),
      poll_timeout_secs: Type.maybe(Type.number({ exclusiveMinimum: 0 })),
    }),
    'an object',
  ),
});

/** What an account has used, in tokens; a limit of -1 is none. Not of the specification: the hosted service has it. */
export const UsageResponseSchema = Type.object({
  current_usage: Type.number(),
  usage_limit: Type.number(),
  reset_time: Type.maybe(Type.text()),
});
