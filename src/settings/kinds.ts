import { knownZone } from '../table/cells/parse-date';
import type { GivenType } from '../table/cells/types';
import { isObject, isThenable, readReason, tryParseJson } from '../util/values';
import { filledIn, VARY_NUMBERS, type VaryColumn, type VaryNumbers, whyNotVary } from './vary';

/** How a value is written in a dialog and a message; the rules of each are below. */
export type Kind =
  | 'text'
  | 'column'
  | 'columnOrTopic'
  | 'word'
  | 'url'
  | 'zone'
  | 'number'
  | 'duration'
  | 'durations'
  | 'schedule'
  | 'choice'
  | 'onOff'
  | 'flag'
  | 'list'
  | 'several'
  | 'quantiles'
  | 'types'
  | 'object'
  | 'vary'
  | 'property'
  | 'node';

/** One setting of a node. `Value` is what is read of it, `Flow` what may stand in a flow file. */
export interface Setting<Value = unknown, Flow = unknown> {
  readonly kind: Kind;
  /** What a node just dragged in has; undefined for another node. */
  readonly default: Flow;
  /** What is taken where neither the dialog nor the message says anything. */
  readonly fallback: Value;
  /** The property of the message that says it where the dialog leaves it open, or raises a flag. */
  readonly message?: string;
  /** A choice that leaves it open as well, beside the empty field. */
  readonly open?: string;
  /** Key of the label in the catalogue; default: the name of the setting. `false`: it has no field of its own. */
  readonly label?: string | false;
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
  /** Of durations: a range such as `1h..24h` is a list of them. */
  readonly ranges?: boolean;
  /** The values of a choice, of several or of column types; of a word, those that are offered. */
  readonly options?: readonly string[];
  /** The same in the groups of the dialog, by the key of each group's name. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** It must be filled in while another setting has one of these values, and may be while it has one of the others. */
  readonly requiredWhen?: readonly [name: string, values: readonly string[], optional?: readonly string[]];
  /** Of a list: the setting whose value it must not have. */
  readonly except?: string;
  /** The type of the node that it names. */
  readonly type?: string;
  /** Of a property, and of what may be a column: the setting that says where it is. */
  readonly typeField?: string;
  /** Of columns that may be changed: what the numbers of an entry must be. */
  readonly numbers?: VaryNumbers;
}

/** The settings of a node by their names in the flow file, in the order of the dialog's defaults. */
export type Settings = Readonly<Record<string, Setting>>;

/** What is read of a setting. */
export type ValueOf<S> = S extends Setting<infer Value> ? Value : never;

/** What is read of several settings, by their names. */
export type ValuesOf<S extends Settings> = { -readonly [Name in keyof S]: ValueOf<S[Name]> };

/** The settings as a flow file has them: one written by hand or by an earlier version may leave any of them out. */
export type FlowProperties<S extends Settings> = { -readonly [Name in keyof S]?: S[Name]['default'] };

interface Common {
  message?: string;
  label?: string | false;
}

type Optional<Value, Flow = string> = Setting<Value | undefined, Flow>;

/** A text; white space around it is left off. `standard`: what the dialog is filled in with. */
export function freeText(
  more: Common & ({ standard: string } | { fallback: string }),
): Setting<string, string>;
export function freeText(more?: Common): Optional<string>;
export function freeText(more: Common & { standard?: string; fallback?: string } = {}): Optional<string> {
  const { standard, fallback = standard, ...rest } = more;
  return { kind: 'text', default: standard ?? '', fallback, ...rest };
}

/** The name of a column, as it is. */
export function column(more: Common = {}): Optional<string> {
  return { kind: 'column', default: '', fallback: undefined, ...more };
}

/** The name of a column, or what else its type says: of the type `topic` a filter of topics such as `plant/+/#`. */
export function columnOrTopic(more: Common & { typeField: string }): Optional<string> {
  return { kind: 'columnOrTopic', default: '', fallback: undefined, ...more };
}

/** A text of one word, which stands in the dialog from the start. `options`: words that the dialog offers. */
export function word(
  standard: string,
  more: Common & { options?: readonly string[] } = {},
): Setting<string, string> {
  return { kind: 'word', default: standard, fallback: standard, ...more };
}

/** An address that begins with http:// or https://. */
export function url(more: Common & { requiredWhen?: Setting['requiredWhen'] } = {}): Optional<string> {
  return { kind: 'url', default: '', fallback: undefined, ...more };
}

/** The name of a time zone. */
export function zone(more: Common = {}): Optional<string> {
  return { kind: 'zone', default: '', fallback: undefined, ...more };
}

interface Bounds extends Common {
  min?: number;
  max?: number;
  integer?: boolean;
}

