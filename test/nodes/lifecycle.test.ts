import assert from 'node:assert/strict';

import { inTurn, startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';
import { type Bench, row, startBench, stopBench, trainRows } from './bench';

describe('close, redeploy and order', () => {
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService();
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
  });

  const start = (
    nodes: Parameters<typeof startBench>[0]['nodes'] = [],
    userDir?: string,
    settings?: object,
  ): Promise<Bench> =>
    startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      userDir,
      settings,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
        { id: 'p', type: 'tabular-predict', model: 'm' },
        ...nodes,
      ],
    });

  it('a close in the middle aborts the requests, and warns with the count', async () => {
    const bench = await start();
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
    service.fault('predict', () => ({ silent: true }));
    for (let id = 0; id < 40; id++) {
      bench.send('p', { payload: row(id) });
    }
    await waitFor('the predict', () => service.seen('predict').length > 0);
    const { warnings } = bench;
    // The service would never answer.
    await bench.stop();
    const counted = warnings().filter((line) => line.includes('warning.closed'));
    assert.equal(counted.length, 1);
    await waitFor('the end of the last socket', () => service.connections === 0);
  });

  it('a fit of ten minutes is cut by a redeploy, and the new flow works', async () => {
    const bench = await start();
    service.fault('fit', inTurn({ whitespaceMs: 600_000 }));
    bench.send('fit', { payload: trainRows() });
    await waitFor('the fit', () => service.seen('fit').length > 0);
    await bench.redeploy();
    bench.send('fit', { payload: trainRows() });
    const [msg] = await bench.out('fit').first();
    assert.equal(msg?.model.name, 'm');
  });

  it('models are known again after a redeploy and after a restart', async () => {
    const first = await start();
    first.send('fit', { payload: trainRows() });
    await first.out('fit').first();
    await first.redeploy();
    first.send('p', { payload: row(5) });
    assert.equal((await first.out('p').first())[0]?.payload.prediction, 'yes');
    const { userDir } = first;
    const fs = await import('node:fs');
    const kept = fs.mkdtempSync(`${userDir}-kept-`);
    try {
      fs.cpSync(userDir, kept, { recursive: true });
      await first.stop();
      const second = await start([], kept);
      second.send('p', { payload: row(5) });
      assert.equal((await second.out('p').first())[0]?.payload.prediction, 'yes');
    } finally {
      await stopBench();
      fs.rmSync(kept, { recursive: true, force: true });
    }
  });

  it('a fit that the service answers as pending goes on through a redeploy, and a predict waits for it', async () => {
    await service.close();
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 8 } });
    const bench = await start();
    bench.send('fit', { payload: trainRows() });
    await waitFor('the first poll', () => service.seen('get_fit_status').length > 0);
    await bench.redeploy();
    bench.send('p', { payload: row(5) });
    assert.equal((await bench.out('p').first())[0]?.payload.prediction, 'yes');
    assert.equal(service.seen('fit').length, 1);
    bench.send('fit', { payload: trainRows() });
    const [msg] = await bench.out('fit').first();
    assert.equal(msg?.model.name, 'm');
    assert.equal(service.seen('fit').length, 1, 'the unchanged train set needs no second fit');
    assert.deepEqual(service.breaches, []);
  });

  it('messages keep their order though a context store is slow', async () => {
    let call = 0;
    const get = (_scope: string, _key: string, callback: (error: unknown, value: unknown) => void): void => {
      const n = call++;
      setTimeout(() => callback(null, row(n)), n % 2 ? 1 : 25);
    };
    const bench = await start(
      [{ id: 'slow', type: 'tabular-predict', model: 'm', table: 'rows', tableType: 'flow' }],
      undefined,
      { contextStorage: { default: { module: () => contextStore(get) } } },
    );
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
    for (let n = 0; n < 8; n++) {
      bench.send('slow', { n });
    }
    const all = await bench.out('slow').first(8);
    assert.deepEqual(
      all.map(({ n, payload }) => [n, payload.id]),
      Array.from({ length: 8 }, (_, n) => [n, n]),
    );
  });

  it('a sequence that is open at the close is told in one warning', async () => {
    const bench = await start([{ id: 'c1', type: 'tabular-fit', target: 'y', collect: true }]);
    bench.send('c1', { payload: trainRows()[0], parts: { id: 's', index: 0 } });
    bench.send('c1', { payload: trainRows()[1], parts: { id: 's', index: 1 } });
    await bench.completed.first(2);
    const { warnings } = bench;
    await bench.stop();
    assert.equal(warnings().filter((line) => line.includes('warning.sequences')).length, 1);
  });
});

/** A context store of Node-RED whose reading is given. */
function contextStore(get: (...args: never[]) => void): object {
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    open: nothing,
    close: nothing,
    delete: nothing,
    clean: nothing,
    keys: () => [],
    set: () => undefined,
    get,
  };
}
