import type { SetInput } from '../../models/types';
import { COLLECTING, type FlowProperties } from '../../settings';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { settingsReader } from '../fields/settings-reader';
import { type FlowNode, type Message, type Red, text } from '../node-red';
import { reportError } from '../status/report';
import { StatusLine } from '../status/status-line';
import { rememberColumns, rememberFileColumns } from './columns-seen';
import { Sequences, withoutSequence } from './sequences';
import { type TableDef, tableReader } from './table-input';

/** The dialog's properties of a node that may gather message sequences into one table. */
export type CollectDef = TableDef & FlowProperties<typeof COLLECTING>;

export interface TableCollector {
  /** The table of the message; undefined until its sequence is complete. */
  read(msg: Message): Promise<SetInput | undefined>;
  /** Removes from the message what belonged to the collected sequence. */
  finish(msg: Message): void;
  /** Frees the resources of the message's table, once the work with it is over. */
  release(msg: Message): void;
  close(): void;
}

/** Reads the tables of a node that may gather message sequences. */
export function tableCollector(red: Red, node: FlowNode, def: CollectDef): TableCollector {
  const reader = tableReader(red, node, def, { allowMissing: def.collect === true, flat: true });
  const read = settingsReader(red, node, COLLECTING, def);
  let sequences: Sequences | undefined;
  let closed = false;
  const warn = (error: unknown): void => node.warn(toServiceError(error).message);
  const begin = (): Sequences => {
    if (closed) {
      throw new ServiceError('closed', 'The node was closed before the sequence was whole.');
    }
    return new Sequences({
      idleMs: read('collectTimeout') * 1000,
      onIncomplete: (error, lastPart) => {
        StatusLine.of(node, red).fail(error.code);
        reportError(node, red, lastPart, error);
      },
      onLeftBehind: warn,
    });
  };
  const spools = new WeakMap<Message, () => Promise<void>>();
  return {
    async read(msg) {
      const input = await reader.read(msg);
      if ('path' in input) {
        void rememberFileColumns(node.id, input.path);
        return input;
      }
      if (isFirst(msg)) {
        rememberColumns(node.id, firstLine(input.value));
      }
      if (def.collect !== true) {
        return input;
      }
      sequences ??= begin();
      const collected = await sequences.add(msg, input.value);
      if (!collected.complete) {
        return undefined;
      }
      spools.set(msg, collected.dispose);
      return collected.table;
    },
    release(msg) {
      spools.get(msg)?.().catch(warn);
    },
    finish(msg) {
      if (def.collect === true) {
        withoutSequence(msg);
      }
    },
    close() {
      closed = true;
      const parts = sequences?.close() ?? 0;
      if (parts > 0) {
        node.warn(text(red, 'warning.sequences', { count: parts }));
      }
    },
  };
}

/** Whether this is not a later part of a sequence, whose text would have no header. */
function isFirst(msg: Message): boolean {
  const index = (msg.parts as { index?: unknown } | undefined)?.index;
  return index === undefined || index === 0;
}

/** A one-line text, as `file in` sends it first for a CSV file, is the header. */
function firstLine(value: unknown): unknown {
  return typeof value === 'string' && !value.includes('\n') ? `${value}\n` : value;
}
