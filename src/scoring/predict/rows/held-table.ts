import {
  batchBytes,
  type Column,
  type ColumnBatch,
  joinBatches,
  readBatches,
  type TableSource,
} from '../../../table';
import type { Attachment } from '../answers/attach-predictions';
import { type Attached, attachToTable, MessageTable, type OwnTable } from './message-table';

export interface ReadingOptions {
  missingColumns?: 'error' | 'fill';
  signal?: AbortSignal;
}

/** A table that was read on arrival and is held in memory. */
export class HeldTable extends MessageTable {
  constructor(
    private readonly opened: OwnTable,
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
      : await readWhole(this.opened.source, columns, options);
    this.cleaned = batch.cleaned;
    return batch;
  }

  override source(): Promise<TableSource> {
    return Promise.resolve(this.opened.source);
  }

  attach(attachment: Attachment, signal: AbortSignal): Promise<Attached> {
    return attachToTable(this.opened, attachment, signal);
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
  for await (const batch of readBatches(source, columns, options)) {
    count += batch.rows;
    if (count > rows) {
      return undefined;
    }
    batches.push(batch);
  }
  return joinBatches(batches);
}
