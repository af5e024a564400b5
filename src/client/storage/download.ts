import { ServiceError } from '../../wire/service-error';
import { readEnvelope } from '../errors/envelope';
import { isLasting, transportReason } from '../errors/errors';
import {
  AnswerTooLong,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  TransportFailure,
} from '../http/exchange';
import { retryAfter } from '../retry/backoff';
import type { Call } from '../retry/deadline';
import type { RateGate } from '../retry/rate-gate';
import type { Wiring } from '../retry/request';
import { type FailedAttempt, retrying } from '../retry/retrying';
import { verdict, wasNotTaken } from '../retry/verdict';
import { signedUrl } from './signed-target';

/** Reading changes nothing. */
const GET = { repeatable: true };

/**
 * Fetches the file behind a signed URL, and repeats that where it may help. No bearer goes with it, and no redirect is
 * followed: the signature is the permission, for this address alone.
 * @param what what the file holds, for messages: `prediction`
 * @param maxBytes most bytes that it may have
 * @throws ServiceError `response.invalid` for an address that nothing is fetched from and for a file that is too long;
 *   `service.unavailable` where the storage refuses or fails, with its status; the end of the call
 */
export async function downloadFile(
  wiring: Wiring,
  call: Call,
  gate: RateGate,
  signed: string,
  what: string,
  maxBytes: number,
): Promise<Buffer> {
  const url = signedUrl(signed, wiring.settings, 'a download');
  const { userAgent: agent } = wiring.settings;
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': agent };
  const request: HttpRequest = { method: 'GET', url, headers };
  wiring.secrets.addUrl(signed);
  try {
    return await retrying(call, gate, wiring.settings, async () => {
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
    wiring.secrets.forgetUrl(signed);
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
  const reason = transportReason(failure, wiring.dispatchers.place(url));
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
    holdMs: wasNotTaken(failure) ? retryAfter(headers['retry-after']) : undefined,
  };
}
