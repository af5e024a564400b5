import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MessageChannel } from 'node:worker_threads';

import { decoderBytes, Refusal, WorkerPool } from '../../doors/service';
import { Semaphore } from '../../doors/util';
import { stoppedClock } from '../../helpers/clock';
import { failing } from '../../helpers/failing-files';
import { waitFor } from '../../helpers/wait';

const SERVE = path.join(__dirname, '../../../dist/src/service/work/pool-job.js');

const HEAVY = path.join(__dirname, '../../../dist/src/table/arrow/heavy-modules.js');

/** A worker that sleeps, dies, fails or says which thread it is, as the job tells it. */
const SCRIPT = `
const { threadId } = require('node:worker_threads');
const { serveJobs } = require(${JSON.stringify(SERVE)});
const { invalid } = require(${JSON.stringify(path.join(__dirname, '../../../dist/src/service/refusal.js'))});
const { isWasmLimited, NeedsMemory } = require(${JSON.stringify(HEAVY)});
serveJobs(async (task, progress, mayTake) => {
  const from = Date.now();
  progress(0.5);
  for (let step = 0; step < task.steps; step++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    progress(0.5 + step / 100);
  }
  if (task.mayTake) mayTake(task.mayTake);
  while (task.hangs);
  if (task.sleep) await new Promise((resolve) => setTimeout(resolve, task.sleep));
  if (task.die) process.exit(3);
  if (task.fail) throw new Error('broken');
  if (task.load) require(task.load);
  if (task.huge) new Float64Array(2 ** 50);
  if (task.long) 'x'.repeat(2 ** 31);
  if (task.killed) {
    setImmediate(() => { throw Object.assign(new Error('no heap is left'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }); });
    await new Promise(() => undefined);
  }
  if (task.takes > (isWasmLimited() ? 64 : 128)) throw new NeedsMemory();
  if (task.timed) return { result: [threadId, from, Date.now()] };
  if (task.refuse) throw invalid('no good');
  return { result: threadId };
});
`;

describe('What the Parquet decoders of a service may take', () => {
  const MIB = 2 ** 20;
  for (const [machine, threads, bytes] of [
    [512, 4, 64],
    [4096, 8, 128],
    [8192, 4, 512],
    [24_576, 4, undefined],
  ] as const) {
    it(`${machine} MiB, ${threads} threads: ${bytes ?? 'the most that one may take'}`, () =>
      assert.equal(decoderBytes(threads, machine * MIB), bytes === undefined ? undefined : bytes * MIB));
  }
});

