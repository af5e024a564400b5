import { knownZone } from '../table/cells/parse-date';
import { isObject, tryParseJson } from '../util/json';
import { isThenable, reasonOf } from '../util/realms';
import type { Kind, Setting } from './kinds';

/** How a kind of setting is read and what it may hold. */
interface Rules {
  /** What a text, or another form that a dialog and a message take, stands for; what is no such form, as it is. */
  parse?: (value: unknown) => unknown;
  /** Whether a parsed value says nothing, beside the empty text. */
  isEmpty?: (value: unknown) => boolean;
  /** What a parsed value must be, and whether it is. */
  must: string | ((setting: Setting) => string);
  holds: (value: unknown, setting: Setting) => boolean;
  /** What a dialog and a message may hold instead, as the end of that sentence. */
  orText?: string;
  /** More than that can be said against this value. */
  detail?: (value: unknown, setting: Setting) => string | undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** A number is taken as its text. */
const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

/** The same, where white space around it means nothing. */
const trimmed = (value: unknown): unknown => (isText(value) ? value.trim() : asText(value));

const known = ({ options = [] }: Setting): string => options.join(', ');

const TEXT: Rules = { parse: trimmed, must: 'a text', holds: isText };
const TEXTS: Rules = {
  parse: split,
  isEmpty: (value) => Array.isArray(value) && value.length === 0,
  must: 'an array of texts',
  orText: ' or names separated by commas',
  holds: isTexts,
};
const OBJECT: Rules = {
  parse: (value) => (isText(value) ? tryParseJson(value) : value),
  isEmpty: (value) => isPlain(value) && Object.keys(value).length === 0,
  must: 'an object',
  orText: ', or JSON text of one',
  holds: isPlain,
};

const RULES: Record<Kind, Rules> = {
  text: TEXT,
  url: TEXT,
  node: TEXT,
  property: TEXT,
  column: { ...TEXT, parse: asText },
  columnOrTopic: { ...TEXT, parse: asText },
  // What is written in them is read, and refused, by src/series.
  duration: TEXT,
  durations: TEXT,
  schedule: TEXT,
  word: {
    ...TEXT,
    must: 'one word, such as predict',
    holds: (value) => isText(value) && /^[\w.-]+$/.test(value),
  },
  zone: {
    ...TEXT,
    must: 'the name of a time zone such as Europe/Berlin, America/New_York or UTC',
    holds: (value) => isText(value) && knownZone(value) !== undefined,
  },
  number: {
    parse: (value) => (isText(value) && value.trim() !== '' ? Number(value) : value),
    isEmpty: (value) => isText(value) && value.trim() === '',
    must: numberWithin,
    holds: (value, { min = -Infinity, max = Infinity, integer }) =>
      typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value)),
  },
  choice: {
    must: (setting) => `one of ${known(setting)}`,
    holds: (value, { options = [] }) => options.includes(value as string),
  },
  flag: {
    parse: (value) => value === true || value === 'true',
    must: 'true or false',
    holds: (value) => typeof value === 'boolean',
  },
  list: TEXTS,
  several: {
    ...TEXTS,
    detail: (value, setting) => {
      const unknown = isTexts(value) && value.find((one) => !setting.options?.includes(one));
      return isText(unknown) ? `names "${unknown}"; known are ${known(setting)}` : undefined;
    },
  },
  quantiles: {
    parse: (value) => numbers(split(value)),
    must: 'numbers between 0 and 1',
    orText: ', separated by commas, such as 0.1,0.5,0.9',
    holds: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((q) => typeof q === 'number' && q > 0 && q < 1),
  },
  types: {
    ...OBJECT,
    detail: (value, setting) => {
      const wrong =
        isPlain(value) &&
        Object.entries(value).find(([, type]) => !setting.options?.includes(type as string));
      return wrong
        ? `gives the column "${wrong[0]}" the type "${String(wrong[1])}"; known are ${known(setting)}`
        : undefined;
    },
  },
  vary: {
    parse: (value) => withoutEmpty(isText(value) ? tryParseJson(value) : value),
    isEmpty: (value) => Array.isArray(value) && value.length === 0,
    must: 'an array of {column, from, to, step, cost, price}',
    holds: (value) => Array.isArray(value) && value.every(isPlain),
    detail: (value) =>
      Array.isArray(value) && value.every(isPlain)
        ? value.map(whyNotVary).find((problem) => problem !== undefined)
        : undefined,
  },
  object: {
    ...OBJECT,
    detail: (value) => {
      const reason = isPlain(value) ? whyNotJson(value) : undefined;
      return reason === undefined ? undefined : `must be an object that can be written as JSON (${reason})`;
    },
  },
};

