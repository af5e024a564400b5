import type { SetInput } from '../../scoring/types';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/environment';
import { numberField } from '../fields/fields';
import { type FlowNode, type Message, type Red, text } from '../node-red';
import { reportError } from '../status/report';
import { StatusLine } from '../status/status-line';
import { rememberColumns, rememberFileColumns } from './columns-seen';
import { Sequences, withoutSequence } from './sequences';
import { type TableDef, tableReader } from './table-input';

/** Seconds without a part after which a sequence is given up, where the dialog names none. */
const IDLE_SECONDS = 60;
/** Timers of Node.js go to 24.8 days; one that is set to more fires at once. */
const MAX_IDLE_SECONDS = 2_000_000;

export interface CollectDef extends TableDef {
  /** Gather message sequences (`msg.parts`) into one table. */
  collect?: boolean;
  /** Seconds without a part after which a sequence is given up. */
  collectTimeout?: string | number;
}

export interface TableCollector {
  /** The message's table; undefined while its sequence goes on. */
  read(msg: Message): Promise<SetInput | undefined>;
  /** Takes off the message what belonged to the collected sequence. */
  finish(msg: Message): void;
  /** Frees what the message's table took, once the work with it is over. */
  release(msg: Message): void;
  close(): void;
}

/** Reads the tables of a node that may gather message sequences. */
export function tableCollector(red: Red, node: FlowNode, def: CollectDef): TableCollector {
  const reader = tableReader(red, node, def, { allowMissing: def.collect === true });
  const idleSeconds = (): number =>
    numberField(
      { min: 1, max: MAX_IDLE_SECONDS },
      { place: 'The field Give up after', value: fromEnvironment(red, node, def.collectTimeout) },
    ) ?? IDLE_SECONDS;
  let sequences: Sequences | undefined;
  let closed = false;
  const begin = (): Sequences => {
    if (closed) {
      throw new ServiceError('closed', 'The node was closed before the sequence was whole.');
    }
    return new Sequences({
      idleMs: idleSeconds() * 1000,
      onIncomplete: (error, lastPart) => {
        StatusLine.of(node, red).fail(error.code);
        reportError(node, red, lastPart, error);
      },
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
      spools
        .get(msg)?.()
        .catch((error: unknown) => node.warn(toServiceError(error).message));
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

/** Not a later part of a sequence, whose text would hold no header. */
function isFirst(msg: Message): boolean {
  const index = (msg.parts as { index?: unknown } | undefined)?.index;
  return index === undefined || index === 0;
}

/** A text that is one line, as `file in` sends the first of a CSV file, is its header. */
function firstLine(value: unknown): unknown {
  return typeof value === 'string' && !value.includes('\n') ? `${value}\n` : value;
}
