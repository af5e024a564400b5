import type { Hooks, TableInput } from '../models/types';
import type { Column } from '../table/cells/types';
import { batchBytes, type ColumnBatch, joinBatches } from '../table/columns/column-batch';
import { ownNames } from '../table/columns/header';
import { openTable, openTableFile, type TableSource } from '../table/open';
import { OwnCopy, rowsAtHand } from '../table/values/before-reading';
import { type AddedColumns, addToRow } from '../table/values/tables';
import type { Scored, Scoring } from './test-set';
import type { TrainSetComparison } from './unlike';

/** Messages of up to this many rows are read without opening a table. */
const MAX_ROWS = 64;

/** Bytes that a row is expected to take before its table is read. */
export const ROW_BYTES = 64;

/** A table with its predictions attached; empty if there is no table here. */
export interface Attached {
  table?: unknown;
}

/** The rows of a message, with a subclass for each form that they come in. */
export abstract class MessageTable {
  /** Their size in the queue, estimated until the table is read. */
  abstract readonly rowCount: number;
  abstract readonly bytes: number;
  /** Columns found in the table, for a model whose card does not name its own. */
  readonly columns?: readonly Column[];
  /** Cells that were taken as missing, by column. */
  cleaned?: Record<string, number>;

  /** The table, to be read again; undefined if there is none here. */
  source(signal: AbortSignal): Promise<TableSource | undefined> {
    signal.throwIfAborted();
    return Promise.resolve(undefined);
  }

  /** Attaches predictions: at once to a few rows, in slices to a large table. */
  abstract attach(predicted: AddedColumns, signal: AbortSignal): Attached | Promise<Attached>;
}

/** What the table of one message is scored with. */
export interface LoneScoring extends Scoring {
  hooks: Hooks | undefined;
  /** What the rows are compared with, where that is asked for. */
  comparison?: TrainSetComparison;
}

/** Rows that share no test set with those of other messages. */
export abstract class LoneTable extends MessageTable {
  abstract score(scoring: LoneScoring): Promise<Scored>;
}

type Row = Record<string, unknown>;

/** One or a few row objects, the usual message of a stream: read together with those of other messages. */
export class SmallRows extends MessageTable {
  rowCount = 0;
  bytes = 0;
  /** Shallow copies: the flow may go on changing the message, and predictions are attached to them. */
  readonly rows: Row[] = [];
  /** The columns that they are known to have. */
  private checked: readonly Column[] | undefined;

  /** @param single the message held one object, not an array */
  constructor(readonly single: boolean) {
    super();
  }

  /** Whether they may be read with the rows of other messages; if not, the table is checked on its own. */
  mayJoin(columns: readonly Column[], missingColumns: 'error' | 'fill' | undefined): boolean {
    // They name every column; where missing ones are filled, at least one.
    const isCovered =
      this.checked === columns ||
      (missingColumns === 'fill'
        ? columns.some((column) => hasColumns(this.rows, [column]))
        : hasColumns(this.rows, columns));
    if (isCovered) {
      this.checked = columns;
    }
    return isCovered;
  }

  private get value(): unknown {
    return this.single ? this.rows[0] : this.rows;
  }

  override source(signal: AbortSignal): Promise<TableSource> {
    return openTable(this.value, { signal });
  }

  attach({ columns }: AddedColumns): Attached {
    for (let index = 0; index < this.rows.length; index++) {
      addToRow(this.rows[index]!, index, columns);
    }
    return { table: this.value };
  }

  /** Adds a copy of a row; false for one with nested values or without any. Errors: `limit.exceeded`; as getters throw. */
  take(row: Row): boolean {
    // Checked first: counting names is quicker than copying them.
    ownNames(row);
    const copy = { ...row };
    let bytes = ROW_BYTES;
    let keys = 0;
    for (const value of Object.values(copy)) {
      keys++;
      bytes += 16;
      if (typeof value === 'string') {
        bytes += value.length;
      } else if (
        typeof value === 'object' &&
        value !== null &&
        (Array.isArray(value) || ArrayBuffer.isView(value))
      ) {
        return false;
      }
    }
    if (keys === 0) {
      return false;
    }
    this.rows.push(copy);
    this.rowCount++;
    this.bytes += bytes;
    return true;
  }
}

