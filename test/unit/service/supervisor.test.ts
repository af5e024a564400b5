import assert from 'node:assert/strict';
import timers from 'node:timers/promises';

import { ServiceError } from '../../../dist/src';
import { type ResolvedOptions, resolveOptions, type ServiceThread, Supervisor } from '../../doors/service';

const TIMES = { firstPause: 2, longestPause: 200, sound: 60, missingFolder: 30 };

/** A clock that pauses move, and that nothing else does. */
class Clock {
  now = 0;
  /** How long each pause was to last. */
  readonly pauses: number[] = [];
  /** Pauses from this one on last until they are called off. */
  endless = Infinity;

  readonly sleep = <T>(ms: number, value: T, { signal }: { signal: AbortSignal }): Promise<T> => {
    this.pauses.push(ms);
    if (this.pauses.length >= this.endless) {
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('called off'))),
      );
    }
    this.now += ms;
    return Promise.resolve(value);
  };
}

/** The first pauses: each twice the one before, up to the longest. */
const growing = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.min(TIMES.longestPause, TIMES.firstPause * 2 ** i));

/** Lets all happen that waits for no clock. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Threads by script: each start does what comes next, the last for ever. */
class Threads {
  readonly opened: { port: number; makeFolder: boolean }[] = [];
  private end: ((reason: string) => void) | undefined;

  constructor(private readonly script: (ServiceError | number)[]) {}

  readonly open = ({ port, makeFolder }: ResolvedOptions): ServiceThread => {
    const next = this.script[Math.min(this.opened.length, this.script.length - 1)]!;
    this.opened.push({ port, makeFolder });
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
    await settled();
    assert.equal(this.opened.length, starts);
  }
}

describe('The supervisor of the service', () => {
  const log: string[] = [];
  let moves = 0;
  let supervisor: Supervisor | undefined;
  let clock: Clock;
  const { setTimeout: realSleep } = timers;
  beforeEach(() => {
    clock = new Clock();
    Object.assign(timers, { setTimeout: clock.sleep });
    performance.now = () => clock.now;
  });
  afterEach(async () => {
    await supervisor?.stop();
    supervisor = undefined;
    log.length = moves = 0;
    Object.assign(timers, { setTimeout: realSleep });
    // It stands in its prototype.
    delete (performance as { now?: () => number }).now;
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
    assert.deepEqual(clock.pauses, growing(12), 'one that ends soon after its start is no sound one');
  });

  it('tries again without end where a start fails, with pauses that grow to a bound', async () => {
    const failures = Array.from({ length: 15 }, () => readOnly);
    const threads = new Threads([4711, ...failures, 4711]);
    await supervise(threads).started;
    threads.die();
    await threads.until(17);
    assert.deepEqual(clock.pauses, growing(16));
    assert.equal(clock.pauses.at(-1), TIMES.longestPause);
    assert.equal(log.filter((text) => text.includes('EROFS')).length, 1, 'the same reason is logged once');
  });

  it('begins with short pauses again after the thread has run for long', async () => {
    const threads = new Threads([4711, ...Array.from({ length: 8 }, () => readOnly), 4711]);
    await supervise(threads).started;
    threads.die();
    await threads.until(10);
    clock.now += TIMES.sound;
    threads.die();
    await threads.until(11);
    assert.deepEqual(clock.pauses, growing(10), 'not longer than that, which is no sound one yet');
    clock.now += TIMES.sound + 1;
    threads.die();
    await threads.until(12);
    assert.equal(clock.pauses.at(-1), TIMES.firstPause);
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
    // Since the end of the thread: 2, 6, 14, 30, 62, 126 and 254 ms.
    assert.deepEqual(
      threads.opened.map(({ makeFolder }) => makeFolder),
      [true, false, false, false, false, true, true, true],
    );
  });

  it('rejects where the first start fails, and starts nothing more', async () => {
    const threads = new Threads([readOnly, 4711]);
    await assert.rejects(supervise(threads).started, { code: 'storage.failed' });
    await settled();
    assert.equal(threads.opened.length, 1);
    assert.deepEqual(clock.pauses, []);
  });

  it('stops in the middle of a pause', async () => {
    const threads = new Threads([4711, readOnly]);
    await supervise(threads).started;
    clock.endless = 6;
    threads.die();
    await threads.until(6);
    await supervisor!.stop();
    await threads.until(6);
  });
});
