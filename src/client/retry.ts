import type { Body } from '../wire/parse-requests';
import { ServiceError } from '../wire/service-error';
import { type ErrorEnvelope, malformedAnswer, readAnswer, readEnvelope, readErrorBody } from './answer';
import {
  answerError,
  type Asked,
  DuplicateUploadError,
  type ErrorAnswer,
  isLasting,
  statusOfCode,
  transportReason,
} from './errors';
import {
  AnswerTooLong,
  type Dispatchers,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  redirected,
  TransportFailure,
} from './http';
import { backOff, type Call, type Notices, type RateGate, retryAfter, sleep } from './pacing';
import { type Secrets } from './secrets';
import type { ClientSettings } from './settings';

/** What requests share: settings, connections, secrets. */
export interface Wiring {
  settings: ClientSettings;
  dispatchers: Dispatchers;
  secrets: Secrets;
  notices: Notices;
}

/** How one request of a call is made, and how its failure is handled. */
export interface RequestPlan extends Asked, RequestRights {
  gate: RateGate;
  request: HttpRequest;
  /** Where the body of a duplicate (409) has the id to reuse. */
  uploadId?: 'train_set_upload_id' | 'test_set_upload_id';
  /** Code of an error that comes with status 200 and says nothing more precise. */
  lateError?: 'fit.failed';
  /** The answer has labels: whole numbers beyond 2^53 become text, with all of their digits. */
  labels?: 'preds' | 'probas';
  /** A fit that costs, and goes on in the service whatever becomes of its connection. */
  isThinking?: boolean;
  /** The answer is not JSON: its bytes are the `bytes` of the result. */
  isBytes?: boolean;
  /** Most bytes of the answer, by what was requested. */
  maxBytes?: number;
}

/**
 * Makes a request to a route of the service, with retries where allowed, and returns its JSON body.
 * @throws ServiceError
 */
export async function ask(wiring: Wiring, call: Call, plan: RequestPlan): Promise<Body> {
  if (wiring.settings.token === '' && !wiring.settings.anonymous) {
    throw new ServiceError(
      'auth.unauthorized',
      'No access token is set, and the service asks for one. Put the API key into the token field of the configuration.',
    );
  }
  return retrying(call, plan.gate, wiring.settings, () => attemptOnce(wiring, call, plan));
}

async function attemptOnce(
  wiring: Wiring,
  call: Call,
  plan: RequestPlan,
): Promise<{ result: Body } | FailedAttempt> {
  const { settings, secrets } = wiring;
  const started = performance.now();
  let answer!: HttpAnswer;
  try {
    let request: HttpRequest | undefined = plan.request;
    for (let hops = 0; request !== undefined; hops += 1) {
      answer = await exchange(wiring.dispatchers.for(request.url), request, call.signal, plan.maxBytes);
      request = answer.status < 300 ? undefined : redirected(request, answer, plan.what, hops);
    }
  } catch (error) {
    return noAnswer(error, call, plan, wiring);
  }
  const took = Math.round(performance.now() - started);
  wiring.notices.read(plan.path, answer);
  settings.log('debug', `${plan.request.method} ${plan.path} ${answer.status} in ${took} ms`);
  if (answer.status < 200 || answer.status > 299) {
    const holdMs = retryAfter(answer.headers);
    return errorAnswer(
      { status: answer.status, envelope: readEnvelope(answer.body), retryAfterMs: holdMs },
      plan,
      secrets,
    );
  }
  if (plan.isBytes === true) {
    return { result: { bytes: answer.body } };
  }
  if (answer.body.length === 0) {
    return emptyAnswer(answer.status, plan);
  }
  const read = readAnswer(answer, plan.what, plan.labels);
  return 'body' in read ? { result: read.body } : lateError(readErrorBody(read.error), plan, secrets);
}

/** An answer with an error status. */
function errorAnswer(answer: ErrorAnswer, plan: RequestPlan, secrets: Secrets): FailedAttempt {
  const { status, envelope, retryAfterMs: holdMs } = answer;
  const error = answerError(answer, plan, secrets);
  if (status === 409 && plan.uploadId !== undefined && isDuplicate(envelope)) {
    return { error: duplicate(error, envelope, plan.uploadId, plan.what), retry: false };
  }
  const spent = error.code === 'budget.exceeded' && holdMs === undefined;
  const failure = { status, retryable: envelope.retryable, spent };
  const holds = wasNotTaken(failure) || envelope.retryable === true;
  return { ...judged(failure, plan, error), holdMs: holds ? holdMs : undefined };
}