/**
 * The rows of a message that holds one or a few row objects, without opening it as a table. Undefined for any other
 * form, and for what is no table at all: src/table checks those.
 */
export function smallRows(value: unknown): SmallRows | undefined {
  const isArray = Array.isArray(value);
  const items = isArray ? (value as unknown[]) : [value];
  if (items.length === 0 || items.length > MAX_ROWS) {
    return undefined;
  }
  const result = new SmallRows(!isArray);
  for (const item of items) {
    if (!isPlain(item) || !result.take(item)) {
      return undefined;
    }
  }
  return result;
}

/** Every column is named by some row. */
export function hasColumns(rows: readonly Row[], columns: readonly Column[]): boolean {
  for (const { name } of columns) {
    let isThere = false;
    for (let row = 0; row < rows.length && !isThere; row++) {
      isThere = Object.hasOwn(rows[row]!, name);
    }
    if (!isThere) {
      return false;
    }
  }
  return true;
}

/** An object literal of any realm: those of a function node come from another one. */
function isPlain(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A table as it arrived, in memory or on disk. Once it is read, a HeldTable or a StreamedTable replaces it. */
export class UnreadTable extends MessageTable {
  readonly rowCount: number;
  readonly bytes: number;
  private readonly from: { copy: OwnCopy } | { path: string };

  constructor(input: TableInput) {
    super();
    if ('path' in input) {
      this.from = input;
      this.rowCount = 1;
      this.bytes = ROW_BYTES;
    } else {
      const { value } = input;
      this.from = { copy: new OwnCopy(value) };
      this.rowCount = rowsAtHand(value);
      this.bytes =
        typeof value === 'string' || Buffer.isBuffer(value) ? value.length : this.rowCount * ROW_BYTES;
    }
  }

  /** To be called once. */
  async open(signal: AbortSignal): Promise<TableSource> {
    return 'path' in this.from
      ? openTableFile(this.from.path, { signal })
      : openTable(await this.from.copy.take(signal), { signal });
  }

  attach(): Attached {
    return {};
  }
}

interface ReadingOptions {
  missingColumns?: 'error' | 'fill';
  signal?: AbortSignal;
}

/** A table that was read on arrival and is held in memory. */
export class HeldTable extends MessageTable {
  constructor(
    private readonly opened: TableSource,
    override readonly columns: readonly Column[],
    private readonly batch: ColumnBatch,
  ) {
    super();
  }

  get rowCount(): number {
    return this.batch.rows;
  }

  get bytes(): number {
    return batchBytes(this.batch);
  }

  /** Its rows; read again if the model was refitted with other columns while the message waited. */
  async read(columns: readonly Column[], options: ReadingOptions): Promise<ColumnBatch> {
    const batch = sameColumns(this.columns, columns)
      ? this.batch
      : await readWhole(this.opened, columns, options);
    this.cleaned = batch.cleaned;
    return batch;
  }

  override source(): Promise<TableSource> {
    return Promise.resolve(this.opened);
  }

  async attach(predicted: AddedColumns, signal: AbortSignal): Promise<Attached> {
    return { table: await this.opened.addColumns(predicted, signal) };
  }
}

function sameColumns(a: readonly Column[], b: readonly Column[]): boolean {
  return (
    a === b ||
    (a.length === b.length && a.every((column, index) => JSON.stringify(column) === JSON.stringify(b[index])))
  );
}

/** All rows of a source as one batch. */
export async function readWhole(
  source: TableSource,
  columns: readonly Column[],
  options: ReadingOptions,
): Promise<ColumnBatch> {
  return (await readAtMost(source, columns, Infinity, options))!;
}

/** All rows of a source as one batch; undefined where there are more than `rows`. */
export async function readAtMost(
  source: TableSource,
  columns: readonly Column[],
  rows: number,
  options: ReadingOptions,
): Promise<ColumnBatch | undefined> {
  const batches: ColumnBatch[] = [];
  if ((source.rowCount ?? 0) > rows) {
    return undefined;
  }
  let count = 0;
  for await (const batch of source.batches(columns, options)) {
    count += batch.rows;
    if (count > rows) {
      return undefined;
    }
    batches.push(batch);
  }
  return joinBatches(batches);
}
