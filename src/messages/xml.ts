import { types } from 'node:util';

import { isAbsent, isSparse, setCell } from '../table';
import { Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import { namedEntries } from './flatten';
import { isNamed } from './paths';

type Element = Record<string, unknown>;

const MAX_DEPTH = 20;

/**
 * What the node xml makes of a document, without the lists that it puts around each element: its text, or an object of its
 * attributes and elements; any other value as it is.
 * https://github.com/node-red/node-red/blob/master/packages/node_modules/%40node-red/nodes/locales/en-US/parsers/70-XML.html
 */
export function elementsOfXml(value: unknown): unknown {
  const root = findRoot(value, Infinity);
  return root === undefined ? value : { [root.name]: element(root.root) };
}

/** A table in what the node xml makes of a document. */
export interface XmlTable {
  /** The elements that are rows, or the one that is, without the lists around what they hold. */
  table: unknown;
  /** Where they stand in the document. */
  path: string;
  /** What stands beside the rows, and is no part of them: names of elements and attributes. */
  beside: string[];
}

/** Elements of each list that are looked at before it is taken for one of XML. */
const LOOKED_AT = 100;
/** What says how a document is to be read, and no value. */
const OF_DOCUMENT = /^(?:xmlns|xmlns:.*|xsi:.*)$/i;
/** What is said of a value beside it. */
const OF_VALUE = /^(?:units?|uom|unit_?code|quality|status)$/i;
/** Lists that an error names. */
const MAX_NAMED = 5;

/**
 * The table in what the node xml makes of a document: the elements that come again, where those of one name do on the
 * outermost level that has such; else the first element that has more than one element in it. A list of elements, taken out
 * of a document, is its rows. Undefined of any other value.
 *
 * @throws ServiceError `table.invalid` where elements of several names could be the rows
 */
export async function tableOfXml(value: unknown): Promise<XmlTable | undefined> {
  if (Array.isArray(value)) {
    const rows = value as unknown[];
    return areElements(rows, LOOKED_AT, 0) && rows.every(isNamed)
      ? { table: await elements(rows), path: '', beside: [] }
      : undefined;
  }
  const document = findRoot(value, LOOKED_AT);
  if (document === undefined) {
    return undefined;
  }
  const { name, root } = document;
  let level = [{ path: name, element: root, beside: [] as string[] }];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const found = level.flatMap(repeatedIn);
    if (found.length === 1) {
      const { path, list, beside } = found[0]!;
      return { table: await elements(list), path, beside };
    }
    if (found.length > 1) {
      throw severalLists(found);
    }
    level = level.flatMap(innerElements);
  }
  const { element: row, path, beside } = rowIn({ element: root, path: name, beside: [] });
  return { table: element(row, true), path, beside };
}

/** An element, where it stands, and what stands beside it and what it is in. */
interface Placed {
  path: string;
  element: Element;
  beside: string[];
}

/** Elements of one name that come again. */
interface Repeated {
  path: string;
  list: readonly unknown[];
  beside: string[];
}

function repeatedIn({ path, element: whole, beside }: Placed): Repeated[] {
  return childLists(whole)
    .filter(([, list]) => isOfRows(list))
    .map(([name, list]) => ({
      path: `${path}.${name}`,
      list,
      beside: [...beside, ...namesBeside(whole, name)],
    }));
}

/** Whether elements are rows: not text, and not values that each have a name, which are the columns of one row. */
function isOfRows(list: readonly unknown[]): boolean {
  const isNamedOrEmpty = (one: unknown): boolean => isNamed(one) || one === '';
  return (
    list.length > 1 &&
    list.every(isNamedOrEmpty) &&
    list.some(isNamed) &&
    namedEntries(list.map((one) => element(one))) === undefined
  );
}

function innerElements({ path, element: whole, beside }: Placed): Placed[] {
  return childLists(whole).flatMap(([name, list]) => {
    const [only] = list;
    return list.length === 1 && isNamed(only)
      ? [
          {
            path: `${path}.${name}[0]`,
            element: only,
            beside: [...beside, ...namesBeside(whole, name)],
          },
        ]
      : [];
  });
}

function childLists(whole: Element): [name: string, list: readonly unknown[]][] {
  return Object.entries(whole).filter(
    (entry): entry is [string, unknown[]] => entry[0] !== '$' && Array.isArray(entry[1]),
  );
}

function namesBeside(whole: Element, name: string): string[] {
  return [
    ...attributeNames(whole),
    ...Object.keys(whole).filter((one) => one !== '$' && one !== '_' && one !== name),
  ];
}

const attributeNames = ({ $ }: Element): string[] =>
  isNamed($) ? Object.keys($).filter((name) => !OF_DOCUMENT.test(name)) : [];

/**
 * The row of a document in which nothing comes again: what is nothing but the envelope of one element is no part of it. The
 * attributes of the root are of the document, as where it has several rows.
 */
