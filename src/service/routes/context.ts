import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Parsed } from '../../wire/parse-requests';
import type { Envelope } from '../http/reply';
import type { Log, ResolvedOptions, ServiceLimits } from '../options';
import type { RateKind, RateLimiter } from '../rate-limit';
import { invalid, notFound, type Refusal } from '../refusal';
import type { ServiceMetrics } from '../service-metrics';
import type { Store } from '../store/store';
import type { Fits } from '../work/fits';
import type { WorkerPool } from '../work/pool';
import type { SubmittedFits } from '../work/submitted-fits';

/**
 * `ready`: the store is open, threads can be started, and new work is taken. `closing`: what is under way ends, new work
 * is refused. `no threads`: none could be started for fits or for predicts (memory, open files); it is tried again.
 */
export type ServiceState = 'ready' | 'closing' | 'no threads';

/** What every route works with. */
export interface ServiceContext {
  options: ResolvedOptions;
  limits: ServiceLimits;
  store: Store;
  fits: Fits;
  submittedFits: SubmittedFits;
  predictPool: WorkerPool;
  limiter: RateLimiter;
  metrics: ServiceMetrics;
  state: () => ServiceState;
  /** The port that the server listens on. */
  port: () => number;
  log: Log;
}

/** One request on a route, past the token. */
export interface RouteRequest {
  req: IncomingMessage;
  res: ServerResponse;
  url: URL;
  /** The name in the path that stands for the product: `/{apiName}/fit`. */
  apiName: string;
  /** What follows the route's name in the path: `/{apiName}/fit/{id}`. */
  id?: string;
  /** The parsed JSON body; undefined on GET and routes that read their own. */
  body: unknown;
}

/** An answer, or undefined where the route has written its own. */
export type RouteAnswer = { status: number; body: object | Uint8Array } | undefined;

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** Answers without a token. */
  open?: boolean;
  /** How errors look where S 7 leaves it open; see `envelopeFor`. */
  envelope: Envelope;
  /** What kind of request it counts as for rate limits. */
  rate?: RateKind;
  /** The body holds a model configuration, with lists of rows perhaps. */
  withConfig?: boolean;
  /** The body holds rows of tables. */
  withRows?: boolean;
  /** The body may be a form with files of rows. */
  takesRows?: boolean;
  /** The route reads its own body (multipart), or has no use for one. */
  rawBody?: boolean;
  handle(context: ServiceContext, request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

/** 404 for a fitted train set that is not here. */
export function missingModel({ models }: Store, id: string): Refusal {
  return notFound(
    models.isLost(id)
      ? `The fitted train set ${id} is lost, because its folder was deleted: fit it again.`
      : `There is no fitted train set ${id}: fit it again.`,
  );
}

/** A parsed request, and what of it had no effect. @throws Refusal 422 that names the property */
export function accept<T>(parsed: Parsed<T>): { value: T; ignored: string[] } {
  if (parsed.ok) {
    return parsed;
  }
  throw invalid(`Invalid request: ${parsed.path} ${parsed.message}.`);
}
