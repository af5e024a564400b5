import assert from 'node:assert/strict';

import { row, startBench, stopBench, trainRows } from './bench';

describe('a node with no service chosen', function () {
  this.timeout(60_000);

  afterEach(() => stopBench());

  const nodes = [
    { id: 'fit', type: 'tabular-fit', config: '', target: 'y', model: 'm', options: '{"n_estimators":1}' },
    { id: 'p', type: 'tabular-predict', config: '_ADD_', model: 'm' },
  ];

  it('uses the embedded one, which its status says, and shares its models; a redeploy keeps them', async () => {
    const bench = await startBench({ nodes });
    await bench.shows('fit', /status\.embedded/);
    await bench.shows('p', /status\.embedded/);
    bench.send('fit', { payload: trainRows() });
    await bench.completed.first();
    bench.send('p', { payload: row(5) });
    const [msg] = await bench.out('p').first();
    assert.equal(msg?.payload.prediction, 'yes');

    await bench.redeploy();
    await bench.shows('fit', /accuracy/);
    await bench.shows('p', /status\.embedded/);
    bench.send('p', { payload: row(5) });
    assert.equal((await bench.out('p').first(2))[1]?.payload.prediction, 'yes');
    assert.doesNotMatch(bench.warnings().join(), /tabular/);
  });
});

describe('No model yet', function () {
  this.timeout(60_000);

  afterEach(() => stopBench());

  const start = (noModel: string, more: object = {}) =>
    startBench({
      nodes: [
        {
          id: 'fit',
          type: 'tabular-fit',
          config: '',
          target: 'y',
          model: 'm',
          options: '{"n_estimators":1}',
        },
        { id: 'p', type: 'tabular-predict', config: '', model: 'm', noModel, ...more },
      ],
    });

  it('error: each message fails with model.unknown', async () => {
    const bench = await start('error');
    bench.send('p', { payload: row(5) });
    assert.equal((await bench.caught.first())[0]?.error?.code, 'model.unknown');
  });

  it('pass: a message goes on as it came, without an old prediction, until there is a model', async () => {
    const bench = await start('pass');
    bench.send('p', { payload: row(5), prediction: 'old' });
    const [passed] = await bench.out('p').first();
    assert.deepEqual(passed?.payload, row(5));
    assert.ok(!('prediction' in passed));
    await bench.shows('p', /status\.noModel/);
    bench.send('fit', { payload: trainRows() });
    await bench.completed.first(2);
    bench.send('p', { payload: row(5) });
    assert.equal((await bench.out('p').first(2))[1]?.payload.prediction, 'yes');
  });

  it('wait: messages wait through a fit that fails, and leave in order with the one that goes well', async () => {
    const bench = await start('wait', { queue: 3 });
    const ids = [1, 2, 3];
    ids.forEach((id) => bench.send('p', { payload: row(id), id }));
    await bench.shows('p', /load\.forModel/);
    bench.send('p', { payload: row(4) });
    assert.equal((await bench.caught.first())[0]?.error?.code, 'queue.full', 'the queue holds three rows');
    bench.send('fit', { payload: [{ x: 1 }] });
    assert.equal((await bench.caught.first(2))[1]?.error?.code, 'target.missing');
    assert.equal(bench.out('p').all.length, 0);
    bench.send('fit', { payload: trainRows() });
    const out = await bench.out('p').first(3);
    assert.deepEqual(
      out.map(({ id }) => id),
      ids,
    );
    assert.ok(out.every(({ payload }) => 'prediction' in payload));
  });

  it('wait: msg.reset drops what waits, and a close settles it', async () => {
    const bench = await start('wait');
    bench.send('p', { payload: row(1) });
    await bench.shows('p', /load\.forModel/);
    bench.send('p', { reset: true });
    assert.equal((await bench.caught.first())[0]?.error?.code, 'closed');
    bench.send('p', { payload: row(2) });
    await bench.shows('p', /load\.forModel/);
    await bench.stop();
    assert.match(bench.warnings().join(), /warning\.closed/);
  });
});
