import { buffer } from 'node:stream/consumers';

import type { Written } from '../storage/sink';
import { type TableFile, tableFile } from '../storage/table-file';
import { newSpill, removeSpill } from './batch-writer';
import { retried, startJob } from './host';

/** Rows as JSON arrays with `ROW_SEPARATOR` between; no brackets around. */
export interface JsonRows extends TableFile<'json'> {
  /** The columns of a row, in their order. */
  names: string[];
}

/**
 * The rows of a Parquet file as JSON, made in the encoder thread, which holds the file in memory.
 *
 * @param names the columns that a row is to have, in their order; left out: those of the file
 */
export async function encodeJsonRows(
  file: Pick<TableFile, 'content' | 'open'>,
  names: readonly string[] | undefined,
  signal?: AbortSignal,
): Promise<JsonRows> {
  const bytes = file.content ?? new Uint8Array(await buffer(file.open()));
  return retried(async () => {
    const spill = newSpill('json');
    const origin = { kind: 'bytes' as const, bytes };
    try {
      const job = startJob({ name: 'jsonRows', origin, names: names && [...names], spill }, signal);
      const written = await job.result<{ file: Written; rows: number; names: string[] }>();
      return Object.assign(tableFile('json', written.rows, written.file), { names: written.names });
    } catch (error) {
      await removeSpill(spill);
      throw error;
    }
  });
}
