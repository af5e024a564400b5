import { ServiceError } from '../../wire/service-error';
import { type Body, invalid, type Read, readBody } from '../errors/answer';
import { type Envelope, envelopeOf, readEnvelope } from '../errors/envelope';
import {
  answerError,
  type Asked,
  DuplicateUploadError,
  isLasting,
  reasonOf,
  statusOfCode,
  transportError,
} from '../errors/errors';
import type { Dispatchers } from '../http/dispatchers';
import {
  AnswerTooLong,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  TransportFailure,
} from '../http/exchange';
import { followed } from '../http/redirect';
import type { Secrets } from '../secrets';
import type { Settings } from '../settings';
import { backOff, retryAfter, sleep } from './backoff';
import type { Call } from './deadline';
import type { Lane } from './rate-gate';

/** What requests share: settings, connections, secrets. */
export interface Wiring {
  settings: Settings;
  dispatchers: Dispatchers;
  secrets: Secrets;
}

/** How one request of a call is made and what may be done when it fails. */
export interface Plan extends Asked {
  lane: Lane;
  request: HttpRequest;
  /**
   * Whether it may be repeated although the service may have acted on it. Where not, only a request that surely
   * did not arrive or was refused is repeated.
   */
  repeatable: boolean;
  /** A failure that leaves open whether tokens were spent is `predict.unknown`. */
  metered?: boolean;
  /** Where a duplicate (409) has the id to reuse. */
  uploadId?: 'train_set_upload_id' | 'test_set_upload_id';
  /** Code of an error that comes with status 200 and says nothing more precise. */
  lateError?: 'fit.failed';
}

type Verdict = { error: ServiceError; retry: boolean; afterMs?: number };

/**
 * Makes a request of the service's own routes, again where that is allowed, and answers with its JSON body.
 * @throws ServiceError
 */
export async function ask(wiring: Wiring, call: Call, plan: Plan): Promise<Body> {
  const { settings } = wiring;
  if (settings.token === '') {
    throw new ServiceError(
      'auth.unauthorized',
      'No access token is set, and the service asks for one. Put the API key into the token field of the configuration.',
    );
  }
  for (let attempt = 0; ; attempt += 1) {
    await plan.lane.pass(call);
    const outcome = await attemptOnce(wiring, call, plan);
    if ('body' in outcome) {
      return outcome.body;
    }
    const { error, retry, afterMs } = outcome;
    if (afterMs !== undefined) {
      plan.lane.hold(afterMs, error);
    }
    if (!retry || attempt >= settings.retries) {
      throw error;
    }
    const waitMs = afterMs ?? backOff(attempt);
    if (waitMs > call.leftMs()) {
      throw error;
    }
    settings.log('warn', `${error.message} Trying again in ${Math.round(waitMs)} ms.`);
    if (afterMs === undefined) {
      await call.until(sleep(waitMs, call.signal));
    }
  }
}

async function attemptOnce(wiring: Wiring, call: Call, plan: Plan): Promise<{ body: Body } | Verdict> {
  const { settings, secrets } = wiring;
  const started = performance.now();
  let answer: HttpAnswer;
  try {
    answer = await followed(
      plan.request,
      (request) => exchange(wiring.dispatchers.for(request.url), request, call.signal),
      plan.what,
    );
  } catch (error) {
    return failed(error, call, plan, wiring.dispatchers.place(plan.request.url));
  }
  const took = Math.round(performance.now() - started);
  settings.log('debug', `${plan.request.method} ${plan.path} ${answer.status} in ${took} ms`);
  if (answer.status < 200 || answer.status > 299) {
    const envelope = readEnvelope(answer.body);
    return judged(answer.status, envelope, retryAfter(answer.headers['retry-after']), plan, secrets);
  }
  const read: Read = readBody(answer, plan.what);
  if ('body' in read) {
    return read;
  }
  return judgedLate(envelopeOf(read.error), plan, secrets);
}

/** An answer with an error status. `retryable` of the body counts more than the status. */
function judged(
  status: number,
  envelope: Envelope,
  afterMs: number | undefined,
  plan: Plan,
  secrets: Secrets,
): Verdict {
  const error = answerError(status, envelope, plan, secrets, afterMs);
  if (status === 409 && plan.uploadId !== undefined && isDuplicate(envelope)) {
    return { error: duplicate(error, envelope, plan.uploadId, plan.what), retry: false };
  }
  const refused = status === 429 || status === 503 || envelope.retryable === true;
  const passing = refused || status === 408 || status >= 500;
  if (plan.metered === true && !plan.repeatable && passing && !refused) {
    return { error: unknownOutcome(error.message, error.cause), retry: false };
  }
  const retry = passing && envelope.retryable !== false && (refused || plan.repeatable);
  return { error, retry, ...(refused && afterMs !== undefined && { afterMs }) };
}

function isDuplicate(envelope: Envelope): boolean {
  return envelope.uploadIds !== undefined || /duplicate/i.test(envelope.serviceCode ?? '');
}

/** @throws ServiceError `response.invalid` for a duplicate without the id to reuse. */
function duplicate(
  error: ServiceError,
  envelope: Envelope,
  name: keyof NonNullable<Envelope['uploadIds']>,
  what: string,
): DuplicateUploadError {
  const id = envelope.uploadIds?.[name];
  if (id === undefined) {
    throw invalid(what, `it says that the upload exists already (409), and no ${name} says which`);
  }
  return new DuplicateUploadError(error.message, id, error.cause);
}

/**
 * An error that came with status 200: the service had begun, so that even a 503 does not say that nothing was done.
 * What costs is repeated only where the body allows it.
 */
function judgedLate(envelope: Envelope, plan: Plan, secrets: Secrets): Verdict {
  const status = envelope.status ?? statusOfCode(envelope.serviceCode);
  if (status !== undefined && status < 500) {
    return judged(status, envelope, undefined, plan, secrets);
  }
  const { code, cause, message } = answerError(status ?? 500, envelope, plan, secrets);
  const said = message.replace(/ failed in the service \(\d+\)/, ' failed in the service');
  const metered = plan.metered === true;
  const allowed = envelope.retryable === true;
  if (metered && !plan.repeatable && !allowed) {
    return { error: unknownOutcome(said, { ...cause, status: 200 }), retry: false };
  }
  const passing = (metered || status === 503) && envelope.retryable !== false;
  const error = new ServiceError(plan.lateError ?? code, said, { ...cause, status: 200 });
  return { error, retry: allowed || (passing && plan.repeatable) };
}

function failed(error: unknown, call: Call, plan: Plan, place: string): Verdict {
  if (error instanceof AnswerTooLong) {
    throw new ServiceError('response.invalid', `The service's answer to the ${plan.what} is too long.`);
  }
  if (!(error instanceof TransportFailure)) {
    throw error;
  }
  const unsure = plan.metered === true && !plan.repeatable && error.sent;
  if (call.ending !== undefined) {
    const over = call.over('the service gave no answer');
    throw unsure && call.ending === 'timeout' ? unknownOutcome(over.message) : over;
  }
  if (unsure) {
    throw unknownOutcome(`The ${plan.what} failed: ${reasonOf(error, place)}`);
  }
  const retry = !isLasting(error) && (plan.repeatable || !error.sent);
  return { error: transportError(error, plan.what, place), retry };
}

function unknownOutcome(message: string, cause?: ServiceError['cause']): ServiceError {
  const advice =
    'It may have been carried out and metered, so it is not repeated; ' +
    'with "Repeat a predict whose outcome is unknown" ticked it is, all the same.';
  return new ServiceError('predict.unknown', `${message} ${advice}`, cause);
}
