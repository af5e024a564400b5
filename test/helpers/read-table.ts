/* A process of its own that reads a table from a file's bytes; prints what came of it as one line of JSON. */
import { readFileSync } from 'node:fs';

import { profileTable, readBatches } from '../../dist/src/program-table';
import { batchBytes, closeEncoder, openTable } from '../../dist/src/table';
import { watchLoop } from './loop-holds';

/** What reading a table came to. */
export interface ReadOutcome {
  code?: string;
  message?: string;
  rows: number;
  bytes: number;
  /** Milliseconds that the event loop was held at most, by the thread's own work. */
  held: number;
}

async function main(file: string): Promise<void> {
  const content = readFileSync(file);
  const outcome: ReadOutcome = { rows: 0, bytes: 0, held: 0 };
  const holds = watchLoop();
  try {
    const source = await openTable(content);
    const { columns } = await profileTable(source);
    for await (const batch of readBatches(source, columns)) {
      outcome.rows += batch.rows;
      outcome.bytes += batchBytes(batch);
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    Object.assign(outcome, { code, message });
  }
  outcome.held = holds().longest;
  await closeEncoder();
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

if (process.argv[2] !== undefined) {
  void main(process.argv[2]);
}
