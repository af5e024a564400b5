import type { Static, TSchema } from '@sinclair/typebox';

import { isDeeper, isObject, mayHoldLong, parseJson, tryParseJson } from '../util/values';
import { check, faultText } from '../wire/check';
import type { Body } from '../wire/parse-requests';
import { ServiceError } from '../wire/service-error';
import type { WithoutNulls } from '../wire/types';
import type { HttpAnswer } from './http';

/** Most levels of objects and arrays in a body of the service. */
const MAX_DEPTH = 64;

/** The content of an error body, whichever envelope the service used (S 7). */
export interface ErrorEnvelope {
  message: string;
  serviceCode?: string;
  traceId?: string;
  retryable?: boolean;
  support?: string;
  /** The status that the body names, if it came with another one (an error at 200). */
  status?: number;
  /** Ids of an upload that exists already (status 409). */
  uploadIds?: { train_set_upload_id?: string; test_set_upload_id?: string };
  /** Whether the body is the service's own, and not that of a gateway or proxy. */
  own: boolean;
}

/**
 * Reads an error body. Of anything but a JSON object of the service the message is what it is, or the text of it as it
 * came: only `Secrets.clean` cuts it, since it finds no part of a secret.
 */
export function readEnvelope(body: Buffer): ErrorEnvelope {
  const text = body.toString('utf8').trim();
  if (text === '') {
    return { message: 'no explanation', own: false };
  }
  const value = tryParseJson(text);
  if (isObject(value) && !isDeeper(value, MAX_DEPTH)) {
    return readErrorBody(value);
  }
  return storageError(text) ?? { message: text.startsWith('<') ? 'an HTML page' : text, own: false };
}

/** The error of a storage behind a signed URL: `<Error><Code>…</Code><Message>…</Message></Error>`. */
function storageError(text: string): ErrorEnvelope | undefined {
  if (!/^(?:\uFEFF)?(?:<\?xml[^>]*>\s*)?<Error\b/.test(text)) {
    return undefined;
  }
  const serviceCode = readElement(text, 'Code');
  const message = readElement(text, 'Message');
  const said = [serviceCode, message].filter((part) => part !== undefined).join(': ');
  return {
    message: said === '' ? 'an error without a code' : said,
    own: false,
    ...given('serviceCode', serviceCode),
  };
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element of a name, without the white space around it. */
function readElement(xml: string, name: 'Code' | 'Message'): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  return start < 0 || end < 0
    ? undefined
    : readText(
        xml
          .slice(start + name.length + 2, end)
          .replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!),
      );
}

/** What frameworks and gateways say of a path that they know nothing of, without a code. */
const NO_ROUTE = /^(?:route )?not found[.!]?$|^no route\b/i;

export function readErrorBody(body: Body): ErrorEnvelope {
  const serviceCode = readText(body.code) ?? readText(body.error_code);
  const message = readMessage(body);
  const isExplained = typeof body.message === 'string' || body.detail !== undefined;
  return {
    message: message ?? serviceCode ?? 'no explanation',
    own: serviceCode !== undefined || (isExplained && !NO_ROUTE.test(message ?? '')),
    ...(serviceCode !== undefined && { serviceCode }),
    ...given('traceId', readText(body.trace_id)),
    ...(typeof body.retryable === 'boolean' && { retryable: body.retryable }),
    ...given('support', readText(body.support)),
    ...given('status', readStatus(body)),
    ...given('uploadIds', readUploadIds(body)),
  };
}

/** An error that came with status 200: marked as streamed, or a body that holds nothing but an explanation. */
function isErrorBody(body: Body): boolean {
  if (body._streamed_error === true) {
    return true;
  }
  if (body.detail === undefined && body.message === undefined) {
    return false;
  }
  const explaining = [
    'detail',
    'message',
    'code',
    'error_code',
    'retryable',
    'support',
    'trace_id',
    'status',
  ];
  return Object.keys(body).every((name) => explaining.includes(name));
}

/** `detail` may be text, or a list of places and reasons ({loc, msg}), as validators of the service's kind answer. */
function readMessage(body: Body): string | undefined {
  const { detail, message } = body;
  if (Array.isArray(detail)) {
    const parts = detail.slice(0, 5).map((item) => (isObject(item) ? placeAndReason(item) : readText(item)));
    return parts.filter((part) => part !== undefined).join('; ') || readText(message);
  }
  if (isObject(detail)) {
    return readMessage(detail) ?? readText(message);
  }
  const first = readText(message);
  const second = readText(detail);
  return first !== undefined && second !== undefined && first !== second
    ? `${first}: ${second}`
    : (first ?? second ?? (isObject(body.error) ? readMessage(body.error) : readText(body.error)));
}

