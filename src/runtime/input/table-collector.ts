import { isNamed } from '../../messages/paths';
import type { SetInput } from '../../models/types';
import type { FlowProperties } from '../../settings/kinds';
import { COLLECTING } from '../../settings/nodes';
import type { TableSpool } from '../../table/spool';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { table } from '../lazy';
import { dialogWord, type Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { reportError } from '../status/report';
import { rememberColumns, rememberFileColumns } from './columns-seen';
import { isLineOfText, type TableDef, tableReader } from './table-input';

/** What `msg.parts` may say (Node-RED user guide, "Understanding msg.parts"). */
interface PartInfo {
  id?: string;
  index?: number;
  count?: number;
  /** The text that stood between the parts of a split text. */
  ch?: unknown;
}

interface SequencesOptions {
  /** How long a sequence may go without a part before it is given up, in milliseconds. */
  idleMs: number;
  /** Called when a sequence is given up, with its last part, which the error belongs to. */
  onIncomplete: (error: ServiceError, lastPart: Message) => void;
  /** Called when the temporary file of a sequence that was given up could not be removed. */
  onLeftBehind: (error: unknown) => void;
}

/** A stored part, or the complete table. */
export type Collected =
  | { complete: false }
  | {
      complete: true;
      table: SetInput;
      /** Frees the table, once the work with it is over. */
      dispose: () => Promise<void>;
    };

interface Sequence {
  spool: TableSpool;
  parts: number;
  count: number | undefined;
  refused: ServiceError | undefined;
  last: Message;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gathers message sequences (`msg.parts`) into tables. Sequences are kept apart by `parts.id`. One ends when
 * `parts.count` parts have arrived (the count may come late, as from `file in`) or with `msg.complete`, with or
 * without a row, as from the csv node. A message outside any sequence is a table of its own.
 */
export class Sequences {
  private readonly open = new Map<string, Sequence>();
  private closed = false;

  constructor(private readonly options: SequencesOptions) {}

  /** Parts of sequences that have not ended. */
  get waiting(): number {
    return [...this.open.values()].reduce((sum, { parts }) => sum + parts, 0);
  }

  /**
   * Adds the value of one message.
   * @throws ServiceError `table.invalid` for a part that does not go with the others, `table.empty` for one without
   * a value that is not just the end of its sequence, `sequence.incomplete`
   * at the end of a sequence that had such a part, `table.empty` at the end of one without rows, `closed`.
   */
  async add(msg: Message, value: unknown): Promise<Collected> {
    if (this.closed) {
      throw closedError();
    }
    const parts = msg.parts as PartInfo | undefined;
    const ends = msg.complete !== undefined && msg.complete !== false;
    const id = this.readId(parts, ends);
    if (id === undefined) {
      if (isUnset(value) && ends) {
        return { complete: false };
      }
      if (isUnset(value)) {
        throw new ServiceError(
          'table.empty',
          'There is no table: the message holds none, and is no part either.',
        );
      }
      return { complete: true, table: { value }, dispose: () => Promise.resolve() };
    }
    const sequence = this.sequence(id);
    sequence.last = msg;
    if (typeof parts?.count === 'number' && Number.isFinite(parts.count)) {
      sequence.count = parts.count;
    }
    // Storing a large part may take longer than a sequence may go without one.
    clearTimeout(sequence.timer);
    const refused = await this.take(sequence, value, parts, ends);
    if (this.open.get(id) !== sequence) {
      throw closedError();
    }
    if (ends || (sequence.count !== undefined && sequence.parts >= sequence.count)) {
      return this.end(id, sequence);
    }
    this.watch(id, sequence);
    if (refused !== undefined) {
      throw refused;
    }
    return { complete: false };
  }

  /** Silently gives up every open sequence and accepts no more; returns how many parts they had. */
  close(): number {
    const { waiting } = this;
    this.closed = true;
    for (const [id, sequence] of this.open) {
      this.drop(id, sequence);
    }
    return waiting;
  }

  /** A bare `complete` ends the sequence that last received a part. */
  private readId(parts: PartInfo | undefined, ends: boolean): string | undefined {
    if (parts?.id !== undefined) {
      return `id:${parts.id}`;
    }
    if (parts !== undefined) {
      return 'unnamed';
    }
    return ends ? [...this.open.keys()].at(-1) : undefined;
  }

  private sequence(id: string): Sequence {
    const known = this.open.get(id);
    const sequence = known ?? {
      spool: new (table().TableSpool)(),
      parts: 0,
      count: undefined,
      refused: undefined,
      last: { _msgid: '' },
      timer: undefined,
    };
    // Inserted again so that the map is ordered by last part.
    this.open.delete(id);
    this.open.set(id, sequence);
    return sequence;
  }

  private async take(
    sequence: Sequence,
    value: unknown,
    parts: PartInfo | undefined,
    ends: boolean,
  ): Promise<ServiceError | undefined> {
    if (isUnset(value) && (ends || isBeyond(parts))) {
      return undefined;
    }
    sequence.parts++;
    const { ch } = parts ?? {};
    const isPiece = typeof value === 'string' || Buffer.isBuffer(value);
    try {
      if (isUnset(value)) {
        throw new ServiceError('table.empty', 'it holds no value.');
      }
      await sequence.spool.append(value, isPiece ? { separator: typeof ch === 'string' ? ch : '' } : {});
      return undefined;
    } catch (error) {
      const { code, message } = toServiceError(error);
      const where = parts?.index === undefined ? 'A part' : `Part ${parts.index + 1}`;
      const refused = new ServiceError(code, `${where} of the sequence: ${message}`);
      sequence.refused ??= refused;
      return refused;
    }
  }

  private async end(id: string, sequence: Sequence): Promise<Collected> {
    const { spool, refused } = sequence;
    clearTimeout(sequence.timer);
    this.open.delete(id);
    const dispose = (): Promise<void> => spool.dispose();
    try {
      if (refused !== undefined) {
        throw new ServiceError(
          'sequence.incomplete',
          `The sequence lacks a part that was refused. ${refused.message}`,
        );
      }
      return { complete: true, table: { source: await spool.finish() }, dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  private watch(id: string, sequence: Sequence): void {
    clearTimeout(sequence.timer);
    sequence.timer = setTimeout(() => {
      this.drop(id, sequence);
      const of = sequence.count === undefined ? '' : ` of ${sequence.count}`;
      this.options.onIncomplete(
        new ServiceError(
          'sequence.incomplete',
          `The sequence stopped after ${sequence.parts}${of} parts: none came for ` +
            `${this.options.idleMs / 1000} s. Its end is msg.parts.count or msg.complete.`,
        ),
        sequence.last,
      );
    }, this.options.idleMs);
    sequence.timer.unref();
  }

  private drop(id: string, sequence: Sequence): void {
    clearTimeout(sequence.timer);
    this.open.delete(id);
    sequence.spool.dispose().catch(this.options.onLeftBehind);
  }
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The empty message that `file in` sends after a file whose last part was full: its index is the count. */
function isBeyond(parts: PartInfo | undefined): boolean {
  return typeof parts?.count === 'number' && typeof parts.index === 'number' && parts.index >= parts.count;
}

function closedError(): ServiceError {
  return new ServiceError('closed', 'The node was closed before the sequence was whole.');
}

/** Removes `parts` and `complete` of the ended sequence from the message; those of an outer sequence reappear. */
export function withoutSequence(msg: Message): void {
  const outer = (msg.parts as { parts?: Message['parts'] } | undefined)?.parts;
  if (outer === undefined) {
    delete msg.parts;
  } else {
    msg.parts = outer;
  }
  delete msg.complete;
}

/** The dialog's properties of a node that may gather message sequences into one table. */
type CollectDef = TableDef & FlowProperties<typeof COLLECTING>;

export interface TableCollector {
  /** The table of the message; undefined until its sequence is complete. */
  read(msg: Message): Promise<SetInput | undefined>;
  /** Removes from the message what belonged to the collected sequence. */
  finish(msg: Message): void;
  /** Frees the resources of the message's table, once the work with it is over. */
  release(msg: Message): void;
  close(): void;
}

/**
 * Reads the tables of a node that may gather message sequences.
 * @param forTraining a row of a sequence is no table, but an error: a fit of each would be paid for, and good for nothing
 */
export function tableCollector(runtime: NodeRuntime<CollectDef>, forTraining = false): TableCollector {
  const { node, def, status } = runtime;
  const reader = tableReader(runtime, { allowMissing: def.collect === true, flat: true, numbers: true });
  const read = runtime.settings(COLLECTING);
  let sequences: Sequences | undefined;
  let closed = false;
  const warn = (error: unknown): void => node.warn(toServiceError(error).message);
  const begin = (): Sequences => {
    if (closed) {
      throw closedError();
    }
    return new Sequences({
      idleMs: read('collectTimeout') * 1000,
      onIncomplete: (error, lastPart) => {
        status.fail(error.code);
        reportError(runtime, lastPart, error);
      },
      onLeftBehind: warn,
    });
  };
  let told = false;
  /**
   * Warns once where a row of a sequence, or a line, is taken for a table.
   * @throws ServiceError `table.invalid` where it would be a train set
   */
  const tellOfPart = (msg: Message, value: unknown): void => {
    const count = (msg.parts as PartInfo | undefined)?.count;
    const isRow = typeof count === 'number' && count > 1 && isSingleRow(value);
    if (!(isRow || isLineOfText(msg, value))) {
      return;
    }
    const field = dialogWord(runtime.red, node.type, 'label.collect');
    if (forTraining && isRow) {
      throw new ServiceError(
        'table.invalid',
        `The message is one row of a sequence of ${count}, as a csv or split node sends them, and no train set. To fit one model of all of them, tick "${field}" in the fit node.`,
      );
    }
    if (told) {
      return;
    }
    told = true;
    if (isRow) {
      runtime.warn('oneRow', { count, field });
    } else {
      runtime.warn('oneLine', { field });
    }
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
        tellOfPart(msg, input.value);
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
        runtime.warn('sequences', { count: parts });
      }
    },
  };
}

/** Not a table in bytes, of Arrow or by columns. */
function isSingleRow(value: unknown): boolean {
  return (
    isNamed(value) && !Object.values(value).some((cell) => Array.isArray(cell) || ArrayBuffer.isView(cell))
  );
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
