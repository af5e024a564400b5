import { deserialize, serialize } from 'node:v8';

import { Serial } from '../util/concurrency';
import { asBytes } from '../util/values';
import { emptyTable, invalidTable, type Row, show } from './cells/types';
import type { Slice, SliceOptions, SliceSource, TableForm } from './columns/slices';
import { type Block, LocalSource, openTable, RemoteSource, type TableSource } from './open';
import { BlockStore, type Place } from './storage/blob';
import { newTempPath } from './storage/table-file';

/** What a spool keeps in memory; the rest goes to a temporary file. */
const MEMORY = 8 * 1024 * 1024;

/** Rows of small parts are kept back until they make a block. */
const PENDING_ROWS = 2000;
const PENDING_BYTES = 512 * 1024;

/** Where a block of so many rows lies. */
interface StoredRows {
  rows: number;
  place: Place;
}

/**
 * Gathers a table that comes in parts, such as the messages of a sequence, in bounded memory: 8 MiB, and a
 * temporary file beyond that. The parts are copied, so the messages may be changed afterwards.
 */
export class TableSpool {
  /** Rows so far; pieces of text or bytes are not counted. */
  rows = 0;
  private readonly store: BlockStore;
  private readonly stored: StoredRows[] = [];
  private readonly names = new Set<string>();
  private pieces = 0;
  private pending: Row[] = [];
  private pendingBytes = 0;
  private readonly serial = new Serial();

  /** @param options.memoryBytes bytes kept in memory, 8 MiB unless told */
  constructor(options: { memoryBytes?: number } = {}) {
    this.store = new BlockStore({
      memoryBytes: options.memoryBytes ?? MEMORY,
      newPath: () => newTempPath('spool'),
    });
  }

  /**
   * Adds a part: a table of its own in any form of openTable, or, where `separator` is given, a piece of one
   * long text or Buffer, joined to the piece before by the separator (split and file in send lines so, with
   * the separator in `msg.parts.ch`). Parts are taken in the order of the calls. Errors: those of openTable,
   * `storage.failed`; the parts before stay.
   */
  append(value: unknown, options: { separator?: string; signal?: AbortSignal } = {}): Promise<void> {
    return this.serial.run(() =>
      options.separator === undefined
        ? this.appendTable(value, options.signal)
        : this.appendPiece(value, options.separator),
    );
  }

  /** The table, to be read again and again until `dispose`. Errors: `table.empty`. */
  async finish(options: { signal?: AbortSignal } = {}): Promise<TableSource> {
    await this.serial.run(() => this.flush());
    if (this.pieces > 0) {
      const { path } = this.store;
      return path === undefined
        ? openTable(this.store.memory(), options)
        : RemoteSource.open({ kind: 'path', path }, options.signal, 'parsed');
    }
    if (this.stored.length === 0) {
      throw emptyTable('The sequence of messages held no rows.');
    }
    return new LocalSource(new SpooledSource([...this.names], this.rows, this.stored, this.store));
  }

  /** Frees memory and file. */
  async dispose(): Promise<void> {
    await this.serial.idle();
    await this.store.dispose();
  }

  private async appendTable(value: unknown, signal?: AbortSignal): Promise<void> {
    if (this.pieces > 0) {
      throw invalidTable(
        'A part of the sequence is a table of its own, the parts before were pieces of text.',
      );
    }
    const opened = await openTable(value, { signal });
    const { objects } = opened;
    if (objects !== undefined && objects.length <= PENDING_ROWS) {
      // Parts of a row each are common; a block for each of them would be slow to read.
      for (const row of objects) {
        this.pending.push({ ...row });
        this.pendingBytes += roughBytes(row);
      }
      this.rows += objects.length;
      if (this.pending.length >= PENDING_ROWS || this.pendingBytes >= PENDING_BYTES) {
        await this.flush();
      }
      return;
    }
    await this.flush();
    for await (const block of opened.blocks(signal)) {
      await this.keep(block);
      this.rows += block.rows;
    }
  }

  /** Stores the rows that were kept back. */
  private async flush(): Promise<void> {
    const rows = this.pending;
    this.pending = [];
    this.pendingBytes = 0;
    if (rows.length > 0) {
      for await (const block of (await openTable(rows)).blocks()) {
        await this.keep(block);
      }
    }
  }

  private async keep(block: Block): Promise<void> {
    block.names.forEach((name) => this.names.add(name));
    this.stored.push({ rows: block.rows, place: await this.store.append(serialize(block)) });
  }

  private async appendPiece(value: unknown, separator: string): Promise<void> {
    if (this.rows > 0) {
      throw invalidTable('A part of the sequence is a piece of text, the parts before were tables.');
    }
    const piece = typeof value === 'string' ? value : asBytes(value);
    if (piece === undefined) {
      throw invalidTable(`A part of the sequence is ${show(value)}, not a piece of text or a Buffer.`);
    }
    if (this.pieces > 0 && separator !== '') {
      await this.store.append(Buffer.from(separator));
    }
    await this.store.append(Buffer.from(piece as string));
    this.pieces++;
  }
}

function roughBytes(row: Row): number {
  let bytes = 0;
  for (const cell of Object.values(row)) {
    bytes += typeof cell === 'string' ? cell.length : 8;
  }
  return bytes;
}

class SpooledSource implements SliceSource {
  readonly form: TableForm = 'rows';

  constructor(
    readonly names: readonly string[],
    readonly rowCount: number,
    private readonly stored: readonly StoredRows[],
    private readonly store: BlockStore,
  ) {}

  async *slices(options: SliceOptions): AsyncIterable<Slice> {
    let first = 0;
    for (const { rows, place } of this.stored) {
      options.signal?.throwIfAborted();
      const block = deserialize(await this.store.read(place)) as Block;
      const columns = new Map(block.names.map((name, index) => [name, index]));
      yield {
        first,
        rows,
        column: (index) => {
          const at = columns.get(this.names[index]!);
          return at === undefined
            ? { kind: 'values', cells: new Array<undefined>(rows).fill(undefined) }
            : block.columns[at]!;
        },
      };
      first += rows;
    }
  }
}
