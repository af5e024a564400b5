import { Type } from '@sinclair/typebox';

import { Maybe } from './common';
import { ModelLimitsResponseSchema } from './model-limits';

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

/** What an account has used, in tokens; a limit of -1 is none. Not of the specification: the hosted service has it. */
export const UsageResponseSchema = Type.Object({
  current_usage: Type.Number(),
  usage_limit: Type.Number(),
  reset_time: Maybe(Type.String()),
});
