import { at, isNamed, plainValue } from './paths';
import { type Match, resolve } from './recognise';
import { instant, later } from './times';
import type { Shape, SourceMessage } from './types';

/** A reading before its key and time are settled. */
export interface Found {
  key?: string;
  labels?: Record<string, unknown>;
  time?: unknown;
  values: Record<string, unknown>;
}

/** Below it a time of SenML counts from now (RFC 8428, 4.5.3). */
const RELATIVE_BELOW = 2 ** 28;

/** Readings of items that each are one value: those of one key and time make one. */
export class Pivot {
  /** What items said for those after them. */
  readonly carried: Record<string, unknown> = {};
  private readonly found = new Map<string, Found>();
  /** What told the first value of a column from others of its name. */
  private readonly first = new Map<string, string | undefined>();

  constructor(readonly match: Match) {}

  get readings(): IterableIterator<Found> {
    return this.found.values();
  }

  /** The column of an item: where another one of that name came first, with what tells them apart. */
  apart(column: string, item: unknown, message: SourceMessage): string {
    const { apart } = this.match.shape;
    if (apart === undefined) {
      return column;
    }
    const label = readName(resolve(apart, item, message));
    if (!this.first.has(column)) {
      this.first.set(column, label);
    }
    return label === undefined || this.first.get(column) === label ? column : `${column}.${label}`;
  }

  reading(key: string | undefined, labels: Record<string, unknown> | undefined, time: unknown): Found {
    const which = JSON.stringify([key, labels, time]);
    let one = this.found.get(which);
    if (one === undefined) {
      one = { key, labels, time, values: {} };
      this.found.set(which, one);
    }
    return one;
  }
}

/** A name as text; undefined where there is none. */
export function readName(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '') ||
    typeof value === 'number' ||
    typeof value === 'boolean'
    ? `${value}`
    : undefined;
}

export function keyIn({ key }: Shape, item: unknown, message: SourceMessage): string | undefined {
  const parts = key === undefined ? [] : [key].flat();
  const told = parts.flatMap((part) => readName(resolve(part, item, message)) ?? []);
  return told.length === 0 ? undefined : told.join('/');
}

/** The items of a match, each with one entry of its list where it has several values. */
export function* listEntries({ shape: { each }, items }: Match): Iterable<Match['items'][number]> {
  const paths = each?.split('|') ?? [];
  for (const one of items) {
    const list = paths.map((path) => at(one.item, path)).find(Array.isArray);
    if (each === undefined) {
      yield one;
    }
    if (!Array.isArray(list) || !isNamed(one.item)) {
      continue;
    }
    for (const [place, entry] of (list as unknown[]).entries()) {
      yield { ...one, item: { ...one.item, each: entry, place } };
    }
  }
}

/** The column of an item that is one value. */
export function columnIn(
  { column, unnamed, within = [] }: Shape,
  item: unknown,
  message: SourceMessage,
): string | undefined {
  const parts = column === undefined ? [] : [column].flat();
  const told = parts.flatMap((part) => readName(resolve(part, item, message)) ?? []);
  if (told.length === 0) {
    return unnamed;
  }
  const name = told.join('.');
  const part = within.map((one) => one.exec(name)?.groups?.column).find((one) => one !== undefined);
  return part ?? name;
}

/** The time of an item: milliseconds since 1970, or text. */
export function timeIn(
  { time, step, offset, base }: Shape,
  item: unknown,
  message: SourceMessage,
  carried: Record<string, unknown> = {},
): unknown {
  const found = time === undefined ? undefined : resolve(time, item, message);
  const place = Number(at(item, 'place'));
  const told = based(Array.isArray(found) ? (found as unknown[])[place] : found, base?.time, carried);
  if (base !== undefined && Number(told) < RELATIVE_BELOW) {
    return undefined;
  }
  const start = instant(told, typeof offset === 'string' ? resolve(offset, item, message) : offset);
  if (step === undefined) {
    return start;
  }
  const steps = step.place === undefined ? place : Number(resolve(step.place, item, message)) - 1;
  return later(start, steps, resolve(step.by, item, message));
}

