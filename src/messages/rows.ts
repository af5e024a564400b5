import { datesAmong, datesInHeader, setCell } from '../table';
import { ServiceError } from '../wire/service-error';
import { flatten, namedEntries } from './flatten';
import { type Found, readName } from './items';
import { at, isNamed, plainValue } from './paths';
import { looksLikeTime, timeAmong, timesIn } from './times';

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

/** A list of values, and the names that lead to it. */
interface FoundList {
  path: string[];
  list: readonly unknown[];
}

const LIST_DEPTH = 5;
/** Names of a list of times, beside those of a time with an s behind. */
const TIMES = /^(?:unix_seconds|epochs|index|x)$/i;
/** What names the entry of a list that has values of its own. */
const LABEL = ['name', 'Label', 'label', 'Id', 'id', 'code'];

/**
 * The rows of an object that has its times in one list and values in others of the same length, wherever they stand in it, or
 * lists of `[time, value]`, as charts and energy services answer; undefined of any other. What stands beside at the top, such
 * as the device, is a column of each row.
 * https://github.com/OpenEMS/openems/blob/develop/io.openems.common/src/io/openems/common/jsonrpc/response/QueryHistoricTimeseriesDataResponse.java,
 * https://github.com/openenergymonitor/forum-archive/blob/master/node/1275.html (feed/data of Emoncms); seen in answers of
 * Energy-Charts (public_power, signal) and VRM (stats).
 */
export function alignedRows(payload: unknown, column: string | undefined): Row[] | undefined {
  if (isPairs(payload)) {
    return rowsOfPairs([{ path: [column ?? 'value'], list: payload }]);
  }
  if (!isNamed(payload) || !hasList(payload, 0)) {
    return undefined;
  }
  const lists: FoundList[] = [];
  listsIn(payload, [], lists, 0);
  const rows = rowsOfTimes(lists) ?? rowsOfPairs(lists.filter(({ list }) => isPairs(list)));
  const beside = Object.entries(payload).filter(
    ([, one]) => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean',
  );
  return rows?.map((row) => ({ ...Object.fromEntries(beside), ...row }));
}

/** Whether a list of plain values or of lists stands anywhere: most messages have none. */
function hasList(value: Row, depth: number): boolean {
  for (const name in value) {
    const one = value[name];
    if (Array.isArray(one) ? one.length > 0 : isNamed(one) && depth < LIST_DEPTH && hasList(one, depth + 1)) {
      return true;
    }
  }
  return false;
}

function listsIn(value: unknown, path: string[], found: FoundList[], depth: number): void {
  if (depth > LIST_DEPTH) {
    return;
  }
  if (isNamed(value)) {
    for (const [name, one] of Object.entries(value)) {
      listsIn(one, [...path, name], found, depth + 1);
    }
  } else if (Array.isArray(value) && value.length > 0) {
    const all = value as unknown[];
    if (!all.every(isNamed)) {
      found.push({ path, list: all });
    } else {
      entriesIn(all, path, found, depth);
    }
  }
}

/** Lists within the entries of a list, each under its name; an only entry may have none. */
function entriesIn(all: readonly Row[], path: string[], found: FoundList[], depth: number): void {
  const by = LABEL.find((name) =>
    all.every((one) => typeof one[name] === 'string' || typeof one[name] === 'number'),
  );
  const isApart = by !== undefined && new Set(all.map((one) => one[by])).size === all.length;
  if (!isApart && all.length > 1) {
    return;
  }
  for (const one of all) {
    const lists: FoundList[] = [];
    listsIn(one, [], lists, depth + 1);
    const levels = by === undefined ? path : [...path, String(one[by])];
    // The name of an only list says nothing beside that of its entry.
    const isOnly = by !== undefined && lists.length === 1;
    found.push(
      ...lists.map((each) => ({ path: isOnly ? levels : [...levels, ...each.path], list: each.list })),
    );
  }
}

function rowsOfTimes(lists: readonly FoundList[]): Row[] | undefined {
  const times = lists.filter(({ path, list }) => isNameOfTimes(path.at(-1)!) && areTimes(list));
  const [first] = times;
  const values = lists.filter(
    (one) =>
      one !== first &&
      one.list.length === first?.list.length &&
      one.list.every((cell) => plainValue(cell) !== undefined),
  );
  if (first === undefined || times.length > 1 || values.length === 0) {
    return undefined;
  }
  const names = listNamesIn(values);
  return first.list.map((time, i) => {
    const row: Row = { time };
    for (const [place, { list }] of values.entries()) {
      setCell(row, names[place]!, list[i]);
    }
    return row;
  });
}

