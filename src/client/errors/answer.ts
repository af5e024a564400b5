import type { Static, TSchema } from '@sinclair/typebox';

import { mayHoldLong, parseJson } from '../../util/exact-json';
import { isDeeper, isObject, tryParseJson } from '../../util/json';
import { check, faultText } from '../../wire/check';
import type { Body } from '../../wire/parse-body';
import { ServiceError } from '../../wire/service-error';
import type { WithoutNulls } from '../../wire/types';
import type { HttpAnswer } from '../http/exchange';
import { isErrorBody, MAX_DEPTH } from './envelope';

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
  return labels !== undefined && hasLong(text, labels) ? exactly(text) : tryParseJson(text);
}

/** Probabilities are numerous and never whole numbers, so only what follows them is examined. */
function hasLong(text: string, labels: 'preds' | 'probas'): boolean {
  return mayHoldLong(labels === 'preds' ? text : text.slice(Math.max(0, text.lastIndexOf('"metadata"'))));
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
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || !names.includes(name)),
  );
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