function placeAndReason(item: Body): string | undefined {
  const reason = readText(item.msg) ?? readText(item.message);
  if (!Array.isArray(item.loc) || reason === undefined) {
    return reason;
  }
  const place = item.loc.filter((step) => step !== 'body').map((step) => String(step));
  return place.length === 0 ? reason : `${place.join('.')}: ${reason}`;
}

function readStatus(body: Body): number | undefined {
  const status = [body.status_code, body.status, body.http_status].find((value) => typeof value === 'number');
  return status !== undefined && status >= 400 && status <= 599 ? status : undefined;
}

function readUploadIds(body: Body): ErrorEnvelope['uploadIds'] {
  const ids = {
    ...given('train_set_upload_id', readUuid(body.train_set_upload_id)),
    ...given('test_set_upload_id', readUuid(body.test_set_upload_id)),
  };
  return Object.keys(ids).length > 0 ? ids : undefined;
}

function readUuid(value: unknown): string | undefined {
  const id = readText(value);
  return id !== undefined && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) ? id : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function given<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>);
}

/** The body of a 200: the result, or an error that came too late to have a status of its own. */
export type Read = { body: Body } | { error: Body };

/**
 * Reads the JSON object of an answer with status 2xx.
 * @param labels what of a classification it holds: whole numbers beyond 2^53 become text then
 * @throws ServiceError `response.invalid` for anything else: HTML, a body cut short.
 */
export function readAnswer(answer: HttpAnswer, what: string, labels?: 'preds' | 'probas'): Read {
  const text = answer.body.toString('utf8').trim();
  const value = parseAnswer(text, labels);
  if (value === undefined) {
    throw malformedAnswer(what, notJson(text, answer.headers['content-type']));
  }
  if (!isObject(value)) {
    throw malformedAnswer(what, 'it is JSON, but not an object');
  }
  // A prediction has the most numbers; its shape is checked by whoever reads it.
  if (isDeeper({ ...value, prediction: undefined }, MAX_DEPTH)) {
    throw malformedAnswer(what, `it is nested more than ${MAX_DEPTH} deep`);
  }
  return isErrorBody(value) ? { error: value } : { body: value };
}

/** The JSON value of a text, or undefined where it is none. `labels` as for `readAnswer`. */
export function parseAnswer(text: string, labels: 'preds' | 'probas' | undefined): unknown {
  if (labels === undefined) {
    return tryParseJson(text);
  }
  // Probabilities are numerous and never whole numbers, so only what follows them is examined.
  const examined = labels === 'preds' ? text : text.slice(Math.max(0, text.lastIndexOf('"metadata"')));
  return mayHoldLong(examined) ? exactly(text) : tryParseJson(text);
}

function exactly(text: string): unknown {
  try {
    return parseJson(text, (digits) => digits);
  } catch {
    return undefined;
  }
}

/** @throws ServiceError `response.invalid`, naming the place and the reason. */
export function assertConforms<Schema extends TSchema>(
  schema: Schema,
  body: Body,
  what: string,
): asserts body is Static<Schema> & Body {
  const fault = check(schema, body);
  if (fault !== undefined) {
    throw malformedAnswer(what, faultText(fault));
  }
}

/** An object without properties that are null, at any depth: a limit of null is no limit. */
export function withoutNulls<Value extends Body>(body: Value): WithoutNulls<Value> {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isObject(value) ? withoutNulls(value) : value]),
  ) as WithoutNulls<Value>;
}

/** An object without those named properties that are null. */
export function withoutNull(body: Body, names: readonly string[]): Body {
  const rest: Body = {};
  for (const [name, value] of Object.entries(body)) {
    if (value !== null || !names.includes(name)) {
      rest[name] = value;
    }
  }
  return rest;
}

export function malformedAnswer(what: string, reason: string): ServiceError {
  return new ServiceError('response.invalid', `The service's answer to the ${what} is malformed: ${reason}.`);
}

function notJson(text: string, type: string | undefined): string {
  if (text.startsWith('<') || type?.includes('html') === true) {
    return 'it is an HTML page, so something else than the service answered; check the base URL';
  }
  return text.startsWith('{') || text.startsWith('[')
    ? `its JSON ends too early or is broken (${text.length} characters)`
    : 'it is not JSON';
}
