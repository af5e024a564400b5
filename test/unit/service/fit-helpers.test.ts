import assert from 'node:assert/strict';
import type { MessagePort } from 'node:worker_threads';

import { saveModel } from '../../../dist/src/learner';
import { trainWithHelpers } from '../../doors/service';
import { fitHelper } from '../../helpers/fit-helper';
import { normals, numbers, regress } from '../learner/tables';

/** A table whose residuals a helper may learn. */
function table() {
  const columns = [1, 2, 3].map((seed) => normals(300, seed));
  const target = columns[0]!.map((value, i) => Math.sin(2 * value) + 0.3 * columns[1]![i]! * columns[2]![i]!);
  return regress(
    columns.map((values, i) => numbers(`c${i}`, values)),
    target,
  );
}

/** The bytes of a model that is fitted with these helpers. */
async function fitted(ports: MessagePort[]): Promise<Uint8Array> {
  return saveModel(await trainWithHelpers(table(), ports, () => undefined));
}

describe('the helpers of a fit', function () {
  this.timeout(120_000);

  it('leave the bytes of the model as they are, however many there are', async () => {
    const alone = await fitted([]);
    for (const count of [1, 2]) {
      const helpers = Array.from({ length: count }, fitHelper);
      try {
        const ports = helpers.map(({ assist }) => assist());
        assert.deepEqual(await fitted(ports), alone, `${count} helpers`);
      } finally {
        await Promise.all(helpers.map(({ worker }) => worker.terminate()));
      }
    }
  });

  it('are not missed when one dies over the residuals', async () => {
    const alone = await fitted([]);
    const { worker, assist } = fitHelper();
    // Once it has loaded the learner, it is there before the folds are done.
    await fitted([assist()]);
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
    assert.deepEqual(await fitted([port]), alone);
    assert.ok(wasAsked, 'the helper waited for the residuals');
  });
});
