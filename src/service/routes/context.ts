import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Fault } from '../../wire/check';
import type { Envelope } from '../http/reply';
import type { ServiceLimits } from '../limits';
import type { Log, ResolvedOptions } from '../options';
import type { RateKind, RateLimiter } from '../rate-limit';
import { invalid } from '../refusal';
import type { Store } from '../store/store';
import type { Fits } from '../work/fit/fits';
import type { WorkerPool } from '../work/pool/pool';

/** What every route works with. */
export interface ServiceContext {
  options: ResolvedOptions;
  limits: ServiceLimits;
  store: Store;
  fits: Fits;
  predictPool: WorkerPool;
  limiter: RateLimiter;
  /** The port that the server listens on. */
  port: () => number;
  log: Log;
}

/** One request on a route, past the token. */
export interface RouteRequest {
  req: IncomingMessage;
  res: ServerResponse;
  /** The name in the path that stands for the product: `/{apiName}/fit`. */
  apiName: string;
  /** The parsed JSON body; undefined on GET and multipart routes. */
  body: unknown;
}

/** An answer, or undefined where the route has written its own. */
export type RouteAnswer = { status: number; body: object | Uint8Array } | undefined;

export interface Route {
  method: 'GET' | 'POST';
  /** How errors look where S 7 leaves it open; see `envelopeFor`. */
  envelope: Envelope;
  /** What kind of request it counts as for rate limits. */
  rate?: RateKind;
  /** The body holds a model configuration, with lists of rows perhaps. */
  withConfig?: boolean;
  /** The route reads its own body (multipart). */
  rawBody?: boolean;
  handle(context: ServiceContext, request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

/** The value of a parsed request. @throws Refusal 422 that names the property */
export function accept<T>(parsed: { ok: true; value: T } | ({ ok: false } & Fault)): T {
  if (parsed.ok) {
    return parsed.value;
  }
  throw invalid(`Invalid request: ${parsed.path} ${parsed.message}.`);
}