describe('WorkerPool', () => {
  let folder: string;
  let pool: WorkerPool;
  const log: string[] = [];
  const make = (threads: number, maxWaiting = 100, idleMs = 60_000, more = {}) =>
    (pool = new WorkerPool({
      name: 'test',
      script: path.join(folder, 'worker.js'),
      threads,
      maxWaiting,
      idleMs,
      patienceMs: 600_000,
      largeReads: new Semaphore(1),
      ...more,
      log: (_level, text) => void log.push(text),
    }));
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'tabular-pool-'));
    await writeFile(path.join(folder, 'worker.js'), SCRIPT);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => pool.close());

  it('tries a job that takes too much memory once more, alone, with the whole share, on a thread of its own', async () => {
    make(3, 100, 60_000, { wasmBytes: 1 });
    const runs = await Promise.all(
      Array.from({ length: 3 }, () =>
        pool.run<[thread: number, from: number, to: number]>(
          { takes: 100 },
          { again: { takes: 100, sleep: 20, timed: true } },
        ),
      ),
    );
    assert.equal(new Set(runs.map(([thread]) => thread)).size, 3, 'each thread ends with its job');
    runs.sort(([, a], [, b]) => a - b);
    assert.ok(
      runs.every(([, from], at) => at === 0 || from >= runs[at - 1]![2]),
      'one after the other',
    );
    assert.equal(typeof (await pool.run({ takes: 10 })), 'number');
    const stop = new AbortController();
    const stopped = pool.run({ takes: 100 }, { signal: stop.signal });
    stop.abort();
    await assert.rejects(stopped, /shutting down/);
  });

  it('never runs more jobs at once than it has threads, and runs them all', async () => {
    make(2);
    let most = 0;
    const jobs = Array.from({ length: 12 }, () =>
      pool.run<number>({ sleep: 10 }, { onProgress: () => (most = Math.max(most, pool.running)) }),
    );
    const threads = new Set(await Promise.all(jobs));
    assert.equal(threads.size, 2);
    assert.equal(most, 2);
  });

  it('brings jobs of one key to the thread that had the last one', async () => {
    make(2);
    const [a, b] = await Promise.all([
      pool.run<number>({ sleep: 20 }, { key: 'a' }),
      pool.run<number>({ sleep: 20 }, { key: 'b' }),
    ]);
    assert.notEqual(a, b);
    for (let i = 0; i < 5; i++) {
      assert.equal(await pool.run({}, { key: 'b' }), b);
      assert.equal(await pool.run({}, { key: 'a' }), a);
    }
  });

  it('lets jobs wait for the thread that is made ready for their key, and no others', async () => {
    make(2);
    const ready = pool.run<number>({ sleep: 50 }, { key: 'a', prepares: true });
    const [a, other, more] = await Promise.all(['a', 'b', 'a'].map((key) => pool.run<number>({}, { key })));
    assert.equal(a, await ready);
    assert.notEqual(other, a);
    assert.equal(typeof more, 'number');
    const dies = pool.run({ die: true }, { key: 'c', prepares: true });
    const waits = pool.run<number>({}, { key: 'c' });
    await assert.rejects(dies);
    assert.equal(typeof (await waits), 'number');
  });

  it('refuses with 429 beyond its queue, and takes jobs again afterwards', async () => {
    make(1, 2);
    const jobs = [1, 2, 3].map(() => pool.run({ sleep: 30 }));
    await assert.rejects(
      pool.run({}),
      (error: Refusal) => error.status === 429 && error.body.retryAfter === 1,
    );
    await Promise.all(jobs);
    await pool.run({});
  });

  it('fails the one job whose thread dies, and goes on with the others on a new one', async () => {
    make(1);
    const jobs = [
      pool.run({ die: true }),
      pool.run({}),
      pool.run({ fail: true }),
      pool.run({ refuse: true }),
    ];
    const outcomes = await Promise.allSettled(jobs);
    const [died, fine, failed, refused] = [outcomes[0]!, outcomes[1]!, outcomes[2]!, outcomes[3]!];
    assert.ok(died.status === 'rejected' && died.reason instanceof Refusal && died.reason.status === 500);
    assert.equal(fine.status, 'fulfilled');
    assert.ok(failed.status === 'rejected' && /broken/.test(String(failed.reason)));
    assert.ok(refused.status === 'rejected' && (refused.reason as Refusal).status === 422);
    assert.match(log.join('\n'), /thread died/);
  });

  describe('without a file descriptor for another thread', () => {
    let mend: () => void = () => undefined;
    const exhaust = (): void => {
      mend = failing(['openSync'], 'EMFILE', /worker\.js$/);
    };
    afterEach(() => mend());
    const unavailable = (error: unknown): boolean => {
      const { status, errorCode, retryable, retryAfter, message } = (error as Refusal).body;
      assert.deepEqual([status, errorCode, retryable, retryAfter], [503, 'UNAVAILABLE', true, 1], message);
      return true;
    };

    it('has the others do the work', async () => {
      make(2);
      const first = pool.run<number>({ sleep: 100 });
      exhaust();
      const others = Promise.all([pool.run<number>({}), pool.run<number>({})]);
      assert.equal(pool.queued, 2);
      const thread = await first;
      assert.deepEqual(await others, [thread, thread]);
      const long = assert.rejects(pool.run({ sleep: 3000 }));
      const waits = pool.run<number>({});
      mend();
      assert.notEqual(await waits, thread, 'one is tried again after a pause');
      assert.equal(pool.running, 1);
      await pool.close();
      await long;
    });

    it('refuses what no thread can do for now, and what cannot wait', async () => {
      make(2);
      exhaust();
      await assert.rejects(pool.run({}), unavailable);
      await assert.rejects(
        pool.run({}),
        /No thread could be started for this test \(EMFILE\): send it again/,
      );
      mend();
      const running = pool.run({ sleep: 50 });
      exhaust();
      // What was sent along would be gone with a thread that fails to start.
      const { port1, port2 } = new MessageChannel();
      await assert.rejects(pool.run({}, { transfer: [port1] }), unavailable);
      port2.close();
      await running;
    });

    it('knows that none starts, and tries one more whenever it is asked', async () => {
      make(1);
      assert.equal(pool.startsThreads(), true, 'none was tried yet');
      exhaust();
      await assert.rejects(pool.run({}), unavailable);
      assert.equal(pool.startsThreads(), false);
      mend();
      assert.equal(pool.startsThreads(), false, 'it tries one now');
      await waitFor('its thread', () => pool.startsThreads());
      await pool.run({});
      exhaust();
      assert.equal(pool.startsThreads(), true, 'one runs');
    });

    it('takes a module that cannot be found for a passing failure, and a new thread for the next job', async () => {
      make(1);
      const first = await pool.run<number>({});
      await assert.rejects(pool.run({ load: 'no-such-module' }), unavailable);
      assert.notEqual(await pool.run<number>({}), first);
    });
  });

  it('ends a job that hangs, and the next ones get a fresh thread', async () => {
    make(1);
    const first = await pool.run<number>({});
    const hanging = pool.run({ hangs: true }, { patienceMs: 300, key: 'a' });
    const others = [pool.run<number>({}, { key: 'a' }), pool.run<number>({})];
    await assert.rejects(hanging, (error: Refusal) => {
      assert.deepEqual([error.status, error.body.errorCode, error.body.retryable], [504, 'TIMEOUT', false]);
      assert.match(error.message, /^The test got no further for 0 s, .* and was ended/);
      return true;
    });
    const [second, third] = await Promise.all(others);
    assert.notEqual(second, first);
    assert.equal(third, second);
    assert.match(log.join('\n'), /A test thread got no further for 0 s and is ended/);
  });

  it('ends nothing that gets on, or says how long it may take', async () => {
    make(2, 100, 60_000, { patienceMs: 1_500 });
    const first = pool.run<number>({ steps: 8 });
    const second = pool.run<number>({ mayTake: 600_000, sleep: 2_000 });
    const threads = await Promise.all([first, second]);
    // What they were given does not last beyond their job.
    assert.ok(threads.includes(await pool.run<number>({ sleep: 100 })));
    await assert.rejects(pool.run({ mayTake: 100, hangs: true }), { status: 504 });
    await assert.rejects(pool.run({ steps: 1, hangs: true }), { status: 504 });
  });

  describe('with threads that have nothing to do', () => {
    const clock = stoppedClock();
    const IDLE_MS = 1_000;
    /** The threads of two jobs at once. */
    const pair = async (): Promise<number[]> =>
      (await Promise.all([pool.run<number>({ sleep: 20 }), pool.run<number>({ sleep: 20 })])).toSorted(
        (a, b) => a - b,
      );

    it('ends each after a time, so that the next jobs get others', async () => {
      make(2, 100, IDLE_MS);
      const first = await pair();
      assert.equal(new Set(first).size, 2);
      clock.pass(IDLE_MS - 1);
      assert.deepEqual(await pair(), first, 'the time begins anew with each job');
      clock.pass(IDLE_MS);
      const second = await pair();
      assert.deepEqual(
        second.filter((thread) => first.includes(thread)),
        [],
      );
    });

    it('ends the only one after ten times as long', async () => {
      make(1, 100, IDLE_MS);
      const first = await pool.run<number>({});
      clock.pass(10 * IDLE_MS - 1);
      assert.equal(await pool.run<number>({}), first);
      clock.pass(10 * IDLE_MS);
      assert.notEqual(await pool.run<number>({}), first);
    });

    it('ends none in the middle of a job, or for the time that its last job might have taken', async () => {
      make(1, 100, IDLE_MS);
      const first = await pool.run<number>({});
      const job = pool.run<number>({ sleep: 20 });
      clock.pass(20 * IDLE_MS);
      assert.equal(await job, first);
      await pool.run({}, { patienceMs: IDLE_MS });
      clock.pass(2 * IDLE_MS);
      assert.equal(await pool.run<number>({}), first);
    });
  });

  it('says that the memory does not suffice, however that shows', async () => {
    make(1);
    for (const task of [{ huge: true }, { long: true }, { killed: true }]) {
      await assert.rejects(pool.run(task), (error: Refusal) => {
        assert.deepEqual(
          [error.status, error.body.errorCode, error.body.retryable],
          [413, 'LIMIT_EXCEEDED', false],
        );
        assert.match(error.message, /^The test needs more memory than .* fewer rows or columns/);
        return true;
      });
    }
    assert.equal(typeof (await pool.run({})), 'number');
    await assert.rejects(pool.run({ fail: true }), /broken/);
  });

  it('lets go of a waiting job when it is aborted, not of a running one', async () => {
    make(1);
    const controller = new AbortController();
    const running = pool.run({ sleep: 50 }, { signal: controller.signal });
    const waiting = pool.run({}, { signal: controller.signal });
    controller.abort();
    await assert.rejects(waiting, Refusal);
    await running;
    assert.equal(pool.queued, 0);
  });

  it('lets the job under way end within the time given to a close, and refuses those that wait at once', async () => {
    for (const [graceMs, ends] of [
      [5_000, true],
      [50, false],
    ] as const) {
      make(1);
      const settled: string[] = [];
      const note = (name: string, job: Promise<unknown>): Promise<number> =>
        job.then(
          () => settled.push(`${name} done`),
          (error: unknown) => settled.push(`${name} ${(error as Refusal).status}`),
        );
      await pool.run({});
      const running = note('running', pool.run({ sleep: 400 }));
      const waiting = note('waiting', pool.run({}));
      await pool.close(graceMs);
      await Promise.all([running, waiting]);
      assert.deepEqual(settled, ['waiting 503', ends ? 'running done' : 'running 503']);
      await assert.rejects(pool.run({}), { status: 503 });
    }
  });

  it('settles everything on close', async () => {
    make(2);
    await Promise.all([pool.run({ sleep: 20 }), pool.run({ sleep: 20 })]);
    assert.equal(pool.spare, 2);
    const jobs = [pool.run({ sleep: 5000 }), pool.run({ sleep: 5000 }), pool.run({})];
    const settled = Promise.allSettled(jobs);
    await pool.close();
    assert.ok(
      (await settled).every((job) => job.status === 'rejected' && (job.reason as Refusal).status === 503),
    );
    await assert.rejects(pool.run({}), (error: Refusal) => error.status === 503);
  });
});
