import assert from 'node:assert/strict';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { saveModel } from '../../../dist/src/learner';
import { prepare } from '../../doors/learner';
import { trainWithHelpers } from '../../doors/service';
import { fitHelper } from '../../helpers/fit-helper';
import { waitFor } from '../../helpers/wait';
import { normals, numbers, regress } from '../learner/tables';

/** A table whose residuals a helper may learn, in ten folds unless told otherwise. */
function table(n_estimators?: number) {
  const columns = [1, 2, 3].map((seed) => normals(200, seed));
  const target = columns[0]!.map((value, i) => Math.sin(2 * value) + 0.3 * columns[1]![i]! * columns[2]![i]!);
  return regress(
    columns.map((values, i) => numbers(`c${i}`, values)),
    target,
    { n_estimators },
  );
}

/** The bytes of a model that is fitted with these helpers. */
async function fitted(ports: MessagePort[], n_estimators?: number): Promise<Uint8Array> {
  return saveModel(await trainWithHelpers(table(n_estimators), ports, () => undefined));
}

describe('the helpers of a fit', function () {
  this.timeout(120_000);

  it('leave the bytes of the model as they are, however many there are', async () => {
    const alone = await fitted([], 4);
    for (const count of [1, 2]) {
      const helpers = Array.from({ length: count }, fitHelper);
      try {
        const ports = helpers.map(({ assist }) => assist());
        assert.deepEqual(await fitted(ports, 4), alone, `${count} helpers`);
      } finally {
        await Promise.all(helpers.map(({ worker }) => worker.terminate()));
      }
    }
  });

  it('leave where they are wanted elsewhere, but not once residuals are coming', async () => {
    const { worker, assist, pressure } = fitHelper();
    try {
      for (const isSettled of [false, true]) {
        const prepared = prepare(table(2));
        const port = assist();
        const waits = new Int32Array(new SharedArrayBuffer(4));
        // There are no folds left.
        const board = new Int32Array(new SharedArrayBuffer(4 * (prepared.folds + 1)));
        board[0] = prepared.folds;
        const progress = new Int32Array(new SharedArrayBuffer(64 * (prepared.folds + 1)));
        port.postMessage({ prepared, board, progress, name: 1, waits });
        await waitFor('the helper', () => (Atomics.load(waits, 0) === 1 ? true : undefined), 30_000);
        Atomics.store(waits, 0, isSettled ? -1 : 1);
        const over = once(worker, 'message');
        const learned = once(port, 'message');
        Atomics.store(pressure, 0, 1);
        if (isSettled) {
          const rows = Int32Array.from({ length: 100 }, (_, row) => row);
          const residuals = normals(100, 7);
          port.postMessage({ rows, predicted: normals(100, 8), residuals });
          assert.ok('forest' in ((await learned) as object[])[0]!);
        }
        await over;
        assert.equal(Atomics.load(waits, 0), isSettled ? -1 : 0);
        Atomics.store(pressure, 0, 0);
        port.close();
      }
    } finally {
      await worker.terminate();
    }
  });

  it('are not missed when one dies over a fold', async () => {
    const alone = await fitted([], 3);
    const { port1: line, port2: helper } = new MessageChannel();
    let taken = 0;
    helper.once('message', ({ board, name }: { board: Int32Array; name: number }) => {
      taken = Atomics.add(board, 0, 1);
      Atomics.store(board, 1 + taken, name);
      helper.close();
    });
    assert.deepEqual(await fitted([line], 3), alone);
    assert.ok(taken > 0 && taken < 3, `fold ${taken}`);
  });

  it('are not missed when one dies over the residuals', async () => {
    const alone = await fitted([], 5);
    const { worker, assist } = fitHelper();
    // Once it has loaded the learner, it is there before the folds are done.
    await fitted([assist()], 2);
    const port = assist();
    let wasAsked = false;
    const post = port.postMessage.bind(port) as (message: object) => void;
    port.postMessage = (message: object) => {
      if ('residuals' in message) {
        wasAsked = true;
        void worker.terminate();
        return;
      }
      post(message);
    };
    assert.deepEqual(await fitted([port], 5), alone);
    assert.ok(wasAsked, 'the helper waited for the residuals');
  });
});
