import { createRequire } from 'node:module';

import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck, ValueError } from '@sinclair/typebox/compiler';

import { lazy, loadInParts, yieldToEventLoop } from '../util/concurrency';
import { isObject } from '../util/values';

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

/** The first fault of a value against a schema, or undefined if it conforms. Checkers are compiled once. */
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
      return { path: writePath(steps), message: 'is an unknown property' };
    }
    case type.ObjectRequiredProperty:
      return { path: writePath(steps), message: 'is required' };
    default:
      return {
        path: writePath(steps),
        message: `must be ${error.schema.description ?? wantedBy(error.schema)}`,
      };
  }
}

/** A schema in words: `a number greater than 0`. */
function wantedBy(schema: TSchema): string {
  const noun = NOUNS[String(schema.type)];
  const bounds = Object.entries(BOUNDS).flatMap(([name, words]) =>
    schema[name] === undefined ? [] : [words.replace('#', String(schema[name]))],
  );
  if (noun === undefined) {
    return 'what the schema asks for';
  }
  return [noun, bounds.join(' and ')]
    .join(' ')
    .trim()
    .replace(/\b1 (item|character)s$/, '1 $1');
}

const NOUNS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const BOUNDS: Record<string, string> = {
  minimum: 'of at least #',
  exclusiveMinimum: 'greater than #',
  maximum: 'of at most #',
  exclusiveMaximum: 'less than #',
  minLength: 'of at least # characters',
  minItems: 'of at least # items',
};

function writePath(steps: string[]): string {
  if (steps.length === 0) {
    return 'body';
  }
  return steps.map((step, i) => (/^\d+$/.test(step) ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

/** The schemas, and TypeBox with them, are loaded with the first body. */
export const schemas = lazy(() => load('./schemas') as typeof import('./schemas'));

/** Of TypeBox, each with what it adds to those before it: in one piece they take 80 ms to load. */
const PARTS = ['system', 'errors', 'compiler'].map((part) => `@sinclair/typebox/${part}`);

/** Loads the schemas and what checks bodies by them, without holding the event loop for all of it. */
export const warmSchemas = lazy(async () => {
  await loadInParts(load, [...PARTS, '@sinclair/typebox']);
  const { EstimateCostResponseSchema } = schemas();
  await yieldToEventLoop();
  check(EstimateCostResponseSchema, {});
});

type Body = Record<string, unknown>;

interface KnownPart {
  /** A copy of the request with what the schema knows of it. */
  value: Body;
  /** Paths of what was left out because nothing reads it: `task_config.colour`. */
  ignored: string[];
}

/**
 * What a schema knows of a request. Clients of other versions send properties that this one has no use for, and
 * some send null for whatever was not set: a property that is null counts as not given, at any depth but inside
 * arrays. An object whose schema says something about additional properties keeps them: the schema decides.
 */
export function knownPart(schema: TSchema, body: Body): KnownPart {
  const ignored: string[] = [];
  return { value: known(schema, body, '', ignored), ignored };
}

function known(schema: TSchema | undefined, body: Body, path: string, ignored: string[]): Body {
  const properties = schema?.properties as Record<string, TSchema> | undefined;
  const dropsOthers = properties !== undefined && schema?.additionalProperties === undefined;
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const inner = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === null) {
      continue;
    }
    if (inner === undefined && dropsOthers) {
      ignored.push(path + name);
    } else {
      kept.push([name, isObject(value) ? known(inner, value, `${path}${name}.`, ignored) : value]);
    }
  }
  return Object.fromEntries(kept);
}
