import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';

import { util } from '@node-red/util';

import { handleMessages, type Handler, type Message, PATIENCE } from '../../doors/runtime';
import { ServiceError } from '../../doors/wire';
import { stoppedClock } from '../../helpers/clock';
import { Gate, waitFor } from '../../helpers/wait';
import { fakeNode, fakeRed, fakeRuntime, type Taken } from './fake';

const red = fakeRed();
const BRISK = { drainMs: 100, closeMs: 150 };

function handling<T>(job: Partial<Handler<T>>) {
  const node = fakeNode();
  handleMessages(
    fakeRuntime({}, red, node),
    { read: () => undefined as T, run: (_input, msg) => msg, ...job },
    BRISK,
  );
  return node;
}

function onlyError(taken: Taken): ServiceError {
  assert.equal(taken.done.length, 1);
  const [error] = taken.done;
  assert.ok(error instanceof ServiceError);
  return error;
}

describe('a message handler: one message, one done', () => {
  it('sends the output and is done once', async () => {
    const node = handling({
      read: (msg) => msg.payload,
      run: (payload, msg) => ({ ...msg, payload: [payload] }),
    });
    const taken = node.take({ payload: 7 });
    await taken.settled;
    assert.deepEqual(taken.sent, [{ _msgid: 'm', payload: [7] }]);
    assert.deepEqual(taken.done, [undefined]);
  });

  it('shares large typed arrays with the copies that Node-RED makes as it is sent, completed or failed', async () => {
    const x = new Float64Array(5_000);
    const copies: Message[] = [];
    const take = (job: Partial<Handler<unknown>>): Promise<void> => {
      const msg: Message = { _msgid: 'm', payload: { x } };
      const copy = (of: Message): unknown => copies.push(util.cloneMessage<Message>(of));
      return new Promise((resolve) => {
        const done = (): void => {
          copy(msg);
          resolve();
        };
        handling(job).emit('input', msg, copy, done);
      });
    };
    await take({});
    await take({ run: () => fail(new ServiceError('fit.failed', 'x')) });
    assert.equal(copies.length, 3);
    for (const { payload } of copies) {
      assert.equal((payload as { x: unknown }).x, x);
    }
  });

  it('is done without an output where the handler has none', async () => {
    const taken = handling({ run: () => undefined }).take({});
    await taken.settled;
    assert.deepEqual(taken.sent, []);
    assert.deepEqual(taken.done, [undefined]);
  });

  const failures: [string, Partial<Handler<unknown>>, string][] = [
    ['a throw while reading', { read: () => fail(new ServiceError('table.empty', 'x')) }, 'table.empty'],
    [
      'a rejected reading',
      { read: () => Promise.reject(new ServiceError('table.empty', 'x')) },
      'table.empty',
    ],
    ['a throw in the work', { run: () => fail(new ServiceError('fit.failed', 'x')) }, 'fit.failed'],
    ['a rejected work', { run: () => Promise.reject(new ServiceError('fit.failed', 'x')) }, 'fit.failed'],
    ['an error that is none of ours', { run: () => fail(new TypeError('x')) }, 'internal'],
    ['a thrown text', { run: () => fail('x' as unknown as Error) }, 'internal'],
  ];
  for (const [name, job, code] of failures) {
    it(`${name} ends in one error with its code, and the next message is taken`, async () => {
      let broken = true;
      const node = handling({
        read: (msg, work) => (broken ? job.read?.(msg, work) : undefined),
        run: (input, msg, work) => (broken && job.run ? job.run(input, msg, work) : msg),
      });
      const taken = node.take({});
      await taken.settled;
      assert.equal(onlyError(taken).code, code);
      assert.deepEqual(taken.sent, []);
      broken = false;
      const next = node.take({});
      await next.settled;
      assert.deepEqual(next.done, [undefined]);
    });
  }

  it('shows a red ring with the code', async () => {
    const node = handling({ run: () => fail(new ServiceError('model.unknown', 'x')) });
    await node.take({}).settled;
    assert.deepEqual(node.statuses.at(-1), { fill: 'red', shape: 'ring', text: 'model.unknown' });
  });

  it('keeps code, message and cause, and takes secrets out of them', async () => {
    const cause = { status: 401, serviceCode: 'auth of tok-secret' };
    const node = handling({
      secrets: () => ['tok-secret'],
      run: () => fail(new ServiceError('auth.unauthorized', 'Bearer tok-secret is refused', cause)),
    });
    const taken = node.take({});
    await taken.settled;
    const error = onlyError(taken);
    assert.equal(error.code, 'auth.unauthorized');
    assert.equal(error.message, 'Bearer *** is refused');
    assert.deepEqual(error.cause, { status: 401, serviceCode: 'auth of ***' });
    assert.ok(!String(error.stack).includes('tok-secret'));
  });

  it('lets the event loop go on while a burst of messages is read, in its order', async () => {
    const read: unknown[] = [];
    const node = handling({
      read: ({ payload }) => {
        const until = performance.now() + 2;
        while (performance.now() < until) {
          // Work that takes as long.
        }
        read.push(payload);
      },
    });
    const burst = Array.from({ length: 40 }, (_, place) => place);
    let isDone = false;
    const all = Promise.all(burst.map((payload) => node.take({ payload }).settled)).then(() => {
      isDone = true;
    });
    let turns = 0;
    while (!isDone) {
      await turn();
      turns++;
    }
    await all;
    assert.deepEqual(read, burst);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('reads in order of arrival even where the first reading is slow, and works side by side', async () => {
    const order: unknown[] = [];
    const slow = new Gate();
    const allAtWork = new Gate();
    let atWork = 0;
    const node = handling({
      read: async ({ payload }) => {
        await (payload === 'slow' ? slow.opened : undefined);
        order.push(payload);
      },
      run: async (_input, msg) => {
        if (++atWork === 3) {
          allAtWork.open();
        }
        await allAtWork.opened;
        return msg;
      },
    });
    const taken = ['slow', 'quick', 'quicker'].map((payload) => node.take({ payload }).settled);
    await turn();
    assert.deepEqual(order, []);
    slow.open();
    await Promise.all(taken);
    assert.deepEqual(order, ['slow', 'quick', 'quicker']);
  });
});

describe('a message handler: messages that no node expects', () => {
  const set = (msg: Message): Message => Object.assign(msg, { prediction: 1 });

  it('works with a copy of a message whose properties cannot be set', async () => {
    const node = handling({ run: (_input, msg) => set(msg) });
    const shut = Object.freeze({ _msgid: 'm', payload: 1 });
    const halfShut = Object.defineProperty({ _msgid: 'm', payload: 1 }, 'prediction', {
      value: 0,
      enumerable: true,
    });
    for (const msg of [shut, Object.seal({ ...shut }), halfShut]) {
      const taken = node.take(msg);
      await taken.settled;
      assert.deepEqual(taken.done, [undefined]);
      assert.deepEqual(taken.sent, [{ _msgid: 'm', payload: 1, prediction: 1 }]);
      assert.notEqual(taken.sent[0], msg);
    }
    const open = { _msgid: 'm' };
    const taken = node.take(open);
    await taken.settled;
    assert.equal(taken.sent[0], open, 'any other is passed on itself');
  });

  it('refuses a message that is a promise, and one with a property that throws, each with its reason', async () => {
    const node = handling({});
    const promise = node.take({ then: () => undefined });
    await promise.settled;
    assert.equal(onlyError(promise).code, 'validation.failed');
    assert.match(onlyError(promise).message, /is a promise.*"then".*await/);
    const broken = {
      _msgid: 'm',
      get reset(): never {
        throw new Error('boom');
      },
    };
    const throwing = node.take(broken);
    await throwing.settled;
    assert.match(onlyError(throwing).message, /^msg\.reset cannot be read: boom/);
  });

  it('contains what done throws: the error goes out with the id alone, a message that went well has a warning', async () => {
    const node = handling({
      run: (_input, msg) => (msg.bad === true ? fail(new ServiceError('table.empty', 'x')) : msg),
    });
    const throws = (): never => {
      throw new RangeError('too deep');
    };
    for (const msg of [{ _msgid: 'm1', bad: true }, { _msgid: 'm2' }]) {
      node.emit('input', msg, () => undefined, throws);
    }
    await waitFor('two warnings', () => node.warnings.length === 2);
    assert.deepEqual(
      node.errors.map(({ error, msg }) => ({ error, msg })),
      [{ error: new ServiceError('table.empty', 'x'), msg: { _msgid: 'm1' } }],
    );
    assert.match(node.warnings[0]!, /warning\.notCopied.*too deep/);
    assert.match(node.warnings[1]!, /warning\.notCompleted.*too deep/);
    const next = node.take({});
    await next.settled;
    assert.deepEqual(next.done, [undefined]);
  });

  it('reports what send throws as the error of that message', async () => {
    const done: unknown[] = [];
    const node = handling({});
    node.emit(
      'input',
      { _msgid: 'm' },
      () => fail(new RangeError('too deep')),
      (error: unknown) => done.push(error),
    );
    await waitFor('its done', () => done.length > 0);
    await turn();
    assert.equal(done.length, 1);
    assert.equal((done[0] as ServiceError).code, 'validation.failed');
    assert.match((done[0] as ServiceError).message, /could not send the message on: too deep/);
  });

  it('a secret that reads like a value of the cause is hidden in texts alone', async () => {
    const cause = { status: 503, retryable: true, serviceCode: 'true story' };
    const node = handling({
      secrets: () => ['true', '503', 'a'],
      run: () => fail(new ServiceError('service.unavailable', 'is it true?', cause)),
    });
    const taken = node.take({});
    await taken.settled;
    assert.deepEqual(onlyError(taken).cause, { status: 503, retryable: true, serviceCode: '*** story' });
    assert.equal(onlyError(taken).message, 'is it ***?');
  });
});

describe('a message handler: close', () => {
  const clock = stoppedClock();

  /** A node whose work ends with an error once it is aborted. */
  function cutOff() {
    let count = 0;
    const node = handling({
      run: (_input, _msg, { signal }) => {
        count++;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('socket hang up')));
        });
      },
    });
    return { node, atWork: () => count };
  }

  it('aborts the work, settles every message as closed and warns once with the count', async () => {
    const { node, atWork } = cutOff();
    const taken = [node.take({}), node.take({}), node.take({})];
    await waitFor('all at work', () => atWork() === 3);
    await node.shut();
    for (const one of taken) {
      assert.equal(onlyError(one).code, 'closed');
    }
    assert.equal(node.warnings.length, 1);
    assert.match(node.warnings[0]!, /warning\.closed \{"count":"3"\}/);
  });

  it("settles work that never ends, within Node-RED's patience, and drops its late result", async () => {
    let finish: (() => void) | undefined;
    const node = handling({
      run: (_input, msg) => new Promise((resolve) => (finish = () => resolve(msg))),
    });
    const taken = node.take({});
    await turn();
    const shut = node.shut();
    await turn();
    assert.deepEqual(taken.done, [], 'the work may still end');
    clock.pass(BRISK.drainMs);
    await shut;
    assert.equal(onlyError(taken).code, 'closed');
    finish?.();
    await turn();
    assert.deepEqual(taken.sent, []);
    assert.equal(taken.done.length, 1);
  });

  it('waits no longer than Node-RED does', () => {
    assert.ok(Math.max(PATIENCE.drainMs, PATIENCE.closeMs) < 10_000);
  });

  it('counts what was on its way when the close began, and is delivered after it', async () => {
    const { node, atWork } = cutOff();
    const taken = [node.take({})];
    await waitFor('the first at work', () => atWork() === 1);
    setImmediate(() => taken.push(node.take({}), node.take({})));
    await node.shut();
    assert.deepEqual(
      taken.map((one) => onlyError(one).code),
      ['closed', 'closed', 'closed'],
    );
    assert.match(node.warnings.join(), /warning\.closed \{"count":"3"\}/);
  });

  it('a result that comes while the node closes is counted as cut: what it would be sent to may be gone', async () => {
    const started = new Gate();
    const node = handling({
      run: (_input, msg, { signal }) => {
        started.open();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(msg)));
      },
    });
    const taken = node.take({});
    await started.opened;
    await node.shut();
    assert.deepEqual(taken.sent, []);
    assert.equal(onlyError(taken).code, 'closed');
    assert.match(node.warnings.join(), /warning\.closed \{"count":"1"\}/);
  });

  it('settles at once what comes after the close began', async () => {
    const node = handling({});
    await node.shut();
    const taken = node.take({});
    await taken.settled;
    assert.equal(onlyError(taken).code, 'closed');
  });

  it('closes in time though its own closing hangs, and says so', async () => {
    const node = handling({ close: () => new Promise(() => undefined) });
    const shut = node.shut();
    await turn();
    clock.pass(BRISK.closeMs);
    await shut;
    assert.equal(node.warnings.length, 1);
    assert.match(node.warnings[0]!, /warning\.closesLate/);
  });

  it('refuses at once what its handler has no room for', async () => {
    const node = handling({
      run: () => new Promise(() => undefined),
      refuses: (underWay) => (underWay > 2 ? new ServiceError('queue.full', 'One too many.') : undefined),
    });
    const taken = [1, 2, 3].map(() => node.take({}));
    await taken[2]!.settled;
    assert.equal(onlyError(taken[2]!).code, 'queue.full');
    assert.deepEqual([taken[0]!.done, taken[1]!.done], [[], []]);
  });

  it('tells its own closing whether the node was removed', async () => {
    const told: boolean[] = [];
    await handling({ close: (removed) => void told.push(removed) }).shut(true);
    await handling({ close: (removed) => void told.push(removed) }).shut(false);
    assert.deepEqual(told, [true, false]);
  });
});

function fail(error: Error): never {
  throw error;
}
