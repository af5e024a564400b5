import { schemas } from '../wire/check';
import { toWireFit } from '../wire/dialect';
import { ANY_TEXT, ANY_TEXTS, checkGiven, checkValue, numberFrom, optional } from '../wire/given';
import type { Body } from '../wire/parse-requests';
import { type ErrorCode, ServiceError } from '../wire/service-error';
import type { FitResponse } from '../wire/types';
import { SYSTEMS } from '../wire/vocabulary';
import { assertConforms } from './answer';
import { assertConfig, assertRequest, checkCallOptions, type Core } from './core';
import { type Call, sleep } from './pacing';
import { ask, type RequestPlan } from './retry';
import type { CallOptions, FitCall, FitOptions } from './types';

const DONE = /^(?:completed?|succeeded|success|done|finished|ready|ok|fitted)$/i;
const FAILED = /fail|error|cancel|abort|reject/i;
const DEFAULT_POLL_MS = 2_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;
/** This many polls in a row may fail (429, 500, an unreadable answer): with one more the fit is given up. */
const MAX_REFUSALS = 3;
/** Statuses of a gateway, which say nothing about the fit: polling goes on until the deadline. */
const PASSING = [408, 502, 503, 504];
/** Of polls that are counted. */
const MAY_PASS: readonly ErrorCode[] = ['service.unavailable', 'storage.failed', 'response.invalid'];

/** A thinking fit gets its thinking time plus this, in milliseconds. */
const THINKING_MARGIN_MS = 60_000;

/** How long a fit in the background may take if the service does not say, in milliseconds. */
const BACKGROUND_MS = 7_200_000;

/** Statuses with which a service answers for a route that it does not have. */
const NO_ROUTE = [404, 405, 501];

const FIT = {
  svc_systems: optional(ANY_TEXTS),
  thinking_timeout_s: optional(numberFrom(0, { integer: false })),
};

/** S 4.3. If the answer says that the fit is still running, waits for it. */
export async function callFit(core: Core, asked: FitCall, options: FitOptions): Promise<FitResponse> {
  checkGiven('fit', asked, FIT);
  checkCallOptions('fit', options);
  const request = withThinkingSystem(asked);
  const timeoutMs = Math.max(
    options.timeoutMs ?? core.settings.timeoutMs,
    asked.thinking_timeout_s === undefined ? 0 : asked.thinking_timeout_s * 1000 + THINKING_MARGIN_MS,
    options.background === true ? (options.backgroundMs ?? BACKGROUND_MS) : 0,
  );
  return core.call('fit', 'fit', { ...options, timeoutMs }, async (call) => {
    const { svc_config: config, ...checkable } = request;
    assertRequest(schemas().FlatFitRequestSchema, checkable, 'fit');
    assertConfig(config);
    const submitted = options.background === true ? await submit(core, call, request) : undefined;
    const first = submitted ?? (await fitAtOnce(core, call, request));
    const body = await awaitFit(core, call, first, options.onPending);
    assertConforms(schemas().FitResponseSchema, body, call.what);
    return body;
  });
}

