import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Anything, type Setup, startBench, stopBench, trainRows } from './bench';

describe('tabular-fit and tabular-upload on a strict service', () => {
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService();
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  const hosted = (nodes: Setup['nodes'], more: Partial<Setup> = {}) =>
    startBench({ config: { service: 'hosted', baseUrl: service.url }, token: service.token, nodes, ...more });
  const fitBody = () => service.seen('fit').at(-1)!.body as Record<string, Anything>;

  it('fit sets fitted_train_set_id and the model card, passes the rest through, and is done once', async () => {
    const bench = await hosted([{ id: 'fit', type: 'tabular-fit', target: 'y', model: 'ripe' }]);
    bench.send('fit', { payload: trainRows(), topic: 'kept', force_refit: false });
    const [msg] = await bench.out('fit').first();
    assert.ok(msg);
    assert.equal(msg.topic, 'kept');
    assert.equal(msg.payload.length, 30);
    assert.equal(typeof msg.fitted_train_set_id, 'string');
    assert.equal(msg.model.name, 'ripe');
    assert.equal(msg.model.fitted_train_set_id, msg.fitted_train_set_id);
    assert.equal(msg.model.task, 'classification');
    assert.equal(msg.model.target, 'y');
    assert.deepEqual(msg.model.classes, ['no', 'yes']);
    assert.deepEqual(
      msg.model.columns.map(({ name }: { name: string }) => name),
      ['id', 'x', 'colour'],
    );
    assert.equal(msg.model.rows, 30);
    assert.equal(msg.model.service, `${service.url}/svc`);
    assert.ok(!('force_refit' in msg));
    await bench.completed.first();
    assert.equal(bench.completed.all.length, 1);
    assert.deepEqual(bench.caught.all, []);
    const stored = fs.readFileSync(path.join(bench.userDir, 'tabular-prediction', 'models.json'), 'utf8');
    assert.ok(stored.includes(msg.fitted_train_set_id as string));
    assert.ok(!stored.includes(service.token));
  });

  it('says where the rows are in the answer of an API, and reads them there', async () => {
    const bench = await hosted([
      { id: 'whole', type: 'tabular-fit', target: 'y', model: 'm' },
      { id: 'inner', type: 'tabular-fit', target: 'y', model: 'm', table: 'payload.data.items' },
    ]);
    const answer = { status: 'ok', data: { items: trainRows() } };
    bench.send('whole', { payload: answer });
    assert.equal((await bench.caught.first())[0]!.error!.code, 'target.missing');
    assert.equal(bench.warnings().filter((line) => line.endsWith('warning.rows')).length, 1);
    bench.send('inner', { payload: answer });
    assert.equal((await bench.out('inner').first())[0]!.model.rows, 30);
  });

  it('sends what pictures of the model are drawn from, where asked, also of a model that was fitted before', async () => {
    const bench = await hosted([
      { id: 'told', type: 'tabular-fit', target: 'y', model: 'told', holdout: '20', modelReport: true },
      { id: 'plain', type: 'tabular-fit', target: 'y', model: 'plain', holdout: '20' },
    ]);
    bench.send('told', { payload: trainRows() });
    const [first] = await bench.out('told').first();
    const { curves, ...rest } = first!.model_report;
    assert.equal(rest.model, 'told');
    assert.deepEqual(rest.scores, first!.model.scores);
    assert.deepEqual([curves.kind, curves.rows, curves.labels], ['classes', 6, ['no', 'yes']]);
    assert.ok(!('curves' in first!.model), 'not on the card');
    bench.send('told', { payload: trainRows() });
    assert.deepEqual((await bench.out('told').first(2))[1]!.model_report, first!.model_report);
    bench.send('plain', { payload: trainRows() });
    assert.ok(!('model_report' in (await bench.out('plain').first())[0]!));
  });

  it('a table with gaps is read as the dialog says, else the message, and msg.cleaned says what was done', async () => {
    const rows = trainRows().map((row, n) => ({
      ...row,
      x: n === 3 ? 'unavailable' : row.x,
      y: n === 5 ? null : row.y,
      day: '21.11.2024',
    }));
    const bench = await hosted([
      { id: 'fit', type: 'tabular-fit', target: 'y', model: 'ripe', missingWords: 'unavailable, -' },
      { id: 'open', type: 'tabular-upload', target: 'y' },
    ]);
    bench.send('fit', { payload: rows });
    const [fitted] = await bench.out('fit').first();
    const cleaned = { rows_left_out: 1, cells_missing: { x: 1 } };
    assert.deepEqual({ ...fitted!.cleaned, types: 0 }, { ...cleaned, types: 0 });
    assert.deepEqual(fitted!.model.cleaned, fitted!.cleaned);
    assert.equal(fitted!.cleaned.types.day, 'date');
    bench.send('open', { payload: rows, missing_words: ['unavailable'], timezone: 'Asia/Tokyo' });
    const [uploaded] = await bench.out('open').first();
    assert.deepEqual({ ...uploaded!.cleaned, types: 0 }, { ...cleaned, types: 0 });
    assert.equal(uploaded!.upload.columns.at(-1).zone, 'Asia/Tokyo');
    for (const [wrong, field] of [
      [{ timezone: 'Atlantis' }, /msg.timezone must be the name of a time zone/],
      [{ missing_target: 'drop' }, /msg.missing_target must be one of leaveOut, error/],
      [{ unreadable: 'skip' }, /msg.unreadable must be one of error, missing/],
      [{ missing_words: 7 }, /msg.missing_words must be an array of texts or names/],
    ] as const) {
      const before = bench.caught.all.length;
      bench.send('open', { payload: rows, ...wrong });
      await bench.caught.first(before + 1);
      assert.match(String(bench.caught.all.at(-1)?.error?.message), field);
    }
  });

  it('the dialog sends its options, systems and thinking', async () => {
    const bench = await hosted([
      {
        id: 'fit',
        type: 'tabular-fit',
        target: 'y',
        task: 'classification',
        systems: ['preprocessing', 'thinking'],
        options: '{"n_estimators": 4, "random_state": 3}',
        thinkingEffort: 'medium',
        thinkingTimeout: '120',
        thinkingMetric: 'log_loss',
      },
    ]);
    bench.send('fit', { payload: trainRows(), options: { n_estimators: 1 } });
    await bench.out('fit').first();
    const body = fitBody();
    assert.deepEqual(body.svc_systems, ['preprocessing', 'thinking']);
    assert.deepEqual(body.task_config.svc_config, { n_estimators: 4, random_state: 3 });
    assert.deepEqual(body.thinking_config, { effort: 'medium', timeout_secs: 120, metric: 'log_loss' });
  });

  it('an empty dialog takes target, ignore, task, options, model_name, description and the flags from the message', async () => {
    const bench = await hosted([{ id: 'fit', type: 'tabular-fit' }]);
    const msg = {
      payload: trainRows(),
      target: 'x',
      ignore: ['id'],
      task: 'classification',
      options: { random_state: 9 },
      model_name: 'from message',
      description: 'a note',
      force_refit: true,
      force_reupload: true,
    };
    bench.send('fit', msg);
    const [out] = await bench.out('fit').first();
    assert.ok(out);
    assert.equal(out.model.name, 'from message');
    assert.equal(out.model.target, 'x');
    assert.deepEqual(
      out.model.columns.map(({ name }: { name: string }) => name),
      ['colour', 'y'],
    );
    assert.equal(out.model.task, 'classification');
    assert.deepEqual(fitBody().task_config.svc_config, { random_state: 9 });
    assert.equal(fitBody().force_refit, true);
    const prepare = service.seen('prepare_train_set_upload').at(-1)!.body as Record<string, unknown>;
    assert.equal(prepare.description, 'a note');
    assert.equal(prepare.force_reupload, true);
    assert.ok(!('force_refit' in out) && !('force_reupload' in out));
  });

  it('the dialog wins over the message', async () => {
    const bench = await hosted([
      { id: 'fit', type: 'tabular-fit', name: 'named', target: 'y', task: 'classification' },
    ]);
    bench.send('fit', { payload: trainRows(), target: 'x', task: 'regression' });
    const [out] = await bench.out('fit').first();
    assert.equal(out?.model.target, 'y');
    assert.equal(out?.model.task, 'classification');
    assert.equal(out?.model.name, 'named');
  });

  it('auto takes a number with many values as regression', async () => {
    const bench = await hosted([{ id: 'fit', type: 'tabular-fit', target: 'id', task: 'auto' }]);
    bench.send('fit', { payload: trainRows() });
    const [out] = await bench.out('fit').first();
    assert.equal(out?.model.task, 'regression');
  });

  it('ignore and types shape the train set', async () => {
    const bench = await hosted([
      {
        id: 'upload',
        type: 'tabular-upload',
        set: 'train',
        target: 'y',
        ignore: 'colour',
        types: '{"x":"text"}',
      },
    ]);
    bench.send('upload', { payload: trainRows() });
    const [out] = await bench.out('upload').first();
    assert.ok(out);
    assert.deepEqual(out.upload.columns, [
      { name: 'id', type: 'integer' },
      { name: 'x', type: 'text' },
    ]);
    assert.deepEqual((await service.rowsOf(out.train_set_upload_id as string))[3], { id: 3, x: '3' });
  });

  it('upload sets the id and the card of a train set; fit takes it and removes the id', async () => {
    const bench = await hosted([
      { id: 'upload', type: 'tabular-upload', set: 'train', target: 'y', format: 'csv' },
      { id: 'fit', type: 'tabular-fit' },
    ]);
    bench.send('upload', { payload: trainRows() });
    const [uploaded] = await bench.out('upload').first();
    assert.ok(uploaded);
    const { upload } = uploaded;
    assert.equal(upload.id, uploaded.train_set_upload_id);
    assert.equal(upload.set, 'train');
    assert.equal(upload.format, 'csv');
    assert.equal(upload.rows, 30);
    assert.equal(upload.target, 'y');
    assert.equal(upload.reused, false);
    assert.ok(upload.bytes > 0);
    assert.deepEqual(upload.classes, ['no', 'yes']);
    bench.send('fit', { train_set_upload_id: upload.id });
    const [fitted] = await bench.out('fit').first();
    assert.ok(fitted);
    assert.ok(!('train_set_upload_id' in fitted));
    assert.equal(fitted.model.target, 'y');
    assert.equal(fitted.model.train_set_upload_id, upload.id);
  });

  it('an unchanged train set is not fitted again, unless forced', async () => {
    const bench = await hosted([{ id: 'fit', type: 'tabular-fit', target: 'y' }]);
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first(1);
    bench.send('fit', { payload: trainRows() });
    const [, again] = await bench.out('fit').first(2);
    assert.equal(service.seen('fit').length, 1);
    bench.send('fit', { payload: trainRows(), force_refit: true });
    const [, , forced] = await bench.out('fit').first(3);
    assert.equal(service.seen('fit').length, 2);
    assert.equal(again?.fitted_train_set_id, bench.out('fit').all[0]?.fitted_train_set_id);
    assert.notEqual(forced?.fitted_train_set_id, again?.fitted_train_set_id);
  });

  it('a test set is uploaded for its model and predicted by its id, which is removed', async () => {
    const bench = await hosted([
      { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
      { id: 'upload', type: 'tabular-upload', set: 'test', model: 'm' },
      { id: 'predict', type: 'tabular-predict' },
    ]);
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
    bench.send('upload', { payload: [{ id: 5, x: 1, colour: 'red' }] });
    const [uploaded] = await bench.out('upload').first();
    assert.equal(uploaded?.upload.set, 'test');
    assert.equal(typeof uploaded?.test_set_upload_id, 'string');
    bench.send('predict', uploaded);
    const [predicted] = await bench.out('predict').first();
    assert.ok(predicted);
    assert.ok(!('test_set_upload_id' in predicted));
    assert.deepEqual(predicted.prediction, service.predictionFor([5], 'probas', { classes: ['no', 'yes'] }));
    assert.equal(predicted.model_name, 'm');
  });

  it('collects a message sequence into one train set; the last part carries the result', async () => {
    const bench = await hosted([{ id: 'fit', type: 'tabular-fit', target: 'y', collect: true }]);
    const rows = trainRows();
    rows.forEach((payload, index) =>
      bench.send('fit', { payload, topic: `part ${index}`, parts: { id: 's', index, count: rows.length } }),
    );
    const [out] = await bench.out('fit').first();
    assert.equal(out?.topic, 'part 29');
    assert.ok(!('parts' in out));
    assert.equal(out.model.rows, 30);
    await bench.completed.first(30);
    assert.equal(bench.completed.all.length, 30);
    assert.equal(bench.out('fit').all.length, 1);
  });

  it('a sequence that stops is one sequence.incomplete, though each part was done', async () => {
    const bench = await hosted([
      { id: 'fit', type: 'tabular-fit', target: 'y', collect: true, collectTimeout: '1' },
    ]);
    bench.send('fit', { payload: trainRows()[0], parts: { id: 's', index: 0, count: 3 } });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'sequence.incomplete');
    assert.equal(bench.completed.all.length, 1);
  });

  for (const collectTimeout of ['2147484', 'soon', '0', '${TABULAR_NOT_SET}']) {
    it(`a time to give up after that is none is refused: ${collectTimeout}`, async () => {
      const bench = await hosted([
        { id: 'fit', type: 'tabular-fit', target: 'y', collect: true, collectTimeout },
      ]);
      bench.send('fit', { payload: trainRows()[0], parts: { id: 's', index: 0, count: 3 } });
      const [caught] = await bench.caught.first();
      assert.equal(caught?.error?.code, 'config.invalid');
      assert.match(caught.error.message, /"collectTimeout" must|TABULAR_NOT_SET/);
    });
  }

  it('a time to give up after may be as long as 23 days, and may come from the environment', async () => {
    process.env.TABULAR_IDLE = '2000000';
    try {
      const bench = await hosted([
        { id: 'fit', type: 'tabular-fit', target: 'y', collect: true, collectTimeout: '${TABULAR_IDLE}' },
      ]);
      const rows = trainRows();
      bench.send('fit', { payload: rows[0], parts: { id: 's', index: 0, count: rows.length } });
      await new Promise((resolve) => setTimeout(resolve, 50));
      rows
        .slice(1)
        .forEach((payload, i) =>
          bench.send('fit', { payload, parts: { id: 's', index: i + 1, count: rows.length } }),
        );
      assert.equal((await bench.out('fit').first())[0]?.model.rows, 30);
    } finally {
      delete process.env.TABULAR_IDLE;
    }
  });

  it('a train set from a file on disk', async () => {
    const bench = await hosted([
      { id: 'fit', type: 'tabular-fit', target: 'y', source: 'file', table: 'filename', tableType: 'msg' },
    ]);
    const file = path.join(bench.userDir, 'train.csv');
    fs.writeFileSync(
      file,
      `a,y\n${Array.from({ length: 20 }, (_, i) => `${i},${i % 2 ? 'yes' : 'no'}`).join('\n')}\n`,
    );
    bench.send('fit', { filename: file, payload: 'untouched' });
    const [out] = await bench.out('fit').first();
    assert.equal(out?.model.rows, 20);
    assert.equal(out?.payload, 'untouched');
  });

  it('another product name, flat fits and the sample naming are spoken where the config says so', async () => {
    await service.close();
    service = await startStrictService({ apiName: 'acme', fitRequest: 'flat', fileInfo: 'sample' });
    const bench = await hosted(
      [{ id: 'fit', type: 'tabular-fit', target: 'y', options: '{"random_state":1}' }],
      {
        config: {
          service: 'hosted',
          baseUrl: `${service.url}/`,
          apiName: 'acme',
          fitRequest: 'flat',
          fileInfo: 'sample',
        },
      },
    );
    bench.send('fit', { payload: trainRows() });
    const [out] = await bench.out('fit').first();
    assert.equal(out?.model.service, `${service.url}/acme`);
    assert.deepEqual(fitBody().acme_config, { random_state: 1 });
  });
});
