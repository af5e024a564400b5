import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { FitThreads, WorkerPool } from '../../doors/service';
import { Semaphore } from '../../doors/util';

const SERVE = path.join(__dirname, '../../../dist/src/service/work/pool-job.js');

/** A fit that says how many helpers it was given; the helpers go as they come. */
const SCRIPT = `
const { serveJobs } = require(${JSON.stringify(SERVE)});
serveJobs(async (task) => ({ result: task.kind === 'fit' ? task.helpers.length : undefined }));
`;

describe('FitThreads', () => {
  let folder: string;
  let script: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'fit-threads-'));
    script = path.join(folder, 'worker.js');
    await writeFile(script, SCRIPT);
  });
  after(() => rm(folder, { recursive: true }));

  const helpersOf = async (bytes: number) => {
    const pool = new WorkerPool({
      ...{ name: 'test', script, threads: 4, maxWaiting: 10, idleMs: 60_000, patienceMs: 60_000 },
      ...{ largeReads: new Semaphore(1), log: () => undefined },
    });
    try {
      const limits = { train_set_max_cells: 1e9 };
      const threads = new FitThreads(pool, limits as never, () => undefined);
      const file = { path: 'x.csv', format: 'csv' };
      return (await threads.run(
        { task: 'regression' } as never,
        { x: file, y: file, bytes } as never,
        path.join(folder, 'model'),
        { stop: new AbortController().signal, onProgress: () => undefined },
      )) as unknown as number;
    } finally {
      await pool.close();
    }
  };

  for (const [bytes, helpers, what] of [
    [3_000, 0, 'fits a table of a few rows alone'],
    [30_000, 1, 'has one helper for a few hundred rows'],
    [300_000, 3, 'has all spare threads help with more'],
  ] as const) {
    it(what, async () => assert.equal(await helpersOf(bytes), helpers));
  }
});
