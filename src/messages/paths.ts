import type { PathKind } from './types';

/** Whether a value is an object of names: no list, no bytes, no date. */
export function isNamed(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value) &&
    !(value instanceof Date) &&
    !('schema' in value && 'batches' in value)
  );
}

/** What stands at a path of names divided by dots, where a name may itself have dots; undefined where nothing does. */
export function at(value: unknown, path: string): unknown {
  if (path === '') {
    return value;
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  if (Object.hasOwn(value, path)) {
    return (value as Record<string, unknown>)[path];
  }
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(value, name)) {
      return at((value as Record<string, unknown>)[name], path.slice(dot + 1));
    }
  }
  return undefined;
}

/** Whether a value is of a kind; times are looked at more closely where they are read. */
export function isKind(kind: PathKind, value: unknown): boolean {
  switch (kind) {
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string' && value !== '';
    case 'object':
      return isNamed(value);
    case 'list':
      return Array.isArray(value);
    case 'time':
      return (
        typeof value === 'number' ||
        typeof value === 'bigint' ||
        (typeof value === 'string' && /\d/.test(value)) ||
        (typeof value === 'object' && value !== null)
      );
    case 'value':
      return value !== undefined && (typeof value !== 'object' || value === null);
    case 'json':
      return isNamed(opened(value));
    case 'plain':
      return isKind('value', value) && !isNamed(opened(value));
    case 'any':
      return value !== undefined;
  }
}

/**
 * What a source writes as a number of 64 bits, in parts, as a decimal number or extended JSON of MongoDB (`{"$date": …}`), or
 * with the type that DynamoDB has it (`{"N": "21.5"}`), and other plain values as they are; undefined for objects and lists.
 * https://github.com/boto/botocore/blob/develop/botocore/data/dynamodb/2012-08-10/service-2.json (AttributeValue)
 */
export function plainValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (value instanceof Date) {
    return value;
  }
  const { low, high, unsigned, $date, $numberDouble, $numberInt, $numberLong, $numberDecimal, _bsontype } =
    value as Record<string, unknown>;
  if ($date !== undefined) {
    return plainValue($date);
  }
  const number = $numberDouble ?? $numberInt ?? $numberLong ?? $numberDecimal;
  if (number !== undefined) {
    return Number(number);
  }
  if (_bsontype === 'Decimal128' || _bsontype === 'Int32' || _bsontype === 'Double') {
    // The digits of a decimal number are in bytes that only it reads.
    return Number((value as { toString: () => string }).toString());
  }
  const typed = typedValue(value);
  if (typed !== undefined) {
    return typed;
  }
  return typeof low === 'number' && typeof high === 'number' && typeof unsigned === 'boolean'
    ? high * 4_294_967_296 + (low >>> 0)
    : undefined;
}

/** The value of an object that has nothing but one, under the type that DynamoDB has it; undefined of any other. */
function typedValue(value: object): unknown {
  let only: string | undefined;
  for (const name in value) {
    if (only !== undefined) {
      return undefined;
    }
    only = name;
  }
  const own = (value as Record<string, unknown>)[only ?? ''];
  switch (only) {
    case 'N':
      return typeof own === 'string' && own !== '' && Number.isFinite(Number(own)) ? Number(own) : undefined;
    case 'S':
      return typeof own === 'string' ? own : undefined;
    case 'BOOL':
      return typeof own === 'boolean' ? own : undefined;
    case 'NULL':
      return own === true ? null : undefined;
    default:
      return undefined;
  }
}

const MAX_JSON_CHARACTERS = 2 ** 20;

/**
 * JSON in text, opened; any other value as it is.
 * @param parse what keeps whole numbers beyond 2^53, where they may be labels
 */
export function opened(value: unknown, parse: (text: string) => unknown = JSON.parse): unknown {
  if (typeof value !== 'string' || value.length < 2 || value.length > MAX_JSON_CHARACTERS) {
    return value;
  }
  const text = value.trim();
  if (!(text.startsWith('{') && text.endsWith('}')) && !(text.startsWith('[') && text.endsWith(']'))) {
    return value;
  }
  try {
    return parse(text);
  } catch {
    return value;
  }
}
