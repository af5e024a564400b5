import { at, isKind, isNamed, opened } from './paths';
import { SHAPES } from './shapes';
import { TopicPattern } from './topic-pattern';
import type { PathKind, Shape, SourceMessage } from './types';

/** What a message has of a shape. */
export interface Match {
  shape: Shape;
  /** What its topic tells. */
  key?: string;
  column?: string;
  /** Its items, each with the key or the column that it stands under, if there is one. */
  items: { item: unknown; key?: string; column?: string }[];
}

const TOPICS = new Map(
  SHAPES.map((shape) => [
    shape,
    shape.topics?.map((topic) => (typeof topic === 'string' ? new TopicPattern(topic) : topic)),
  ]),
);

/** The shapes that a payload with these names may have: messages of one source have the same. */
const shapesOfNames = new Map<string, readonly Shape[]>();
const MAX_KNOWN = 1000;
/** Payloads with more names differ from each other. */
const MAX_NAMES = 100;

/** The shape of a message; undefined where it has none, or where two could be meant. */
export function recognise(message: SourceMessage): Match | undefined {
  let found: Match | undefined;
  for (const shape of candidates(message.payload)) {
    const match = matchShape(shape, message);
    if (match !== undefined) {
      if (found !== undefined) {
        return undefined;
      }
      found = match;
    }
  }
  return found;
}

/** The shapes that a payload is not refused by for its names alone. */
function candidates(payload: unknown): readonly Shape[] {
  if (!isNamed(payload)) {
    return SHAPES;
  }
  const names = Object.keys(payload);
  if (names.length > MAX_NAMES) {
    return SHAPES;
  }
  const which = JSON.stringify(names);
  let shapes = shapesOfNames.get(which);
  if (shapes === undefined) {
    shapes = SHAPES.filter((shape) => mayHave(shape, payload));
    if (shapesOfNames.size < MAX_KNOWN) {
      shapesOfNames.set(which, shapes);
    }
  }
  return shapes;
}

/** Whether an object may have a shape, by its names. */
function mayHave({ items = [''], byKey, byColumn, has }: Shape, payload: object): boolean {
  return (
    byKey === true ||
    byColumn === true ||
    items.some((path) =>
      path === ''
        ? Object.entries(has).every(([paths, kind]) =>
            paths
              .split('|')
              .some((one) =>
                one === ''
                  ? isKind(kind, payload)
                  : one.startsWith('msg.') || mayStand(one.replace(/^payload\./, ''), payload),
              ),
          )
        : path.startsWith('msg.') || mayStand(path.replace(/(?:\[\]|\{\}).*$/, ''), payload),
    )
  );
}

/** Whether something may stand at a path of the payload, by its names. */
function mayStand(path: string, payload: object): boolean {
  const levels = path.split('.');
  return levels.some((_, i) => Object.hasOwn(payload, levels.slice(0, i + 1).join('.')));
}

/** The shape of a table with these columns, one value in each row; undefined where it has none. */
export function shapeOfColumns(names: readonly string[]): Shape | undefined {
  const known = new Set(names);
  const fits = SHAPES.filter(
    ({ isTable, column, has }) =>
      isTable === true &&
      column !== undefined &&
      Object.keys(has).every((paths) => paths.split('|').some((path) => known.has(path))),
  );
  return fits.length === 1 ? fits[0] : undefined;
}

/** The shape of a table of which this is the first row, where lines of JSON are each an envelope; undefined where it has none. */
export function shapeOfLine(row: unknown): Shape | undefined {
  const shape = recognise({ payload: [row] })?.shape;
  return shape?.isTable === true ? shape : undefined;
}

/** What stands at the first of several paths that has a value of this kind. */
export function resolve(
  paths: string,
  item: unknown,
  message: SourceMessage,
  kind: PathKind = 'any',
): unknown {
  if (!paths.includes('|')) {
    const value = place(paths, item, message);
    return isKind(kind, value) ? value : undefined;
  }
  for (const path of paths.split('|')) {
    const value = place(path, item, message);
    if (isKind(kind, value)) {
      return value;
    }
  }
  return undefined;
}

function place(path: string, item: unknown, message: SourceMessage): unknown {
  if (path.startsWith('msg.')) {
    return at(message, path.slice(4));
  }
  return path.startsWith('payload.') ? at(message.payload, path.slice(8)) : at(item, path);
}

function matchShape(shape: Shape, message: SourceMessage): Match | undefined {
  // Most shapes are told from a message by the first name of their only item.
  const isBy = shape.byKey === true || shape.byColumn === true;
  if (shape.items === undefined && !isBy && !isLike(shape, message.payload, message)) {
    return undefined;
  }
  const told = matchTopic(shape, message.topic);
  if (told === undefined) {
    return undefined;
  }
  const items = isBy ? itemsByName(shape, message) : findItems(shape, message);
  return items === undefined ? undefined : { shape, ...told, items };
}

