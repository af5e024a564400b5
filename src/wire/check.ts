import { isObject } from '../util/json';
import type { Schema } from './schema';

/** What is wrong with a body: where (`x_train_info.format`, or `body` for the whole) and why. */
export interface Fault {
  path: string;
  message: string;
}

type Step = string | number;
interface Found {
  steps: Step[];
  message: string;
}

/** The first fault of a value against a schema, or undefined where it conforms. */
export function check(schema: Schema, value: unknown): Fault | undefined {
  const found = faultOf(schema, value, []);
  return found && { path: pathOf(found.steps), message: found.message };
}

/** A fault as one phrase: `x_train_info.format is required`. */
export function faultText(fault: Fault): string {
  return `${fault.path} ${fault.message}`;
}

function faultOf(schema: Schema, value: unknown, steps: Step[]): Found | undefined {
  if (isAnything(schema)) {
    return undefined;
  }
  if (schema.anyOf !== undefined) {
    return variantFault(schema, schema.anyOf, value, steps);
  }
  if (!isOfType(schema, value) || !isWithin(schema, value)) {
    return { steps, message: `must be ${schema.description ?? wantedBy(schema)}` };
  }
  if (schema.items !== undefined) {
    return itemFault(schema.items, value as unknown[], steps);
  }
  return schema.type === 'object' ? objectFault(schema, value as Record<string, unknown>, steps) : undefined;
}

/** Of a value that fits no variant, the fault furthest inside says most: that of the first variant that has one. */
function variantFault(
  schema: Schema,
  variants: readonly Schema[],
  value: unknown,
  steps: Step[],
): Found | undefined {
  const faults: Found[] = [];
  for (const variant of variants) {
    const fault = faultOf(variant, value, steps);
    if (fault === undefined) {
      return undefined;
    }
    faults.push(fault);
  }
  return (
    faults.find((fault) => fault.steps.length > steps.length) ?? {
      steps,
      message: `must be ${schema.description}`,
    }
  );
}

function itemFault(items: Schema, values: unknown[], steps: Step[]): Found | undefined {
  if (isAnything(items)) {
    return undefined;
  }
  for (let at = 0; at < values.length; at++) {
    const fault = faultOf(items, values[at], [...steps, at]);
    if (fault !== undefined) {
      return fault;
    }
  }
  return undefined;
}

function objectFault(
  { properties = {}, additionalProperties: others }: Schema,
  value: Record<string, unknown>,
  steps: Step[],
): Found | undefined {
  const known = Object.entries(properties);
  const missing = known.find(([name, property]) => !property.optional && !Object.hasOwn(value, name));
  if (missing !== undefined) {
    return { steps: [...steps, missing[0]], message: 'is required' };
  }
  if (others === false || typeof others === 'object') {
    for (const [name, inner] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) {
        continue;
      }
      const path = [...steps, name];
      const fault =
        others === false ? { steps: path, message: 'is an unknown property' } : faultOf(others, inner, path);
      if (fault !== undefined) {
        return fault;
      }
    }
  }
  for (const [name, property] of known) {
    const inner = value[name];
    const fault =
      property.optional && inner === undefined ? undefined : faultOf(property, inner, [...steps, name]);
    if (fault !== undefined) {
      return fault;
    }
  }
  return undefined;
}

const isAnything = (schema: Schema): boolean => Object.keys(schema).length === 0;

function isOfType({ type, enum: names }: Schema, value: unknown): boolean {
  switch (type) {
    case undefined:
      return names === undefined || names.includes(value as string);
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

/** Whether a value of the schema's type keeps its bounds. */
function isWithin(schema: Schema, value: unknown): boolean {
  if (typeof value === 'number') {
    const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
    return (
      value >= (minimum ?? -Infinity) &&
      value > (exclusiveMinimum ?? -Infinity) &&
      value <= (maximum ?? Infinity) &&
      value < (exclusiveMaximum ?? Infinity)
    );
  }
  if (typeof value === 'string') {
    return value.length >= (schema.minLength ?? 0) && (schema.pattern?.test(value) ?? true);
  }
  return !Array.isArray(value) || value.length >= (schema.minItems ?? 0);
}

/** A schema in words: `a number greater than 0`. */
function wantedBy(schema: Schema): string {
  const bounds = BOUNDS.flatMap(([name, words]) =>
    schema[name] === undefined ? [] : [words.replace('#', String(schema[name]))],
  );
  return [NOUNS[schema.type!], bounds.join(' and ')]
    .join(' ')
    .trim()
    .replace(/\b1 (item|character)s$/, '1 $1');
}

const NOUNS: Record<NonNullable<Schema['type']>, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const BOUNDS = [
  ['minimum', 'of at least #'],
  ['exclusiveMinimum', 'greater than #'],
  ['maximum', 'of at most #'],
  ['exclusiveMaximum', 'less than #'],
  ['minLength', 'of at least # characters'],
  ['minItems', 'of at least # items'],
] as const;

function pathOf(steps: Step[]): string {
  if (steps.length === 0) {
    return 'body';
  }
  return steps
    .map((step, at) => (/^\d+$/.test(String(step)) ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('');
}
