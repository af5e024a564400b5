import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { Batcher, type BatcherOptions, type QueuedMessage } from '../../doors/scoring';
import { Semaphore } from '../../doors/util';
import { ServiceError, toServiceError } from '../../doors/wire';

interface Payload {
  id: number;
  lane?: string;
}

type TestJob = QueuedMessage<Payload, number>;
type Options = BatcherOptions<Payload, number>;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A batcher whose batches end when the test says so. */
function held(options: Partial<Options> = {}) {
  /** `end` gives each its id, taking up what it took up, or these rows; or fails all. */
  const batches: { jobs: TestJob[]; signal: AbortSignal; end: (error?: Error, rows?: number) => void }[] = [];
  const batcher: Batcher<Payload, number> = new Batcher<Payload, number>({
    batchRows: 10,
    batchMs: 0,
    ordered: true,
    queueRows: 1000,
    queueBytes: 1_000_000,
    overflow: 'reject',
    slots: new Semaphore(1),
    run: async function* (jobs, signal) {
      const rows = await new Promise<number | undefined>((resolve, reject) => {
        batches.push({
          jobs,
          signal,
          end: (error, own) => (error === undefined ? resolve(own) : reject(error)),
        });
      });
      for (const job of jobs) {
        yield { message: job, outcome: job.payload.id, bytes: job.bytes, rows: rows ?? job.rows };
      }
    },
    ...options,
  });
  const send = (id: number, rows = 1, lane = 'a', signal?: AbortSignal): Promise<number> => {
    let job: TestJob;
    try {
      job = batcher.admit('model', { id, lane }, { rows, bytes: rows * 100 }, signal);
    } catch (error) {
      return Promise.reject(toServiceError(error));
    }
    batcher.enqueue(job, lane);
    return job.promise;
  };
  return { batcher, batches, send, sizes: () => batches.map((batch) => batch.jobs.length) };
}

const codeOf = (error: unknown): string => (error as ServiceError).code;

async function outcome(promise: Promise<number>): Promise<number | string> {
  try {
    return await promise;
  } catch (error) {
    return codeOf(error);
  }
}

