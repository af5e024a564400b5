import { type Column, readRows, type TableSource } from '../../../table';
import type { Context } from '../../context/context';
import type { ResolvedModel } from '../../models/model-request';
import type { Hooks } from '../../types';
import type { TrainSetComparison } from '../../unlike/unlike';
import { attach, type Attachment } from '../answers/attach-predictions';
import type { Scored, ScoreOptions } from '../test-set/test-set';

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
  abstract attach(attachment: Attachment, signal: AbortSignal): Attached | Promise<Attached>;
}

/** What a table is scored with. */
export interface Scoring {
  context: Context;
  model: ResolvedModel;
  options: ScoreOptions;
  hooks: Hooks | undefined;
  /** What the rows are compared with, where that is asked for. */
  comparison?: TrainSetComparison;
}

/** Rows that share no test set with those of other messages. */
export abstract class LoneTable extends MessageTable {
  abstract score(scoring: Scoring): Promise<Scored>;
}

/** A table that can be read more than once. */
export interface OwnTable {
  source: TableSource;
  /** What it was opened from: our own copy, which may take the predictions. Undefined for a file. */
  value: unknown;
}

export async function attachToTable(
  { source, value }: OwnTable,
  attachment: Attachment,
  signal: AbortSignal,
): Promise<Attached> {
  return { table: await attach(value, source.form, attachment, () => readRows(source, { signal })) };
}
