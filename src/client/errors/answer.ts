import type { Static, TSchema } from '@sinclair/typebox';

import { check, faultText } from '../../wire/check';
import { ServiceError } from '../../wire/service-error';
import type { HttpAnswer } from '../http/exchange';
import { isErrorBody, isObject, parsed } from './envelope';

export type Body = Record<string, unknown>;

/** A body at 200: what was asked for, or an error that came too late to have a status of its own. */
export type Read = { body: Body } | { error: Body };

/**
 * Reads the JSON object of an answer with status 2xx.
 * @throws ServiceError `response.invalid` for what is none: nothing, white space, HTML, a body cut short.
 */
export function readBody(answer: HttpAnswer, what: string): Read {
  const text = answer.body.toString('utf8').trim();
  if (text === '') {
    throw invalid(what, 'it is empty');
  }
  const value = parsed(text);
  if (value === undefined) {
    throw invalid(what, notJson(text, answer.headers['content-type']));
  }
  if (!isObject(value)) {
    throw invalid(what, 'it is JSON, but not an object');
  }
  return isErrorBody(value) ? { error: value } : { body: value };
}

/** @throws ServiceError `response.invalid`, naming the place and the reason. */
export function assertConforms<Schema extends TSchema>(
  schema: Schema,
  body: Body,
  what: string,
): asserts body is Static<Schema> & Body {
  const fault = check(schema, body);
  if (fault !== undefined) {
    throw invalid(what, faultText(fault));
  }
}

export function invalid(what: string, reason: string): ServiceError {
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
