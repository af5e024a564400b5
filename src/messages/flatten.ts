import { types } from 'node:util';

import { setCell } from '../table';
import { isPadded, isSparse, isTooWide, maybeEndless, plainNames } from '../table/columns/header';
import { Yielder } from '../util/concurrency';
import { parseJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { isNamed, opened, plainValue } from './paths';
import { isDateText, looksLikeTime, timesIn } from './times';

export interface FlattenOptions {
  /** Names for the entries of a list, in order. */
  names: readonly string[];
  /** Told of a list that is left out: its column, and how many of its entries have no name. */
  onList: (column: string, unnamed: number) => void;
  /** Told of a value that is left out for its quality. */
  onBad: (column: string) => void;
  /** Columns that are none; `*` stands for any text. */
  omit?: readonly string[];
  /** Lists of objects are columns by the place of their entries. */
  numbered?: boolean;
  /** Takes in, by its path, what is no value of a column: a list, bytes, an object without any value. */
  rest?: Rest;
}

/** What of a row is no value of a column, by its path. */
export type Rest = [column: string, value: unknown][];

/** What is left out of the rows of a table, by the place of the row. */
export type Rests = Map<number, Rest>;

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
  if (!isNamed(value) || depth > MAX_DEPTH) {
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

function putList(into: Flattening, list: readonly unknown[], column: string, depth: number): void {
  const { options } = into;
  const { names } = options;
  const isRoot = column === '';
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
    options.onList(column, list.length - named);
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

/** Rows that are looked at for nested cells. Where the first are further on, they are an error that names row and column. */
const LOOKED_AT = 100;
/** Text without it has no nested object. */
const NESTED_JSON = /[:[,]\s*\{/;

/** What is told of a table as it is made flat. */
export interface FlatTableHooks {
  /** A list that is left out: its column. */
  onList: (column: string) => void;
  /** Where an object that is no row holds a list of objects, as the answer of an API does: `data.items`. */
  onRows?: (path: string, rows: number) => void;
  /** What of a row is left out: the place of the row, and each part of it. */
  onRest?: (place: number, rest: Rest) => void;
}

/**
 * A table whose rows are nested objects, with columns named by their paths (`ENERGY.Power`), as a series names them. Any
 * other table is given back as it is. What is no value of a column, such as a list, is left out.
 * @throws ServiceError `limit.exceeded`, and `table.empty` for an object without a value of a column
 */
export async function flatTable(
  given: unknown,
  { onList, onRows, onRest }: FlatTableHooks,
): Promise<unknown> {
  const flat = (row: Record<string, unknown>, place: number): Record<string, unknown> => {
    const rest: Rest = [];
    const columns = flatten(row, '', { names: [], onList, onBad: () => undefined, rest });
    if (rest.length > 0) {
      onRest?.(place, rest);
    }
    return columns;
  };
  const table =
    typeof given === 'string' && NESTED_JSON.test(given.slice(0, 4096))
      ? opened(given, (text) => parseJson(text))
      : given;
  if (isNamed(table)) {
    const inner = onRows === undefined ? undefined : rowsWithin(table);
    if (inner !== undefined) {
      onRows?.(inner.path, inner.rows);
    }
    if (!isNested(table, true)) {
      return given;
    }
    const row = flat(table, 0);
    if (Object.keys(row).length === 0) {
      throw new ServiceError('table.empty', noValue(table));
    }
    return row;
  }
  if (!Array.isArray(table)) {
    return given;
  }
  const rows = table as unknown[];
  const endless = maybeEndless();
  if (isSparse(rows) || !rows.slice(0, LOOKED_AT).some((row) => isNamed(row) && isNested(row, endless))) {
    return given;
  }
  const yielder = new Yielder();
  const all: unknown[] = [];
  for (const [place, row] of rows.entries()) {
    all.push(isNamed(row) ? flat(row, place) : row);
    await yielder.due();
  }
  return all;
}

/**
 * Adds to each row what was left out of it as it was made flat, unless it has such a column by now.
 *
 * @param table rows, or one, that nobody else has: they are changed
 */
export function addRests(table: unknown, rests: Rests): void {
  const rows: unknown[] = Array.isArray(table) ? table : [table];
  for (const [place, rest] of rests) {
    const row = rows[place];
    if (!isNamed(row)) {
      continue;
    }
    for (const [column, value] of rest) {
      if (!Object.hasOwn(row, column)) {
        setCell(row, column, value);
      }
    }
  }
}

/**
 * Readings whose columns have no white space around their names, as the csv node leaves it there of a header such as
 * `time, temperature`, or of one behind a byte order mark. Any other value is given back as it is.
 */
export async function readingsByPlainNames(value: unknown): Promise<unknown> {
  if (isNamed(value)) {
    return hasPadded(value, true) ? byPlainNames(value) : value;
  }
  if (!Array.isArray(value) || isSparse(value)) {
    return value;
  }
  const rows = value as unknown[];
  const endless = maybeEndless();
  if (!rows.slice(0, LOOKED_AT).some((row) => isNamed(row) && hasPadded(row, endless))) {
    return value;
  }
  const yielder = new Yielder();
  const plain: unknown[] = [];
  for (const row of rows) {
    plain.push(isNamed(row) ? byPlainNames(row) : row);
    await yielder.due();
  }
  return plain;
}

function noValue(row: Record<string, unknown>): string {
  const names = Object.keys(row);
  const named = names
    .slice(0, MAX_NAMED)
    .map((name) => `"${name}"`)
    .join(', ');
  return (
    `The object has no value that is a column, only lists and objects: ${named}${names.length > MAX_NAMED ? ' …' : ''}. ` +
    'If one of them holds the rows, give that one as the table.'
  );
}

function hasPadded(row: Record<string, unknown>, endless: boolean): boolean {
  // Asking a Proxy for its names may have any effect.
  return !types.isProxy(row) && !isTooWide(row, endless) && Object.keys(row).some(isPadded);
}

function byPlainNames(row: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(row);
  const plain: Record<string, unknown> = {};
  for (const [place, name] of plainNames(keys).entries()) {
    setCell(plain, name, row[keys[place]!]);
  }
  return plain;
}

/** The first list of objects within an object, from the outer levels to the inner ones: a row may hold lists of its own. */
function rowsWithin(whole: Record<string, unknown>): { path: string; rows: number } | undefined {
  // Asking a Proxy for its names may have any effect.
  let level = types.isProxy(whole) || isTooWide(whole, true) ? [] : [{ path: '', object: whole }];
  for (let depth = 0; depth < MAX_ENVELOPES && level.length > 0; depth++) {
    const inner: typeof level = [];
    for (const { path, object } of level) {
      for (const name of Object.keys(object)) {
        const value = object[name];
        if (typeof value !== 'object' || value === null) {
          continue;
        }
        const place = path === '' ? name : `${path}.${name}`;
        if (Array.isArray(value) && value.length > 1 && value.every(isNamed)) {
          return { path: place, rows: value.length };
        }
        if (isNamed(value) && !types.isProxy(value) && !isTooWide(value, false)) {
          inner.push({ path: place, object: value });
        }
      }
    }
    level = inner;
  }
  return undefined;
}

/** Properties that an error names. */
const MAX_NAMED = 10;
/** Objects around the rows of an API's answer, at most. */
const MAX_ENVELOPES = 4;

/**
 * Whether a row has an object in a cell; one of too many columns is refused later on.
 * @param endless whether it may be one of half a million properties
 */
function isNested(row: Record<string, unknown>, endless: boolean): boolean {
  // Asking a Proxy for its names may have any effect: it is asked once, where the table is read.
  if (types.isProxy(row) || isTooWide(row, endless)) {
    return false;
  }
  for (const name in row) {
    if (isNamed(row[name])) {
      return true;
    }
  }
  return false;
}
