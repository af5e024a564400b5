import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { Log } from '../options';
import { toRefusal } from '../refusal';
import { logFailure } from './log-failure';
import { type Envelope, envelopeFor, errorBody, sendJson, sendRefusal } from './reply';

/**
 * Answers with JSON that may take minutes (S 1). Within `keepaliveMs` it is an ordinary answer. After that the
 * status 200 goes out, then a space every `keepaliveMs`, and finally the JSON (given as a value, or as its bytes); an
 * error is then reported by a body with
 * `_streamed_error: true`, the status it would have had and the fields of the route's envelope.
 */
export async function answerLate(
  res: ServerResponse,
  answer: Promise<object>,
  keepaliveMs: number,
  route: Envelope,
  log: Log,
): Promise<void> {
  const timer = setInterval(() => {
    if (res.destroyed) {
      return;
    }
    if (!res.headersSent) {
      res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    }
    res.write(' ');
  }, keepaliveMs);
  try {
    const body = await answer;
    if (res.headersSent) {
      res.end(body instanceof Uint8Array ? body : JSON.stringify(body));
    } else {
      sendJson(res, 200, body);
    }
  } catch (error) {
    logFailure(log, res.req.method, error);
    const refusal = toRefusal(error);
    if (!res.headersSent) {
      sendRefusal(res, refusal, route);
      return;
    }
    const envelope = envelopeFor(refusal.status, route);
    const body = errorBody(refusal, envelope, randomUUID());
    res.end(JSON.stringify({ _streamed_error: true, status_code: refusal.status, ...body }));
  } finally {
    clearInterval(timer);
  }
}