/** A number from `min` to `max`, both allowed. `fallback`: what an empty field stands for. */
export function numberIn(
  more: Bounds & ({ default: number } | { fallback: number }),
): Setting<number, string | number>;
export function numberIn(more: Bounds): Optional<number, string | number>;
export function numberIn(
  more: Bounds & { default?: number; fallback?: number },
): Optional<number, string | number> {
  return { kind: 'number', ...more, default: more.default ?? '', fallback: more.fallback ?? more.default };
}

interface Choosing<T> extends Common {
  /** What a flow that was made before the setting is taken to say; left out: the default. */
  fallback?: T;
  open?: T;
  groups?: Readonly<Record<string, readonly T[]>>;
}

/** A time such as `90s` or `1h 30m`, as text; src/series reads it. `min` 0: none at all may be said too. */
export function duration(more: Common & { min?: 0 } = {}): Optional<string> {
  return { kind: 'duration', default: '', fallback: undefined, ...more };
}

/** Several durations with commas between, as text; src/series reads them. */
export function durations(more: Common & { default?: string; ranges?: boolean } = {}): Optional<string> {
  return { kind: 'durations', fallback: undefined, ...more, default: more.default ?? '' };
}

/** When something is due, as text that src/series reads: `auto`, `never`, `1d`, `500 rows`. */
export function schedule(standard: string, more: Common = {}): Optional<string> {
  return { kind: 'schedule', default: standard, fallback: undefined, ...more };
}

/** One of a closed list; without a default the empty choice stands before it. */
export function choice<const T extends string>(
  options: readonly T[],
  more: Choosing<NoInfer<T>> & { default: NoInfer<T> },
): Setting<T, string>;
export function choice<const T extends string>(
  options: readonly T[],
  more?: Choosing<NoInfer<T>>,
): Optional<T>;
export function choice<T extends string>(
  options: readonly T[],
  more: Choosing<T> & { default?: T } = {},
): Optional<T> {
  return { kind: 'choice', options, fallback: more.default, ...more, default: more.default ?? '' };
}

/**
 * On or off, where a message says it too: in its words, or as true and false. `open`: a dialog that says off leaves it
 * to the message. `fallback`: what a flow that was made before the setting is taken to say.
 */
export function onOff(
  standard: 'on' | 'off',
  more: Common & { fallback?: boolean; open?: 'off' } = {},
): Setting<boolean, string> {
  const options = standard === 'on' ? ['on', 'off'] : ['off', 'on'];
  return { kind: 'onOff', options, default: standard, fallback: standard === 'on', ...more };
}

/** A check box; the message's property raises it too. */
export function flag(more: Common & { default?: boolean } = {}): Setting<boolean, boolean> {
  const standard = more.default ?? false;
  return { kind: 'flag', ...more, default: standard, fallback: standard };
}

/** Texts: an array, a JSON array, or text separated by commas. */
export function list(more: Common & { except?: string } = {}): Optional<string[], string | string[]> {
  return { kind: 'list', default: '', fallback: undefined, ...more };
}

/** Any of a closed list, each with a check box. */
export function several<const T extends string>(
  options: readonly T[],
  more: Common = {},
): Optional<T[], string | string[]> {
  return { kind: 'several', options, default: [], fallback: undefined, ...more };
}

/** Numbers between 0 and 1. */
export function quantiles(
  more: Common & { fallback: readonly number[] },
): Setting<readonly number[], string | number[]> {
  return { kind: 'quantiles', default: '', ...more };
}

/** Types of columns, by their names. */
export function types(
  options: readonly GivenType[],
  more: Common = {},
): Optional<Record<string, GivenType>, string | Record<string, string>> {
  return { kind: 'types', options, default: '', fallback: undefined, ...more };
}

/** A JSON object. */
export function object(
  more: Common = {},
): Optional<Record<string, unknown>, string | Record<string, unknown>> {
  return { kind: 'object', default: '', fallback: undefined, ...more };
}

/** A property of the message, of a context, an expression …: Node-RED's typed input, whose type stands in `typeField`. */
export function property(standard: string, typeField: string, more: Common = {}): Setting<string, string> {
  return { kind: 'property', default: standard, fallback: standard, typeField, ...more };
}

/** Another node, by its id. */
export function node(type: string, more: Common = {}): Optional<string, string | undefined> {
  return { kind: 'node', default: undefined, fallback: undefined, type, ...more };
}

/** Columns that may be changed: an array of entries, or its JSON text. */
export function vary(more: Common = {}): Setting<VaryColumn[] | undefined, readonly object[]> {
  return { kind: 'vary', default: [], fallback: undefined, numbers: VARY_NUMBERS, ...more };
}

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
  onOff: {
    parse: (value) => (value === 'on' ? true : value === 'off' ? false : value),
    must: 'true or false',
    orText: ', or on or off',
    holds: (value) => typeof value === 'boolean',
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
    parse: (value) => filledIn(isText(value) ? tryParseJson(value) : value),
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
    return readReason(error).split('\n')[0]!;
  }
}
