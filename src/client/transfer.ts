import { isIPv4, isIPv6 } from 'node:net';

import { ServiceError } from '../wire/service-error';
import type { FileUploadInfo } from '../wire/types';
import { readEnvelope } from './answer';
import type { Core } from './core';
import { isImpossible, isLasting, transportReason } from './errors';
import {
  AnswerTooLong,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  isLoopback,
  TransportFailure,
} from './http';
import { type Call, retryAfter } from './pacing';
import { type FailedAttempt, retrying, verdict, wasNotTaken, type Wiring } from './retry';
import type { ClientSettings } from './settings';
import type { UploadSource } from './types';

/** Headers of the connection or set by us from the file itself, whatever the service asks for. */
const OWN_HEADERS = /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer)$/i;
/** Headers that would let the service act with rights of its own choosing at an address of its own choosing. */
const REFUSED_HEADERS = /^(?:authorization|cookie|proxy-.*)$/i;

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

/** One part of a file, and where it goes. */
interface ChunkJob extends PutJob {
  url: URL;
  chunk: Chunk;
}

/** What transfers share: connections, and how patient the storage asks to be. */
type Transfers = Pick<Core, 'wiring' | 'storage'>;

/**
 * Sends a file to its signed URLs, a chunk to each, and repeats a chunk that failed. No bearer goes with
 * it: the signature is the permission (S 5).
 * @throws UrlRefused, ServiceError `upload.failed`
 */
export async function putFile(core: Transfers, call: Call, job: PutJob): Promise<void> {
  const urls: URL[] = [];
  for (const text of job.info.signed_urls) {
    urls.push(signedUrl(text, core.wiring.settings));
  }
  if (urls.length === 1) {
    return putChunk(core, call, { ...job, url: urls[0]!, chunk: { start: 0, end: job.source.bytes } });
  }
  const chunks = planChunks(job.source.bytes, urls.length);
  await inParallel(
    chunks.map((chunk, i) => () => putChunk(core, call, { ...job, url: urls[i]!, chunk })),
    PARALLEL_CHUNKS,
  );
}

async function putChunk({ wiring, storage }: Transfers, call: Call, job: ChunkJob): Promise<void> {
  const { start, end } = job.chunk;
  const dispatcher = wiring.dispatchers.for(job.url);
  await retrying(call, storage, wiring.settings, async () => {
    let sent = 0;
    const request = putRequest(job, (bytes) => {
      sent += bytes;
      job.onBytes(bytes);
    });
    let answer: HttpAnswer;
    try {
      answer = await exchange(dispatcher, request, call.signal, MAX_PUT_ANSWER);
    } catch (failure) {
      job.onBytes(-sent);
      call.throwIfOver();
      return failedPut(failure, wiring, job);
    }
    if (answer.status >= 200 && answer.status < 300) {
      job.onBytes(end - start - sent);
      return { result: undefined };
    }
    job.onBytes(-sent);
    call.throwIfOver();
    return refusedPut(answer, wiring, job);
  });
}

function putRequest(job: ChunkJob, onBytes: (bytes: number) => void): HttpRequest {
  const { url, chunk } = job;
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

/** @throws ServiceError for what another attempt would not fix, such as an unreadable file. */
function failedPut(failure: unknown, wiring: Wiring, job: ChunkJob): FailedAttempt {
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
  const reason = transportReason(failure, wiring.dispatchers.place(job.url), wiring.settings.whenDown);
  const retry = verdict({ sent: failure.sent, lasting: isLasting(failure) }, PUT) === 'retry';
  return { error: new ServiceError('upload.failed', `${what} ${reason}`), retry };
}

/** @throws UrlRefused */
function refusedPut(answer: HttpAnswer, wiring: Wiring, job: ChunkJob): FailedAttempt {
  const { status, headers, body } = answer;
  const { url } = job;
  if (status >= 300 && status < 400) {
    throw redirected(status, headers.location, job);
  }
  const { message, retryable, serviceCode } = readEnvelope(body);
  const said = wiring.secrets.clean(message, 200).replace(/[.\s]+$/, '');
  const isSlow = serviceCode === 'RequestTimeout';
  const cause = {
    status,
    ...(serviceCode !== undefined && { serviceCode: wiring.secrets.clean(serviceCode, 100) }),
  };
  if (REFUSALS.has(status) && retryable !== true && !isSlow) {
    throw new UrlRefused(status, refusal(said, cause, job));
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
    holdMs: wasNotTaken(failure) ? retryAfter(headers) : undefined,
  };
}

/** The error of an upload whose signed URLs are refused, the renewed ones too. */
function refusal(
  said: string,
  cause: { status: number; serviceCode?: string },
  { what, url }: ChunkJob,
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
        `The upload of the ${what} was refused by the storage at ${url.host} (${status}), at a new signed URL too: ${said}.`,
        cause,
      );
}

/** A redirect is not followed: the table goes where the service said, or nowhere. */
function redirected(status: number, location: string | undefined, { what, url }: ChunkJob): ServiceError {
  const target = URL.canParse(location ?? '', url.href) ? new URL(location!, url).origin : 'nowhere';
  return new ServiceError(
    'response.invalid',
    `The upload of the ${what} is redirected (${status}) to ${target}, and uploads are not redirected.`,
    { status },
  );
}

/** Reading changes nothing. */
const GET = { repeatable: true };

/**
 * Fetches the file behind a signed URL, and repeats that where it may help. No bearer goes with it, and no redirect is
 * followed: the signature is the permission, for this address alone.
 * @param file `what` it holds, for messages: `prediction`; `maxBytes`: most bytes that it may have
 * @throws ServiceError `response.invalid` for an address that nothing is fetched from and for a file that is too long;
 *   `service.unavailable` where the storage refuses or fails, with its status; the end of the call
 */
