import { type ErrorCode, ServiceError, type ServiceErrorCause } from '../wire/service-error';
import type { ErrorEnvelope } from './answer';
import { MAX_HEADERS, PROXY_REFUSED, type TransportFailure } from './http';
import type { Secrets } from './secrets';

/** The upload exists already (status 409): `uploadId` is the one to reuse. */
export class DuplicateUploadError extends ServiceError {
  constructor(
    message: string,
    readonly uploadId: string,
    cause?: ServiceErrorCause,
  ) {
    super('duplicate', message, cause);
  }
}

/** Most characters that are told of a text which is not the service's own. */
const MAX_FOREIGN = 200;

/** How messages name a request (`fit`), and what a 404 to it means. */
export interface Asked {
  what: string;
  /** Code for a 404 of the service itself; `model.unknown` if the model may be what is missing. */
  missing: 'not_found' | 'model.unknown';
  /** Path of the route, for a 404 of a gateway or proxy. */
  path: string;
}

/** The status that the body's code stands for, if the error came with status 200. */
export function statusOfCode(code: string | undefined): number | undefined {
  const rules: [RegExp, number][] = [
    [/unauthori[sz]ed|unauthenticated/i, 401],
    [/forbidden|permission/i, 403],
    [/not.?found/i, 404],
    [/rate.?limit|too.?many|budget|quota/i, 429],
    [/validation|invalid|unprocessable/i, 422],
    [/unavailable|overload/i, 503],
    [/time.?out/i, 504],
  ];
  return rules.find(([pattern]) => code !== undefined && pattern.test(code))?.[1];
}

/** An answer with an error, as it was read. */
export interface ErrorAnswer {
  status: number;
  envelope: ErrorEnvelope;
  /** When such requests are taken again, where the service says so. */
  retryAfterMs?: number;
}

/** Converts an error answer of the service to a ServiceError. */
export function answerError(answer: ErrorAnswer, asked: Asked, secrets: Secrets): ServiceError {
  const { status, envelope, retryAfterMs } = answer;
  const code = chooseCode(status, envelope, asked);
  const said = secrets.clean(envelope.message, envelope.own ? undefined : MAX_FOREIGN).replace(/[.\s]+$/, '');
  const cause: ServiceErrorCause = { status };
  if (envelope.serviceCode !== undefined) {
    cause.serviceCode = secrets.clean(envelope.serviceCode, 100);
  }
  if (envelope.traceId !== undefined) {
    cause.traceId = secrets.clean(envelope.traceId, 100);
  }
  if (envelope.retryable !== undefined) {
    cause.retryable = envelope.retryable;
  }
  if (retryAfterMs !== undefined) {
    cause.retryAfterMs = Math.round(retryAfterMs);
  }
  if (envelope.support !== undefined) {
    cause.support = secrets.clean(envelope.support, 200);
  }
  const message = writeMessage(code, answer, said, asked);
  return status === 404 || status === 410
    ? new MissingError(code, message, missingIn(envelope), cause)
    : new ServiceError(code, message, cause);
}

/** Code of undici. */
const HEADERS_TOO_LONG = 'UND_ERR_HEADERS_OVERFLOW';

/**
 * Why a request got no complete answer, and what to do, as a sentence.
 * @param host the address without secrets
 * @param whenDown what to do where nothing listens there
 */
export function transportReason(failure: TransportFailure, host: string, whenDown: string): string {
  const { code } = failure;
  switch (code) {
    case 'ECONNREFUSED':
      return `nothing listens at ${host} (connection refused). ${whenDown}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of ${host} is not known (${code}). Check the base URL and the network.`;
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${host} cannot be reached (${code}). Check the base URL, the network and the proxy.`;
    case 'CERT_HAS_EXPIRED':
      return `the certificate of ${host} has expired (${code}). Renew it there, or correct the clock of this computer.`;
    case 'CERT_NOT_YET_VALID':
      return `the certificate of ${host} is not valid yet (${code}). Correct the clock of this computer.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of ${host} is for another name (${code}). Check the base URL.`;
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
    case 'ERR_SSL_UNSUPPORTED_PROTOCOL':
      return `${host} speaks an old version of TLS (${code}). It has to allow TLS 1.2 or 1.3.`;
    case HEADERS_TOO_LONG:
      return `the headers of the answer of ${host} are longer than ${MAX_HEADERS / 1024} KB (${code}). Check what the gateways on the way add to them.`;
    default:
  }
  if (code?.startsWith('ERR_OSSL') === true) {
    return `the certificate, key or password of the TLS settings cannot be used (${code}). Check the TLS settings.`;
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return `${host} does not answer in TLS (${code}). Check the port, and whether its address begins with http://.`;
  }
  if (isCertificateFault(failure)) {
    return `the certificate of ${host} is not trusted (${code ?? 'TLS'}). Check the TLS settings.`;
  }
  if (code === PROXY_REFUSED) {
    return `${host} did not let it through. Check the proxy and its password.`;
  }
  if (!failure.sent) {
    return `no connection to ${host} could be made (${code ?? 'unknown reason'}).`;
  }
  return `the connection to ${host} broke before the whole answer had come (${code ?? 'unknown reason'}).`;
}