/** What tells series apart, by name. */
export function readLabels(
  { labels, omit = [] }: Shape,
  item: unknown,
  message: SourceMessage,
): Record<string, unknown> | undefined {
  const named = (labels === undefined ? [] : [labels].flat()).flatMap((path) => {
    const given = resolve(path, item, message);
    return Array.isArray(given) ? given.flatMap(readLabel) : isNamed(given) ? Object.entries(given) : [];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named.filter(([name]) => !omit.includes(name)));
}

/** A label in a list: its name, and its value, which may stand beside its type. */
function readLabel(entry: unknown): [name: string, value: unknown][] {
  const name = readName(at(entry, 'key'));
  const value = at(entry, 'value');
  return name === undefined ? [] : [[name, isNamed(value) ? Object.values(value)[0] : value]];
}

/** The values of an item that has several. */
export function readValues({ values = '', names }: Shape, item: unknown, message: SourceMessage): unknown {
  const found = resolve(values, item, message);
  const list = typeof names === 'string' ? resolve(names, item, message) : names;
  return Array.isArray(found) && Array.isArray(list)
    ? Object.fromEntries(list.map((name, i) => [String(name), (found as unknown[])[i]]))
    : found;
}

/** The value of an item that is one: a number, text or a truth value; null where it has none. */
export function readValue(
  { value = '', base }: Shape,
  item: unknown,
  message: SourceMessage,
  carried: Record<string, unknown>,
): unknown {
  for (const path of value.split('|')) {
    const plain = plainValue(resolve(path, item, message));
    if (plain !== undefined) {
      return based(plain, base?.value, carried);
    }
  }
  return based(undefined, base?.value, carried) ?? null;
}

/** A value with what is said for all that follow: in front of a name, added to a number. */
export function based(value: unknown, base: string | undefined, carried: Record<string, unknown>): unknown {
  const before = base === undefined ? undefined : carried[base];
  if (before === undefined) {
    return value;
  }
  if (typeof before === 'number') {
    const own = value ?? 0;
    return typeof own === 'number' ? before + own : own;
  }
  return `${readName(before) ?? ''}${readName(value) ?? ''}`;
}

/** An item with what the items before it said of it. */
export function carry(
  item: Record<string, unknown>,
  paths: readonly string[],
  carried: Record<string, unknown>,
): Record<string, unknown> {
  let isWhole = true;
  for (const path of paths) {
    if (item[path] === undefined) {
      isWhole &&= carried[path] === undefined;
    } else {
      carried[path] = item[path];
    }
  }
  return isWhole ? item : { ...carried, ...item };
}

/** Rows of an object that has a list of values for each column. */
export function unlisted(item: unknown): Record<string, unknown>[] {
  if (!isNamed(item)) {
    return [];
  }
  const lists = Object.entries(item).filter(([, list]) => Array.isArray(list)) as [string, unknown[]][];
  const longest = Math.max(0, ...lists.map(([, list]) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    Object.fromEntries(lists.map(([name, list]) => [name, list[i]])),
  );
}

/** Rows of an object that has for each column an object of values by time. */
export function untimed(item: unknown, omit: readonly string[] = []): Record<string, unknown>[] {
  const rows = new Map<string, Record<string, unknown>>();
  const columns = Object.entries(isNamed(item) ? item : {}).filter(([column]) => !omit.includes(column));
  for (const [column, values] of columns) {
    for (const [time, value] of Object.entries(isNamed(values) ? values : {})) {
      const row = rows.get(time) ?? { time };
      rows.set(time, row);
      row[column] = value;
    }
  }
  return [...rows.values()];
}

/** Columns with a name in front of each. */
export function prefixed(
  values: Record<string, unknown>,
  prefix: string | undefined,
): Record<string, unknown> {
  return prefix === undefined
    ? values
    : Object.fromEntries(Object.entries(values).map(([column, value]) => [`${prefix}.${column}`, value]));
}
