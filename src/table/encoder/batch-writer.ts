import { rm } from 'node:fs/promises';

import type { FileFormat } from '../cells/types';
import { batchBytes, type ColumnBatch } from '../columns/column-batch';
import type { TableSample } from '../columns/table-sample';
import { type Spill, storageError, type Written } from '../storage/sink';
import { newTempPath } from '../storage/temp-folder';
import type { Job } from './host';

/** Batches on their way to the encoder thread at most: one is written while the next is made. */
const WINDOW = 2;
/** Where a file goes that is too large for memory. A folder that cannot be made matters only then. */
export function newSpill(format: FileFormat | 'json'): Spill {
  try {
    return { path: newTempPath(format) };
  } catch (error) {
    return { problem: storageError(error).message };
  }
}

/** The encoder thread removes its file when it gives up, but not when it is killed. */
export async function removeSpill({ path }: Spill): Promise<void> {
  if (path !== undefined) {
    await rm(path, { force: true });
  }
}

/** Sends batches to a job, a few ahead of what is written. */
export class BatchWriter {
  rows = 0;
  /** Once it is finished, where one was asked for. */
  sample: TableSample | undefined;
  private open = 0;

  constructor(
    private readonly job: Job,
    private readonly spill: Spill,
  ) {}

  async write(batch: ColumnBatch, transfer: ArrayBuffer[]): Promise<void> {
    while (this.open >= WINDOW) {
      await this.job.next();
      this.open--;
    }
    this.rows += batch.rows;
    this.open++;
    this.job.bytes += batchBytes(batch);
    this.job.send({ kind: 'batch', batch }, transfer);
  }

  finish(): Promise<Written> {
    this.job.send({ kind: 'end' });
    return this.job.result<Written>((answer) => {
      if (answer.kind === 'sample') {
        this.sample = answer.sample;
      }
    });
  }

  /** Ends the job and waits until it has removed its file. */
  async abandon(): Promise<void> {
    this.job.abort();
    await this.job.result().catch(() => undefined);
    await removeSpill(this.spill);
  }
}