/** Certificates, proxy passwords, and headers that are invalid or too long will not fix themselves: no retry. */
export function isLasting(failure: TransportFailure): boolean {
  const { code } = failure;
  return (
    isCertificateFault(failure) ||
    code === PROXY_REFUSED ||
    code === HEADERS_TOO_LONG ||
    isImpossible(failure)
  );
}

/** What undici refuses to send at all, such as a header with a line break. */
export function isImpossible(failure: TransportFailure): boolean {
  return /^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED)$/.test(failure.code ?? '');
}

function isCertificateFault(failure: TransportFailure): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|ERR_OSSL/.test(failure.code ?? '');
}

function chooseCode(status: number, envelope: ErrorEnvelope, asked: Asked): ErrorCode {
  switch (status) {
    case 401:
      return 'auth.unauthorized';
    case 402:
      return 'budget.exceeded';
    case 403:
      return 'auth.forbidden';
    case 404:
    case 410:
      return missingCode(envelope, asked);
    case 408:
    case 504:
      return 'service.timeout';
    case 409:
      return 'duplicate';
    case 413:
      return 'limit.exceeded';
    case 507:
      return 'storage.failed';
    case 429:
      return isBudget(envelope) ? 'budget.exceeded' : 'rate.limit.exceeded';
    default:
      if (status < 400) {
        return 'response.invalid';
      }
      return status >= 500 ? 'service.unavailable' : 'validation.failed';
  }
}

/** Only a 404 that may be about the model is `model.unknown`, because that can mark the model as dead. */
function missingCode(envelope: ErrorEnvelope, asked: Asked): ErrorCode {
  const missing = missingIn(envelope);
  return asked.missing === 'not_found' || missing === 'route' || missing === 'upload'
    ? 'not_found'
    : 'model.unknown';
}

/** Whether a 429 is about tokens, which come back with a day or month, and not about requests in a span of time. */
function isBudget({ serviceCode = '', message }: ErrorEnvelope): boolean {
  if (/budget|quota|credit/i.test(serviceCode)) {
    return true;
  }
  if (/rate/i.test(serviceCode) || /\brate\b|\brequests\b|per (?:second|minute|hour)/i.test(message)) {
    return false;
  }
  return /budget|quota|credit|\btokens?\b/i.test(message);
}

/** @param said by the service, without secrets */
function writeMessage(code: ErrorCode, answer: ErrorAnswer, said: string, asked: Asked): string {
  const { status, retryAfterMs } = answer;
  const what = `The ${asked.what}`;
  if (status === 426) {
    return `${what} was refused (426): ${said}. The service no longer takes requests of this version: update this package.`;
  }
  switch (code) {
    case 'auth.unauthorized':
      return `The service refused the access token (${status}): ${said}. Check the token in the configuration; it may have expired.`;
    case 'auth.forbidden':
      return `The service does not allow the ${asked.what} (${status}): ${said}. Check what the token's account may do.`;
    case 'not_found':
    case 'model.unknown':
      return notFoundMessage(code, answer, said, asked);
    case 'rate.limit.exceeded':
    case 'budget.exceeded': {
      const which = code === 'budget.exceeded' ? 'the token budget is used up' : 'too many requests';
      return `${what} was refused (${status}), ${which}: ${said}.${again(retryAfterMs)}`;
    }
    case 'service.timeout':
      return `${what} took the service too long (${status}): ${said}.`;
    case 'storage.failed':
    case 'service.unavailable':
      return `${what} failed in the service (${status}): ${said}.${again(retryAfterMs)}`;
    default:
      return `${what} was refused (${status}): ${said}.`;
  }
}

function notFoundMessage(
  code: ErrorCode,
  { status, envelope }: ErrorAnswer,
  said: string,
  asked: Asked,
): string {
  if (!envelope.own) {
    return `The service has no route ${asked.path} (${status}): ${said}. Check the base URL and the API name.`;
  }
  return code === 'model.unknown'
    ? `The service does not know the model any more (${status}): ${said}.${/fit it again/i.test(said) ? '' : ' Fit it again.'}`
    : `The ${asked.what} names something that the service does not have (${status}): ${said}.`;
}

function again(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) {
    return '';
  }
  const at = new Date(Date.now() + retryAfterMs).toISOString();
  return ` The service takes such requests again in ${Math.ceil(retryAfterMs / 1000)} s (at ${at}).`;
}

/** What a 404 says is missing: `unclear` if it may be the upload or the model, `route` if it is not from the service. */
type Missing = 'upload' | 'model' | 'unclear' | 'route';

/** The service does not have something that a request names, or the route itself (status 404 or 410). */
class MissingError extends ServiceError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly missing: Missing,
    cause?: ServiceErrorCause,
  ) {
    super(code, message, cause);
  }
}

/** What an error says is missing; undefined for any other error. */
export function findMissing(error: unknown): Missing | undefined {
  return error instanceof MissingError ? error.missing : undefined;
}

/** Finds out what is missing from the wording of the body: the specification has one code for all (S 7). */
function missingIn(envelope: ErrorEnvelope): Missing {
  if (!envelope.own) {
    return 'route';
  }
  const said = `${envelope.serviceCode ?? ''} ${envelope.message}`;
  const upload = /test[\s_-]*set|upload/i.test(said);
  const model = /fitted|train|model/i.test(said);
  if (upload === model) {
    return 'unclear';
  }
  return upload ? 'upload' : 'model';
}
