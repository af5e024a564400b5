import { types } from 'node:util';

import { isOfSpreadsheet, setCell } from '../table';
import { isPadded, isSparse, isTooWide, maybeEndless, plainNames } from '../table/columns/header';
import { Yielder } from '../util/concurrency';
import { parseJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { flatten, type Rest } from './flatten';
import { isNamed, opened } from './paths';
import { plainCellsOfXml, tableOfXml } from './xml';

/** What is left out of the rows of a table, by the place of the row. */
export type Rests = Map<number, Rest>;

/** Rows that are looked at for nested cells. Where the first are further on, they are an error that names row and column. */
const LOOKED_AT = 100;
/** Text without it has no nested object. */
const NESTED_JSON = /[:[,]\s*\{/;

/** What is told of a table as it is made flat. */
export interface FlatTableHooks {
  /** A list that is left out: its column. */
  onList: (column: string) => void;
  /** A column of which a row has two values, one by its name and one by its path; the later one counts. */
  onTwice?: (column: string) => void;
  /** Where an object that is no row holds a list of objects, as the answer of an API does: `data.items`. */
  onRows?: (path: string, rows: number) => void;
  /** What of a row is left out: the place of the row, and each part of it. */
  onRest?: (place: number, rest: Rest) => void;
  /** Told of XML whose rows have something beside them that is not read: where the rows are, and the names of that. */
  onBeside?: (rows: string, names: readonly string[]) => void;
  /** Whether text of XML that is a number becomes one: where no model has the types of the columns yet. */
  numbers?: boolean;
}

/**
 * A table whose rows are nested objects, with columns named by their paths (`ENERGY.Power`), as a series names them, and the
 * table in what the node xml makes of a document. Any other table is given back as it is. What is no value of a column, such
 * as a list, is left out.
 * @throws ServiceError `limit.exceeded`, `table.empty` for an object without a value of a column, and `table.invalid` for XML
 * with several lists that could be the rows
 */
export async function flatTable(given: unknown, hooks: FlatTableHooks): Promise<unknown> {
  const xml = await tableOfXml(given);
  if (xml !== undefined) {
    if (xml.beside.length > 0) {
      hooks.onBeside?.(xml.path, xml.beside);
    }
    const { onList, onTwice, onRest } = hooks;
    const table = await flatRows(xml.table, { onList, onTwice, onRest });
    await plainCellsOfXml(Array.isArray(table) ? table : [table], hooks.numbers === true);
    return table;
  }
  return flatRows(given, hooks);
}

async function flatRows(
  given: unknown,
  { onList, onTwice, onRows, onRest }: FlatTableHooks,
): Promise<unknown> {
  const flat = (row: Record<string, unknown>, place: number): Record<string, unknown> => {
    const rest: Rest = [];
    const columns = flatten(row, '', { names: [], onList, onTwice, onBad: () => undefined, rest });
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
    if (isOfSpreadsheet(table)) {
      return given;
    }
    const inner = onRows === undefined ? undefined : rowsWithin(table);
    if (inner !== undefined) {
      onRows?.(inner.path, inner.rows);
    }
    if (!isNested(table, true)) {
      return given;
    }
    const row = flat(table, 0);
    if (Object.keys(row).length === 0 && Object.keys(table).length > 0) {
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
        if (Array.isArray(value) && value.length > 1 && !isSparse(value) && value.every(isNamed)) {
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
