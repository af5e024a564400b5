import { createRequire } from 'node:module';
import { types } from 'node:util';

import type { Rests } from '../../messages';
import type { TableInput } from '../../models/types';
import type { FlowProperties } from '../../settings/kinds';
import { TABLE } from '../../settings/nodes';
import { isSparse, isTooWide, maybeEndless } from '../../table/columns/header';
import { lazy } from '../../util/concurrency';
import { isObject, isThenable, readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { evaluated, fromEnvironment } from '../fields/settings-reader';
import type { InFlow, Message, Red } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { filePath } from '../paths';

const load = createRequire(__filename);

/** Loaded with the first table: nodes are loaded at startup, and that must stay fast. */
const flattening = lazy(
  () => load('../../messages/flat-table') as typeof import('../../messages/flat-table'),
);

/** Whether a message comes of the decay of a model: from a watch node, or with the train set that a series node sent for it. */
export function isDecay({ train, change }: Message): boolean {
  return [train, change].some((told) => isObject(told) && (told.reason === 'decay' || told.what === 'decay'));
}

/** The dialog's properties that say where a node finds its table. */
export type TableDef = FlowProperties<typeof TABLE>;

export interface TableReader {
  /** What the message (or context, expression, environment) holds. */
  read(msg: Message): Promise<TableInput>;
  /**
   * Writes a table back to where it was read, or to `msg.payload` if that is not a message property. Where nested rows
   * were read, what of them is no value of a column is in the new rows as it came: the id of a document, a picture, a list.
   */
  write(msg: Message, table: unknown): void;
  /** The property of the message that it is written to: `payload`. */
  readonly target: string;
  /** The place in words, for errors: `msg.payload`. */
  readonly place: string;
}

type Evaluate = (msg: Message, callback: (error: Error | null | undefined, value: unknown) => void) => void;

interface ReaderOptions {
  /** Return undefined if nothing is there; by default that is the error `table.empty`. */
  allowMissing?: boolean;
  /** Nested rows become columns named by their paths. */
  flat?: boolean;
  /** Text of XML that is a number becomes one: where no model has the types of the columns yet. */
  numbers?: boolean;
  /** Readings: their columns have no white space around their names. */
  readings?: boolean;
  /** Where the table is, whatever the dialog says. */
  source?: 'value';
  /** How long a context store or an expression may take, in milliseconds. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
/** Lists that are told of at most. */
const MAX_TOLD = 100;
/** Names in a warning. */
const MAX_NAMED = 10;

/** Reads the table of a message as its dialog says. */
export function tableReader(runtime: NodeRuntime<TableDef>, options: ReaderOptions = {}): TableReader {
  const { red, def } = runtime;
  const source = options.source ?? def.source;
  const property = def.table || TABLE.table.fallback;
  const type = def.tableType || TABLE.tableType.fallback;
  const { timeoutMs = TIMEOUT_MS } = options;
  const place = `${type === 'msg' || type === 'flow' || type === 'global' ? `${type}.` : ''}${property}`;
  const evaluate = evaluator(runtime, property, type);
  const leftOut = new WeakMap<Message, Rests>();
  const listsTold = new Set<string>();
  const tellOnce = (text: string, column: string, words: object = {}): void => {
    if (listsTold.size < MAX_TOLD && !listsTold.has(column)) {
      listsTold.add(column);
      runtime.warn(text, { column, ...words });
    }
  };
  const flat = async (msg: Message, whole: unknown): Promise<unknown> => {
    const rests: Rests = new Map();
    const columns = await flattening().flatTable(whole, {
      onList: (column) => tellOnce('list', column),
      onTwice: (column) => tellOnce('twoValues', column),
      onRows: (path, rows) =>
        tellOnce(typeof whole === 'string' ? 'rowsOfText' : 'rows', path, {
          rows,
          field: `${property}.${path}`,
        }),
      onRest: (place, rest) => rests.set(place, rest),
      onBeside: (path, names) => tellOnce('beside', path, { names: names.slice(0, MAX_NAMED).join(', ') }),
      numbers: options.numbers,
    });
    if (rests.size > 0) {
      leftOut.set(msg, rests);
    }
    return columns;
  };
  const target = type === 'msg' && source !== 'file' ? property : 'payload';
  return {
    place,
    target,
    async read(msg) {
      const { value } =
        type === 'msg'
          ? { value: readMessageProperty(red, msg, property, place) }
          : await settledWithin(timeoutMs, place, (resolve, reject) =>
              evaluate(msg, (error, result) => (error ? reject(error) : resolve(result))),
            );
      assertNoPromise(value, place);
      if (source === 'file') {
        return { path: readPath(red, value, place) };
      }
      const whole = options.allowMissing === true ? value : present(value, place);
      if (options.readings === true) {
        return { value: await flattening().readingsByPlainNames(whole) };
      }
      return { value: options.flat === true && mayBeNested(whole) ? await flat(msg, whole) : whole };
    },
    write(msg, table) {
      const rests = leftOut.get(msg);
      if (rests !== undefined) {
        flattening().addRests(table, rests);
      }
      red.util.setMessageProperty(msg, target, table, true);
      // On a frozen object Node-RED silently sets nothing.
      if (red.util.getMessageProperty(msg, target) !== table) {
        throw new ServiceError(
          'validation.failed',
          `msg.${target} cannot be written: what holds it is frozen, or not an object.`,
        );
      }
    },
  };
}

/** A name in the list of columns of the csv node, in quotes or as it is. */
const LISTED = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;

/**
 * The csv node says in `msg.columns` which columns it read, and writes only those where the message comes to one again. So
 * columns that the payload has gained are added to the list. A list that does not name all columns is somebody's choice.
 *
 * @param before the payload as it came
 */
export function listAddedColumns(msg: Message, before: unknown): void {
  const { columns } = msg;
  if (typeof columns !== 'string' || columns === '') {
    return;
  }
  const [old, row] = [before, msg.payload].map((one): unknown => (Array.isArray(one) ? one[0] : one));
  const listed = new Set(
    [...columns.matchAll(LISTED)].map(([, inQuotes, bare]) => inQuotes?.replaceAll('""', '"') ?? bare),
  );
  if (!isObject(old) || !isObject(row) || !Object.keys(old).every((name) => listed.has(name))) {
    return;
  }
  const added = Object.keys(row).filter((name) => !listed.has(name) && !isObject(row[name]));
  if (added.length > 0) {
    msg.columns = [columns, ...added.map(quoted)].join(',');
  }
}

function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** Whether a message is one line of several, without names of columns, as `file in` and split send those of a text. */
export function isLineOfText({ parts }: Message, value: unknown): boolean {
  return (
    typeof value === 'string' &&
    isObject(parts) &&
    parts.type === 'string' &&
    parts.count !== 1 &&
    !/[\r\n]|^\s*[[{]/.test(value.trim())
  );
}

/** A property of a message; undefined where it is one of something that does not exist. */
function readMessageProperty(red: Red, msg: Message, property: string, place: string): unknown {
  try {
    return red.util.getMessageProperty(msg, property);
  } catch (error) {
    if (error instanceof TypeError) {
      return undefined;
    }
    throw unreadable(place, error);
  }
}

/** Rows of a table that are looked at, as `flatTable` does. */
const LOOKED_AT = 100;

/** Whether a value may have nested rows: no table in bytes, no number, and no rows of plain values, as most messages have. */
function mayBeNested(value: unknown): boolean {
  if (!Array.isArray(value)) {
    return typeof value === 'string' || hasObjects(value, true);
  }
  const endless = maybeEndless();
  return !isSparse(value) && value.slice(0, LOOKED_AT).some((row) => hasObjects(row, endless));
}

/** Whether a row has objects or lists in its cells, or may not be looked at. */
function hasObjects(row: unknown, endless: boolean): boolean {
  if (typeof row !== 'object' || row === null || Array.isArray(row) || ArrayBuffer.isView(row)) {
    return false;
  }
  // Asking a Proxy for its names may have any effect, and of an object of very many it takes long.
  if (types.isProxy(row) || isTooWide(row, endless)) {
    return true;
  }
  // So the node xml names the text of an element.
  return '_' in row || Object.values(row).some((cell) => typeof cell === 'object' && cell !== null);
}

/** @throws ServiceError `table.invalid`, also for a Proxy that throws when it is asked */
function assertNoPromise(value: unknown, place: string): void {
  let isPromise: boolean;
  try {
    isPromise = isThenable(value);
  } catch (error) {
    throw unreadable(place, error);
  }
  if (isPromise) {
    throw new ServiceError(
      'table.invalid',
      `${place} is a promise, not a table: await it before the message is sent.`,
    );
  }
}

/**
 * The value that `start` passes to its callback. It is wrapped in an object because `await` would unwrap a promise.
 * @throws ServiceError `table.invalid` if it fails or does not answer in time: later messages wait for this one.
 */
async function settledWithin(
  ms: number,
  place: string,
  start: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void,
): Promise<{ value: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<{ value: unknown }>((resolve, reject) => {
      let answered = false;
      const settling =
        <Result>(settle: (result: Result) => void) =>
        (result: Result): void => {
          answered = true;
          settle(result);
        };
      start(
        settling((value) => resolve({ value })),
        settling(reject),
      );
      // Most answer at once, and for a stream of messages their timers would add up.
      if (!answered) {
        timer = setTimeout(() => reject(new Error(`there was no answer in ${ms / 1000} s`)), ms);
      }
    });
  } catch (error) {
    throw unreadable(place, error);
  } finally {
    clearTimeout(timer);
  }
}

function evaluator(at: InFlow, property: string, type: string): Evaluate {
  const { red, node } = at;
  if (type === 'jsonata') {
    let expression: ReturnType<typeof red.util.prepareJSONataExpression> | undefined;
    return (msg, callback) => {
      expression ??= red.util.prepareJSONataExpression(property, node);
      red.util.evaluateJSONataExpression(expression, msg, callback);
    };
  }
  if (type === 'str') {
    return (_msg, callback) => callback(null, fromEnvironment(at, property));
  }
  if (type === 'env') {
    const reference = property.includes('${') ? property : `\${${property}}`;
    return (_msg, callback) => callback(null, evaluated(at, reference));
  }
  return (msg, callback) => red.util.evaluateNodeProperty(property, type, node, msg, callback);
}

function present(value: unknown, place: string): unknown {
  if (value !== undefined && value !== null) {
    return value;
  }
  throw notSet(place);
}

/** @param place where the table should be: `msg.payload` */
export function notSet(place: string): ServiceError {
  return new ServiceError('table.empty', `There is no table: ${place} is not set.`);
}

function readPath(red: Red, value: unknown, place: string): string {
  if (typeof value === 'string' && value.trim() !== '') {
    return filePath(red, value.trim());
  }
  throw new ServiceError('file.unreadable', `${place} must hold the path of a file, as a text.`);
}

function unreadable(place: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  return new ServiceError('table.invalid', `The table could not be read from ${place}: ${readReason(error)}`);
}
