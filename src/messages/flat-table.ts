import { types } from 'node:util';

import { isSparse, isTooWide, maybeEndless } from '../table/columns/header';
import { Yielder } from '../util/concurrency';
import { parseJson } from '../util/values';
import { flatten, type FlattenOptions } from './flatten';
import { isNamed, opened } from './paths';

/** Rows that are looked at for nested cells. Where the first are further on, they are an error that names row and column. */
const LOOKED_AT = 100;
/** Text without it has no nested object. */
const NESTED_JSON = /[:[,]\s*\{/;

/**
 * A table whose rows are nested objects, with columns named by their paths (`ENERGY.Power`), as a series names them. Any
 * other table is given back as it is. Lists within rows are left out.
 *
 * @param onList told of a list that is left out: its column
 */
export async function flatTable(given: unknown, onList: (column: string) => void): Promise<unknown> {
  const table =
    typeof given === 'string' && NESTED_JSON.test(given.slice(0, 4096))
      ? opened(given, (text) => parseJson(text))
      : given;
  const options: FlattenOptions = { names: [], onList, onBad: () => undefined };
  if (isNamed(table)) {
    return isNested(table, true) ? flatten(table, '', options) : given;
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
  const flat: unknown[] = [];
  for (const row of rows) {
    flat.push(isNamed(row) ? flatten(row, '', options) : row);
    await yielder.due();
  }
  return flat;
}

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
