/* A process of its own that reads a table from a file's bytes; prints what came of it as one line of JSON. */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { batchBytes, closeEncoder, openTable, profileTable, readBatches } from '../../dist/src/table';

/** What reading a table came to. */
export interface ReadOutcome {
  code?: string;
  message?: string;
  rows: number;
  bytes: number;
  /** Milliseconds that the event loop was held at most. */
  held: number;
}

async function main(file: string): Promise<void> {
  const loop = monitorEventLoopDelay({ resolution: 5 });
  const content = readFileSync(file);
  const outcome: ReadOutcome = { rows: 0, bytes: 0, held: 0 };
  loop.enable();
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
  outcome.held = loop.max / 1e6;
  await closeEncoder();
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

if (process.argv[2] !== undefined) {
  void main(process.argv[2]);
}