/** White space, which kept the connection alive, and then nothing: the service was lost at work. */
function emptyAnswer(status: number, plan: RequestPlan): FailedAttempt {
  const message = `The ${plan.what} failed in the service (${status}): its answer is empty.`;
  const error = new ServiceError('service.unavailable', message, { status });
  return judged({ status, empty: true }, plan, error);
}

/** An error that came with status 200: the service had begun, so that even a 503 does not say that nothing was done. */
function lateError(envelope: ErrorEnvelope, plan: RequestPlan, secrets: Secrets): FailedAttempt {
  const status = envelope.status ?? statusOfCode(envelope.serviceCode) ?? 500;
  if (status < 500) {
    return errorAnswer({ status, envelope }, plan, secrets);
  }
  const { code, cause, message } = answerError({ status, envelope }, plan, secrets);
  const said = message.replace(/ failed in the service \(\d+\)/, ' failed in the service');
  const error = new ServiceError(plan.lateError ?? code, said, { ...cause, status: 200 });
  return judged({ status, late: true, retryable: envelope.retryable }, plan, error);
}

/** @throws ServiceError if the call is over, or if it is not the network that failed. */
function noAnswer(
  error: unknown,
  call: Call,
  plan: RequestPlan,
  { dispatchers, settings }: Wiring,
): FailedAttempt {
  if (error instanceof AnswerTooLong) {
    throw new ServiceError(
      'response.invalid',
      `The service's answer to the ${plan.what} is longer than what was asked for can need.`,
    );
  }
  if (!(error instanceof TransportFailure)) {
    throw error;
  }
  const failure = { sent: error.sent, lasting: isLasting(error) };
  if (call.ending !== undefined) {
    const over = call.over('the service gave no answer');
    throw call.ending === 'timeout' ? judged(failure, plan, over).error : over;
  }
  const reason = transportReason(error, dispatchers.place(plan.request.url), settings.whenDown);
  return judged(failure, plan, new ServiceError('service.unavailable', `The ${plan.what} failed: ${reason}`));
}

function judged(failure: RequestFailure, plan: RequestPlan, error: ServiceError): FailedAttempt {
  const decided = verdict(failure, plan);
  return decided === 'unknown'
    ? { error: unknownOutcome(error, plan), retry: false }
    : { error, retry: decided === 'retry' };
}

function isDuplicate(envelope: ErrorEnvelope): boolean {
  return envelope.uploadIds !== undefined || /duplicate/i.test(envelope.serviceCode ?? '');
}

/** @throws ServiceError `response.invalid` for a duplicate without the id to reuse. */
function duplicate(
  error: ServiceError,
  envelope: ErrorEnvelope,
  name: keyof NonNullable<ErrorEnvelope['uploadIds']>,
  what: string,
): DuplicateUploadError {
  const id = envelope.uploadIds?.[name];
  if (id === undefined) {
    throw malformedAnswer(what, `it says that the upload exists already (409), and no ${name} says which`);
  }
  return new DuplicateUploadError(error.message, id, error.cause);
}

function unknownOutcome(error: ServiceError, { metered, isThinking }: RequestPlan): ServiceError {
  const { code, message, cause } = error;
  if (metered === true) {
    const advice =
      'It may have been carried out and metered, so it is not repeated; ' +
      'with "Repeat a predict whose outcome is unknown" ticked it is, all the same.';
    return new ServiceError('predict.unknown', `${message} ${advice}`, cause);
  }
  return isThinking === true
    ? new ServiceError(
        code,
        `${message} It may go on in the service and be metered, so it is not repeated.`,
        cause,
      )
    : error;
}

/** An attempt that did not succeed. */
export interface FailedAttempt {
  error: ServiceError;
  retry: boolean;
  /** Milliseconds for which the service asked for no more requests of this kind. */
  holdMs?: number;
}

/**
 * Makes attempts until one succeeds, may not be repeated, or the next would begin after the deadline.
 * @throws ServiceError of the last attempt, or whatever an attempt throws
 */
export async function retrying<Result>(
  call: Call,
  gate: RateGate,
  settings: Pick<ClientSettings, 'retries' | 'log'>,
  attempt: () => Promise<{ result: Result } | FailedAttempt>,
): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    await gate.pass(call);
    const outcome = await attempt();
    if ('result' in outcome) {
      return outcome.result;
    }
    const { error, retry, holdMs } = outcome;
    if (holdMs !== undefined) {
      gate.hold(holdMs, error);
    }
    const waitMs = holdMs ?? backOff(failures);
    if (!retry || failures >= settings.retries || waitMs > call.leftMs()) {
      throw error;
    }
    settings.log('warn', `${error.message} Trying again in ${Math.round(waitMs)} ms.`);
    if (holdMs === undefined) {
      await call.until(sleep(waitMs, call.signal));
    }
  }
}

