/**
 * Schemas of bodies: plain data that TypeScript reads its types from (`Static`), and `check.ts` its rules. The names of
 * the rules are those of JSON Schema.
 */
export interface Schema<T = unknown> {
  /** Says what the schema stands for to TypeScript; it is never there. */
  readonly is?: { value: T };
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
  /** What a value must be, in words: `a UUID`. */
  readonly description?: string;
  readonly optional?: true;
  readonly properties?: Properties;
  /** Of an object with `properties`: false refuses others. Of one without: what every value must be. */
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly pattern?: RegExp;
}

export type Properties = Readonly<Record<string, Schema>>;
export interface ObjectSchema<P extends Properties> extends Schema<ObjectOf<P>> {
  readonly properties: P;
}

/** The type of the values that conform to a schema. */
export type Static<S extends Schema> = NonNullable<S['is']>['value'];

type OptionalNames<P> = { [K in keyof P]: P[K] extends { readonly optional: true } ? K : never }[keyof P];
type ObjectOf<P extends Properties> = Flat<
  { [K in Exclude<keyof P, OptionalNames<P>>]: Static<P[K]> } & { [K in OptionalNames<P>]?: Static<P[K]> }
>;
type Flat<T> = { [K in keyof T]: T[K] };

type Words = Pick<Schema, 'description'>;
type Bounds = Pick<Schema, 'minimum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'maximum'> & Words;

const text = (rules: Pick<Schema, 'minLength' | 'pattern'> & Words = {}): Schema<string> => ({
  type: 'string',
  ...rules,
});

/** A finite number. */
const number = (rules: Bounds = {}): Schema<number> => ({ type: 'number', ...rules });

const integer = (rules: Bounds = {}): Schema<number> => ({ type: 'integer', ...rules });

const boolean = (): Schema<boolean> => ({ type: 'boolean' });

const unknown = (): Schema => ({});

const oneOf = <const Names extends readonly string[]>(names: Names): Schema<Names[number]> => ({
  enum: names,
  description: `one of ${names.join(', ')}`,
});

const array = <S extends Schema>(
  items: S,
  rules: Pick<Schema, 'minItems'> & Words = {},
): Schema<Static<S>[]> => ({ type: 'array', items, ...rules });

/** An object with any names, whose values are all alike. */
const record = <S extends Schema>(values: S): Schema<Record<string, Static<S>>> => ({
  type: 'object',
  additionalProperties: values,
});

/** Unknown properties are left to whoever reads the value, unless `additionalProperties` is false. */
const object = <const P extends Properties>(
  properties: P,
  rules: { readonly additionalProperties?: boolean } = {},
): ObjectSchema<P> => ({ type: 'object', properties, ...rules });

const anyOf = <const S extends readonly Schema[]>(
  variants: S,
  description: string,
): Schema<Static<S[number]>> => ({ anyOf: variants, description });

/** A property that may be missing. */
const optional = <S extends Schema>(schema: S): S & { readonly optional: true } => ({
  ...schema,
  optional: true,
});

/** A field of a response that may be missing or null. */
const maybe = <S extends Schema>(
  schema: S,
  description = schema.description ?? `of type ${schema.type}`,
): Schema<Static<S> | null> & { readonly optional: true } => ({
  anyOf: [schema, { type: 'null' }],
  description,
  optional: true,
});

/** Makes schemas. */
export const Type = {
  anyOf,
  array,
  boolean,
  integer,
  maybe,
  number,
  object,
  oneOf,
  optional,
  record,
  text,
  unknown,
};
