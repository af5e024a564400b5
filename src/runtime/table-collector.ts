import type { TableInput } from '../scoring/types';
import { rememberColumns } from './columns-seen';
import type { FlowNode, Message, Red } from './node-red';
import { text } from './node-red';
import { Sequences, withoutSequence } from './sequences';
import { type TableDef, tableReader } from './table-input';

/** Seconds without a part after which a sequence is given up, where the dialog names none. */
const IDLE_SECONDS = 60;

export interface CollectDef extends TableDef {
  /** Gather message sequences (`msg.parts`) into one table. */
  collect?: boolean;
  /** Seconds without a part after which a sequence is given up. */
  collectTimeout?: string | number;
}

export interface TableCollector {
  /** The message's table; undefined while its sequence goes on. */
  read(msg: Message): Promise<TableInput | undefined>;
  /** Takes off the message what belonged to the collected sequence. */
  finish(msg: Message): void;
  close(): void;
}

/** Reads the tables of a node that may gather message sequences. */
export function tableCollector(red: Red, node: FlowNode, def: CollectDef): TableCollector {
  const reader = tableReader(red, node, def, { allowMissing: def.collect === true });
  const seconds = Number(def.collectTimeout);
  const sequences = new Sequences({
    idleMs: (seconds > 0 ? seconds : IDLE_SECONDS) * 1000,
    onIncomplete: (error, lastPart) => {
      node.status({ fill: 'red', shape: 'ring', text: error.code });
      node.error(error, lastPart);
    },
  });
  return {
    async read(msg) {
      const input = await reader.read(msg);
      if ('path' in input) return input;
      if (def.collect !== true) {
        rememberColumns(node.id, input.value);
        return input;
      }
      const collected = await sequences.add(msg, input.value);
      if (!collected.complete) return undefined;
      rememberColumns(node.id, collected.table);
      return { value: collected.table };
    },
    finish(msg) {
      if (def.collect === true) withoutSequence(msg);
    },
    close() {
      const parts = sequences.clear();
      if (parts > 0) node.warn(text(red, 'warning.sequences', { count: parts }));
    },
  };
}
