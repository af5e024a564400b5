import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { connect, type Tabular } from '../../dist/src';
import { removedAtEnd } from '../helpers/temporary';
import { type Bench, startBench, stopBench, trainRows } from './bench';

const FEW = { options: '{"n_estimators":1}' };
const ROWS = [{ x: 1 }, { x: 5 }];

describe('models that travel in messages', function () {
  this.timeout(60_000);
  let folder: string;
  let other: Tabular;
  let bench: Bench;

  before(async () => {
    folder = removedAtEnd(mkdtempSync(path.join(tmpdir(), 'travelling-')));
    other = await connect({ dataDir: path.join(folder, 'other') });
    bench = await startBench({
      config: { service: 'embedded' },
      nodes: [
        {
          id: 'hub',
          type: 'tabular-fit',
          target: 'y',
          ignore: 'id, colour',
          model: 'm',
          sendModel: 'on',
          ...FEW,
        },
        { id: 'again', type: 'tabular-fit', target: 'y', model: 'again', ...FEW },
        { id: 'asked', type: 'tabular-fit', target: 'y', model: 'asked', ...FEW },
        {
          id: 'small',
          type: 'tabular-fit',
          target: 'y',
          model: 'small',
          sendModel: 'on',
          modelFileMax: '0.001',
          ...FEW,
        },
        { id: 'edge', type: 'tabular-predict', model: 'far', takeModel: 'on', noModel: 'wait' },
        { id: 'closed', type: 'tabular-predict', model: 'm' },
      ],
    });
  });
  after(async () => {
    await stopBench();
    await other.close();
    rmSync(folder, { recursive: true });
  });

  const fitFar = async (flip: boolean): Promise<Buffer> => {
    const table = trainRows().map(({ x, y }) => ({ x, y: flip === (y === 'yes') ? 'no' : 'yes' }));
    await other.train({ table, target: 'y', model: 'far', options: { n_estimators: 1 } });
    return other.publishModel('far');
  };
  const labels = (msg: { payload?: { prediction: string }[] } | undefined): string[] | undefined =>
    msg?.payload?.map(({ prediction }) => prediction);

  it('a fit sends its model, which another computer takes; a roll back elsewhere sends anew', async () => {
    bench.send('hub', { payload: trainRows(), topic: 'kept' });
    const [first] = await bench.out('hub').first();
    assert.ok(Buffer.isBuffer(first!.model_file));
    assert.deepEqual([first!.topic, first!.model.version], ['kept', 1]);
    const taken = await other.takeModel(first!.model_file);
    assert.equal(taken.fitted_train_set_id, first!.fitted_train_set_id);
    bench.send('hub', { payload: trainRows().slice(3) });
    const [, second] = await bench.out('hub').first(2);
    assert.equal((await other.takeModel(second!.model_file)).version, 2);
    await bench.request().post('/tabular-prediction/models/c/rollback').send({ model: 'm' }).expect(200);
    const [, , third] = await bench.out('hub').first(3);
    assert.equal(third!.model.version, 1);
    const back = await other.takeModel(third!.model_file);
    assert.deepEqual([back.version, back.fitted_train_set_id], [3, first!.fitted_train_set_id]);
  });

  it('is sent again without a table and without a fit, and not before the first fit', async () => {
    const ended = bench.completed.all.length;
    bench.send('again', { send_model: 'again' });
    await bench.completed.first(ended + 1);
    assert.equal(bench.out('again').all.length, 0);
    bench.send('again', { payload: trainRows(), send_model: true });
    const [fitted] = await bench.out('again').first();
    bench.send('again', { send_model: 'again', topic: 'kept' });
    const [, again] = await bench.out('again').first(2);
    assert.deepEqual([again!.topic, again!.model.version], ['kept', 1]);
    for (const { model_file: file } of [fitted!, again!]) {
      assert.equal((await other.takeModel(file)).version, 1);
    }
    assert.ok(!('send_model' in again!));
  });

  it('is sent where the message asks for it, and told of where it is too large', async () => {
    bench.send('asked', { payload: trainRows(), send_model: true });
    const [asked] = await bench.out('asked').first();
    assert.ok(Buffer.isBuffer(asked!.model_file));
    assert.ok(!('send_model' in asked!));
    bench.send('asked', { payload: trainRows() });
    assert.ok(!('model_file' in (await bench.out('asked').first(2))[1]!));
    bench.send('asked', { payload: trainRows(), send_model: 'on' });
    assert.ok(Buffer.isBuffer((await bench.out('asked').first(3))[2]!.model_file));
    bench.send('asked', { payload: trainRows(), send_model: 'perhaps' });
    const [, , , unclear] = await bench.out('asked').first(4);
    assert.ok(!('model_file' in unclear!), 'the fit stands');
    assert.ok(bench.warnings().some((text) => text.includes('warning.notSent')));
    bench.send('small', { payload: trainRows(), model_file: 'of another node' });
    const [small] = await bench.out('small').first();
    assert.ok(!('model_file' in small!));
    assert.ok(bench.warnings().some((text) => text.includes('warning.notSent')));
  });

  it('a predict node takes it in: rows that wait for it go on, the next one takes over, a damaged one does not', async () => {
    bench.send('edge', { payload: ROWS });
    const first = await fitFar(false);
    bench.send('edge', { model_file: first, topic: 'fleet/model' });
    const [waited] = await bench.out('edge').first();
    assert.deepEqual(labels(waited), ['no', 'yes']);
    bench.send('edge', { model_file: await fitFar(true) });
    await bench.shows('edge', /taken\.new/);
    bench.send('edge', { model_file: first });
    await bench.shows('edge', /taken\.same/);
    bench.send('edge', { payload: ROWS });
    const [, flipped] = await bench.out('edge').first(2);
    assert.deepEqual(labels(flipped), ['yes', 'no']);
    assert.equal(flipped!.predicted_by.version, 2);
    for (const [file, code] of [
      [first.subarray(0, 900), 'file.unreadable'],
      ['text', 'validation.failed'],
    ] as const) {
      const before = bench.caught.all.length;
      bench.send('edge', { model_file: file });
      const errors = await bench.caught.first(before + 1);
      assert.equal(errors.at(-1)!.error!.code, code);
    }
    bench.send('edge', { payload: ROWS });
    assert.deepEqual(labels((await bench.out('edge').first(3))[2]), ['yes', 'no']);
    assert.equal(bench.out('edge').all.length, 3, 'a model leaves no message');
  });

  it('a model of another name is kept, and told of: the node does not predict with it', async () => {
    const table = trainRows().map(({ x, y }) => ({ x, y }));
    await other.train({ table, target: 'y', model: 'elsewhere', options: { n_estimators: 1 } });
    bench.send('edge', { model_file: await other.publishModel('elsewhere') });
    await bench.shows('edge', /taken\.new/);
    assert.ok(bench.warnings().some((text) => text.includes('warning.otherTaken')));
  });

  it('a node that takes none predicts the rows beside it', async () => {
    bench.send('closed', { payload: ROWS, model_file: await fitFar(false) });
    const [msg] = await bench.out('closed').first();
    assert.equal(labels(msg)?.length, 2);
  });
});
