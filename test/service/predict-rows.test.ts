import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { waitFor } from '../helpers/wait';
import { type Answer, Harness, nobody, UUID } from './harness';
import { parquetOf } from './parquet-file';

describe('Service: predict with the rows in the request', function () {
  this.timeout(60_000);
  let h: Harness;
  before(async () => {
    h = await Harness.start({ keepaliveMs: 30_000 });
  });
  after(() => h.stop());

  const rows = Array.from({ length: 90 }, (_, i) => i);
  const X_train = rows.map((i) => [i % 30, ['007', '12', null][i % 3], i % 2 === 0]);
  const y_train = rows.map((i) => (i % 30 < 15 ? 'low' : 'high'));
  const X_test = [
    [3, '007', true],
    [28, null, false],
  ];
  const classify = { task: 'classification', svc_config: { n_estimators: 2 } };
  const post = (body: object, route = '/predict'): Promise<Answer> => h.post(route, body);
  const stored = async (): Promise<string[]> =>
    (await Promise.all(['uploads', 'models'].map((name) => readdir(path.join(h.folder, name))))).flat();

  it('trains and predicts in one request, and keeps nothing', async () => {
    for (const route of ['/predict', '/svc/predict', '/predict/']) {
      const { status, body, text } = await post({ task_config: classify, X_train, y_train, X_test }, route);
      assert.equal(status, 200, text);
      assert.deepEqual(Object.keys(body), ['prediction', 'metadata']);
      assert.deepEqual(body.metadata.classes, ['high', 'low']);
      assert.ok(body.prediction[0][1] > 0.8 && body.prediction[1][0] > 0.8);
      assert.equal(body.metadata.svc_config.n_estimators, 2);
      assert.deepEqual(body.metadata.ignored_options, []);
    }
    assert.deepEqual(await stored(), []);
  });

  describe('in the Parquet files of a form', () => {
    const loads = rows.map((i) => i % 30);
    const files = {
      x_train: parquetOf({ load: loads, site: rows.map((i) => ['Oslo', 'Bern'][i % 2]!) }),
      y_train: parquetOf({ target: y_train }),
      x_test: parquetOf({ load: [3, 28], site: ['Oslo', 'Bern'] }),
    };
    const send = async (
      sent: Record<string, Uint8Array | string>,
      route = '/predict',
    ): Promise<Pick<Answer, 'status' | 'body'>> => {
      const body = new FormData();
      for (const [name, part] of Object.entries(sent)) {
        body.append(name, typeof part === 'string' ? part : new Blob([Buffer.from(part)]));
      }
      const answer = await fetch(h.url(route), { method: 'POST', headers: h.bearer(), body });
      return { status: answer.status, body: await answer.json() };
    };
    const request = JSON.stringify({ task_config: classify, payload_format: 'parquet' });

    it('trains and predicts, and keeps nothing', async () => {
      for (const route of ['/predict', '/svc/predict']) {
        const { status, body } = await send({ request, ...files }, route);
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual(body.metadata.classes, ['high', 'low']);
        assert.ok(body.prediction[0][1] > 0.8 && body.prediction[1][0] > 0.8);
      }
      assert.deepEqual(await stored(), []);
    });

    it('is 422 that names what is missing, unknown or broken', async () => {
      const { x_test, ...train } = files;
      const broken = [
        [{ ...files }, /"request" \(JSON\) is required/],
        [{ request: '{', ...files }, /not a JSON object/],
        [{ request: '[]', ...files }, /not a JSON object/],
        [{ request, ...train }, /X_test|x_test/],
        [{ request, x_test }, /X_train/],
        [{ request, ...files, more: 'x' }, /more is an unknown part/],
        [
          { request: JSON.stringify({ task_config: classify, payload_format: 'csv' }), ...files },
          /must be parquet/,
        ],
        [{ request, ...files, x_train: new Uint8Array(40).fill(7) }, /parquet/i],
        [{ request, ...files, y_train: parquetOf({ a: y_train, b: y_train }) }, /must have exactly one/],
      ] as const;
      for (const [sent, expected] of broken) {
        const { status, body } = await send(sent);
        assert.equal(status, 422, JSON.stringify(body));
        assert.match(String(body.message), expected);
      }
      assert.deepEqual(await stored(), []);
    });
  });

  it('takes small letters, any name of the configuration, targets in a column, and rows as objects', async () => {
    const x = rows.map((i) => ({ load: i, 'a "b",\nc': i % 7 === 0 ? undefined : i % 5 }));
    const { status, body, text } = await post({
      task_config: {
        task: 'regression',
        acme_config: { device: 'auto', n_estimators: 2 },
        predict_params: { output_type: 'quantiles', quantiles: [0.1, 0.9] },
      },
      x_train: x,
      y_train: rows.map((i) => [i * 2]),
      x_test: [{ 'a "b",\nc': 1, load: 20, more: 1 }],
    });
    assert.equal(status, 200, text);
    const [[low], [high]] = body.prediction as [[number], [number]];
    assert.ok(low <= 40 && high >= 36 && low < high, `${low} to ${high}`);
    assert.deepEqual(body.metadata.acme_config.device, ['cpu']);
    assert.deepEqual(body.metadata.ignored_options, ['device']);
    assert.deepEqual(body.metadata.ignored_columns, ['more']);
  });

  it('keeps the model with fit_mode fit_with_cache, and predicts with it by its id', async () => {
    const task_config = { ...classify, svc_config: { n_estimators: 2, fit_mode: 'fit_with_cache' } };
    const first = await post({ task_config, X_train, y_train, X_test });
    assert.match(first.body.model_id, UUID);
    assert.deepEqual(await stored(), [first.body.model_id], 'of the rows nothing is kept');
    const context = { model_id: first.body.model_id };
    const again = await post({ task_config, context, X_test });
    assert.deepEqual(again.body.prediction, first.body.prediction);
    assert.equal(again.body.model_id, first.body.model_id);
    const preds = await post({
      task_config: { task: 'classification', predict_params: { output_type: 'preds' } },
      context,
      X_test,
    });
    assert.deepEqual(preds.body.prediction, ['low', 'high']);
    assert.deepEqual(await stored(), [first.body.model_id], 'a predict by id removes nothing');
    const summary = (await h.get('/get_data_summary')).body;
    assert.deepEqual(summary.fitted_train_sets[0].columns, ['0', '1', '2']);
    await fetch(h.url(`/delete_dataset/?dataset_uid=${first.body.model_id}`), {
      method: 'DELETE',
      headers: h.bearer(),
    });
    assert.equal((await post({ task_config, context, X_test })).status, 404);
  });

  it('says what is wrong with the rows, and where', async () => {
    const good = { task_config: classify, X_train, y_train, X_test };
    const cases: [object, RegExp][] = [
      [{ ...good, X_test: undefined, test_set: 1 }, /x_test is required/],
      [{ ...good, X_test: [] }, /x_test must be an array of at least 1 item/],
      [{ ...good, y_train: undefined }, /y_train is required/],
      [{ ...good, X_train: undefined }, /X_train is required, with y_train, or context\.model_id/],
      [{ ...good, task_config: {} }, /task_config\.task is required/],
      [{ ...good, X_train: [...X_train.slice(1), [1]] }, /X_train\[89\] must be an array of 3 cells/],
      [{ ...good, X_train: [{ a: 1 }, [1]] }, /X_train\[0\]/],
      [
        { ...good, X_test: [[1, { a: 1 }, true]] },
        /X_test\[0\]\[1\] must be a number, text, true, false or null/,
      ],
      [{ ...good, X_test: [7] }, /X_test\[0\] must be an array of cells/],
      [{ ...good, X_test: [[]] }, /X_test\[0\] must be an array of 1 cells/],
      [{ ...good, X_test: [{}] }, /X_test has no columns/],
      [{ ...good, y_train: [...y_train.slice(1), [1, 2]] }, /y_train\[89\] must be/],
      [{ ...good, y_train: y_train.slice(1) }, /90 rows .* 89/],
      [{ ...good, y_train: [...y_train.slice(1), null] }, /missing in row 90/],
      [{ ...good, X_test: [['red', '7', true]] }, /Column "0", row 1: "red" is not a number/],
      [{ ...good, X_test: [[1, '7']] }, /Columns of the train set are missing: 2/],
      [{ ...good, context: { model_id: 'x' }, X_train: undefined }, /context\.model_id must be a UUID/],
      [
        { ...good, task_config: { task: 'classification', predict_params: { output_type: 'mean' } } },
        /output_type must be one of probas, preds/,
      ],
    ];
    for (const [body, said] of cases) {
      const answer = await post(body);
      assert.equal(answer.status, 422, `${said}: ${answer.text}`);
      assert.match(answer.body.message, said);
    }
    const unknown = await post({ task_config: classify, context: { model_id: nobody }, X_test });
    assert.equal(unknown.status, 404);
    const large = await post({ ...good, X_test: [['x'.repeat(17 * 1024 * 1024)]] });
    assert.equal(large.status, 413);
    assert.deepEqual(await stored(), []);
  });

  it('keeps text as text, true and false as such, and a table with one column that has gaps', async () => {
    const one = await post({
      task_config: { ...classify, predict_params: { output_type: 'preds' } },
      X_train: rows.map((i) => [i % 3 === 0 ? null : i % 2]),
      y_train: rows.map((i) => i % 2 === 0),
      X_test: [[0], [1], [null]],
    });
    assert.equal(one.status, 200, one.text);
    assert.deepEqual(one.body.metadata.classes, [false, true]);
    assert.equal(one.body.prediction.length, 3);
    const numbers = await post({
      task_config: { ...classify, predict_params: { output_type: 'preds' } },
      X_train: rows.map((i) => [String(i % 3)]),
      y_train: rows.map((i) => i % 3),
      X_test: [['0'], [1], ['2']],
    });
    assert.deepEqual(numbers.body.prediction, [0, 1, 2]);
  });

  it('ends the fit where its client goes away', async () => {
    const long = Array.from({ length: 60_000 }, (_, i) => [i % 97, (i * 7) % 13]);
    const body = JSON.stringify({
      task_config: { task: 'regression' },
      X_train: long,
      y_train: long.map(([a], i) => a! + (i % 11)),
      X_test: [[1, 2]],
    });
    const gone = new AbortController();
    const answer = fetch(h.url('/predict'), {
      method: 'POST',
      headers: { ...h.bearer(), 'content-type': 'application/json' },
      body,
      signal: gone.signal,
    }).then((response) => response.text());
    const fits = async () => (await h.get('get_service_status')).body.fits as { progress: number }[];
    await waitFor('a fold under way', async () => (await fits()).some(({ progress }) => progress > 0));
    gone.abort();
    await assert.rejects(answer, { name: 'AbortError' });
    // Left alone it would take some twenty seconds.
    await waitFor('the fit to end', async () => (await fits()).length === 0, 5_000);
    assert.deepEqual(await stored(), []);
  });
});
