import assert from 'node:assert/strict';
import path from 'node:path';

import { TestFlow } from '../helpers/flow';
import { type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { streamThrough } from '../helpers/stream';

const TRAIN = 'return { payload: Array.from({ length: 60 }, (_, i) => ({ id: i, x: i % 7, y: i % 5 })) };';

/** Messages that are under way at a time: what waits never runs out while the stream lasts. */
const WINDOW = 1000;

function endlessStream(): TestFlow {
  const flow = new TestFlow('stream');
  flow.embedded();
  flow.wire(
    flow.inject('train'),
    flow.code('rows', TRAIN),
    flow.tabular('fit', 'fit', { target: 'y', task: 'regression', model: 'm' }),
    flow.debug('card', 'fitted_train_set_id'),
  );
  flow.wire(
    flow.node('stream-source', 'source'),
    flow.tabular('predict', 'predict', { model: 'm' }),
    flow.tabular('watch', 'watch', { model: 'm' }),
    flow.node('stream-sink', 'sink'),
  );
  return flow;
}

/** Megabytes after garbage collection. */
async function heapOf(red: RealNodeRed): Promise<number> {
  return ((await (await fetch(`${red.url}/stream/process`)).json()) as { heapMb: number }).heapMb;
}

describe('a stream that never pauses', function () {
  this.timeout(180_000);

  it('leaves nothing of its messages in memory, however many there were', async () => {
    const red = await startNodeRed({
      flows: endlessStream().nodes,
      link: {
        'node-red-contrib-tabular-prediction': root,
        'node-red-contrib-stream-test': path.join(root, 'test', 'helpers', 'stream-nodes'),
      },
    });
    try {
      await red.inject('train');
      await red.shown('card', 1, 60_000);
      await streamThrough(red, { count: 5_000, window: WINDOW });
      const early = await heapOf(red);
      await streamThrough(red, { count: 15_000, window: WINDOW });
      const late = await heapOf(red);
      // A message takes about 2.5 kB while it is under way: were they kept, they would take 37 MB.
      assert.ok(
        late < early + 10,
        `${early.toFixed(1)} MB after 5,000 messages, ${late.toFixed(1)} after 20,000`,
      );
    } finally {
      await red.stop();
    }
  });
});
