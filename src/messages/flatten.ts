import { isSparse, setCell } from '../table';
import { ServiceError } from '../wire/service-error';
import { isNamed, opened, plainValue } from './paths';
import { isDateText, looksLikeTime, timesIn } from './times';

export interface FlattenOptions {
  /** Names for the entries of a list, in order. */
  names: readonly string[];
  /** Told of a list that is left out: its column, how many of its entries have no name, and whether they are objects. */
  onList: (column: string, unnamed: number, areObjects: boolean) => void;
  /** Told of a value that is left out for its quality. */
  onBad: (column: string) => void;
  /** Told of a column that has two values that differ, one by its name and one by its path; the later one counts. */
  onTwice?: (column: string) => void;
  /** Columns that are none; `*` stands for any text. */
  omit?: readonly string[];
  /** Lists of objects are columns by the place of their entries. */
  numbered?: boolean;
  /** Takes in, by its path, what is no value of a column: a list, bytes, an object without any value. */
  rest?: Rest;
}

/** What of a row is no value of a column, by its path. */
export type Rest = [column: string, value: unknown][];

const MAX_DEPTH = 12;
/**
 * Values of one object that are looked at: four times as many as a table has columns. A flat row has no more, but where
 * objects refer to others in several places, each level multiplies them.
 */
const MAX_VALUES = 65_536;
const MAX_NUMBERED = 64;
/** What an object with a value may have beside it. */
const BESIDE =
  /^(?:unit|units|unit_of_measurement|unit_?code|uom|quality|status|status_?code|state_class|device_class|timestamp(?:_?ms)?|time|ts|datetime|source_?timestamp|server_?timestamp|created_?at|received_?at|observed_?at|last_\w+|type|(?:data|array)_?type|name|id|(?:min|max|step)(?:_?value)?|zone_?id|context|attributes|meta(?:data)?|precision|description|label|scale|(?:old|previous|prev)_?(?:value|type)|qc|valid|unique_?id|serial(?:_?(?:no|number))?|writable|enum\w+|(?:str|raw|formatted)_?(?:val|value)|scale_?value|function|storage_?number|access_?mode|text|lc|hm|ack|quality_?control|\w*(?:category|categories|unit|symbol|url))$/i;
const VALUE = /^(?:value|val|v|reading)$/i;
const QUALITY = /^(?:quality|status_?code|status)$/i;

/**
 * The columns of an object: nested ones with dots, JSON in text opened, `{value, unit}` a value. Dates and lists are no
 * values, but the entries of a list take the names that there are for them.
 */
export function flatten(
  value: unknown,
  prefix: string,
  options: FlattenOptions,
  out: Record<string, unknown> = {},
): Record<string, unknown> {
  put({ options, out, within: [], values: 0, cells: 0 }, value, prefix, 0);
  return out;
}

/** How a message is flattened, and the columns that have come of it. */
interface Flattening {
  options: FlattenOptions;
  out: Record<string, unknown>;
  /** The objects that the value at hand is in, from the outermost on. */
  within: unknown[];
  /** Values looked at, and cells that came of them. */
  values: number;
  cells: number;
}

function set(into: Flattening, column: string, cell: unknown): void {
  into.cells++;
  const { onTwice } = into.options;
  if (onTwice !== undefined && Object.hasOwn(into.out, column) && into.out[column] !== cell) {
    onTwice(column);
  }
  setCell(into.out, column, cell);
}

