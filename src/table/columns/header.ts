import { performance } from 'node:perf_hooks';
import { types } from 'node:util';
import v8 from 'node:v8';

import { isTypedArray } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { invalidTable, listNames } from '../cells/types';

/**
 * Columns of a table at most: as many as a spreadsheet has, and eight times what a service takes. The names of a million
 * would hold the event loop for a second each time that they are looked at.
 */
export const MAX_COLUMNS = 16_384;

/** Columns of a wide table between two looks at the clock. */
export const COLUMNS_PER_LOOK = 256;

/** Characters of a row of JSON text, or of the text in a cell, at most: what is read at once holds the event loop. */
export const MAX_TEXT = 2 ** 24;
/** Characters of the text of one column in the rows that are read at once. */
const MAX_TEXTS = 2 ** 28;

const wide = new WeakSet<object>();

/**
 * @param of the object that has so many properties, if it is one: `isTooWide` knows it from then on
 * @throws ServiceError `limit.exceeded` for more columns than a table may have
 */
export function assertWidth(columns: number, of?: object): void {
  if (columns > MAX_COLUMNS) {
    if (of !== undefined) {
      wide.add(of);
    }
    throw tooWide();
  }
}

/** Milliseconds of a look at an object beyond which it has some hundred thousand properties, if it takes so long each time. */
const LONG_LOOK_MS = 15;
/** What else holds the thread so long, on a machine with much other work, is there twice in a row too, but rarely. */
const LONG_LOOKS = 3;
/** Bytes that V8 keeps half a million properties in, at least, as one large object. */
const LARGE_BYTES = 24e6;

/** Whether the heap may hold an object of half a million properties: a look at it costs as much as one at 50 rows. */
export function maybeEndless(): boolean {
  let bytes = 0;
  for (const { space_name: name, space_used_size: used } of v8.getHeapSpaceStatistics()) {
    bytes += name.includes('large_object') ? used : 0;
  }
  return bytes > LARGE_BYTES;
}

/**
 * Whether an object has so many properties that gathering their names would hold the event loop for longer than it may:
 * half a second for a million, since they are sorted. V8 counts them only by gathering them. Its symbols are gathered
 * without sorting, in a tenth of the time, and that time tells.
 */
function isEndless(value: object): boolean {
  if (types.isProxy(value)) {
    return false;
  }
  for (let look = 0; look < LONG_LOOKS; look++) {
    const start = performance.now();
    Object.getOwnPropertySymbols(value);
    if (performance.now() - start < LONG_LOOK_MS) {
      return false;
    }
  }
  wide.add(value);
  return true;
}

/**
 * The names of an object's own properties. One that was refused before is refused at once.
 * @param endless whether it may be one of half a million properties; of rows by the thousand, `maybeEndless` tells once
 * @throws ServiceError `limit.exceeded` for more than a table may have columns
 */
export function ownNames(value: object, endless = true): string[] {
  // The places of a typed array are properties of it, but need not be listed to be counted.
  if (isTooWide(value, endless) || (isTypedArray(value) && value.length > MAX_COLUMNS)) {
    throw tooWide();
  }
  const names = Object.keys(value);
  assertWidth(names.length, value);
  return names;
}

/**
 * Whether an object was refused for its many properties, or would be.
 * @param endless whether it may be one of half a million properties
 */
export function isTooWide(value: object, endless: boolean): boolean {
  return wide.has(value) || (endless && isEndless(value));
}

export function tooWide(): ServiceError {
  return new ServiceError(
    'limit.exceeded',
    `The table has more than ${MAX_COLUMNS.toLocaleString('en')} columns, the most that are read here. Give a row for each reading instead of a column for each, or fewer columns.`,
  );
}

/**
 * Refuses text of which too much would be read at once.
 * @param all characters of the cells of this column that are read at once, this one included
 * @throws ServiceError `limit.exceeded`
 */
export function assertText(column: string, row: number, length: number, all: number): void {
  if (length > MAX_TEXT || all > MAX_TEXTS) {
    throw new ServiceError(
      'limit.exceeded',
      `Column "${column}", row ${row + 1}: ${length > MAX_TEXT ? `the cell holds ${length} characters` : 'the cells up to this one hold too much text to be read at once'}. A cell may hold up to ${MAX_TEXT / 2 ** 20} million; shorten the text, or leave the column out.`,
    );
  }
}

/** Characters of the name of a column at most: names are written into files, cards and messages many times. */
const MAX_NAME = 10_000;

/** Refuses names that are texts. @throws ServiceError `limit.exceeded` */
export function assertNames(names: readonly string[]): void {
  const at = names.findIndex((name) => name.length > MAX_NAME);
  if (at >= 0) {
    const name = names[at]!;
    throw new ServiceError(
      'limit.exceeded',
      `The name of column ${at + 1} has ${name.length} characters ("${name.slice(0, 40)}…"). A name may have up to ${MAX_NAME.toLocaleString('en')}: shorten it, or leave the column out of the table.`,
    );
  }
}

