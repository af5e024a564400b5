import { setCell } from '../table';
import { isNamed, plainValue } from './paths';
import { looksLikeTime, timeAmong } from './times';

type Row = Record<string, unknown>;

/** A list of values, and the names that lead to it. */
interface Found {
  path: string[];
  list: readonly unknown[];
}

const MAX_DEPTH = 5;
const LOOKED_AT = 20;
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
  const lists: Found[] = [];
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
    if (Array.isArray(one) ? one.length > 0 : isNamed(one) && depth < MAX_DEPTH && hasList(one, depth + 1)) {
      return true;
    }
  }
  return false;
}

function listsIn(value: unknown, path: string[], found: Found[], depth: number): void {
  if (depth > MAX_DEPTH) {
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
function entriesIn(all: readonly Row[], path: string[], found: Found[], depth: number): void {
  const by = LABEL.find((name) =>
    all.every((one) => typeof one[name] === 'string' || typeof one[name] === 'number'),
  );
  const isApart = by !== undefined && new Set(all.map((one) => one[by])).size === all.length;
  if (!isApart && all.length > 1) {
    return;
  }
  for (const one of all) {
    const lists: Found[] = [];
    listsIn(one, [], lists, depth + 1);
    const levels = by === undefined ? path : [...path, String(one[by])];
    // The name of an only list says nothing beside that of its entry.
    const isOnly = by !== undefined && lists.length === 1;
    found.push(
      ...lists.map((each) => ({ path: isOnly ? levels : [...levels, ...each.path], list: each.list })),
    );
  }
}

function rowsOfTimes(lists: readonly Found[]): Row[] | undefined {
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
  const names = namesOf(values);
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

function rowsOfPairs(lists: readonly Found[]): Row[] | undefined {
  if (lists.length === 0) {
    return undefined;
  }
  const names = namesOf(lists);
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
function namesOf(lists: readonly Found[]): string[] {
  const shortest = Math.min(...lists.map(({ path }) => path.length)) - 1;
  let same = 0;
  while (same < shortest && lists.every(({ path }) => path[same] === lists[0]!.path[same])) {
    same++;
  }
  return lists.map(({ path }) => path.slice(same).join('.'));
}