/** @throws ServiceError `limit.exceeded` for an object of too many values */
function put(into: Flattening, given: unknown, column: string, depth: number): void {
  const { options, within } = into;
  if (++into.values > MAX_VALUES) {
    throw new ServiceError(
      'limit.exceeded',
      `One object holds more than ${MAX_VALUES.toLocaleString('en')} values, with all that it refers to: more than are read here. ` +
        'Send the values that are needed, and nothing else.',
    );
  }
  if (column !== '' && options.omit !== undefined && options.omit.some((pattern) => fits(pattern, column))) {
    return;
  }
  const value = opened(given);
  const plain = plainValue(value);
  if (plain !== undefined || value === undefined) {
    if (column !== '' && value !== undefined) {
      set(into, column, plain);
    }
    return;
  }
  if (Array.isArray(value)) {
    putList(into, value, column, depth);
    return;
  }
  if (!isNamed(value) || isWhole(value) || depth > MAX_DEPTH) {
    options.rest?.push([column, value]);
    return;
  }
  // An object within itself has no values that are not there already.
  if (within.includes(value)) {
    return;
  }
  const single = column === '' ? undefined : valueIn(value);
  if (single !== undefined) {
    if (isBadBeside(value)) {
      options.onBad(column);
      set(into, column, null);
    } else {
      put(into, value[single], column, depth + 1);
    }
    const time = timesIn(value);
    if (time !== undefined && looksLikeTime(time.value)) {
      // Where nothing else tells the time of the reading.
      set(into, `${column}.${time.column}`, time.value);
    }
    return;
  }
  if (column !== '' && isBadAlone(value)) {
    options.onBad(column);
    set(into, column, null);
    return;
  }
  const { cells } = into;
  const known = options.rest?.length ?? 0;
  within.push(value);
  for (const name in value) {
    if (Object.hasOwn(value, name)) {
      put(into, value[name], column === '' ? name : `${column}.${name}`, depth + 1);
    }
  }
  within.pop();
  if (column !== '' && into.cells === cells && options.rest !== undefined) {
    // Such as an id of MongoDB, which is an object around its bytes: as a whole, not in parts.
    options.rest.length = known;
    options.rest.push([column, value]);
  }
}

/** Whether an object is a value of MongoDB that is no number, such as an id: what it is made of are no columns. */
function isWhole(value: Record<string, unknown>): boolean {
  return typeof value._bsontype === 'string';
}

function putList(into: Flattening, list: readonly unknown[], column: string, depth: number): void {
  const { options } = into;
  const { names } = options;
  const isRoot = column === '';
  if (isSparse(list)) {
    // To go through one of two thousand million holes takes half a minute.
    options.onList(column, list.length, isNamed(list[0]));
    options.rest?.push([column, list]);
    return;
  }
  const entries = options.numbered === true ? undefined : namedEntries(list);
  if (entries !== undefined) {
    put(into, entries, column, depth + 1);
    return;
  }
  const single = list.length === 1 && !isRoot && isNamed(list[0]) ? valueIn(list[0]) : undefined;
  if (single !== undefined) {
    put(into, list[0], column, depth + 1);
    return;
  }
  const isPlain = list.every((entry) => plainValue(entry) !== undefined || entry === undefined);
  if (options.numbered === true && !isPlain && list.length <= MAX_NUMBERED) {
    for (const [place, entry] of list.entries()) {
      put(into, entry, isRoot ? `${place}` : `${column}.${place}`, depth + 1);
    }
    return;
  }
  const named = isPlain && (isRoot || list.length <= names.length) ? Math.min(names.length, list.length) : 0;
  for (let i = 0; i < named; i++) {
    put(into, list[i], isRoot ? names[i]! : `${column}.${names[i]!}`, depth + 1);
  }
  if (named < list.length) {
    options.onList(column, list.length - named, list.every(isNamed));
    options.rest?.push([column, list]);
  }
}

/** The entry of an object that is nothing but a value with what is said of it; undefined where it is more. */
export function valueIn(value: Record<string, unknown>): string | undefined {
  let found: string | undefined;
  for (const name in value) {
    if (VALUE.test(name)) {
      if (found !== undefined) {
        return undefined;
      }
      found = name;
    } else if (!BESIDE.test(name) && !isUnit(name, value)) {
      return undefined;
    }
  }
  return found;
}

/** Whether an entry is a unit, or the digits to show: `{v: 230.1, u: "V", d: 1}`, as OpenDTU has it. */
function isUnit(name: string, { u }: Record<string, unknown>): boolean {
  return (name === 'u' || name === 'd') && typeof u === 'string';
}

/** Names of the column of a value beside it, wherever it is sent; others are only where no topic tells it. */
const TAG =
  /^(?:tag|tag_?(?:name|path)|variable|metric|point|point_?name|parameter|parameter_?name|signal|sensor|value_?type|measurand)$/i;
/** The same within a list, where the name of each entry is another one. */
const ENTRY = /^(?:code|comp|key|field|channel|address|parameter_?id)$/i;
const NAME = /^(?:name|id)$/i;

/**
 * The entries of an object that is nothing but a value and the name of its column: `{tag: "Temp", value: 21}`; undefined
 * where it is more.
 */
