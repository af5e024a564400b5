import { ServiceError } from '../../wire/service-error';
import type { FileUploadInfo } from '../../wire/types';
import { readEnvelope } from '../errors/envelope';
import { isImpossible, isLasting, transportReason } from '../errors/errors';
import { exchange, type HttpAnswer, type HttpRequest, TransportFailure } from '../http/exchange';
import { retryAfter } from '../retry/backoff';
import type { Call } from '../retry/deadline';
import type { RateGate } from '../retry/rate-gate';
import type { Wiring } from '../retry/request';
import { type FailedAttempt, retrying } from '../retry/retrying';
import { verdict, wasNotTaken } from '../retry/verdict';
import type { UploadSource } from '../types';
import { type Chunk, inParallel, planChunks } from './chunks';
import { signedUrl, uploadHeaders } from './signed-target';

const PARALLEL_CHUNKS = 8;

/** Content of at most this many bytes goes to the socket at once, without a stream. */
const SMALL = 256 * 1024;

/** What storage says about a successful upload is not read. */
const MAX_PUT_ANSWER = 1024 * 1024;

/** Statuses of a signed URL that is used up, expired or otherwise not good: new URLs may help. */
const REFUSALS = new Set([400, 401, 403, 404, 409, 410, 412]);

/** The same bytes at the same place: sending them again changes nothing. */
const PUT = { repeatable: true };

/** How storages say that the time of a signed URL is over, or not yet come. */
const EXPIRED = /expire|skew|time frame/i;

/** A signed URL was refused. Preparing the upload again may help, once. */
export class UrlRefused extends Error {
  constructor(
    readonly status: number,
    /** The error of the upload where new URLs are refused too. */
    readonly error: ServiceError,
  ) {
    super(`refused with ${status}`);
  }
}

export interface PutJob {
  /** What is sent, for messages: `features`. */
  what: string;
  source: UploadSource;
  info: FileUploadInfo;
  /** Called with the bytes sent, and with negative numbers for those that have to be sent again. */
  onBytes: (bytes: number) => void;
}

/**
 * Sends a file to its signed URLs, a chunk to each, and repeats a chunk that failed. No bearer goes with
 * it: the signature is the permission (S 5).
 * @throws UrlRefused, ServiceError `upload.failed`
 */
export async function putFile(wiring: Wiring, call: Call, gate: RateGate, job: PutJob): Promise<void> {
  const urls = job.info.signed_urls.map((text) => signedUrl(text, wiring.settings));
  const chunks = planChunks(job.source.bytes, urls.length);
  await inParallel(
    chunks.map((chunk, i) => () => putChunk(wiring, call, gate, job, urls[i]!, chunk)),
    PARALLEL_CHUNKS,
  );
}

async function putChunk(
  wiring: Wiring,
  call: Call,
  gate: RateGate,
  job: PutJob,
  url: URL,
  chunk: Chunk,
): Promise<void> {
  const dispatcher = wiring.dispatchers.for(url);
  await retrying(call, gate, wiring.settings, async () => {
    let sent = 0;
    const request = putRequest(job, url, chunk, (bytes) => {
      sent += bytes;
      job.onBytes(bytes);
    });
    const outcome = await settled(exchange(dispatcher, request, call.signal, MAX_PUT_ANSWER));
    if ('answer' in outcome && outcome.answer.status >= 200 && outcome.answer.status < 300) {
      job.onBytes(chunk.end - chunk.start - sent);
      return { result: undefined };
    }
    job.onBytes(-sent);
    call.throwIfOver();
    return 'answer' in outcome
      ? refusedPut(outcome.answer, wiring, job, url)
      : failedPut(outcome.failure, wiring, job, url);
  });
}

function putRequest(job: PutJob, url: URL, chunk: Chunk, onBytes: (bytes: number) => void): HttpRequest {
  const bytes = chunk.end - chunk.start;
  const headers = { ...uploadHeaders(job.info.required_headers, url), 'content-length': String(bytes) };
  const { content } = job.source;
  if (content !== undefined && bytes <= SMALL) {
    const body = Buffer.from(content.buffer, content.byteOffset + chunk.start, bytes);
    return { method: 'PUT', url, headers, body };
  }
  const open = async function* () {
    for await (const part of job.source.open(chunk.start, chunk.end) as AsyncIterable<Uint8Array>) {
      onBytes(part.length);
      yield part;
    }
  };
  return { method: 'PUT', url, headers, body: { bytes, open } };
}