/** Arrays longer than this are looked at for values before all places are gone over. */
const LONG = 1_000_000;
const LOOKS = 1024;

/**
 * Refuses an array with nothing in nearly all of its places, as `list[timestamp] = value` makes it.
 * @throws ServiceError `table.invalid`
 */
export function assertDense(list: ArrayLike<unknown>, what: string): void {
  if (isSparse(list)) {
    throw invalidTable(
      `${what} is a sparse array: it has ${list.length} places, and nothing in most of them. Put the values in with push.`,
    );
  }
}

/** Whether it is a long array with nothing in most of its places. */
export function isSparse(list: ArrayLike<unknown>): boolean {
  const { length } = list;
  if (!Array.isArray(list) || length <= LONG) {
    return false;
  }
  let filled = 0;
  for (let look = 0; look < LOOKS; look++) {
    filled += Object.hasOwn(list, Math.floor((look * length) / LOOKS)) ? 1 : 0;
  }
  return filled < LOOKS / 2;
}

/** The names of columns, and what the user is told of them. */
export interface Header {
  names: string[];
  warning?: string;
}

/**
 * The names that the header of a text file or of an array of arrays gives to its columns, without white space around
 * them. One that is empty or comes again is changed as pandas does: to `Unnamed: 0` (by its place), to `a.1`.
 *
 * @param hasRowNames the first name is not written: the column is of the names of the rows
 */
export function makeHeader(written: readonly string[], hasRowNames = false): Header {
  const taken = new Set(written.map((name) => name.trim()));
  const seen = new Set<string>();
  const changed: string[] = [];
  const names = written.map((raw, index) => {
    const own = raw.trim();
    if (own !== '' && !seen.has(own)) {
      seen.add(own);
      return own;
    }
    const name = freeName(own, index, taken);
    taken.add(name);
    seen.add(name);
    if (index > 0 || !hasRowNames) {
      changed.push(name);
    }
    return name;
  });
  if (changed.length === 0) {
    return { names };
  }
  return {
    names,
    warning: `The header has empty or repeated names: these columns are called ${listNames(changed)}, here and when the model predicts.`,
  };
}

function freeName(name: string, index: number, taken: ReadonlySet<string>): string {
  let candidate = name === '' ? `Unnamed: ${index}` : `${name}.1`;
  for (let count = name === '' ? 1 : 2; taken.has(candidate); count++) {
    candidate = name === '' ? `Unnamed: ${index}.${count}` : `${name}.${count}`;
  }
  return candidate;
}

/**
 * The names of an object's properties as columns: without white space around them, which the header of a CSV file brought
 * there (`time, temperature`), nor a byte order mark, which is white space too. A name that would come twice stays as it is.
 */
export function plainNames(keys: readonly string[]): readonly string[] {
  if (!keys.some(isPadded)) {
    return keys;
  }
  const taken = new Set(keys);
  return keys.map((key) => {
    const name = key.trim();
    if (name === '' || taken.has(name)) {
      return key;
    }
    taken.add(name);
    return name;
  });
}

/** Whether white space stands around a name. */
export function isPadded(name: string): boolean {
  return name.length !== name.trim().length;
}

const UNNAMED = /^Unnamed: \d+$/;

/**
 * Finds columns by name: as it is, else without white space around it. A model that was trained when columns could be
 * without a name finds the only one that has none.
 */
export class ColumnPlaces {
  private readonly exact = new Map<string, number>();
  private plain: ReadonlyMap<string, number> | undefined;

  constructor(private readonly names: readonly string[]) {
    for (const [index, name] of names.entries()) {
      this.exact.set(name, index);
    }
  }

  /** The place of a column, from 0; undefined where the table has none of that name. */
  of(name: string): number | undefined {
    return this.exact.get(name) ?? (this.plain ??= this.withoutSpace()).get(name.trim());
  }

  private withoutSpace(): ReadonlyMap<string, number> {
    // Of names that are alike, the first.
    const plain = new Map(this.names.map((name, index) => [name.trim(), index] as const).reverse());
    const unnamed = this.names.findIndex((name) => UNNAMED.test(name));
    if (unnamed >= 0 && !plain.has('')) {
      plain.set('', unnamed);
    }
    return plain;
  }
}

/** `2025-01-01`, also with a time of day; `2025-01`; `21.11.2025`, `11/21/2025`. */
const DATE = /^(?:\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?|\d\d?([./])\d\d?\1\d{4}(?: \d\d?:\d\d.*)?)$/;
const FEWEST = 3;

/** The names of a table that are dates, where they are three or more and most of its names; undefined where they are not. */
export function datesAmong(names: readonly string[]): string[] | undefined {
  const dates = names.filter((name) => DATE.test(name.trim()));
  return dates.length >= FEWEST && dates.length * 2 > names.length ? dates : undefined;
}

/** Says of the names of columns that they are dates. */
export function datesInHeader(dates: readonly string[]): string {
  return `The names of ${dates.length} columns are dates ("${dates[0]}", "${dates[1]}", …).`;
}