function isNameOfTimes(name: string): boolean {
  return TIMES.test(name) || timeAmong([name, name.replace(/s$/i, '')]) !== undefined;
}

function areTimes(list: readonly unknown[]): boolean {
  return list.slice(0, LOOKED_AT).every(looksLikeTime);
}

function isPairs(list: unknown): list is readonly unknown[][] {
  return (
    Array.isArray(list) &&
    list.length > 0 &&
    list
      .slice(0, LOOKED_AT)
      .every(
        (pair) =>
          Array.isArray(pair) &&
          pair.length >= 2 &&
          looksLikeTime(pair[0]) &&
          pair.slice(1).every((cell) => cell === null || typeof cell === 'number'),
      )
  );
}

function rowsOfPairs(lists: readonly FoundList[]): Row[] | undefined {
  if (lists.length === 0) {
    return undefined;
  }
  const names = listNamesIn(lists);
  const rows = new Map<unknown, Row>();
  for (const [place, { list }] of lists.entries()) {
    for (const pair of list) {
      const [time, ...cells] = Array.isArray(pair) ? (pair as unknown[]) : [];
      const row = rows.get(time) ?? { time };
      rows.set(time, row);
      for (const [i, cell] of cells.entries()) {
        setCell(row, i === 0 ? names[place]! : `${names[place]!}.${i + 1}`, cell);
      }
    }
  }
  return rows.size === 0 ? undefined : [...rows.values()];
}

/** The names of columns, without the levels that all of them have. */
function listNamesIn(lists: readonly FoundList[]): string[] {
  const shortest = Math.min(...lists.map(({ path }) => path.length)) - 1;
  let same = 0;
  while (same < shortest && lists.every(({ path }) => path[same] === lists[0]!.path[same])) {
    same++;
  }
  return lists.map(({ path }) => path.slice(same).join('.'));
}

/** A table with a column for each time, as spreadsheets and pivot tables have them. */
export interface WideTable {
  /** The columns that are times. */
  times: readonly string[];
  /** The column beside them, whose cells say which sensor, or which machine, a row is of; undefined where there is none. */
  label?: string;
}

/**
 * Whether the names of a table are times in the main. Undefined where they are not, and where a column has the times.
 * @throws ServiceError `table.invalid` where several columns stand beside them
 */
export function wideTable(names: readonly string[]): WideTable | undefined {
  const times = datesAmong(names);
  if (times === undefined || timeAmong(names) !== undefined) {
    return undefined;
  }
  const others = names.filter((name) => !times.includes(name));
  if (others.length > 1) {
    throw new ServiceError(
      'table.invalid',
      `${datesInHeader(times)} So a row has no time. Give a row for each time, with the time in a column of its own, or leave one column beside the times, which names the sensors.`,
    );
  }
  return { times, label: others[0] };
}

/**
 * The reading of each time: a column for each row, or where a key is told by the label, a reading for each.
 * @param keyColumn the column of the key, where a person chose one
 */
export class Turned {
  private readonly found = new Map<string, Found>();

  constructor(
    private readonly table: WideTable,
    private readonly keyColumn: string | undefined,
  ) {}

  get readings(): IterableIterator<Found> {
    return this.found.values();
  }

  add(row: Readonly<Record<string, unknown>>): void {
    const { times, label } = this.table;
    const name = (label === undefined ? undefined : readName(row[label])) ?? 'value';
    const isKey = label !== undefined && label === this.keyColumn;
    for (const time of times) {
      const which = JSON.stringify([isKey ? name : '', time]);
      const one = this.found.get(which) ?? { key: isKey ? name : undefined, time, values: {} };
      this.found.set(which, one);
      setCell(one.values, isKey ? 'value' : name, row[time]);
    }
  }
}

/** The first of some rows, undefined where there are none; whether it is the only one; and all of them. */
export async function peek(
  rows: Iterable<Row> | AsyncIterable<Row>,
): Promise<{ first: Row | undefined; isOnly: boolean; all: AsyncGenerator<Row> }> {
  const source = each(rows);
  const first = await source.next();
  const second = first.done === true ? first : await source.next();
  async function* all(): AsyncGenerator<Row> {
    try {
      for (const one of [first, second]) {
        if (one.done !== true) {
          yield one.value;
        }
      }
      yield* source;
    } finally {
      await source.return(undefined);
    }
  }
  return {
    first: first.done === true ? undefined : first.value,
    isOnly: first.done !== true && second.done === true,
    all: all(),
  };
}

async function* each(rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row> {
  yield* rows;
}
