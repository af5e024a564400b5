import type { TableInput } from '../../scoring/types';
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
}

/** Reads the table of a message as its dialog says. */
export function tableReader(
  red: Red,
  node: FlowNode,
  def: TableDef,
  options: ReaderOptions = {},
): TableReader {
  const property = def.table === undefined || def.table === '' ? 'payload' : def.table;
  const type = def.tableType === undefined || def.tableType === '' ? 'msg' : def.tableType;
  const place = `${type === 'msg' || type === 'flow' || type === 'global' ? `${type}.` : ''}${property}`;
  const evaluate = evaluator(red, node, property, type);
  return {
    place,
    async read(msg) {
      const value = await new Promise<unknown>((resolve, reject) => {
        try {
          evaluate(msg, (error, result) => {
            // A property of a property that is not there.
            if (error instanceof TypeError && type === 'msg') {
              resolve(undefined);
            } else if (error) {
              reject(unreadable(place, error));
            } else {
              resolve(result);
            }
          });
        } catch (error) {
          reject(unreadable(place, error));
        }
      });
      if (def.source === 'file') {
        return { path: pathOf(red, value, place) };
      }
      return { value: options.allowMissing === true ? value : present(value, place) };
    },
    write(msg, table) {
      const target = type === 'msg' && def.source !== 'file' ? property : 'payload';
      red.util.setMessageProperty(msg, target, table, true);
    },
  };
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
  const reason = error instanceof Error ? error.message : (error as { message?: string }).message;
  return new ServiceError(
    'table.invalid',
    `The table could not be read from ${place}: ${reason ?? String(error)}`,
  );
}
