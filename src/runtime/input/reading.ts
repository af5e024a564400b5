import { asBytes } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { table } from '../lazy';

/** One reading: columns with their values, and the key if the topic names it. */
export interface Reading {
  cells: Record<string, unknown>;
  key?: string;
}

/** A longer text or Buffer is a table. */
const MAX_VALUE_BYTES = 4096;
/** So is longer JSON text: that of a table is read in parts. */
const MAX_JSON_CHARACTERS = 2 ** 20;

/**
 * The reading that a value is: an object of plain values, JSON text of one, or one value whose column (and key) are the
 * last parts of the topic. Undefined where it is a table.
 * @param place where the value stands, for errors: `msg.payload`
 * @throws ServiceError `validation.failed` for a value whose topic names no column, `limit.exceeded` for an object of
 * too many columns
 */
export function readingOf(value: unknown, topic: unknown, place: string): Reading | undefined {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    return single(value, topic, place);
  }
  if (typeof value === 'string') {
    return readingOfText(value, topic, place);
  }
  const bytes = asBytes(value);
  if (bytes !== undefined) {
    return bytes.length > MAX_VALUE_BYTES || bytes.length === 0 || bytes.includes(0)
      ? undefined
      : readingOfText(Buffer.from(bytes).toString('utf8'), topic, place);
  }
  return isReading(value) ? { cells: value } : undefined;
}

function readingOfText(text: string, topic: unknown, place: string): Reading | undefined {
  if (text.length > MAX_JSON_CHARACTERS) {
    return undefined;
  }
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const parsed = parsedJson(trimmed);
    return isReading(parsed) ? { cells: parsed } : undefined;
  }
  // Of a table there are a header and rows.
  return trimmed.length > MAX_VALUE_BYTES ||
    trimmed.startsWith('[') ||
    /[\r\n]/.test(trimmed) ||
    trimmed === ''
    ? undefined
    : single(trimmed, topic, place);
}

/** An object of columns, each of which is an array, is a table; so is one of Arrow. */
function isReading(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const names = table().ownNames(value);
  for (const name of names) {
    const cell = (value as Record<string, unknown>)[name];
    if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
      return false;
    }
  }
  return names.length > 0 && !('schema' in value && 'batches' in value);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value holds nothing at all. */
export function isEmpty(value: unknown): boolean {
  return value === '' || asBytes(value)?.length === 0;
}

/** @param place where the value stands: `msg.payload` */
export function emptyError(place: string): ServiceError {
  return new ServiceError(
    'table.empty',
    `${place} is empty: neither a reading nor a table. A value that is missing is null, or left out.`,
  );
}

function single(value: unknown, topic: unknown, place: string): Reading {
  const parts = typeof topic === 'string' ? topic.split('/').filter((part) => part !== '') : [];
  const column = parts.at(-1);
  if (column === undefined) {
    throw noColumn(place);
  }
  return { cells: { [column]: value }, key: parts.at(-2) };
}

/** The error of a single value of which no topic says the column. @param place where it stands: `msg.payload` */
export function noColumn(place: string): ServiceError {
  return new ServiceError(
    'validation.failed',
    `${place} is one value, and msg.topic does not say of which column: send an object such as ` +
      '{"temperature": 21}, or a topic such as plant/pump1/temperature.',
  );
}
