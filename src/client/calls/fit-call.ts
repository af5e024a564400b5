import { toWireFit } from '../../wire/dialect';
import type { FitResponse } from '../../wire/types';
import { assertConforms, type Body } from '../errors/answer';
import { ask } from '../retry/request';
import type { CallOptions, FitCall } from '../types';
import { assertConfig, assertRequest, type Core, schemas } from './core';
import { completedFit } from './fit-status';

/** A thinking fit gets its thinking time and this much more, in milliseconds. */
const THINKING_MARGIN_MS = 60_000;

/** S 4.3 */
export async function fit(core: Core, request: FitCall, options: CallOptions): Promise<FitResponse> {
  const { svc_config: config, ...checkable } = request;
  assertRequest(schemas().FlatFitRequestSchema, checkable, 'fit');
  assertConfig(config);
  const timeoutMs = Math.max(options.timeoutMs ?? core.settings.timeoutMs, thinkingMs(request));
  return core.call('fit', 'fit', { ...options, timeoutMs }, async (call) => {
    const plan = core.plan('fit', 'fit', 'fit', {
      body: toWireFit(request, core.dialect),
      repeatable: request.force_refit !== true && !isThinking(request),
      lateError: 'fit.failed',
    });
    const status = (id: string | undefined): Promise<Body> => {
      const query: Record<string, string> = id === undefined ? {} : { fitted_train_set_id: id };
      const poll = core.plan('fit', 'fit', 'get_fit_status', {
        query,
        repeatable: true,
        lateError: 'fit.failed',
      });
      return ask(core.wiring, call, poll);
    };
    const first = await ask(core.wiring, call, plan);
    const body = await completedFit(first, call, status, (text) => core.wiring.secrets.clean(text));
    assertConforms(schemas().FitResponseSchema, body, plan.what);
    return body;
  });
}

function isThinking(request: FitCall): boolean {
  return request.thinking_effort !== undefined || request.svc_systems?.includes('thinking') === true;
}

function thinkingMs(request: FitCall): number {
  const seconds = request.thinking_timeout_s;
  return seconds === undefined ? 0 : seconds * 1000 + THINKING_MARGIN_MS;
}
