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
