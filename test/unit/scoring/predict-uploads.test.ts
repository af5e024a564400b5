import { strict as assert } from 'node:assert';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { inTurn } from '../../helpers/strict-service';
import { ask, benchWithModel, LARGE, NOT_FOUND, probability } from './predict-bench';
import { type Bench, codeOf, history, row } from './stand-in';

describe('Predictor, uploads that are there, lost or reused', () => {
  let at: Bench;
  const start = async (...options: Parameters<typeof benchWithModel>): Promise<void> => {
    at = await benchWithModel(...options);
  };
  afterEach(() => at.close());

  it('a model that the service does not have any more: model.unknown, and the card is dead until it is fitted anew', async () => {
    await start();
    const old = at.cards.get('pets')!;
    at.service.deleteModel(old.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [true],
    );
    const { card, reused } = await at.connection.train({
      table: { value: history() },
      target: 'species',
      model: 'pets',
    });
    assert.equal(reused, false);
    assert.notEqual(card.fitted_train_set_id, old.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'none');
  });

  it('a small test set goes without its hash, which another one may have; a large one with it', async () => {
    await start({ testDuplicates: true });
    const hashes = (): string[] =>
      at.service
        .seen('prepare_test_set_upload')
        .map(({ body }) => typeof (body as { x_test_info: { hash?: string } }).x_test_info.hash);
    await at.connection.predict(ask(row(1)));
    await at.connection.predict(ask(row(1)));
    assert.deepEqual(hashes(), ['undefined', 'undefined']);
    assert.equal(at.service.seen('put').length, 2 + 2, 'sent twice');
    await at.connection.predict(ask(LARGE));
    await at.connection.predict(ask(LARGE));
    assert.deepEqual(hashes().slice(2), ['string', 'string']);
    assert.equal(at.service.seen('put').length, 2 + 3, 'the service had it');
  });

  it('a reused test set that predict refuses is sent again, once', async () => {
    await start({ testDuplicates: true });
    await at.connection.predict(ask(LARGE));
    at.service.fault('predict', inTurn(NOT_FOUND));
    const { prediction } = await at.connection.predict(ask(LARGE));
    assert.deepEqual((prediction as number[][])[1]![0], probability(1));
    assert.equal(at.service.seen('put').length, 2 + 2);
    at.service.fault('predict', () => NOT_FOUND);
    assert.equal(await codeOf(at.connection.predict(ask(LARGE))), 'model.unknown');
    assert.equal(at.service.seen('predict').length, 1 + 2 + 2);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a test set that was lost before predict is sent again, once and without hash, and no model is blamed', async () => {
    await start();
    at.service.fault('predict', ({ n }) => {
      if (n === 0) {
        at.service.deleteTestSets();
      }
      return undefined;
    });
    const { prediction } = await at.connection.predict(ask(row(1)));
    assert.deepEqual((prediction as number[][])[0]![0], probability(1));
    const hashes = at.service
      .seen('prepare_test_set_upload')
      .map(({ body }) => typeof (body as { x_test_info: { hash?: string } }).x_test_info.hash);
    assert.deepEqual(hashes, ['undefined', 'undefined']);
    at.service.fault('predict', () => {
      at.service.deleteTestSets();
      return undefined;
    });
    assert.equal(await codeOf(at.connection.predict(ask(row(2)))), 'not_found');
    assert.equal(at.service.seen('predict').length, 2 + 2);
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [undefined],
    );
    assert.deepEqual(at.service.breaches, []);
  });

  it('a model that was lost before predict is named at once: nothing is sent again', async () => {
    await start();
    const { fitted_train_set_id: id } = at.cards.get('pets')!;
    at.service.fault('predict', () => {
      at.service.deleteModel(id);
      return undefined;
    });
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal(at.service.seen('put').length, 2 + 1);
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [true],
    );
  });

  it('a 404 that does not say what is missing: the test set is sent again before the model is suspected', async () => {
    await start();
    at.service.fault('predict', inTurn(NOT_FOUND));
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'none');
    assert.equal(at.cards.list()[0]!.dead, undefined);
    at.service.fault('predict', () => NOT_FOUND);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.equal(at.cards.list()[0]!.dead, true);
    assert.equal(at.service.seen('predict').length, 2 + 2);
  });

  it('a 404 of something on the way is not answered by sending again', async () => {
    await start();
    at.service.fault('predict', () => ({ status: 404, body: '<html>nginx</html>' }));
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'not_found');
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal(at.cards.list()[0]!.dead, undefined);
  });

  it('an upload id: the model is dead only where the service says that it is the model that is gone', async () => {
    await start();
    const { id } = await at.connection.upload({ set: 'test', table: { value: [row(5)] }, model: 'pets' });
    at.service.deleteTestSets();
    assert.equal(await codeOf(at.connection.predict({ testSetUploadId: id })), 'not_found');
    assert.equal(at.cards.list()[0]!.dead, undefined);
    at.service.deleteModel(at.cards.get('pets')!.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict({ testSetUploadId: id })), 'model.unknown');
    assert.equal(at.cards.list()[0]!.dead, true);
  });

  it('an upload id is predicted as it is', async () => {
    await start();
    const upload = await at.connection.upload({
      set: 'test',
      table: { value: [row(5), row(6)] },
      model: 'pets',
      format: 'csv',
    });
    assert.deepEqual([upload.rows, upload.format, upload.set], [2, 'csv', 'test']);
    const outcome = await at.connection.predict({ testSetUploadId: upload.id });
    assert.deepEqual(
      (outcome.prediction as number[][]).map(([first]) => first),
      [5, 6].map(probability),
    );
    assert.equal(outcome.modelName, 'pets');
    assert.equal(outcome.table, undefined);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a Parquet file that has the columns already goes up as it is; another one is encoded anew', async () => {
    await start();
    const folder = mkdtempSync(path.join(tmpdir(), 'upload-'));
    try {
      const first = await at.connection.upload({
        set: 'test',
        table: { value: [row(1), row(2), row(3)] },
        model: 'pets',
      });
      const file = path.join(folder, 'rows.parquet');
      const bytes = at.service.bytesOf(first.id);
      writeFileSync(file, bytes);
      const upload = await at.connection.upload({ set: 'test', table: { path: file }, model: 'pets' });
      assert.deepEqual(at.service.bytesOf(upload.id), bytes);
      assert.deepEqual([upload.rows, upload.bytes, upload.hash], [3, bytes.length, first.hash]);
      assert.ok(existsSync(file));
      await at.connection.train({
        table: { value: history() },
        target: 'species',
        ignore: ['ok'],
        model: 'fewer',
      });
      const anew = await at.connection.upload({ set: 'test', table: { path: file }, model: 'fewer' });
      assert.deepEqual(
        anew.columns.map(({ name }) => name),
        ['id', 'name', 'size'],
      );
      const { prediction } = await at.connection.predict({ testSetUploadId: anew.id, outputType: 'preds' });
      assert.deepEqual(prediction, ['dog', 'cat', 'dog']);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a Parquet file is predicted as it is where its columns fit the model and it need not be split', async () => {
    await start();
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    try {
      const rows = Array.from({ length: 40 }, (_, id) => row(id));
      const first = await at.connection.upload({ set: 'test', table: { value: rows }, model: 'pets' });
      const file = path.join(folder, 'rows.parquet');
      const bytes = at.service.bytesOf(first.id);
      writeFileSync(file, bytes);
      const asRead = () =>
        at.connection.predict({ table: { path: file }, model: 'pets', outputType: 'preds' });
      const sent = () => at.service.seen('prepare_test_set_upload').map(({ body }) => body);
      const labels = rows.map(({ id }) => (id % 2 === 0 ? 'cat' : 'dog'));
      await at.close();
      await start();
      const outcome = await asRead();
      const [asked] = at.service.seen('predict').map(({ body }) => body as { test_set_upload_id: string });
      assert.deepEqual(at.service.bytesOf(asked!.test_set_upload_id), bytes);
      assert.deepEqual(outcome.prediction, labels);
      assert.deepEqual(
        outcome.table,
        rows.map((one, i) => ({ ...one, prediction: labels[i] })),
      );

      // Over a limit it is split, and so encoded anew.
      for (const limits of [
        { max_model_limit: { test_set_max_rows: 30 } },
        { max_model_limit: { test_set_max_cells: 30 * 4 } },
      ]) {
        await at.close();
        await start({ limits });
        assert.deepEqual((await asRead()).prediction, labels);
        const sizes = sent().map(
          (body) => (body as { x_test_info: { size_bytes: number } }).x_test_info.size_bytes,
        );
        assert.equal(sizes.length, 2);
        assert.ok(!sizes.includes(bytes.length));
      }
      assert.ok(existsSync(file));
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('an upload beyond the limits of a test set is not sent', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 2 } } });
    const upload = at.connection.upload({
      set: 'test',
      table: { value: [row(1), row(2), row(3)] },
      model: 'pets',
    });
    assert.equal(await codeOf(upload), 'limit.exceeded');
    assert.equal(at.service.seen('prepare_test_set_upload').length, 0);
  });

  it('an upload stays with the model that it was made for, also when its name stands for a newer one', async () => {
    await start();
    const table = { value: [row(5), row(6)] };
    const upload = await at.connection.upload({ set: 'test', table, model: 'pets' });
    await at.connection.train({ table: { value: history(25) }, target: 'species', model: 'pets' });
    for (const model of ['pets', undefined]) {
      const outcome = await at.connection.predict({ testSetUploadId: upload.id, model, outputType: 'preds' });
      assert.deepEqual(outcome.prediction, ['dog', 'cat']);
    }
    assert.equal(
      await codeOf(at.connection.predict({ testSetUploadId: 'nope', model: 'pets' })),
      'validation.failed',
    );
    const unknown = '00000000-0000-4000-8000-000000000000';
    assert.equal(
      await codeOf(at.connection.predict({ testSetUploadId: unknown, model: 'pets' })),
      'not_found',
    );
    assert.equal(at.cards.list()[0]!.dead, undefined);
  });
});