export function namedValueIn(
  value: Record<string, unknown>,
  hasTopic: boolean,
): { name: string; value: string } | undefined {
  let named: string | undefined;
  let single: string | undefined;
  for (const entry in value) {
    const isName = (TAG.test(entry) || (!hasTopic && NAME.test(entry))) && typeof value[entry] === 'string';
    if (isName && (named === undefined || TAG.test(entry))) {
      named = entry;
    } else if (VALUE.test(entry)) {
      if (single !== undefined) {
        return undefined;
      }
      single = entry;
    } else if (!BESIDE.test(entry)) {
      return undefined;
    }
  }
  return named === undefined || single === undefined ? undefined : { name: named, value: single };
}

const MAX_ENTRIES = 1000;

/**
 * The values of a list by their names, where each entry is nothing but a value with a name of its own:
 * `[{"code": "temp", "value": 21}, …]`; undefined where it is more, or where two have the same name.
 */
export function namedEntries(list: readonly unknown[]): Record<string, unknown> | undefined {
  if (list.length === 0 || list.length > MAX_ENTRIES || !list.every(isNamed)) {
    return undefined;
  }
  const first = Object.keys(list[0]!);
  const by = [TAG, /^name$/i, ENTRY, /^(?:label|type|id)$/i].flatMap((kind) =>
    first.filter((name) => kind.test(name) && list.every((entry) => isName(entry[name]))),
  );
  const name = by.find((one) => new Set(list.map((entry) => entry[one])).size === list.length);
  if (name === undefined) {
    return undefined;
  }
  const entries: Record<string, unknown> = {};
  for (const entry of list) {
    const rest: Record<string, unknown> = {};
    for (const [one, cell] of Object.entries(entry)) {
      if (one !== name && !TAG.test(one) && !ENTRY.test(one) && !/^\d+$/.test(one)) {
        setCell(rest, one === 't' && looksLikeTime(cell) ? 'timestamp' : one, cell);
      }
    }
    if (valueIn(rest) === undefined) {
      return undefined;
    }
    setCell(entries, String(entry[name]), rest);
  }
  return entries;
}

function isName(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** Whether what stands beside a value says that it cannot be used. */
export function isBadBeside(value: Record<string, unknown>): boolean {
  for (const name in value) {
    if (QUALITY.test(name) && isBad(value[name], name)) {
      return true;
    }
  }
  return false;
}

/** Whether an object says nothing but that there is no value: `{StatusCode: "Bad", SourceTimestamp: …}`. */
function isBadAlone(value: Record<string, unknown>): boolean {
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => BESIDE.test(name)) && isBadBeside(value);
}

function fits(pattern: string, column: string): boolean {
  return pattern.startsWith('*') ? column.endsWith(pattern.slice(1)) : pattern === column;
}

/** Whether a value may be one of a sensor: no date with its time of day, no Date. */
export function isSensorValue(value: unknown): boolean {
  return !(value instanceof Date) && !(typeof value === 'string' && isDateText(value));
}

const GOOD = /^\s*(?:good|ok|valid|normal|true)/i;
const BAD = /^\s*(?:bad|uncertain|invalid|error|err|fail|fault|stale|false|not)/i;
/** The two highest bits of a status code of OPC UA: 0 good, 1 uncertain, 2 and 3 bad (OPC UA Part 4, 7.39). */
const SEVERITY = 2 ** 30;
/** From here on the quality of OPC DA is good (OPC DA 3.00, 6.8). */
const GOOD_OF_DA = 192;

/** From here on the quality of a data point of Industrial Edge is good (Common Databus Payload Format). */
const GOOD_OF_DATABUS = 2;

/**
 * Whether a quality or status says that its value cannot be used. What it is not known to say, it does not.
 *
 * @param name what it is named, maybe by a path: a `quality` is good from 192 on, a `qc` from 2 on, and of a status code 0 is
 */
export function isBad(given: unknown, name: string): boolean {
  const quality = isNamed(given)
    ? (given.name ?? given._name ?? given.Symbol ?? given.value ?? given._value ?? given.Code)
    : given;
  if (typeof quality === 'string') {
    return !GOOD.test(quality) && BAD.test(quality);
  }
  if (typeof quality === 'boolean') {
    return !quality;
  }
  if (typeof quality !== 'number') {
    return false;
  }
  return /quality/i.test(name)
    ? quality < GOOD_OF_DA && quality !== 100
    : name === 'qc'
      ? quality < GOOD_OF_DATABUS
      : quality >= SEVERITY;
}
