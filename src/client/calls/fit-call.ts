import { toWireFit } from '../../wire/dialect';
import { schemas } from '../../wire/load-schemas';
import type { Body } from '../../wire/parse-body';
import { ServiceError } from '../../wire/service-error';
import { type FitResponse, SYSTEMS } from '../../wire/types';
import { assertConforms } from '../errors/answer';
import type { Call } from '../retry/deadline';
import { ask } from '../retry/request';
import type { CallOptions, FitCall, FitOptions } from '../types';
import { assertConfig, assertRequest, type Core } from './core';
import { awaitFit } from './fit-status';

/** A thinking fit gets its thinking time plus this, in milliseconds. */
const THINKING_MARGIN_MS = 60_000;

/** How long a fit in the background may take if the service does not say, in milliseconds. */
const BACKGROUND_MS = 7_200_000;

/** Statuses with which a service answers for a route that it does not have. */
const NO_ROUTE = [404, 405, 501];

/** S 4.3. If the answer says that the fit is still running, waits for it. */
export async function callFit(core: Core, asked: FitCall, options: FitOptions): Promise<FitResponse> {
  const request = withThinkingSystem(asked);
  const { svc_config: config, ...checkable } = request;
  assertRequest(schemas().FlatFitRequestSchema, checkable, 'fit');
  assertConfig(config);
  const timeoutMs = Math.max(
    options.timeoutMs ?? core.settings.timeoutMs,
    thinkingMs(request),
    options.background === true ? (options.backgroundMs ?? BACKGROUND_MS) : 0,
  );
  return core.call('fit', 'fit', { ...options, timeoutMs }, async (call) => {
    const submitted = options.background === true ? await submit(core, call, request) : undefined;
    const first = submitted ?? (await fitAtOnce(core, call, request));
    const body = await awaitFit(core, call, first, options.onPending);
    assertConforms(schemas().FitResponseSchema, body, call.what);
    return body;
  });
}

/** Waits for a fit that was pending before. */
export async function resumeFit(core: Core, id: string, options: CallOptions): Promise<FitResponse> {
  const timeoutMs = options.timeoutMs ?? Math.max(core.settings.timeoutMs, BACKGROUND_MS);
  return core.call('fit', 'fit', { ...options, timeoutMs }, async (call) => {
    const body = await awaitFit(core, call, { fitted_train_set_id: id, status: 'pending' });
    assertConforms(schemas().FitResponseSchema, body, call.what);
    return body;
  });
}

function fitAtOnce(core: Core, call: Call, request: FitCall): Promise<Body> {
  if (request.thinking_folds !== undefined && core.dialect.fitRequest === 'flat') {
    core.settings.log(
      'warn',
      'The flat shape of a fit request cannot name the group or the time of the rows: the service draws the folds of its thinking without them.',
    );
  }
  const plan = core.plan('fit', 'fit', 'fit', {
    body: toWireFit(request, core.dialect),
    repeatable: request.force_refit !== true && !isThinking(request),
    lateError: 'fit.failed',
  });
  return ask(core.wiring, call, plan);
}

/** Submits the fit, which the service acknowledges at once; undefined if it has no route for that. */
async function submit(core: Core, call: Call, request: FitCall): Promise<Body | undefined> {
  const job = { ...request, force_refit: undefined };
  const plan = core.plan('fit', 'fit', 'submit_fit_job', {
    body: toWireFit(job, { ...core.dialect, fitRequest: 'task_config' }),
    repeatable: false,
  });
  try {
    return { status: 'pending', ...(await ask(core.wiring, call, plan)) };
  } catch (error) {
    if (error instanceof ServiceError && NO_ROUTE.includes(error.cause?.status ?? 0)) {
      return undefined;
    }
    throw error;
  }
}

/** Thinking runs on top of the base systems, so a fit with an effort names both. */
function withThinkingSystem(request: FitCall): FitCall {
  const { thinking_effort: effort, svc_systems: systems = SYSTEMS.filter((one) => one !== 'thinking') } =
    request;
  return effort === undefined || systems.includes('thinking')
    ? request
    : { ...request, svc_systems: [...systems, 'thinking'] };
}

function isThinking(request: FitCall): boolean {
  return request.thinking_effort !== undefined || request.svc_systems?.includes('thinking') === true;
}

function thinkingMs(request: FitCall): number {
  const seconds = request.thinking_timeout_s;
  return seconds === undefined ? 0 : seconds * 1000 + THINKING_MARGIN_MS;
}
