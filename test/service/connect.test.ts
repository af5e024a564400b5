import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { anomalies, connect, series, ServiceClient, ServiceError, startService } from '../../dist/src';
import { collide } from '../helpers/collide';
import { startStrictService } from '../helpers/strict-service';

const code = (wanted: string) => (error: unknown) => error instanceof ServiceError && error.code === wanted;
/** One member of ten, where the embedded service fits. */
const QUICK = { n_estimators: 1 };
const rows = Array.from({ length: 60 }, (_, i) => ({ id: i, size: i % 9, y: 2 * (i % 9) }));

describe('connect', function () {
  this.timeout(60_000);
  let folder: string;

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-connect-'));
  });

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('trains on the embedded service and knows the model by name after a restart, also from a file', async () => {
    let tabular = await connect({ dataDir: folder });
    const seen: string[] = [];
    const card = await tabular.train({
      table: rows,
      target: 'y',
      task: 'regression',
      ignore: ['id'],
      options: QUICK,
      onStatus: ({ key }) => seen.push(key),
    });
    assert.equal(card.name, 'y');
    assert.deepEqual(card.columns, [{ name: 'size', type: 'integer' }]);
    assert.ok(seen.includes('fitting'));
    await tabular.close();

    tabular = await connect({ dataDir: folder });
    assert.deepEqual(
      tabular.models().map(({ name }) => name),
      ['y'],
    );
    const file = path.join(folder, 'new.csv');
    fs.writeFileSync(file, 'size\n3\n8\n');
    const { table, modelName } = await tabular.predict({ path: file, model: 'y', property: 'guess' });
    const { evaluation } = await tabular.predict({ table: rows, model: 'y', evaluate: true });
    assert.ok(evaluation?.rows === 60 && evaluation.scores.mae! < evaluation.baseline.mae!);
    assert.equal(modelName, 'y');
    const [three, eight] = table as { size: number; guess: number }[];
    assert.ok(Math.abs(three!.guess - 6) < 2 && Math.abs(eight!.guess - 16) < 2, JSON.stringify(table));
    await tabular.close();
    await assert.rejects(tabular.predict({ table: [{ size: 1 }], model: 'y' }), code('closed'));
  });

  it('fits an unchanged train set again whose model was removed from the disk', async () => {
    const dataDir = path.join(folder, 'service');
    const tabular = await connect({ dataDir });
    for (const replace of ['always', 'better'] as const) {
      const training = { table: rows, target: 'y', model: replace, replace, ignore: ['id'], options: QUICK };
      const first = await tabular.train(training);
      assert.equal((await tabular.train(training)).fitted_train_set_id, first.fitted_train_set_id);
      fs.rmSync(path.join(dataDir, 'models'), { recursive: true });
      const again = await tabular.train(training);
      assert.notEqual(again.fitted_train_set_id, first.fitted_train_set_id, replace);
      const { table } = await tabular.predict({ table: [{ size: 3 }], model: replace, property: 'guess' });
      assert.ok(Math.abs((table as { guess: number }[])[0]!.guess - 6) < 2, JSON.stringify(table));
    }
    await tabular.close();
  });

  it('never gives a table the model of another one whose files share their CRC32C and size', async () => {
    const code = (row: number): string => (row === 0 ? `t${'0'.repeat(30)}` : 't');
    const csv = (size: (row: number) => number): string =>
      `code,size\n${rows.map((_, row) => `${code(row)},${size(row)}\n`).join('')}`;
    const first = csv((row) => row % 9);
    const from = first.indexOf('0'.repeat(30));
    const second = collide(
      first,
      csv((row) => 8 - (row % 9)),
      from,
      from + 30,
    );
    assert.notEqual(second, first);
    const table = (text: string): object[] =>
      text
        .trim()
        .split('\n')
        .slice(1)
        .map((line, row) => ({
          code: line.split(',')[0],
          size: Number(line.split(',')[1]),
          y: rows[row]!.y,
        }));
    const tabular = await connect({ dataDir: folder });
    try {
      const train = (text: string, model: string) =>
        tabular.train({
          ...{ table: table(text), target: 'y', task: 'regression', model, format: 'csv' },
          options: QUICK,
        });
      const one = await train(first, 'one');
      const other = await train(second, 'one');
      assert.notEqual(other.fitted_train_set_id, one.fitted_train_set_id);
      const { table: scored } = await tabular.predict({ table: [{ code: 't', size: 8 }], model: 'one' });
      const [{ prediction }] = scored as [{ prediction: number }];
      assert.ok(prediction < 5, `${prediction}`);
      // The same table again is known.
      assert.equal((await train(second, 'two')).fitted_train_set_id, other.fitted_train_set_id);
    } finally {
      await tabular.close();
    }
  });

  it('speaks to a hosted service in its dialect; calls at the same time share requests', async () => {
    const service = await startStrictService({ apiName: 'acme', fitRequest: 'flat', predictMs: 50 });
    const tabular = await connect({
      baseUrl: service.url,
      token: service.token,
      dialect: { apiName: 'acme', fitRequest: 'flat' },
    });
    try {
      const model = await tabular.train({ table: rows, target: 'y', task: 'regression' });
      const answers = await Promise.all(
        rows.map(({ id, size }) => tabular.predict({ table: { id, size }, model })),
      );
      assert.deepEqual(
        answers.map(({ prediction }) => prediction),
        rows.map(({ id }) => [id]),
      );
      assert.ok(service.seen('predict').length < 20, `${service.seen('predict').length} predicts`);
      assert.deepEqual(service.breaches, []);
    } finally {
      await tabular.close();
      await service.close();
    }
  });

  it('refuses a signal or a listener that is none, and goes on with what comes next', async () => {
    const service = await startStrictService();
    const tabular = await connect({ baseUrl: service.url, token: service.token });
    const client = new ServiceClient({ baseUrl: service.url, token: service.token });
    try {
      const model = await tabular.train({ table: rows, target: 'y', task: 'regression' });
      const table = [{ id: 7, size: 3 }];
      for (const wrong of [null, 0, {}, new AbortController()] as never[]) {
        const works = [
          () => tabular.train({ table: rows, target: 'y', signal: wrong }),
          () => tabular.predict({ table, model, signal: wrong }),
          () => tabular.advise({ row: table[0]!, model, vary: [], goal: 'highest', signal: wrong }),
          () => client.getModelLimits({ signal: wrong }),
        ];
        for (const work of works) {
          await assert.rejects(work, code('validation.failed'));
          await assert.rejects(work, /signal .*must be an AbortSignal/);
        }
        assert.deepEqual((await tabular.predict({ table, model })).prediction, [7]);
      }
      const onStatus = 'log' as never;
      await assert.rejects(tabular.predict({ table, model, onStatus }), /onStatus must be a function/);
      await assert.rejects(
        tabular.train({ table: rows, target: 'y', onStatus }),
        /onStatus must be a function/,
      );
    } finally {
      await client.close();
      await tabular.close();
      await service.close();
    }
  });

  it('says what is wrong in what a program gives, and gives out copies', async () => {
    const tabular = await connect({ dataDir: folder });
    const wrong = async (work: Promise<unknown>, wanted: string, says: RegExp) => {
      await assert.rejects(work, code(wanted));
      await assert.rejects(work, says);
    };
    const train = (more: object) => tabular.train({ table: rows, target: 'y', ...more });
    try {
      await wrong(tabular.train(undefined as never), 'target.missing', /give the column to predict/);
      await wrong(train({ holdout: 500 }), 'validation.failed', /holdout must be .*at most 50, not 500/);
      await wrong(train({ folds: 'years' }), 'validation.failed', /folds must be .*blocks/);
      await wrong(train({ ignore: 'id' }), 'validation.failed', /ignore must be an array of texts, not 'id'/);
      await wrong(
        train({ types: { id: 'zork' } }),
        'validation.failed',
        /types gives the column "id" the type "zork"; known are number/,
      );
      await wrong(train({ task: 'guess' }), 'validation.failed', /task must be one of auto/);
      await wrong(
        train({ thinking: { effort: 'huge' } }),
        'validation.failed',
        /effort must be one of medium, high/,
      );
      await wrong(tabular.predict(undefined as never), 'model.unknown', /No model is named/);
      await wrong(
        tabular.predict({ table: rows, model: 'y', missingColumns: 'ignore' as never }),
        'validation.failed',
        /missingColumns must be one of error, fill, not 'ignore'/,
      );
      await wrong(
        connect({ dataDir: folder, settings: { batchRows: 'abc' as never } }),
        'validation.failed',
        /batchRows must be a whole number of at least 1, not 'abc'/,
      );
      await wrong(connect({ dataDir: 5 as never }), 'config.invalid', /dataDir must be a text, not 5/);
      await wrong(startService({} as never), 'config.invalid', /dataDir must name/);
      const hosted = { baseUrl: 'http://127.0.0.1:1', token: 't' };
      await wrong(connect({ ...hosted, token: 5 as never }), 'config.invalid', /token must be text/);
      await wrong(
        connect({ ...hosted, models: true as never }),
        'config.invalid',
        /models must be a text, not true/,
      );
      await wrong(tabular.takeModel('bytes' as never), 'validation.failed', /the Buffer that publishModel/);
      await wrong(
        anomalies({ ignore: 'id' as never }),
        'validation.failed',
        /ignore must be an array of texts/,
      );
      await wrong(anomalies({ timezone: 'Mars' }), 'validation.failed', /timezone/);
      await wrong(series({ outcome: 'none', key: 5 as never }), 'validation.failed', /key must be/);
      await train({ task: 'regression', ignore: ['id'], options: QUICK });
      const row = { size: 3 };
      await wrong(tabular.advise({ row, model: 'y', goal: 'highest' } as never), 'config.invalid', /vary/);
      const [card] = tabular.models();
      card!.columns.length = 0;
      card!.task = 'classification';
      const { table } = await tabular.predict({ table: [{ size: 3 }], model: 'y' });
      assert.equal(typeof (table as { prediction: number }[])[0]!.prediction, 'number');
    } finally {
      await tabular.close();
    }
  });

  it('closed twice, leaves the file of the models to another that has it', async () => {
    const service = await startStrictService();
    const open = () =>
      connect({ baseUrl: service.url, token: service.token, models: path.join(folder, 'models.json') });
    const [first, second] = [await open(), await open()];
    await Promise.all([first.close(), first.close()]);
    await first.close();
    const third = await open();
    try {
      await second.train({ table: rows, target: 'y', task: 'regression' });
      assert.deepEqual(
        third.models().map(({ name }) => name),
        ['y'],
      );
    } finally {
      await Promise.all([second.close(), third.close(), service.close()]);
    }
  });

  it('wants one service, not two or none', async () => {
    await assert.rejects(connect({}), code('config.invalid'));
    for (const nothing of [undefined, null]) {
      await assert.rejects(connect(nothing as never), code('config.invalid'));
    }
    await assert.rejects(connect({ dataDir: folder, baseUrl: 'http://127.0.0.1:1' }), code('config.invalid'));
    await assert.rejects(connect({ baseUrl: 'no address' }), code('config.invalid'));
    // What it had started by then is ended: the folder is free.
    await assert.rejects(connect({ dataDir: folder, retries: -1 }), code('config.invalid'));
    const tabular = await connect({ dataDir: folder });
    await tabular.close();
  });
});