function matchTopic(shape: Shape, topic: unknown): { key?: string; column?: string } | undefined {
  const patterns = TOPICS.get(shape);
  if (patterns === undefined) {
    return {};
  }
  const text = typeof topic === 'string' ? topic : '';
  for (const pattern of patterns) {
    const parts = pattern instanceof RegExp ? matchOfTopic(pattern, text) : pattern.match(text);
    if (parts !== undefined) {
      return { key: parts.key, column: parts.column };
    }
  }
  return undefined;
}

function matchOfTopic(pattern: RegExp, topic: string): Partial<Record<string, string>> | undefined {
  const match = pattern.exec(topic);
  return match === null ? undefined : (match.groups ?? {});
}

function findItems(shape: Shape, message: SourceMessage): Match['items'] | undefined {
  const found: Match['items'] = [];
  for (const path of shape.items ?? ['']) {
    const items = withBeside(itemsAt(path, shape, message), shape, message);
    if (items !== undefined && isLike(shape, items[0], message)) {
      for (const item of items) {
        found.push({ item });
      }
      if (shape.isEvery !== true) {
        break;
      }
    }
  }
  return found.length === 0 ? undefined : found;
}

/** Items, each with its entry of the list beside them. */
function withBeside(
  items: readonly unknown[] | undefined,
  { beside }: Shape,
  message: SourceMessage,
): readonly unknown[] | undefined {
  const list = beside === undefined ? undefined : resolve(beside, message.payload, message, 'list');
  return Array.isArray(list) && list.length === items?.length
    ? items.map((item, i) => (isNamed(item) ? { ...item, beside: list[i] as unknown } : item))
    : items;
}

function itemsAt(path: string, shape: Shape, message: SourceMessage): readonly unknown[] | undefined {
  const inner = path.indexOf('[].');
  if (inner > 0) {
    return itemsWithin(itemsAt(path.slice(0, inner + 2), shape, message), path.slice(inner + 3));
  }
  const isList = path.endsWith('[]');
  const isEntries = path.endsWith('{}');
  const where = isList || isEntries ? path.slice(0, -2) : path;
  const value = where.startsWith('msg.') ? at(message, where.slice(4)) : at(message.payload, where);
  if (isList) {
    // Several lists, one after the other, as a history has one for each entity.
    return Array.isArray(value) ? (Array.isArray(value[0]) ? value.flat() : value) : undefined;
  }
  if (isEntries) {
    const entries = isNamed(value) ? Object.entries(value) : [];
    const named = entries.flatMap(([entry, one]) => (isNamed(one) ? [{ ...one, entry }] : []));
    return named.length > 0 && named.length === entries.length ? named : undefined;
  }
  const isThere = isNamed(value) || ('' in shape.has && isKind('value', value)) || shape.topics !== undefined;
  return isThere && value !== undefined && !Array.isArray(value) ? [value] : undefined;
}

/** Items of a list within each item of another, such as `modules[]`; `up` is the one that it stands in. */
function itemsWithin(outer: readonly unknown[] | undefined, path: string): readonly unknown[] | undefined {
  const [own, ...further] = path.split('[].');
  const found = outer?.flatMap((up) => {
    const found = at(up, own!.replace(/(?:\[\]|\{\})$/, ''));
    const list = own!.endsWith('{}') && isNamed(found) ? Object.values(found).flat() : found;
    // A document has a list of elements only where there are several.
    const all: unknown[] = Array.isArray(list) ? list : [list];
    return all.flatMap((one) => (isNamed(one) ? [{ ...one, up }] : []));
  });
  return further.length === 0 ? found : itemsWithin(found, further.join('[].'));
}

/** Entries of the payload, each with one item or a list of them. */
function itemsByName(shape: Shape, message: SourceMessage): Match['items'] | undefined {
  if (!isNamed(message.payload)) {
    return undefined;
  }
  const found: Match['items'] = [];
  for (const [key, value] of Object.entries(message.payload)) {
    if (!Array.isArray(value)) {
      return undefined;
    }
    for (const item of value as unknown[]) {
      if (!isLike(shape, item, message)) {
        return undefined;
      }
      found.push(shape.byColumn === true ? { item, column: key } : { item, key });
    }
  }
  return found.length === 0 ? undefined : found;
}

function isLike({ has, lacks, message: inner }: Shape, item: unknown, message: SourceMessage): boolean {
  for (const paths in has) {
    if (resolve(paths, item, message, has[paths]) === undefined) {
      return false;
    }
  }
  if (lacks?.some((path) => resolve(path, item, message) !== undefined) === true) {
    return false;
  }
  return inner === undefined || opened(at(item, inner)) !== undefined;
}
