import type { TableInput } from '../../scoring/types';
import { reasonOf } from '../../util/reason';
import { isThenable } from '../../util/thenable';
import { ServiceError } from '../../wire/service-error';
import { evaluated, fromEnvironment } from '../fields/environment';
import type { FlowNode, Message, Red } from '../node-red';
import { filePath } from '../paths';

/** The dialog's properties that say where a node finds its table. */
export interface TableDef {
  source?: 'value' | 'file';
  table?: string;
  tableType?: string;
}

export interface TableReader {
  /** What the message (or context, expression, environment) holds. */
  read(msg: Message): Promise<TableInput>;
  /** Puts a table back where it was read; where that is no property of the message, in `msg.payload`. */
  write(msg: Message, table: unknown): void;
  /** The place in words, for errors: `msg.payload`. */
  readonly place: string;
}

type Evaluate = (msg: Message, callback: (error: Error | null | undefined, value: unknown) => void) => void;

export interface ReaderOptions {
  /** Answer an unset place with the value undefined; default: `table.empty`. */
  allowMissing?: boolean;
  /** How long a context store or an expression may take, milliseconds. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

/** Reads the table of a message as its dialog says. */
export function tableReader(
  red: Red,
  node: FlowNode,
  def: TableDef,
  options: ReaderOptions = {},
): TableReader {
  const property = def.table === undefined || def.table === '' ? 'payload' : def.table;
  const type = def.tableType === undefined || def.tableType === '' ? 'msg' : def.tableType;
  const { timeoutMs = TIMEOUT_MS } = options;
  const place = `${type === 'msg' || type === 'flow' || type === 'global' ? `${type}.` : ''}${property}`;
  const evaluate = evaluator(red, node, property, type);
  return {
    place,
    async read(msg) {
      const { value } = await settledWithin(timeoutMs, place, (resolve, reject) =>
        evaluate(msg, (error, result) => {
          // A property of a property that is not there.
          if (error instanceof TypeError && type === 'msg') {
            resolve(undefined);
          } else if (error) {
            reject(error);
          } else {
            resolve(result);
          }
        }),
      );
      if (isThenable(value)) {
        throw new ServiceError(
          'table.invalid',
          `${place} is a promise, not a table: await it before the message is sent.`,
        );
      }
      if (def.source === 'file') {
        return { path: pathOf(red, value, place) };
      }
      return { value: options.allowMissing === true ? value : present(value, place) };
    },
    write(msg, table) {
      const target = type === 'msg' && def.source !== 'file' ? property : 'payload';
      red.util.setMessageProperty(msg, target, table, true);
      // Node-RED sets a property of a frozen object without a word, to no effect.
      if (red.util.getMessageProperty(msg, target) !== table) {
        throw new ServiceError(
          'validation.failed',
          `msg.${target} cannot be written: what holds it is frozen, or not an object.`,
        );
      }
    },
  };
}

/**
 * The value that `start` answers by callback; in an object, since it may be a promise, which `await` would wait for.
 * @throws ServiceError `table.invalid` where it fails, or has not answered in time: messages behind it wait for it.
 */
async function settledWithin(
  ms: number,
  place: string,
  start: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void,
): Promise<{ value: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<{ value: unknown }>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`there was no answer in ${ms / 1000} s`)), ms);
      start((value) => resolve({ value }), reject);
    });
  } catch (error) {
    throw unreadable(place, error);
  } finally {
    clearTimeout(timer);
  }
}

function evaluator(red: Red, node: FlowNode, property: string, type: string): Evaluate {
  if (type === 'jsonata') {
    let expression: ReturnType<typeof red.util.prepareJSONataExpression> | undefined;
    return (msg, callback) => {
      expression ??= red.util.prepareJSONataExpression(property, node);
      red.util.evaluateJSONataExpression(expression, msg, callback);
    };
  }
  if (type === 'str') {
    return (_msg, callback) => callback(null, fromEnvironment(red, node, property));
  }
  if (type === 'env') {
    const reference = property.includes('${') ? property : `\${${property}}`;
    return (_msg, callback) => callback(null, evaluated(red, node, reference));
  }
  return (msg, callback) => red.util.evaluateNodeProperty(property, type, node, msg, callback);
}

function present(value: unknown, place: string): unknown {
  if (value !== undefined && value !== null) {
    return value;
  }
  throw new ServiceError('table.empty', `There is no table: ${place} is not set.`);
}

function pathOf(red: Red, value: unknown, place: string): string {
  if (typeof value === 'string' && value.trim() !== '') {
    return filePath(red, value.trim());
  }
  throw new ServiceError('file.unreadable', `${place} must hold the path of a file, as a text.`);
}

function unreadable(place: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  return new ServiceError('table.invalid', `The table could not be read from ${place}: ${reasonOf(error)}`);
}
