import { setCell } from '../table';
import { flatten, namedEntries } from './flatten';
import { at, isNamed, plainValue } from './paths';
import { looksLikeTime, timesIn } from './times';

type Row = Record<string, unknown>;

/** Lists of names, and beside them the lists of lists that they name. */
const NAMES = ['columns', 'labels', 'meta', 'fields', 'header', 'schema.fields'];
const ROWS = ['values', 'data', 'dataset', 'rows', 'datarows'];
/** Where such a table stands in an answer. */
const TABLES = ['', 'result', 'data'];

/**
 * The rows of an object that has the names of the columns in one list and rows of values in another, as databases answer
 * queries, or of a list of such; undefined of any other.
 * https://github.com/influxdata/docs-v2/blob/master/content/influxdb/v1/guides/query_data.md,
 * https://github.com/questdb/documentation/blob/main/documentation/reference/api/rest.md (exec), `orient='split'` of pandas,
 * frames of Grafana, whose values are columns
 */
export function rowsOfLists(payload: unknown): Row[] | undefined {
  const series = at(payload, 'results.0.series');
  if (Array.isArray(series)) {
    const all = (series as unknown[]).map((one) => tagged(rowsOfOne(one), at(one, 'tags')));
    return all.every((rows) => rows !== undefined) ? all.flat() : undefined;
  }
  const frames = at(payload, 'results.A.frames') ?? at(payload, 'frames');
  if (Array.isArray(frames)) {
    const all = (frames as unknown[]).map(rowsOfFrame);
    return all.every((rows) => rows !== undefined) ? all.flat() : undefined;
  }
  for (const path of TABLES) {
    const rows = rowsOfOne(at(payload, path));
    if (rows !== undefined) {
      return rows;
    }
  }
  return undefined;
}

function rowsOfOne(table: unknown): Row[] | undefined {
  if (!isNamed(table)) {
    return undefined;
  }
  const names = NAMES.map((path) => namesIn(at(table, path))).find((found) => found !== undefined);
  const rows = names === undefined ? undefined : ROWS.map((path) => at(table, path)).find(isOfLists);
  return names === undefined || rows === undefined || rows.some((row) => row.length !== names.length)
    ? undefined
    : rows.map((row) => zipped(names, row));
}

/** Rows of a frame: a list of values for each field, whose labels tell it from others of its name. */
function rowsOfFrame(frame: unknown): Row[] | undefined {
  const names = namesIn(at(frame, 'schema.fields'));
  const columns = at(frame, 'data.values');
  return names === undefined || !isOfLists(columns) || columns.length !== names.length
    ? undefined
    : (columns[0] ?? []).map((_, i) =>
        zipped(
          names,
          columns.map((column) => column[i]),
        ),
      );
}

const isOfLists = (value: unknown): value is unknown[][] =>
  Array.isArray(value) && value.length > 0 && value.every((row) => Array.isArray(row));

/** Names in a list, each by itself or in an object; undefined where they are not, or two are the same. */
function namesIn(list: unknown): string[] | undefined {
  if (!Array.isArray(list) || list.length < 2) {
    return undefined;
  }
  const names = (list as unknown[]).map((one) =>
    isNamed(one) ? (at(one, 'config.displayNameFromDS') ?? one.name) : one,
  );
  return names.every((name) => typeof name === 'string' && name !== '') &&
    new Set(names).size === names.length
    ? (names as string[])
    : undefined;
}

function zipped(names: readonly string[], row: readonly unknown[]): Row {
  const cells: Row = {};
  for (const [i, name] of names.entries()) {
    setCell(cells, name, row[i]);
  }
  return cells;
}

/** Rows with the tags of their series as columns beside. */
function tagged(rows: Row[] | undefined, tags: unknown): Row[] | undefined {
  return isNamed(tags) ? rows?.map((row) => ({ ...tags, ...row })) : rows;
}

/** What an answer tells of itself rather than of its rows. */
const OF_ANSWER =
  /^(?:total|count|limit|offset|page\w*|size|sort|status|success|code|msg|message|errors?|jsonrpc|id|next\w*|prev\w*|links?|took|rows|version|api_?version|query|object|url|dataset|filters|scanned_?count|time_\w+)$/i;
const MAX_DEPTH = 3;
const LOOKED_AT = 20;

/**
 * The rows of an object that is nothing but what stands around one list of them, each with its time: what several readings
 * were sent or answered in. Undefined where the object has a time of its own, or several such lists. What stands beside the
 * list, such as the device, is a column of each row.
 */
export function rowsWithin(payload: Record<string, unknown>): Row[] | undefined {
  if (!hasRows(payload, 0)) {
    return undefined;
  }
  const found: unknown[][] = [];
  const beside: Row = {};
  look(payload, 0, found, beside);
  const [list] = found;
  return found.length === 1 && timesIn(beside) === undefined
    ? (list as Row[]).map((row) => ({ ...beside, ...(isWithTime(row) ? row : started(row)) }))
    : undefined;
}

/** When what a row tells of begins, where the row has no other time. */
const START = /^(?:start_?(?:time|s_?at|date)?|from|valid_?from|period_?start|begin|time_?start)$/i;
const END = /^(?:end_?(?:time|s_?at|date)?|to|valid_?to|period_?end)$/i;

/** A row with the time at which it begins as its time. */
function started(row: unknown): Row | undefined {
  if (!isNamed(row)) {
    return undefined;
  }
  const start = Object.keys(row).find((name) => START.test(name) && looksLikeTime(row[name]));
  const rest = Object.entries(row).filter(([name]) => name !== start && !END.test(name));
  return start === undefined ? row : { time: row[start], ...Object.fromEntries(rest) };
}

/** Whether a list of objects stands anywhere: most messages have none. */
function hasRows(value: Record<string, unknown>, depth: number): boolean {
  for (const name in value) {
    const one = value[name];
    if (Array.isArray(one) ? isNamed(one[0]) : isNamed(one) && depth < MAX_DEPTH && hasRows(one, depth + 1)) {
      return true;
    }
  }
  return false;
}

function look(value: Record<string, unknown>, depth: number, found: unknown[][], beside: Row): void {
  for (const [name, one] of Object.entries(value)) {
    if (isTimed(one)) {
      found.push(one);
    } else if (isNamed(one) && depth < MAX_DEPTH) {
      look(one, depth + 1, found, beside);
    } else if (Array.isArray(one) && one.length === 1 && isNamed(one[0]) && depth < MAX_DEPTH) {
      look(one[0], depth + 1, found, {});
    } else if (!Array.isArray(one) && plainValue(one) !== undefined && !OF_ANSWER.test(name)) {
      setCell(beside, name, one);
    }
  }
}

const QUIET = { names: [], onList: () => undefined, onBad: () => undefined };

/** Whether a list holds rows that each have a time and something else. */
function isTimed(list: unknown): list is unknown[] {
  return (
    Array.isArray(list) &&
    list.length > 0 &&
    namedEntries(list) === undefined &&
    (list.slice(0, LOOKED_AT).every(isWithTime) ||
      (list.length > 1 && list.slice(0, LOOKED_AT).every((row) => isWithTime(started(row)))))
  );
}

function isWithTime(row: unknown): boolean {
  const cells = isNamed(row) ? flatten(row, '', QUIET) : undefined;
  const time = cells === undefined ? undefined : timesIn(cells);
  return time !== undefined && looksLikeTime(time.value) && Object.keys(cells!).length > time.columns.length;
}
