import { reasonOf } from '../../util/reason';
import { isThenable } from '../../util/thenable';
import { ServiceError } from '../../wire/service-error';

/**
 * Reading what a message asks for. Dialog wins; a field left empty is taken from the message.
 * Each reader takes the first of its candidates that says something and names the place of a wrong one.
 */
export interface Candidate {
  /** The place in words, for errors: `msg.task`, `Task`. */
  place: string;
  value: unknown;
}

/** The dialog's field, then the message's property. */
export function candidates(
  field: string,
  dialog: unknown,
  property: string,
  msg: Record<string, unknown>,
): Candidate[] {
  return [
    { place: `The field ${field}`, value: dialog },
    { place: `msg.${property}`, value: msg[property] },
  ];
}

function first(list: readonly Candidate[]): Candidate | undefined {
  return list.find(({ value }) => value !== undefined && value !== null && value !== '');
}

/** What is wrong in a dialog is `config.invalid`, in a message `validation.failed`. */
function wrong(place: string, what: string): ServiceError {
  const code = place.startsWith('msg.') ? 'validation.failed' : 'config.invalid';
  return new ServiceError(code, `${place} must be ${what}.`);
}

/** A text; a number is taken as its text. */
export function textField(...list: Candidate[]): string | undefined {
  const found = first(list);
  if (found === undefined) {
    return undefined;
  }
  if (typeof found.value === 'string') {
    return found.value;
  }
  if (typeof found.value === 'number') {
    return String(found.value);
  }
  throw wrong(found.place, 'a text');
}

/** One of a closed list of words. */
export function choiceField<T extends string>(allowed: readonly T[], ...list: Candidate[]): T | undefined {
  const found = first(list);
  if (found === undefined) {
    return undefined;
  }
  if (allowed.includes(found.value as T)) {
    return found.value as T;
  }
  throw wrong(found.place, `one of ${allowed.join(', ')}`);
}

/** A number, or a text that is one; within `min` and `max`, both allowed. */
export function numberField(
  range: { min?: number; max?: number; integer?: boolean },
  ...list: Candidate[]
): number | undefined {
  const found = first(list);
  if (found === undefined) {
    return undefined;
  }
  const { min = -Infinity, max = Infinity, integer = false } = range;
  const value = typeof found.value === 'string' ? Number(found.value) : found.value;
  if (typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value))) {
    return value;
  }
  const bounds = [
    ...(min === -Infinity ? [] : [`at least ${min}`]),
    ...(max === Infinity ? [] : [`at most ${max}`]),
  ].join(' and ');
  throw wrong(found.place, `a ${integer ? 'whole ' : ''}number${bounds === '' ? '' : ` of ${bounds}`}`);
}

/** An object, or JSON text of one. An empty object counts as nothing said. */
export function objectField(...list: Candidate[]): Record<string, unknown> | undefined {
  for (const candidate of list) {
    const found = first([candidate]);
    if (found === undefined) {
      continue;
    }
    const value = typeof found.value === 'string' ? parsed(found.value) : found.value;
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isThenable(value)) {
      throw wrong(found.place, 'an object, or JSON text of one');
    }
    assertJson(found.place, value);
    if (Object.keys(value).length > 0) {
      return value as Record<string, unknown>;
    }
  }
  return undefined;
}

/** What is sent as JSON may hold no big integers and no circles. */
function assertJson(place: string, value: object): void {
  try {
    JSON.stringify(value);
  } catch (error) {
    const [reason] = reasonOf(error).split('\n');
    throw wrong(place, `an object that can be written as JSON (${reason})`);
  }
}

/** Texts: an array, a JSON array, or texts with commas between. */
export function listField(...list: Candidate[]): string[] | undefined {
  const found = first(list);
  if (found === undefined) {
    return undefined;
  }
  const value = typeof found.value === 'string' ? splitList(found.value) : found.value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.length === 0 ? undefined : value;
  }
  throw wrong(found.place, 'names with commas between, or an array of texts');
}

/** Quantiles: numbers between 0 and 1, ascending or not; an array or text with commas between. */
export function quantilesField(...list: Candidate[]): number[] | undefined {
  const found = first(list);
  if (found === undefined) {
    return undefined;
  }
  const value = typeof found.value === 'string' ? splitList(found.value) : found.value;
  const numbers = Array.isArray(value) ? value.map(quantile) : [];
  if (numbers.length > 0 && numbers.every((q) => q > 0 && q < 1)) {
    return numbers;
  }
  throw wrong(found.place, 'numbers between 0 and 1 with commas between, such as 0.1,0.5,0.9');
}

function quantile(item: unknown): number {
  return typeof item === 'number' || (typeof item === 'string' && item !== '') ? Number(item) : NaN;
}

/** A check box, raised by the message's flag too. */
export function flagField(dialog: unknown, raised: unknown): boolean {
  return dialog === true || dialog === 'true' || raised === true || raised === 'true';
}

function splitList(value: string): unknown {
  if (value.trim().startsWith('[')) {
    return parsed(value);
  }
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