/** How a request failed. */
export interface RequestFailure {
  /** Status of the answer, or the one that an error at status 200 speaks of; undefined where no whole answer came. */
  status?: number;
  /** The error came with status 200: the service had begun. */
  late?: boolean;
  /** The answer came with status 200 and is white space, or nothing at all. */
  empty?: boolean;
  /** The token budget is used up, and no `Retry-After` says until when. */
  spent?: boolean;
  /** What the body says of itself; it counts more than the status. */
  retryable?: boolean;
  /** Where no answer came: some of the request may have left. */
  sent?: boolean;
  /** Where no answer came: the next attempt would fail the same way (certificate, proxy password). */
  lasting?: boolean;
}

export interface RequestRights {
  /** It may be repeated although the service may have acted on it. */
  repeatable: boolean;
  /** A predict that costs tokens. */
  metered?: boolean;
}

/** Whether to try again; `unknown` where it may have been carried out, or go on, and be paid for. */
export type Verdict = 'retry' | 'fail' | 'unknown';

interface Rule {
  when: string;
  applies: (failure: RequestFailure) => boolean;
  /** For a predict that costs, and for what is free or goes on without its connection; each where it is repeatable, and where it is not. */
  metered: readonly [repeatable: Verdict, once: Verdict];
  free: readonly [repeatable: Verdict, once: Verdict];
}

/** The first rule that applies decides. */
export const RULES: readonly Rule[] = [
  {
    when: 'nothing left, and the next attempt would fail the same way',
    applies: ({ status, sent, lasting }) => status === undefined && sent !== true && lasting === true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'nothing left',
    applies: ({ status, sent }) => status === undefined && sent !== true,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    when: 'it left, no answer came, and the next attempt would fail the same way',
    applies: ({ status, lasting }) => status === undefined && lasting === true,
    metered: ['fail', 'unknown'],
    free: ['fail', 'unknown'],
  },
  {
    when: 'it left, and no answer came',
    applies: ({ status }) => status === undefined,
    metered: ['retry', 'unknown'],
    free: ['retry', 'unknown'],
  },
  {
    // A budget comes back with the next day or month, not in the seconds of a back-off.
    when: 'the token budget is used up, and nothing says until when',
    applies: ({ spent }) => spent === true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the body says that it may be repeated',
    applies: ({ retryable }) => retryable === true,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    when: 'it was not taken, and the body says not to repeat it',
    applies: (failure) => wasNotTaken(failure) && failure.retryable === false,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
  {
    when: 'it was not taken (429)',
    applies: ({ status }) => status === 429,
    metered: ['retry', 'retry'],
    free: ['retry', 'retry'],
  },
  {
    // A gateway may have lost the service only after it had taken the request: a fit goes on then, and is paid for.
    // A predict ends with its connection.
    when: 'it was not taken (503 at once), or a gateway says so',
    applies: wasNotTaken,
    metered: ['retry', 'retry'],
    free: ['retry', 'unknown'],
  },
  {
    when: 'the answer is empty (200)',
    applies: ({ empty }) => empty === true,
    metered: ['retry', 'unknown'],
    free: ['retry', 'unknown'],
  },
  {
    when: 'the service failed, and the body says not to repeat it',
    applies: (failure) => hasFailed(failure) && failure.retryable === false,
    metered: ['fail', 'unknown'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the service had begun and failed in earnest (not 503)',
    applies: ({ status, late }) => late === true && status! >= 500 && status !== 503,
    metered: ['retry', 'unknown'],
    free: ['fail', 'fail'],
  },
  {
    when: 'the service failed (408, 5xx)',
    applies: hasFailed,
    metered: ['retry', 'unknown'],
    free: ['retry', 'unknown'],
  },
  {
    when: 'the request is at fault',
    applies: () => true,
    metered: ['fail', 'fail'],
    free: ['fail', 'fail'],
  },
];

/** What to do after a request failed. */
export function verdict(failure: RequestFailure, { repeatable, metered }: RequestRights): Verdict {
  const rule = RULES.find(({ applies }) => applies(failure))!;
  return (metered === true ? rule.metered : rule.free)[repeatable ? 0 : 1];
}

/** The service refused to begin, so that `Retry-After` says when it will. */
export function wasNotTaken({ status, late }: RequestFailure): boolean {
  return status === 429 || (status === 503 && late !== true);
}

function hasFailed({ status }: RequestFailure): boolean {
  return status !== undefined && (status === 408 || status >= 500);
}
