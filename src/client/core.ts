import type { Static, TSchema } from '@sinclair/typebox';

import { lazy, yieldToEventLoop } from '../util/concurrency';
import { check, faultText, schemas, warmSchemas } from '../wire/check';
import {
  DELETE_DATASET_PATH,
  type Dialect,
  EXPORT_MODEL_PATH,
  IMPORT_MODEL_PATH,
  routePath,
  type ServiceRoute,
  USAGE_PATH,
} from '../wire/dialect';
import {
  ANY_TEXT,
  BYTES,
  checkGiven,
  checkValue,
  FUNCTION,
  MILLISECONDS,
  optional,
  SIGNAL,
} from '../wire/given';
import type { Body } from '../wire/parse-requests';
import { ServiceError } from '../wire/service-error';
import type { ModelLimits, ServiceSettings, Usage } from '../wire/types';
import { assertConforms, malformedAnswer, withoutNulls } from './answer';
import { Dispatchers, type HttpRequest, warmUndici } from './http';
import { Call, Notices, RateGate } from './pacing';
import { ask, type RequestPlan, type Wiring } from './retry';
import { Secrets } from './secrets';
import { type ClientOptions, type ClientSettings, clientSettings } from './settings';
import { type CallKind, type CallOptions } from './types';

/** Most bytes of an exported model and its entry. */
const MAX_BYTES = 288 * 1024 * 1024;

/** Loads the heavy modules, in several turns of the event loop. */
export const warm = lazy(async () => {
  await warmUndici();
  await yieldToEventLoop();
  await warmSchemas();
});

/** What differs from request to request: see RequestPlan. */
export type RequestOptions = Partial<Omit<RequestPlan, 'request'>> & {
  repeatable: boolean;
  /** Default POST with a body, else GET. */
  method?: HttpRequest['method'];
  /** Sent as JSON. */
  body?: Body;
  /** Sent as it is. */
  content?: { type: string; body: NonNullable<HttpRequest['body']> };
  /** The part of the path after the route. */
  below?: string;
  query?: Readonly<Record<string, string>>;
};

/** What the methods of a client share: slots, holds and connections. */
export class Core {
  readonly settings: ClientSettings;
  readonly dialect: Dialect;
  readonly wiring: Wiring;
  readonly gates: Record<CallKind, RateGate>;
  /** PUTs need no slot of their own: their upload has one. Their storage may ask for patience by itself. */
  readonly storage = new RateGate(Infinity);
  /** Of every request but a PUT: the bearer goes nowhere else (S 5). */
  readonly headers: Readonly<Record<string, string>>;
  private readonly closing = new AbortController();
  /** By route: shared by all requests, so never changed. */
  private readonly places = new Map<string, { path: string; url: URL }>();

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    const settings = clientSettings(options);
    const { base, concurrency, dialect, token, userAgent } = settings;
    this.settings = settings;
    this.dialect = dialect;
    this.wiring = {
      settings,
      dispatchers: new Dispatchers(base.origin, settings.tls, settings.proxy),
      secrets: new Secrets(token),
      notices: new Notices((text) => settings.log('warn', text)),
    };
    this.gates = {
      fit: new RateGate(concurrency),
      predict: new RateGate(concurrency),
      upload: new RateGate(concurrency),
      info: new RateGate(concurrency),
    };
    this.headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
    };
  }

  /** Loads what calls need, takes a slot, runs a call under its deadline, and gives the slot back. */
  async call<T>(
    kind: CallKind,
    what: string,
    options: CallOptions,
    work: (call: Call) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(what, options);
    await warm();
    const timeoutMs = options.timeoutMs ?? this.settings.timeoutMs;
    const call = new Call(what, timeoutMs, [options.signal, this.closing.signal]);
    const gate = this.gates[kind];
    try {
      await gate.enter(call);
      try {
        return await work(call);
      } finally {
        gate.leave();
      }
    } finally {
      call.end();
    }
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

  /** @param route of the product's name, or a path of its own */
  plan(
    kind: CallKind,
    what: string,
    route: ServiceRoute | `/${string}`,
    options: RequestOptions,
  ): RequestPlan {
    const { method, body, content, below, query, ...rest } = options;
    let place = this.places.get(route);
    if (place === undefined) {
      const path = route.startsWith('/') ? route : routePath(route as ServiceRoute, this.dialect);
      place = { path, url: this.url(path) };
      this.places.set(route, place);
    }
    const { path } = place;
    let { url } = place;
    if (below !== undefined || query !== undefined) {
      url = this.url(below === undefined ? path : `${path}/${encodeURIComponent(below)}`);
      url.search = new URLSearchParams(query).toString();
    }
    const request: HttpRequest = { method: method ?? 'GET', url, headers: { ...this.headers } };
    const sent =
      body === undefined ? content : { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
    if (sent !== undefined) {
      request.method = method ?? 'POST';
      request.headers['content-type'] = sent.type;
      request.body = sent.body;
    }
    return { what, path, gate: this.gates[kind], missing: 'not_found', request, ...rest };
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

const CALL_OPTIONS = {
  signal: optional(SIGNAL),
  timeoutMs: optional(MILLISECONDS),
  backgroundMs: optional(MILLISECONDS),
  onProgress: optional(FUNCTION),
  onPrepared: optional(FUNCTION),
  onPending: optional(FUNCTION),
};

/** @param what is called: `fit`; @throws ServiceError `validation.failed` */
export function checkCallOptions(what: string, options: CallOptions): void {
  checkGiven(`The ${what}`, options, CALL_OPTIONS);
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
  const plan = core.plan('info', call.what, USAGE_PATH, { method: 'POST', repeatable: true });
  return readUsage(withoutNulls(await core.ask(call, plan, schemas().UsageResponseSchema)));
}

/** The budget that is nearer to its end stands for both where the service tells of a day and a month. */
function readUsage(body: Partial<Usage>): Usage {
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
  checkValue('deleteDataset: id', id, ANY_TEXT);
  const plan = core.plan('info', call.what, DELETE_DATASET_PATH, {
    method: 'DELETE',
    query: { dataset_uid: id },
    repeatable: true,
  });
  await ask(core.wiring, call, plan);
}

function isNotFound(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'not_found';
}

/** A fitted train set as bytes, as `askModelImport` takes it. */
export async function askModelExport(core: Core, call: Call, fittedId: string): Promise<Buffer> {
  checkValue('exportModel: fittedTrainSetId', fittedId, ANY_TEXT);
  const plan = core.plan('info', call.what, EXPORT_MODEL_PATH, {
    query: { fitted_train_set_id: fittedId },
    repeatable: true,
    maxBytes: MAX_BYTES,
    isBytes: true,
  });
  const { bytes } = await ask(core.wiring, call, plan);
  return bytes as Buffer;
}

/** Gives the service a fitted train set; returns its id there. */
export async function askModelImport(core: Core, call: Call, bytes: Buffer): Promise<string> {
  checkValue('importModel: bytes', bytes, BYTES);
  const plan = core.plan('info', call.what, IMPORT_MODEL_PATH, {
    content: { type: 'application/octet-stream', body: bytes },
    repeatable: true,
  });
  const { fitted_train_set_id: id } = await ask(core.wiring, call, plan);
  if (typeof id !== 'string') {
    throw malformedAnswer(call.what, 'it names no fitted_train_set_id');
  }
  return id;
}