describe('Batcher', () => {
  it('sends the first message at once and gathers the others while the slot is busy', async () => {
    const { batches, send, sizes } = held();
    const results = [1, 2, 3, 4].map((id) => send(id));
    assert.deepEqual(sizes(), [1]);
    batches[0]!.end();
    await turn();
    assert.deepEqual(sizes(), [1, 3]);
    batches[1]!.end();
    assert.deepEqual(await Promise.all(results), [1, 2, 3, 4]);
  });

  it('uses every free slot before it gathers', () => {
    const { send, sizes } = held({ slots: new Semaphore(3) });
    for (let id = 0; id < 5; id++) {
      send(id).catch(() => undefined);
    }
    assert.deepEqual(sizes(), [1, 1, 1]);
  });

  it('fills a batch up to batchRows and keeps a larger message whole', async () => {
    const { batches, send, sizes } = held({ batchRows: 10 });
    const results = [send(0), send(1, 6), send(2, 4), send(3, 1), send(4, 25), send(5, 1)];
    while (sizes().reduce((a, b) => a + b, 0) < 6) {
      batches.at(-1)!.end();
      await turn();
    }
    batches.at(-1)!.end();
    await Promise.all(results);
    assert.deepEqual(
      batches.map((batch) => batch.jobs.map((job) => job.payload.id)),
      [[0], [1, 2], [3], [4], [5]],
    );
  });

  it('waits batchMs for company, unless the batch is full or flushed', async () => {
    const { batcher, send, sizes } = held({ batchMs: 40, slots: new Semaphore(4) });
    send(1).catch(() => undefined);
    assert.deepEqual(sizes(), []);
    send(2).catch(() => undefined);
    await later(70);
    assert.deepEqual(sizes(), [2]);
    for (let id = 0; id < 10; id++) {
      send(id).catch(() => undefined);
    }
    assert.deepEqual(sizes(), [2, 10]);
    send(3).catch(() => undefined);
    batcher.flush();
    assert.deepEqual(sizes(), [2, 10, 1]);
  });

  it('after a flush the next message waits for company again', async () => {
    const { batcher, batches, send, sizes } = held({ batchMs: 60_000, slots: new Semaphore(4) });
    const first = send(1);
    batcher.flush();
    assert.deepEqual(sizes(), [1]);
    send(2).catch(() => undefined);
    assert.deepEqual(sizes(), [1]);
    batches[0]!.end();
    assert.equal(await first, 1);
    assert.deepEqual(sizes(), [1]);
    await batcher.close();
  });

  it('reports its load at most four times a second, however much changes', async () => {
    let reports = 0;
    const { batcher, batches, send } = held({ onLoad: () => reports++ });
    const began = performance.now();
    for (let id = 0; id < 10; id++) {
      const sent = send(id);
      batches.at(-1)!.end();
      await sent;
      await later(12);
    }
    const quarters = Math.floor((performance.now() - began) / 250);
    assert.ok(reports <= quarters, `${reports} reports in ${quarters} quarters of a second`);
    for (let waited = 0; reports === 0 && waited < 100; waited++) {
      await later(20);
    }
    assert.ok(reports >= 1);
    await batcher.close();
  });

  it('keeps messages of different lanes apart and serves the lanes in turn', async () => {
    const { batches, send } = held();
    const results = [send(0, 1, 'a'), send(1, 1, 'a'), send(2, 1, 'b'), send(3, 1, 'a')];
    for (let i = 0; i < 3; i++) {
      batches[i]!.end();
      await turn();
    }
    await Promise.all(results);
    assert.deepEqual(
      batches.map(({ jobs }) => [jobs[0]!.payload.lane, jobs.length]),
      [
        ['a', 1],
        ['a', 2],
        ['b', 1],
      ],
    );
  });

  it('lets a result wait for those before it, and counts it in the queue meanwhile', async () => {
    const { batches, batcher, send } = held({ slots: new Semaphore(2) });
    const order: number[] = [];
    const first = send(1).then((id) => order.push(id));
    const second = send(2).then((id) => order.push(id));
    batches[1]!.end();
    await turn();
    assert.deepEqual(order, []);
    assert.equal(batcher.load().waiting, 1);
    assert.equal(batcher.load().rows, 1);
    batches[0]!.end();
    await Promise.all([first, second]);
    assert.deepEqual(order, [1, 2]);
    assert.deepEqual(batcher.load(), { inFlight: 0, waiting: 0, rows: 0, bytes: 0 });
  });

  it('does not make results wait where they are not ordered', async () => {
    const { batches, send } = held({ slots: new Semaphore(2), ordered: false });
    send(1).catch(() => undefined);
    const second = send(2);
    batches[1]!.end();
    assert.equal(await second, 2);
  });

  it('an error holds nobody up', async () => {
    const { batches, send } = held({ slots: new Semaphore(2) });
    const first = outcome(send(1));
    const second = outcome(send(2));
    batches[1]!.end();
    batches[0]!.end(new ServiceError('service.unavailable', 'away'));
    assert.deepEqual(await Promise.all([first, second]), ['service.unavailable', 2]);
  });

  it('overflow reject: the newest errs, those waiting stay', async () => {
    const { batches, send } = held({ queueRows: 3 });
    const results = [0, 1, 2, 3, 4, 5].map((id) => outcome(send(id)));
    batches[0]!.end();
    await turn();
    batches[1]!.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 'queue.full', 'queue.full']);
  });

  it('overflow dropOldest: the oldest waiting err, never one in flight', async () => {
    const { batches, send } = held({ queueRows: 3, overflow: 'dropOldest' });
    const results = [0, 1, 2, 3, 4, 5].map((id) => outcome(send(id)));
    batches[0]!.end();
    await turn();
    batches[1]!.end();
    assert.deepEqual(await Promise.all(results), [0, 'queue.full', 'queue.full', 3, 4, 5]);
  });

  it('bounds the bytes too', async () => {
    const { batches, send } = held({ queueBytes: 250 });
    const results = [0, 1, 2, 3].map((id) => outcome(send(id)));
    batches[0]!.end();
    await turn();
    batches[1]!.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 'queue.full']);
  });

  it('results that wait for their turn fill the queue: scored ones are never dropped for a newcomer', async () => {
    const { batches, send } = held({ queueRows: 2, overflow: 'dropOldest', slots: new Semaphore(3) });
    const results = [0, 1, 2].map((id) => outcome(send(id)));
    batches[1]!.end();
    batches[2]!.end();
    await turn();
    const late = outcome(send(3));
    assert.equal(await late, 'queue.full');
    batches[0]!.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2]);
  });

  it('results larger than their messages: none is begun while those that wait for their turn fill the queue', async () => {
    const { batcher, batches, send, sizes } = held({ queueRows: 100, slots: new Semaphore(2), batchRows: 1 });
    const results = [0, 1, 2, 3, 4].map((id) => send(id));
    for (const id of [1, 2]) {
      batches[id]!.end(undefined, 60);
      await turn();
    }
    assert.deepEqual(sizes(), [1, 1, 1], 'the first flies, two are parked, two wait');
    assert.equal(batcher.load().rows, 122);
    batches[0]!.end();
    await turn();
    assert.deepEqual(sizes(), [1, 1, 1, 1, 1]);
    batches[3]!.end();
    batches[4]!.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4]);
  });

  it('goes on, one by one, where the message that all wait for has not begun itself', async () => {
    const { batcher, batches, send } = held({ queueRows: 10, slots: new Semaphore(2), batchRows: 1 });
    const first = batcher.admit('model', { id: 0 }, { rows: 1, bytes: 1 });
    const results = [1, 2, 3].map((id) => send(id, 2));
    for (const id of [1, 2, 3]) {
      batches[id - 1]!.end(undefined, 20);
      await turn();
    }
    assert.equal(batches.length, 3);
    batcher.enqueue(first, 'a');
    batches[3]!.end();
    assert.deepEqual(await Promise.all([first.promise, ...results]), [0, 1, 2, 3]);
  });

  it('dropOldest drops nobody for a message that would not fit even then', async () => {
    const { batcher, batches, send } = held({
      queueRows: 4,
      overflow: 'dropOldest',
      slots: new Semaphore(3),
      batchRows: 1,
    });
    const results = [0, 1, 2, 3, 4].map((id) => outcome(send(id)));
    batches[1]!.end();
    await turn();
    // Row 1 is parked behind 0; 3 flies; 4 waits.
    assert.equal(await outcome(send(5, 4)), 'queue.full');
    assert.equal(batcher.load().waiting, 2);
    const fits = outcome(send(6, 3));
    for (let next = 0; next < batches.length; next++) {
      batches[next]!.end();
      await turn();
    }
    assert.deepEqual(await Promise.all([...results, fits]), [0, 1, 2, 3, 'queue.full', 6]);
  });

  it('a table that was read is kept only where there is room for it, or nothing else waits', async () => {
    const { batcher } = held({ queueRows: 10, queueBytes: 1000 });
    const admit = (id: number) => batcher.admit('model', { id }, { rows: 1, bytes: 64 });
    const first = admit(0);
    assert.equal(batcher.rowsFor(first), Infinity);
    assert.equal(batcher.resize(first, 8, 500), true);
    const second = admit(1);
    second.promise.catch(() => undefined);
    first.promise.catch(() => undefined);
    assert.equal(batcher.rowsFor(second), 2);
    assert.equal(batcher.resize(second, 3, 64), false, 'rows');
    assert.equal(batcher.resize(second, 2, 501), false, 'bytes');
    assert.deepEqual(batcher.load(), { inFlight: 0, waiting: 2, rows: 9, bytes: 564 });
    assert.equal(batcher.resize(second, 2, 500), true);
    batcher.fail(first, new ServiceError('closed', 'gone'));
    assert.equal(batcher.resize(second, 5000, 50_000), true, 'alone');
    await batcher.close();
    assert.deepEqual(batcher.load(), { inFlight: 0, waiting: 0, rows: 0, bytes: 0 });
  });

  it('a flush covers messages whose table is still being read', async () => {
    const { batcher, batches, sizes } = held({ batchMs: 60_000, slots: new Semaphore(4) });
    const early = batcher.admit('model', { id: 1 }, { rows: 1, bytes: 1 });
    batcher.flush();
    batcher.enqueue(early, 'a');
    assert.deepEqual(sizes(), [1]);
    const late = batcher.admit('model', { id: 2 }, { rows: 1, bytes: 1 });
    batcher.enqueue(late, 'a');
    assert.deepEqual(sizes(), [1], 'it came after the flush');
    batcher.flush();
    batches[0]!.end();
    batches[1]!.end();
    assert.deepEqual(await Promise.all([early.promise, late.promise]), [1, 2]);
  });

  it('takes a message larger than the queue while nothing waits', async () => {
    const { batches, send } = held({ queueRows: 3 });
    const big = send(1, 50);
    batches[0]!.end();
    assert.equal(await big, 1);
  });

  it('reset drops what waits, with an error each, and leaves what flies', async () => {
    const { batcher, batches, send } = held();
    const results = [0, 1, 2].map((id) => outcome(send(id)));
    assert.equal(batcher.reset(), 2);
    batches[0]!.end();
    assert.deepEqual(await Promise.all(results), [0, 'closed', 'closed']);
    const next = send(7);
    await turn();
    batches.at(-1)!.end();
    assert.equal(await next, 7);
  });

  it('an aborted message settles at once; its batch is aborted only when nobody wants it', async () => {
    const { batches, send } = held({ batchRows: 2, batchMs: 1000, slots: new Semaphore(1) });
    const one = new AbortController();
    const two = new AbortController();
    const first = outcome(send(1, 1, 'a', one.signal));
    const second = outcome(send(2, 1, 'a', two.signal));
    one.abort();
    assert.equal(await first, 'closed');
    assert.equal(batches[0]!.signal.aborted, false);
    two.abort();
    assert.equal(await second, 'closed');
    assert.equal(batches[0]!.signal.aborted, true);
  });

  it('close settles everything, whatever its state, and takes nothing more', async () => {
    const { batcher, batches, send } = held({ slots: new Semaphore(2) });
    const results = [0, 1, 2].map((id) => outcome(send(id)));
    batches[1]!.end();
    await turn();
    const closing = batcher.close();
    assert.deepEqual(await Promise.all(results), ['closed', 'closed', 'closed']);
    batches[0]!.end();
    batches[2]!.end();
    await closing;
    assert.equal(await outcome(send(9)), 'closed');
    assert.deepEqual(batcher.load(), { inFlight: 0, waiting: 0, rows: 0, bytes: 0 });
  });

  it('a batch that forgets a message fails it', async () => {
    const slots = new Semaphore(1);
    const { send } = held({ slots, run: async function* () {} });
    assert.equal(await outcome(send(1)), 'internal');
    assert.equal(await outcome(send(2)), 'internal');
  });

  it('hands over many results a slice per turn of the event loop', async () => {
    const { batches, send } = held({ batchRows: 1000, queueRows: 10_000 });
    const first = send(0);
    let settled = 0;
    const rest = Array.from({ length: 1000 }, (_, id) => send(id + 1).then(() => settled++));
    batches[0]!.end();
    await first;
    await turn();
    await turn();
    batches[1]!.end();
    await Promise.resolve();
    await Promise.resolve();
    assert.ok(settled < 200, `${settled} at once`);
    await Promise.all(rest);
    assert.equal(settled, 1000);
  });

  it('any interleaving: each message has one outcome, its own; results keep their order', async () => {
    const message = fc.record({
      rows: fc.integer({ min: 1, max: 12 }),
      lane: fc.constantFrom('a', 'b'),
      order: fc.constantFrom('m', 'n'),
      /** Turns of the event loop before the next message comes. */
      gap: fc.integer({ min: 0, max: 2 }),
      abort: fc.boolean(),
    });
    const flight = fc.record({ ticks: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 40 }),
        fc.array(flight, { minLength: 1, maxLength: 10 }),
        fc.record({
          slots: fc.integer({ min: 1, max: 3 }),
          ordered: fc.boolean(),
          overflow: fc.constantFrom('reject' as const, 'dropOldest' as const),
          queueRows: fc.integer({ min: 5, max: 60 }),
          batchMs: fc.constantFrom(0, 1),
          /** Rows of a result for each row of its message. */
          growth: fc.constantFrom(1, 5),
        }),
        async (messages, flights, { slots: count, growth, ...settings }) => {
          let flown = 0;
          let most = 0;
          let flying = 0;
          const slots = new Semaphore(count);
          const batcher: Batcher<Payload, number> = new Batcher<Payload, number>({
            ...settings,
            batchRows: 10,
            queueBytes: 1e9,
            slots,
            run: async function* (jobs) {
              most = Math.max(most, ++flying);
              const { ticks, fails } = flights[flown++ % flights.length]!;
              const rows = jobs.reduce((sum, job) => sum + job.rows, 0);
              assert.ok(rows <= 10 || jobs.length === 1);
              for (let i = 0; i < ticks; i++) {
                await turn();
              }
              flying--;
              if (fails) {
                throw new ServiceError('service.unavailable', 'away');
              }
              for (const job of jobs) {
                yield {
                  message: job,
                  outcome: job.payload.id,
                  bytes: job.bytes,
                  rows: job.rows * growth,
                };
              }
            },
          });
          const delivered: Record<string, number[]> = { m: [], n: [] };
          const outcomes = new Array<(number | string)[]>();
          const all: Promise<void>[] = [];
          for (const [id, { rows, lane, order, gap, abort }] of messages.entries()) {
            outcomes[id] = [];
            const controller = new AbortController();
            let promise: Promise<number>;
            try {
              const job = batcher.admit(order, { id }, { rows, bytes: rows }, controller.signal);
              promise = job.promise;
              batcher.enqueue(job, lane);
            } catch (error) {
              promise = Promise.reject(toServiceError(error));
            }
            all.push(
              promise.then(
                (own) => {
                  outcomes[id]!.push(own);
                  delivered[order]!.push(own);
                },
                (error: unknown) => {
                  outcomes[id]!.push(codeOf(error));
                },
              ),
            );
            for (let i = 0; i < gap; i++) {
              await turn();
            }
            if (abort) {
              controller.abort();
            }
          }
          await Promise.all(all);
          for (const [id, own] of outcomes.entries()) {
            assert.equal(own.length, 1);
            assert.ok(typeof own[0] === 'string' || own[0] === id);
            assert.ok(own[0] !== 'internal');
          }
          if (settings.ordered) {
            for (const ids of Object.values(delivered)) {
              assert.deepEqual(
                ids,
                [...ids].sort((a, b) => a - b),
              );
            }
          }
          assert.ok(most <= count);
          assert.deepEqual(batcher.load(), { inFlight: 0, waiting: 0, rows: 0, bytes: 0 });
          await batcher.close();
        },
      ),
      { numRuns: 200 },
    );
  });
});