/** Whether a value of a dialog or a message says nothing about the setting. */
export function isUnsaid(setting: Setting, value: unknown): boolean {
  const { parse, isEmpty } = RULES[setting.kind];
  if (value === undefined || value === null || value === '') {
    return true;
  }
  const read = parse?.(value) ?? value;
  return read === '' || isEmpty?.(read) === true;
}

/** The value that a form of it in a dialog or a message stands for; it is still to be checked. */
export function parseSetting(setting: Setting, value: unknown): unknown {
  const { parse } = RULES[setting.kind];
  return parse === undefined ? value : parse(value);
}

/**
 * What is wrong with a value, as the end of a sentence that begins with the name of the setting: "must be a text".
 * Undefined where nothing is.
 *
 * @param from a `form` of a dialog or a message may be a text where a program's `value` is an array or an object
 */
export function problemWith(setting: Setting, value: unknown, from: 'value' | 'form'): string | undefined {
  const { must, holds, detail, orText = '' } = RULES[setting.kind];
  const known = detail?.(value, setting);
  if (known !== undefined || holds(value, setting)) {
    return known;
  }
  return `must be ${typeof must === 'string' ? must : must(setting)}${from === 'form' ? orText : ''}`;
}

function numberWithin({ min = -Infinity, max = Infinity, integer = false }: Setting): string {
  const bounds = [
    ...(min === -Infinity ? [] : [`at least ${min}`]),
    ...(max === Infinity ? [] : [`at most ${max}`]),
  ].join(' and ');
  return `a ${integer ? 'whole ' : ''}number${bounds === '' ? '' : ` of ${bounds}`}`;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

/** What has commas between, or a JSON array; names that hold a comma stand in the latter. */
function split(value: unknown): unknown {
  if (!isText(value)) {
    return value;
  }
  if (value.trim().startsWith('[')) {
    return tryParseJson(value);
  }
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function numbers(value: unknown): unknown {
  return Array.isArray(value)
    ? value.map((item) => (typeof item === 'number' || (isText(item) && item !== '') ? Number(item) : NaN))
    : value;
}

/** An object, and not a promise of one. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isThenable(value);
}

/** What is sent as JSON holds no big integers and no circles. */
function whyNotJson(value: object): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return reasonOf(error).split('\n')[0]!;
  }
}

/** A dialog keeps a field that is left empty as an empty text, and a number as its text. */
function withoutEmpty(list: unknown): unknown {
  const valueOf = (value: unknown): unknown => (isText(value) && value.trim() !== '' ? Number(value) : value);
  return Array.isArray(list)
    ? list.map((entry: unknown) =>
        isPlain(entry)
          ? Object.fromEntries(
              Object.entries(entry)
                .filter(([, value]) => value !== '' && value !== null && value !== undefined)
                .map(([name, value]) => [name, name === 'column' ? value : valueOf(value)]),
            )
          : entry,
      )
    : list;
}

const VARY_NUMBERS = ['from', 'to', 'step', 'cost', 'price'];

function whyNotVary(entry: Record<string, unknown>): string | undefined {
  const { column } = entry;
  if (!isText(column) || column === '') {
    return 'has an entry that names no column';
  }
  const unknown = Object.keys(entry).find((name) => name !== 'column' && !VARY_NUMBERS.includes(name));
  if (unknown !== undefined) {
    return `says "${unknown}" of "${column}"; known are ${VARY_NUMBERS.join(', ')}`;
  }
  const wrong = VARY_NUMBERS.find((name) => Object.hasOwn(entry, name) && !Number.isFinite(entry[name]));
  if (wrong !== undefined) {
    return `must have a number as "${wrong}" of "${column}"`;
  }
  if (entry.step !== undefined && (entry.step as number) <= 0) {
    return `must have a step above 0 for "${column}"`;
  }
  return entry.cost !== undefined && (entry.cost as number) < 0
    ? `must have a cost of at least 0 for "${column}": what a lower value saves is its price`
    : undefined;
}