function rowIn(root: Placed): Placed {
  let row = root;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const [inner, ...others] = innerElements(row);
    const isEnvelope = childLists(row.element).length === 1 && typeof row.element._ !== 'string';
    const hasOwn = depth > 0 && attributeNames(row.element).length > 0;
    if (inner === undefined || others.length > 0 || !isEnvelope || hasOwn) {
      break;
    }
    row = inner;
  }
  return row;
}

function severalLists(found: readonly Repeated[]): ServiceError {
  const named = found.slice(0, MAX_NAMED).map(({ path, list }) => `${path} (${list.length} elements)`);
  return new ServiceError(
    'table.invalid',
    `The XML has several lists of elements that could be the rows: ${named.join(', ')}${found.length > MAX_NAMED ? ' …' : ''}. ` +
      `Give one of them as the table, such as payload.${found[0]!.path}.`,
  );
}

async function elements(list: readonly unknown[]): Promise<unknown[]> {
  const yielder = new Yielder();
  const rows: unknown[] = [];
  for (const one of list) {
    const row = element(one, true);
    rows.push(isNamed(row) ? row : {});
    await yielder.due();
  }
  return rows;
}

/** One that is no code, such as 007, and exact. */
const NUMBER = /^\s*[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/**
 * Rows of plain cells from a document, all of whose cells are text, with the numbers of those columns that have nothing else
 * as numbers, and null where an element is empty. They are changed in place.
 *
 * @param asNumbers false where the columns of a model decide what a text is
 */
export async function plainCellsOfXml(rows: readonly unknown[], asNumbers: boolean): Promise<void> {
  const yielder = new Yielder();
  const words = new Set<string>();
  for (const row of rows as readonly Element[]) {
    for (const [column, cell] of Object.entries(row)) {
      if (cell === '') {
        setCell(row, column, null);
      } else if (!asNumbers || (typeof cell === 'string' && !NUMBER.test(cell) && !isAbsent(cell))) {
        words.add(column);
      }
    }
    await yielder.due();
  }
  if (!asNumbers) {
    return;
  }
  for (const row of rows as readonly Element[]) {
    for (const [column, cell] of Object.entries(row)) {
      if (typeof cell === 'string' && !words.has(column) && NUMBER.test(cell)) {
        setCell(row, column, Number(cell));
      }
    }
    await yielder.due();
  }
}

/** The only element at the top of a document; undefined of what is none. @param most elements of a list that are looked at */
function findRoot(value: unknown, most: number): { name: string; root: Element } | undefined {
  // Asking a Proxy for its names may have any effect.
  if (!isNamed(value) || types.isProxy(value)) {
    return undefined;
  }
  let only: string | undefined;
  for (const name in value) {
    if (only !== undefined) {
      return undefined;
    }
    only = name;
  }
  const root = only === undefined ? undefined : value[only];
  return isNamed(root) && isElement(root, most) ? { name: only!, root } : undefined;
}

/** Whether an object has nothing but lists of elements, its attributes as `$` and its text as `_`. */
function isElement(value: unknown, most = LOOKED_AT, depth = 0): boolean {
  if (typeof value === 'string') {
    return true;
  }
  if (!isNamed(value) || types.isProxy(value) || depth >= MAX_DEPTH) {
    return false;
  }
  let isEmpty = true;
  for (const name in value) {
    isEmpty = false;
    const one = value[name];
    const isPart =
      name === '$'
        ? isNamed(one)
        : name === '_'
          ? typeof one === 'string'
          : areElements(one, most, depth + 1);
    if (!isPart) {
      return false;
    }
  }
  return !isEmpty;
}

function areElements(list: unknown, most: number, depth: number): boolean {
  if (!Array.isArray(list) || list.length === 0 || isSparse(list)) {
    return false;
  }
  // By its places: a hole is no element.
  for (let i = 0; i < Math.min(list.length, most); i++) {
    if (!isElement(list[i], most, depth)) {
      return false;
    }
  }
  return true;
}

/** @param isCell whether it is of a table: attributes that say how a document is to be read are left out */
function element(value: unknown, isCell = false): unknown {
  if (!isNamed(value)) {
    return value;
  }
  const found: Element = {};
  let isEmpty = isCell;
  for (const [name, one] of Object.entries(value)) {
    if (name === '$' && isNamed(one)) {
      for (const [attribute, text] of Object.entries(one)) {
        if (!isCell || !OF_DOCUMENT.test(attribute)) {
          setCell(found, attribute, text);
          isEmpty = false;
        }
      }
      continue;
    }
    isEmpty = false;
    if (name === '_') {
      setCell(found, 'value', one);
    } else {
      const all = Array.isArray(one) ? one.map((each) => element(each, isCell)) : [one];
      setCell(found, name, all.length === 1 ? all[0] : all);
    }
  }
  // Without its value, what is said of a value is none.
  return isEmpty || (isCell && Object.keys(found).every((name) => OF_VALUE.test(name))) ? '' : found;
}