type Outcome = { answer: HttpAnswer } | { failure: unknown };

async function settled(work: Promise<HttpAnswer>): Promise<Outcome> {
  try {
    return { answer: await work };
  } catch (failure) {
    return { failure };
  }
}

/** @throws ServiceError for what another attempt would not fix, such as an unreadable file. */
function failedPut(failure: unknown, wiring: Wiring, job: PutJob, url: URL): FailedAttempt {
  if (failure instanceof ServiceError) {
    throw failure;
  }
  const what = `The upload of the ${job.what} failed:`;
  if (!(failure instanceof TransportFailure)) {
    const reason = failure instanceof Error ? wiring.secrets.clean(failure.message) : 'unknown reason';
    throw new ServiceError('upload.failed', `${what} its file could not be read (${reason}).`);
  }
  if (isImpossible(failure)) {
    throw new ServiceError('response.invalid', 'The service asks for upload headers that cannot be sent.');
  }
  const reason = transportReason(failure, wiring.dispatchers.place(url));
  const retry = verdict({ sent: failure.sent, lasting: isLasting(failure) }, PUT) === 'retry';
  return { error: new ServiceError('upload.failed', `${what} ${reason}`), retry };
}

/** @throws UrlRefused */
function refusedPut(answer: HttpAnswer, wiring: Wiring, job: PutJob, url: URL): FailedAttempt {
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) {
    throw redirected(status, headers.location, job, url);
  }
  const { message, retryable, serviceCode } = readEnvelope(body);
  const said = wiring.secrets.clean(message, 200).replace(/[.\s]+$/, '');
  const isSlow = serviceCode === 'RequestTimeout';
  const cause = {
    status,
    ...(serviceCode !== undefined && { serviceCode: wiring.secrets.clean(serviceCode, 100) }),
  };
  if (REFUSALS.has(status) && retryable !== true && !isSlow) {
    throw new UrlRefused(status, refusal(said, cause, job, url));
  }
  const error = new ServiceError(
    status === 413 ? 'limit.exceeded' : 'upload.failed',
    `The upload of the ${job.what} was refused by the storage at ${url.host} (${status}): ${said}.`,
    cause,
  );
  const failure = { status: isSlow ? 408 : status, retryable };
  return {
    error,
    retry: verdict(failure, PUT) === 'retry',
    holdMs: wasNotTaken(failure) ? retryAfter(headers['retry-after']) : undefined,
  };
}

/** The error of an upload whose signed URLs are refused, the renewed ones too. */
function refusal(
  said: string,
  cause: { status: number; serviceCode?: string },
  job: PutJob,
  url: URL,
): ServiceError {
  const { status, serviceCode } = cause;
  // Without a code of its own, a storage that refuses a URL means its time, unless it calls the request wrong.
  const isExpired = EXPIRED.test(said) || (serviceCode === undefined && status !== 400);
  return isExpired
    ? new ServiceError(
        'upload.expired',
        `The signed URL was refused (${status}) and a new one too: ${said}. Check the clocks of both machines and the time that the upload takes.`,
        cause,
      )
    : new ServiceError(
        'upload.failed',
        `The upload of the ${job.what} was refused by the storage at ${url.host} (${status}), at a new signed URL too: ${said}.`,
        cause,
      );
}

/** A redirect is not followed: the table goes where the service said, or nowhere. */
function redirected(status: number, location: string | undefined, job: PutJob, url: URL): ServiceError {
  const target = URL.canParse(location ?? '', url.href) ? new URL(location!, url).origin : 'nowhere';
  return new ServiceError(
    'response.invalid',
    `The upload of the ${job.what} is redirected (${status}) to ${target}, and uploads are not redirected.`,
    { status },
  );
}
