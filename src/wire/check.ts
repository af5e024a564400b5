import { createRequire } from 'node:module';

import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck, ValueError } from '@sinclair/typebox/compiler';

import { lazy } from '../util/lazy';

const load = createRequire(__filename);
const compiler = lazy(
  () => load('@sinclair/typebox/compiler') as typeof import('@sinclair/typebox/compiler'),
);
const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

/** What is wrong with a body: where (`x_train_info.format`, or `body` for the whole) and why. */
export interface Fault {
  path: string;
  message: string;
}

/** The first fault of a value against a schema, or undefined where it conforms. Checkers are compiled once. */
export function check(schema: TSchema, value: unknown): Fault | undefined {
  let checker = compiled.get(schema);
  if (checker === undefined) {
    checker = compiler().TypeCompiler.Compile(schema);
    compiled.set(schema, checker);
  }
  if (checker.Check(value)) {
    return undefined;
  }
  const error = checker.Errors(value).First();
  return error === undefined ? { path: 'body', message: 'is not what the schema asks for' } : describe(error);
}

/** A fault as one phrase: `x_train_info.format is required`. */
export function faultText(fault: Fault): string {
  return `${fault.path} ${fault.message}`;
}

function describe(error: ValueError): Fault {
  const steps = error.path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { ValueErrorType: type } = compiler();
  const deeper = error.errors
    .map((variant) => variant.First())
    .find((inner) => inner !== undefined && inner.path.length > error.path.length);
  if (deeper !== undefined) {
    return describe(deeper);
  }
  switch (error.type) {
    case type.ObjectAdditionalProperties: {
      return { path: pathOf(steps), message: 'is an unknown property' };
    }
    case type.ObjectRequiredProperty:
      return { path: pathOf(steps), message: 'is required' };
    default: {
      const wanted = error.schema.description;
      const message = wanted === undefined ? lowered(error.message) : `must be ${wanted}`;
      return { path: pathOf(steps), message };
    }
  }
}

/** typebox says "Expected string": as the second half of a sentence, "must be string". */
function lowered(message: string): string {
  return message.replace(/^Expected /, 'must be ').replace(/^Required /, 'needs the required ');
}

function pathOf(steps: string[]): string {
  if (steps.length === 0) {
    return 'body';
  }
  return steps.map((step, i) => (/^\d+$/.test(step) ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}
