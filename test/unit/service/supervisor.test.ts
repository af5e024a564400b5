import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceError } from '../../../dist/src';
import { type ResolvedOptions, resolveOptions, type ServiceThread, Supervisor } from '../../doors/service';

const TIMES = { firstPause: 2, longestPause: 200, sound: 60, missingFolder: 30 };

/** Threads by script: each start does what comes next, the last for ever. */
class Threads {
  readonly opened: { port: number; makeFolder: boolean; at: number }[] = [];
  private end: ((reason: string) => void) | undefined;

  constructor(private readonly script: (ServiceError | number)[]) {}

  readonly open = ({ port, makeFolder }: ResolvedOptions): ServiceThread => {
    const next = this.script[Math.min(this.opened.length, this.script.length - 1)]!;
    this.opened.push({ port, makeFolder, at: performance.now() });
    if (next instanceof ServiceError) {
      const ready = Promise.reject(next);
      ready.catch(() => undefined);
      return { ready, ended: Promise.resolve('failed'), stop: () => Promise.resolve() };
    }
    const ended = new Promise<string>((resolve) => (this.end = resolve));
    const stop = (): Promise<void> => {
      this.end!('stopped');
      return Promise.resolve();
    };
    return { ready: Promise.resolve({ url: `http://127.0.0.1:${next}`, port: next }), ended, stop };
  };

  die(): void {
    this.end!('out of memory');
  }

  async until(starts: number): Promise<void> {
    for (let i = 0; i < 1000 && this.opened.length < starts; i++) {
      await sleep(2);
    }
    await sleep(2);
    assert.ok(this.opened.length >= starts, `${this.opened.length} of ${starts} starts`);
  }
}

describe('The supervisor of the service', () => {
  const log: string[] = [];
  let moves = 0;
  let supervisor: Supervisor | undefined;
  afterEach(async () => {
    await supervisor?.stop();
    supervisor = undefined;
    log.length = moves = 0;
  });

  function supervise(threads: Threads, port = 0): Supervisor {
    const options = resolveOptions({ dataDir: '/nowhere', port }, 'token');
    const parts = { open: threads.open, times: TIMES };
    supervisor = new Supervisor(
      options,
      (_level, text) => void log.push(text),
      () => void (moves += 1),
      parts,
    );
    return supervisor;
  }

  const readOnly = new ServiceError('storage.failed', 'The folder cannot be used (EROFS).');
  const taken = new ServiceError('config.invalid', 'The port is in use.');

  it('starts the thread again on the same port, however often it ends', async () => {
    const threads = new Threads([4711]);
    await supervise(threads).started;
    for (let deaths = 1; deaths <= 12; deaths++) {
      threads.die();
      await threads.until(deaths + 1);
    }
    assert.deepEqual(
      threads.opened.map(({ port }) => port),
      [0, ...Array.from({ length: 12 }, () => 4711)],
    );
    assert.deepEqual([moves, supervisor!.current.port], [0, 4711]);
  });

  it('tries again without end where a start fails, with pauses that grow to a bound', async () => {
    const failures = Array.from({ length: 15 }, () => readOnly);
    const threads = new Threads([4711, ...failures, 4711]);
    await supervise(threads).started;
    threads.die();
    await threads.until(17);
    const pauses = threads.opened.slice(2).map(({ at }, i) => at - threads.opened[i + 1]!.at);
    assert.ok(pauses[0]! < 100 && pauses.at(-1)! > 150, String(pauses));
    assert.ok(Math.max(...pauses.slice(-5)) < 600, String(pauses));
    assert.equal(log.filter((text) => text.includes('EROFS')).length, 1, 'the same reason is logged once');
  });

  it('begins with short pauses again after the thread has run for long', async () => {
    const threads = new Threads([4711, ...Array.from({ length: 8 }, () => readOnly), 4711]);
    await supervise(threads).started;
    threads.die();
    await threads.until(10);
    await sleep(TIMES.sound + 20);
    const before = performance.now();
    threads.die();
    await threads.until(11);
    assert.ok(threads.opened[10]!.at - before < 100);
  });

  it('takes another port where its own was taken, and says so', async () => {
    const threads = new Threads([4711, taken, 4712]);
    const { started } = supervise(threads);
    await started;
    threads.die();
    await threads.until(3);
    assert.deepEqual(
      threads.opened.map(({ port }) => port),
      [0, 4711, 0],
    );
    assert.deepEqual([moves, supervisor!.current.url], [1, 'http://127.0.0.1:4712']);
  });

  it('waits for a port that it was given', async () => {
    const threads = new Threads([4711, taken, taken, 4711]);
    await supervise(threads, 4711).started;
    threads.die();
    await threads.until(4);
    assert.ok(threads.opened.every(({ port }) => port === 4711));
    assert.equal(moves, 0);
  });

  it('makes a missing folder at the first start, and at a restart only when it has been missing for a while', async () => {
    const threads = new Threads([4711, ...Array.from({ length: 6 }, () => readOnly), 4711]);
    await supervise(threads).started;
    threads.die();
    await threads.until(8);
    const made = threads.opened.map(({ makeFolder }) => makeFolder);
    assert.deepEqual([made[0], made[1], made.at(-1)], [true, false, true]);
  });

  it('rejects where the first start fails, and starts nothing more', async () => {
    const threads = new Threads([readOnly, 4711]);
    await assert.rejects(supervise(threads).started, { code: 'storage.failed' });
    await sleep(30);
    assert.equal(threads.opened.length, 1);
  });

  it('stops in the middle of a pause', async () => {
    const threads = new Threads([4711, readOnly]);
    await supervise(threads).started;
    threads.die();
    await threads.until(6);
    const before = threads.opened.length;
    await supervisor!.stop();
    await sleep(80);
    assert.ok(threads.opened.length <= before + 1);
  });
});