/** Waits for a fit that was pending before. */
export async function resumeFit(core: Core, id: string, options: CallOptions): Promise<FitResponse> {
  checkValue('resumeFit: fittedTrainSetId', id, ANY_TEXT);
  checkCallOptions('fit', options);
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
  const isThinking = thinks(request);
  const plan = core.plan('fit', 'fit', 'fit', {
    body: toWireFit(request, core.dialect),
    repeatable: request.force_refit !== true && !isThinking,
    isThinking: isThinking && !core.settings.free,
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
    isThinking: thinks(request) && !core.settings.free,
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

/** A request with an effort names the system too. */
function thinks({ svc_systems: systems }: FitCall): boolean {
  return systems?.includes('thinking') === true;
}

/** Thinking runs on top of the base systems, so a fit with an effort names both. */
function withThinkingSystem(request: FitCall): FitCall {
  const { thinking_effort: effort, svc_systems: systems = SYSTEMS.filter((one) => one !== 'thinking') } =
    request;
  return effort === undefined || systems.includes('thinking')
    ? request
    : { ...request, svc_systems: [...systems, 'thinking'] };
}

/**
 * The answer of a fit that is completed. An answer without a status is one; where the fit still runs, its status is
 * asked for until the deadline, whatever becomes of a single question.
 * @param onPending called once with the id, as soon as the fit is known to go on by itself
 * @throws ServiceError `fit.failed`, `service.timeout`
 */
async function awaitFit(
  core: Core,
  call: Call,
  first: Body,
  onPending?: (fittedTrainSetId: string) => void,
): Promise<Body> {
  if (isOver(first, core)) {
    return first;
  }
  assertConforms(schemas().FitResponseSchema, first, call.what);
  const id = first.fitted_train_set_id;
  onPending?.(id);
  const poll = new StatusPoll(core, call, id, String(first.status));
  let body: Body = first;
  for (let asked = 0; !isOver(body, core); asked += 1) {
    if (asked > 0 || typeof body.retry_in_secs === 'number') {
      await pause(call, body.retry_in_secs);
    }
    // After a poll without an answer, the interval is still the one that the service named last.
    body = { fitted_train_set_id: id, ...((await poll.ask()) ?? body) };
  }
  return body;
}

/** Progress, 0 to 1, of the newest fit of a train set, from the status of the embedded service. */
export function findProgress({ fits }: Body, trainSetUploadId: string): number | undefined {
  const list = Array.isArray(fits) ? (fits as Partial<Record<string, unknown>>[]) : [];
  const own = list.filter((fit) => fit?.train_set_upload_id === trainSetUploadId.toLowerCase());
  const progress = own.at(-1)?.progress;
  return typeof progress === 'number' ? Math.min(1, Math.max(0, progress)) : undefined;
}

/** Polls a fit by the route that the service has for it. */
class StatusPoll {
  private refusals = 0;
  private readonly plans: RequestPlan[];

  constructor(
    private readonly core: Core,
    private readonly call: Call,
    id: string,
    private readonly lastKnown: string,
  ) {
    const options = { repeatable: true, lateError: 'fit.failed' as const };
    this.plans = [
      core.plan('fit', 'fit', 'get_fit_status', { ...options, body: { fitted_train_set_id: id } }),
      core.plan('fit', 'fit', 'fit', { ...options, below: id }),
    ];
  }

  /** One answer; undefined if there was none this time. */
  async ask(): Promise<Body | undefined> {
    // One attempt per poll: how long to go on is decided here.
    const wiring = { ...this.core.wiring, settings: { ...this.core.settings, retries: 0 } };
    try {
      const body = await ask(wiring, this.call, this.plans[0]!);
      this.refusals = 0;
      return body;
    } catch (error) {
      return this.failed(error);
    }
  }

  private async failed(error: unknown): Promise<Body | undefined> {
    if (this.call.ending === 'timeout') {
      throw this.call.over('it goes on in the service');
    }
    if (!(error instanceof ServiceError) || this.call.ending !== undefined) {
      throw error;
    }
    const status = error.cause?.status;
    if (status === 404 || status === 405 || status === 501) {
      this.plans.shift();
      if (this.plans.length === 0) {
        throw new ServiceError(
          'fit.failed',
          `The fit was left "${this.clean(this.lastKnown)}": the service does not say what became of it.`,
          error.cause,
        );
      }
      return this.ask();
    }
    const passing = error.code === 'service.unavailable' && status === undefined;
    if (!passing && !PASSING.includes(status ?? 0)) {
      this.refusals += 1;
      const counted = status === 429 || MAY_PASS.includes(error.code);
      if (!counted || this.refusals > MAX_REFUSALS) {
        throw error;
      }
    }
    this.core.settings.log('warn', `${error.message} The fit goes on: asking again.`);
    return undefined;
  }

  private clean(text: string): string {
    return this.core.wiring.secrets.clean(text);
  }
}

/** @throws ServiceError `fit.failed` */
function isOver(body: Body, core: Core): boolean {
  if (typeof body.status !== 'string' || DONE.test(body.status)) {
    return true;
  }
  if (!FAILED.test(body.status)) {
    return false;
  }
  const { secrets } = core.wiring;
  const said = [body.message, body.detail, body.error].find((text) => typeof text === 'string');
  const because = said === undefined ? '' : `: ${secrets.clean(said).replace(/[.\s]+$/, '')}`;
  const code = body.error_code ?? body.code;
  throw new ServiceError(
    'fit.failed',
    `The fit ended as "${secrets.clean(body.status)}"${because}.`,
    typeof code === 'string' ? { serviceCode: secrets.clean(code, 100) } : undefined,
  );
}

async function pause(call: Call, seconds: unknown): Promise<void> {
  const ms =
    typeof seconds === 'number' && Number.isFinite(seconds)
      ? Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, seconds * 1000))
      : DEFAULT_POLL_MS;
  try {
    await sleep(ms, call.signal);
  } catch {
    throw call.over('it goes on in the service');
  }
}
