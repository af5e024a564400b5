import type { Static, TSchema } from '@sinclair/typebox';

import { yieldToEventLoop } from '../util/event-loop';
import { lazy } from '../util/lazy';
import { check, faultText } from '../wire/check';
import {
  DELETE_DATASET_PATH,
  type Dialect,
  EXPORT_MODEL_PATH,
  IMPORT_MODEL_PATH,
  routePath,
  type ServiceRoute,
  USAGE_PATH,
} from '../wire/dialect';
import { schemas, warmSchemas } from '../wire/load-schemas';
import type { Body } from '../wire/parse-body';
import { ServiceError } from '../wire/service-error';
import type { ModelLimits, ServiceSettings, Usage } from '../wire/types';
import { assertConforms, malformedAnswer, withoutNulls } from './answer';
import { Dispatchers, warmUndici } from './http';
import { type Call, Notices, RateGates, withCall } from './pacing';
import { ask, type RequestPlan, type Wiring } from './retry';
import { Secrets } from './secrets';
import { type ClientSettings, clientSettings } from './settings';
import type { CallKind, CallOptions, ClientOptions } from './types';

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

/** S 4.5. The route is deprecated: if it is gone, `get_settings` has the limits. */
export async function getModelLimits(core: Core, call: Call): Promise<ModelLimits> {
  try {
    const plan = core.plan('info', call.what, 'get_model_limits', { repeatable: true });
    return withoutNulls(await core.ask(call, plan, schemas().ModelLimitsResponseSchema));
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
    return getSettings(core, call).catch((second: unknown) => {
      throw isNotFound(second) ? error : second;
    });
  }
}

/** The limits, and the settings for large train sets. */
export async function getSettings(core: Core, call: Call): Promise<ServiceSettings> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  return withoutNulls(await core.ask(call, plan, schemas().SettingsResponseSchema));
}

/** What the account has used. */
export async function getUsage(core: Core, call: Call): Promise<Usage> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const request = { method: 'POST' as const, url: core.url(USAGE_PATH), headers: core.headers() };
  const body = await core.ask(call, { ...plan, path: USAGE_PATH, request }, schemas().UsageResponseSchema);
  return usageOf(withoutNulls(body));
}

/** The budget that is nearer to its end stands for both where the service tells of a day and a month. */
function usageOf(body: Partial<Usage>): Usage {
  const budgets = [
    { used: body.daily_tokens_used, limit: body.daily_token_limit },
    { used: body.monthly_tokens_used, limit: body.monthly_token_limit },
  ].flatMap(({ used, limit = -1 }) => (used === undefined ? [] : [{ used, limit }]));
  const share = ({ used, limit }: { used: number; limit: number }): number => (limit > 0 ? used / limit : -1);
  const [fullest] = budgets.sort((a, b) => share(b) - share(a));
  return {
    current_usage: fullest?.used ?? 0,
    usage_limit: fullest?.limit ?? -1,
    ...body,
  };
}

/** Removes an upload with its models, or a model, from the service. */
export async function askDeletion(core: Core, call: Call, id: string): Promise<void> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const url = core.url(DELETE_DATASET_PATH);
  url.searchParams.set('dataset_uid', id);
  const request = { method: 'DELETE' as const, url, headers: core.headers() };
  await ask(core.wiring, call, { ...plan, path: DELETE_DATASET_PATH, request });
}

function isNotFound(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'not_found';
}

/** A model and its entry. */
const MAX_BYTES = 288 * 1024 * 1024;

/** A fitted train set as bytes, as `askModelImport` takes it. */
export async function askModelExport(core: Core, call: Call, fittedId: string): Promise<Buffer> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const url = core.url(EXPORT_MODEL_PATH);
  url.searchParams.set('fitted_train_set_id', fittedId);
  const request = { method: 'GET' as const, url, headers: core.headers() };
  const { bytes } = await ask(core.wiring, call, {
    ...plan,
    path: EXPORT_MODEL_PATH,
    request,
    maxBytes: MAX_BYTES,
    isBytes: true,
  });
  return bytes as Buffer;
}

/** Gives the service a fitted train set; returns its id there. */
export async function askModelImport(core: Core, call: Call, bytes: Buffer): Promise<string> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const headers = { ...core.headers(), 'content-type': 'application/octet-stream' };
  const request = { method: 'POST' as const, url: core.url(IMPORT_MODEL_PATH), headers, body: bytes };
  const body = await ask(core.wiring, call, { ...plan, path: IMPORT_MODEL_PATH, request });
  const { fitted_train_set_id: id } = body;
  if (typeof id !== 'string') {
    throw malformedAnswer(call.what, 'it names no fitted_train_set_id');
  }
  return id;
}
