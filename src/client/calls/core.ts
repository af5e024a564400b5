import type { Static, TSchema } from '@sinclair/typebox';

import { yieldToEventLoop } from '../../util/event-loop';
import { lazy } from '../../util/lazy';
import { check, faultText } from '../../wire/check';
import { type Dialect, routePath, type ServiceRoute } from '../../wire/dialect';
import { warmSchemas } from '../../wire/load-schemas';
import type { Body } from '../../wire/parse-body';
import { ServiceError } from '../../wire/service-error';
import { assertConforms } from '../errors/answer';
import { Dispatchers, warmUndici } from '../http/dispatchers';
import { type Call, withCall } from '../retry/deadline';
import { Notices } from '../retry/notices';
import { RateGates } from '../retry/rate-gate';
import { ask, type RequestPlan, type Wiring } from '../retry/request';
import { Secrets } from '../secrets';
import { type ClientSettings, clientSettings } from '../settings';
import type { CallKind, CallOptions, ClientOptions } from '../types';

/** Loads the heavy modules, in several turns of the event loop. */
export const warm = lazy(async () => {
  await warmUndici();
  await yieldToEventLoop();
  await warmSchemas();
});

/** What differs from request to request: see RequestPlan. `below` is the part of the path after the route. */
export type RequestOptions = Partial<Omit<RequestPlan, 'request'>> & {
  repeatable: boolean;
  body?: Body;
  below?: string;
};

/** What the methods of a client share: slots, holds and connections. */
export class Core {
  readonly wiring: Wiring;
  readonly gates: RateGates;
  private readonly closing = new AbortController();
  private readonly routes = new Map<string, URL>();

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    const settings = clientSettings(options);
    this.wiring = {
      settings,
      dispatchers: new Dispatchers(settings.base.origin, settings.tls, settings.proxy),
      secrets: new Secrets(settings.token),
      notices: new Notices((text) => settings.log('warn', text)),
    };
    this.gates = new RateGates(settings.concurrency);
  }

  get settings(): ClientSettings {
    return this.wiring.settings;
  }

  get dialect(): Dialect {
    return this.settings.dialect;
  }

  /** Takes a slot, runs a call under its deadline, and gives the slot back. */
  async call<T>(
    kind: CallKind,
    what: string,
    options: CallOptions,
    work: (call: Call) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? this.settings.timeoutMs;
    return withCall(what, timeoutMs, options, this.closing.signal, async (call) => {
      const leave = await this.gates.of(kind).enter(call);
      try {
        return await work(call);
      } finally {
        leave();
      }
    });
  }

  /** Requests a route and returns its body, which conforms to the schema. */
  async ask<Schema extends TSchema>(
    call: Call,
    plan: RequestPlan,
    schema: Schema,
  ): Promise<Static<Schema> & Body> {
    const body = await ask(this.wiring, call, plan);
    assertConforms(schema, body, plan.what);
    return body;
  }

  plan(kind: CallKind, what: string, route: ServiceRoute, options: RequestOptions): RequestPlan {
    const { body, below, ...rest } = options;
    const path = routePath(route, this.dialect);
    const url = below === undefined ? this.routeUrl(path) : this.url(`${path}/${encodeURIComponent(below)}`);
    const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return {
      what,
      path,
      gate: this.gates.of(kind),
      missing: 'not_found',
      request: {
        method: json === undefined ? 'GET' : 'POST',
        url,
        headers: { ...this.headers(), ...(json !== undefined && { 'content-type': 'application/json' }) },
        ...(json !== undefined && { body: json }),
      },
      ...rest,
    };
  }

  /** Headers of every request but a PUT: the bearer goes nowhere else (S 5). */
  headers(): Record<string, string> {
    const { token, userAgent } = this.settings;
    return {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
    };
  }

  /** The URL of a route: shared by all requests, so never changed. */
  private routeUrl(path: string): URL {
    let url = this.routes.get(path);
    if (url === undefined) {
      url = this.url(path);
      this.routes.set(path, url);
    }
    return url;
  }

  url(path: string): URL {
    const url = new URL(this.settings.base);
    url.pathname = url.pathname.replace(/\/$/, '') + path;
    return url;
  }

  /** Ends every call with `closed` and every connection. */
  async close(): Promise<void> {
    this.closing.abort(new ServiceError('closed', 'The connection to the service was closed.'));
    await this.wiring.dispatchers.close();
  }
}

/** @throws ServiceError `validation.failed` for a request that the specification does not allow */
export function assertRequest(schema: TSchema, request: unknown, what: string): void {
  const fault = check(schema, request);
  if (fault !== undefined) {
    throw new ServiceError('validation.failed', `The ${what} cannot be sent: ${faultText(fault)}.`);
  }
}

/**
 * The service may know more options than the specification lists, so it decides which are valid.
 * @throws ServiceError `validation.failed`
 */
export function assertConfig(config: unknown): void {
  if (config !== undefined && (typeof config !== 'object' || config === null || Array.isArray(config))) {
    throw new ServiceError('validation.failed', 'The model options are not an object.');
  }
}
