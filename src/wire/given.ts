import { inspect, types } from 'node:util';

import { isAbortSignal } from '../util/concurrency';
import { isObject } from '../util/values';
import { ServiceError } from './service-error';

/** What a program may give for an argument or an option, and how a sentence says it. */
export interface Form {
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  readonly isOptional?: true;
  /** A secret: errors do not show what was given. */
  readonly isHidden?: true;
}

export const OBJECT: Form = { must: 'an object', fits: isObject };
export const LIST: Form = { must: 'an array', fits: Array.isArray };
export const ANY_TEXT: Form = { must: 'a text', fits: (value) => typeof value === 'string' };
export const ANY_TEXTS: Form = {
  must: 'an array of texts',
  fits: (value) => Array.isArray(value) && value.every(ANY_TEXT.fits),
};
export const FLAG: Form = { must: 'true or false', fits: (value) => typeof value === 'boolean' };
export const FUNCTION: Form = { must: 'a function', fits: (value) => typeof value === 'function' };
export const SIGNAL: Form = { must: 'an AbortSignal', fits: isAbortSignal };
export const BYTES: Form = { must: 'a Buffer or Uint8Array', fits: types.isUint8Array };

/** A number from `min` to `max`, both allowed. */
export function numberFrom(min: number, { max = Infinity, integer = true } = {}): Form {
  const bounds = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    must: `a ${integer ? 'whole ' : ''}number ${bounds}`,
    fits: (value) =>
      typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value)),
  };
}

/** A span of time in milliseconds; Infinity is one too. */
export const MILLISECONDS: Form = {
  must: 'a number of milliseconds above 0',
  fits: (value) => typeof value === 'number' && value > 0,
};

export function anyAmong(values: readonly string[]): Form {
  return { must: `one of ${values.join(', ')}`, fits: (value) => values.includes(value as string) };
}

/** An object that has these functions, whoever made it. */
export function withMethods(must: string, ...names: readonly string[]): Form {
  return {
    must,
    fits: (value) =>
      typeof value === 'object' &&
      value !== null &&
      names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  };
}

/** It may be left out. */
export function optional(form: Form): Form {
  return { ...form, isOptional: true };
}

type Code = 'config.invalid' | 'validation.failed';

/**
 * Checks an argument that a program gives.
 *
 * @param what the argument, as the sentence begins: `loadModel: bytes`
 * @throws ServiceError
 */
export function checkValue(what: string, value: unknown, form: Form, code: Code = 'validation.failed'): void {
  const isLeftOut = value === undefined && form.isOptional === true;
  if (!isLeftOut && !form.fits(value)) {
    const found = form.isHidden === true ? '' : `, not ${shown(value)}`;
    throw new ServiceError(code, `${what} must be ${form.must}${found}.`);
  }
}

/**
 * Checks an object of options, or of named arguments, that a program gives; names without a form are not looked at.
 *
 * @param what who takes it: `startService`
 * @throws ServiceError that names the option
 */
export function checkGiven(
  what: string,
  given: unknown,
  forms: Readonly<Record<string, Form>>,
  code: Code = 'validation.failed',
): void {
  if (!isObject(given)) {
    throw new ServiceError(code, `${what} takes an object of options, not ${shown(given)}.`);
  }
  for (const [name, form] of Object.entries(forms)) {
    checkValue(`${what}: ${name}`, given[name], form, code);
  }
}

/** A value in a sentence, on one line and cut where it is long. */
function shown(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Infinity }).slice(0, 100);
}