export async function downloadFile(
  { wiring, storage }: Transfers,
  call: Call,
  signed: string,
  { what, maxBytes }: { what: string; maxBytes: number },
): Promise<Buffer> {
  const url = signedUrl(signed, wiring.settings, 'a download');
  const { userAgent: agent } = wiring.settings;
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': agent };
  const request: HttpRequest = { method: 'GET', url, headers };
  wiring.secrets.addUrls([signed]);
  try {
    return await retrying(call, storage, wiring.settings, async () => {
      const started = performance.now();
      let answer: HttpAnswer;
      try {
        answer = await exchange(wiring.dispatchers.for(url), request, call.signal, maxBytes);
      } catch (failure) {
        call.throwIfOver();
        return withoutAnswer(failure, wiring, url, what);
      }
      const took = Math.round(performance.now() - started);
      wiring.settings.log('debug', `GET the ${what} from ${url.host} ${answer.status} in ${took} ms`);
      return answer.status >= 200 && answer.status < 300
        ? { result: answer.body }
        : refused(answer, wiring, url, what);
    });
  } finally {
    wiring.secrets.forgetUrls([signed]);
  }
}

function withoutAnswer(failure: unknown, wiring: Wiring, url: URL, what: string): FailedAttempt {
  if (failure instanceof AnswerTooLong) {
    throw new ServiceError(
      'response.invalid',
      `The ${what} in the storage at ${url.host} is longer than what was asked for can need.`,
    );
  }
  if (!(failure instanceof TransportFailure)) {
    throw failure;
  }
  const reason = transportReason(failure, wiring.dispatchers.place(url), wiring.settings.whenDown);
  return {
    error: new ServiceError('service.unavailable', `The download of the ${what} failed: ${reason}`),
    retry: verdict({ sent: failure.sent, lasting: isLasting(failure) }, GET) === 'retry',
  };
}

function refused(
  { status, headers, body }: HttpAnswer,
  wiring: Wiring,
  url: URL,
  what: string,
): FailedAttempt {
  const { message, retryable } = readEnvelope(body);
  const said = wiring.secrets.clean(message, 200).replace(/[.\s]+$/, '');
  const reason = status >= 300 && status < 400 ? 'it is redirected, and downloads are not' : said;
  const failure = { status, retryable };
  return {
    error: new ServiceError(
      'service.unavailable',
      `The download of the ${what} was refused by the storage at ${url.host} (${status}): ${reason}.`,
      { status },
    ),
    retry: verdict(failure, GET) === 'retry',
    holdMs: wasNotTaken(failure) ? retryAfter(headers) : undefined,
  };
}

/** One part of a file: bytes `start` to `end` (exclusive). */
export interface Chunk {
  start: number;
  end: number;
}

/**
 * How a file of `bytes` bytes is cut for `count` signed URLs: floor(bytes / count) each, and the last takes the
 * rest. The server decides the count.
 */
export function planChunks(bytes: number, count: number): Chunk[] {
  const size = Math.floor(bytes / count);
  return Array.from({ length: count }, (_, i) => ({
    start: i * size,
    end: i === count - 1 ? bytes : (i + 1) * size,
  }));
}

/** Runs jobs, at most `limit` at a time; after the first failure no new one starts, and it is thrown. */
async function inParallel(jobs: readonly (() => Promise<void>)[], limit: number): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < jobs.length && !failed) {
      const job = jobs[next]!;
      next += 1;
      try {
        await job();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, jobs.length) }, worker));
}

/**
 * A signed URL as an address that a table may be sent to, or a prediction fetched from. A service on the internet may
 * not point into the local network, unless the user says so (a service of an intranet with a public name): what listens
 * there trusts whoever reaches it.
 * @throws ServiceError `response.invalid`
 */
export function signedUrl(
  text: string,
  { base, localUploads }: Pick<ClientSettings, 'base' | 'localUploads'>,
  use: 'an upload' | 'a download' = 'an upload',
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ServiceError('response.invalid', `The service gave ${use} URL that is not an http(s) URL.`);
  }
  if (isLocal(url.hostname) && !isLocal(base.hostname) && !localUploads) {
    throw new ServiceError(
      'response.invalid',
      `The service gave ${use} URL that points into the local network (${url.host}): no request is sent there. ` +
        'Where the service is on your own network, allow it in the configuration (Allow uploads to the local network).',
    );
  }
  return url;
}

/** The headers that the service asks for with an upload. @throws ServiceError `response.invalid` */
export function uploadHeaders(required: Readonly<Record<string, string>>, url: URL): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(required)) {
    const isHost = name.toLowerCase() === 'host';
    if (REFUSED_HEADERS.test(name) || (isHost && value.toLowerCase() !== url.host)) {
      throw new ServiceError(
        'response.invalid',
        `The service asks for the header ${name.slice(0, 40)} with an upload: it is not sent to another address.`,
      );
    }
    if (!OWN_HEADERS.test(name) && !isHost) {
      headers[name] = value;
    }
  }
  return headers;
}

/** Addresses that only the own machine or network reaches (RFC 1918, 3927, 4193, 4291, 6598). */
function isLocal(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (isLoopback(host)) {
    return true;
  }
  if (isIPv4(host)) {
    const [a, b] = host.split('.').map(Number) as [number, number];
    return (
      a === 0 ||
      a === 10 ||
      (a === 172 && b >= 16 && b <= 31) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 100 && b >= 64 && b <= 127)
    );
  }
  return isIPv6(host)
    ? /^(?:::|f[cd]|fe[89ab])/.test(host)
    : !host.includes('.') || /\.(?:local|internal|lan|home\.arpa)$/.test(host);
}
