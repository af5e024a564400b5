import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { collide } from '../helpers/collide';
import { waitFor } from '../helpers/wait';
import { flowers, Harness, infoOf, line, putFile, UUID } from './harness';
import { sharedService } from './shared';

describe('Service: fit and predict', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  describe('classification', () => {
    const { x, y } = flowers();
    let fitted: string;
    before(async () => {
      fitted = await h.fit(x, y, 'classification');
    });

    it('answers a fit with id and status (S 4.3)', async () => {
      const id = await h.uploadTrain(x, y, { force_reupload: true });
      const { status, body } = await h.post('fit', {
        train_set_upload_id: id,
        task: 'classification',
        svc_systems: ['preprocessing', 'text'],
        svc_config: { n_estimators: 2, random_state: 7 },
      });
      assert.equal(status, 200);
      assert.match(body.fitted_train_set_id, UUID);
      assert.equal(body.status, 'completed');
      assert.ok(body.report.scores.accuracy > 0.9);
    });

    it('answers probas by default, classes in code point order (S 4.4, 2.7)', async () => {
      const { status, body } = await h.predict(fitted, x, 'classification');
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body.metadata.classes, ['aster', 'basil', 'élan']);
      assert.equal(body.prediction.length, 90);
      body.prediction.forEach((row: number[], i: number) => {
        assert.equal(row.length, 3);
        assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-9);
        assert.equal(row.indexOf(Math.max(...row)), i % 3);
      });
    });

    it('answers metadata with every field of S 2.7, embedded by name', async () => {
      const test = await h.uploadTest(fitted, x);
      const { body } = await h.post('predict', {
        test_set_upload_id: test,
        fitted_train_set_id: fitted,
        task_config: { task: 'classification', svc_config: { random_state: 3, device: ['cpu'] } },
      });
      const { metadata } = body;
      assert.equal(metadata.test_set_num_rows, 90);
      assert.equal(metadata.test_set_num_cols, 3);
      assert.match(metadata.package_version, /^embedded-\d/);
      assert.equal(metadata.task, 'classification');
      assert.equal(metadata.svc_config.model_path, 'embedded');
      assert.equal(metadata.svc_config.random_state, 0, 'what was used');
      assert.deepEqual(Object.keys(metadata.svc_config).sort(), [
        'average_before_softmax',
        'balance_probabilities',
        'categorical_features_indices',
        'device',
        'fit_mode',
        'ignore_pretraining_limits',
        'inference_config',
        'inference_precision',
        'memory_saving_mode',
        'model_path',
        'n_estimators',
        'n_preprocessing_jobs',
        'random_state',
        'softmax_temperature',
      ]);
      assert.ok(metadata.ignored_options.includes('random_state'), 'it came after the fit');
    });

    it('answers preds with the labels themselves', async () => {
      const { body } = await h.predict(fitted, x, 'classification', { output_type: 'preds' });
      assert.deepEqual(body.prediction.slice(0, 4), ['aster', 'basil', 'élan', 'aster']);
    });

    it('finds columns by name: any order, extra ones ignored and named, missing ones refused', async () => {
      const shuffled = 'extra,place,width,length\nq,north,5.1,0.1\nq,south,3.1,4.1\n';
      const { body } = await h.predict(fitted, shuffled, 'classification', { output_type: 'preds' });
      assert.deepEqual(body.prediction, ['aster', 'élan']);
      assert.deepEqual(body.metadata.ignored_columns, ['extra']);
      assert.equal(body.metadata.test_set_num_cols, 4);
      const refused = await h.predict(fitted, 'length\n1\n', 'classification');
      assert.equal(refused.status, 422);
      assert.match(refused.body.message, /width, place/);
    });

    it('takes missing values, unseen categories, numbers in text; names a value of the wrong type', async () => {
      const odd = 'length,width,place\n,,\n0.1,5,underwater\n4,3,42\n';
      assert.equal((await h.predict(fitted, odd, 'classification')).status, 200);
      const wrong = 'length,width,place\n1,2,north\n1,wide,north\n';
      const { status, body } = await h.predict(fitted, wrong, 'classification');
      assert.equal(status, 422);
      assert.match(body.message, /"width", row 2.*"wide"/);
    });

    it('refuses the wrong task, a foreign test set, and a table without rows', async () => {
      const task = await h.predict(fitted, x, 'regression');
      assert.equal(task.status, 422);
      assert.match(task.body.message, /classification/);
      const other = await h.fit(x, y, 'classification', { force_refit: true });
      const test = await h.uploadTest(other, x);
      const foreign = await h.post('predict', {
        test_set_upload_id: test,
        fitted_train_set_id: fitted,
        task_config: { task: 'classification' },
      });
      assert.equal(foreign.status, 422);
      assert.equal((await h.predict(fitted, 'length,width,place\n', 'classification')).status, 422);
    });

    it('answers a test set known by a wide hash with 409, per fitted train set', async () => {
      const rows = 'length,width,place\n0.1,5,north\n';
      const hash = createHash('sha256').update(rows).digest('hex');
      const prepare = (id: string) =>
        h.post('prepare_test_set_upload', {
          fitted_train_set_id: id,
          x_test_info: { ...infoOf(rows), hash },
        });
      const first = await prepare(fitted);
      assert.equal(first.status, 200);
      assert.deepEqual(Object.keys(first.body).sort(), ['test_set_upload_id', 'x_test_info']);
      assert.equal((await prepare(fitted)).status, 200, 'its bytes have not arrived');
      await putFile(first.body.x_test_info, rows);
      const again = await prepare(fitted);
      assert.equal(again.status, 409);
      assert.equal(again.body.error_code, 'DUPLICATE_TEST_SET_UPLOAD');
      assert.equal(again.body.test_set_upload_id, first.body.test_set_upload_id);
      const other = await h.fit(x, y, 'classification', { force_refit: true });
      assert.equal((await prepare(other)).status, 200);
    });

    it('never gives rows the predictions of others that share their CRC32C', async () => {
      const first = `length,width,place\n0.1,5,north${'0'.repeat(30)}\n`;
      const at = first.indexOf('0'.repeat(30));
      const second = collide(first, first.replace('0.1,5', '4.1,3'), at, at + 30);
      assert.notEqual(second, first);
      assert.deepEqual(infoOf(second), infoOf(first));
      const predict = async (rows: string): Promise<unknown> => {
        const asked = { fitted_train_set_id: fitted, x_test_info: infoOf(rows) };
        const { status, body } = await h.post('prepare_test_set_upload', asked);
        if (status === 200) {
          assert.equal((await putFile(body.x_test_info, rows)).status, 200);
        }
        const answer = await h.post('predict', {
          test_set_upload_id: body.test_set_upload_id,
          fitted_train_set_id: fitted,
          task_config: { task: 'classification', predict_params: { output_type: 'preds' } },
        });
        return answer.body.prediction;
      };
      assert.deepEqual([await predict(first), await predict(second)], [['aster'], ['élan']]);
    });

    it('answers the same fit with the same id, unless forced or asked otherwise', async () => {
      const id = await h.uploadTrain(x, y, { force_reupload: true });
      const fit = async (extra: object = {}) =>
        (await h.post('fit', { train_set_upload_id: id, task: 'classification', ...extra })).body;
      const first = await fit();
      const same = await fit({ svc_config: {}, svc_systems: ['text', 'preprocessing'] });
      const shapeB = (
        await h.post('fit', { train_set_upload_id: id, task_config: { task: 'classification' } })
      ).body;
      assert.equal(same.fitted_train_set_id, first.fitted_train_set_id);
      assert.equal(shapeB.fitted_train_set_id, first.fitted_train_set_id);
      const other = { svc_config: { random_state: 1, n_estimators: 1 } };
      const others = [await fit({ force_refit: true }), await fit(other)];
      const ids = new Set([first, ...others].map((body) => body.fitted_train_set_id));
      assert.equal(ids.size, 3);
    });
  });

  it('sorts number classes by value and gives labels their own type back', async () => {
    const x = `a\n${Array.from({ length: 60 }, (_, i) => i % 3).join('\n')}\n`;
    const cases: [string[], unknown[]][] = [
      [
        ['10', '9', '-1'],
        [-1, 9, 10],
      ],
      [
        ['true', 'false', 'true'],
        [false, true],
      ],
      [
        ['b', 'B', 'a'],
        ['B', 'a', 'b'],
      ],
    ];
    for (const [labels, classes] of cases) {
      const y = `y\n${Array.from({ length: 60 }, (_, i) => labels[i % 3]).join('\n')}\n`;
      const id = await h.fit(x, y, 'classification');
      const { body } = await h.predict(id, 'a\n0\n1\n2\n', 'classification');
      assert.deepEqual(body.metadata.classes, classes);
      const preds = await h.predict(id, 'a\n0\n1\n2\n', 'classification', { output_type: 'preds' });
      assert.deepEqual(preds.body.prediction.map(String), labels);
      assert.deepEqual(
        preds.body.prediction.map((label: unknown) => typeof label),
        Array(3).fill(typeof classes[0]),
      );
    }
  });

  it('reads text that looks like numbers in a test file as the text it was in the train file', async () => {
    const codes = ['007', '7', '1.50', 'x'];
    const rows = Array.from({ length: 80 }, (_, i) => codes[i % 4]!);
    const x = `code\n${rows.join('\n')}\n`;
    const y = `y\n${rows.map((code) => `is-${code}`).join('\n')}\n`;
    const id = await h.fit(x, y, 'classification');
    for (const code of codes) {
      const { body } = await h.predict(id, `code\n${code}\n`, 'classification', { output_type: 'preds' });
      assert.deepEqual(body.prediction, [`is-${code}`]);
    }
  });

  describe('regression', () => {
    const { x, y } = line();
    const test = 'a,b\n10,1\n40,2\n';
    let fitted: string;
    before(async () => {
      fitted = await h.fit(x, y, 'regression');
    });

    it('answers mean by default, median and mode: a number per row', async () => {
      for (const output_type of [undefined, 'mean', 'median', 'mode']) {
        const params = output_type === undefined ? undefined : { output_type };
        const { status, body } = await h.predict(fitted, test, 'regression', params);
        assert.equal(status, 200);
        const [ten, forty] = body.prediction as number[];
        assert.ok(Math.abs(ten! - 20) < 6 && Math.abs(forty! - 80) < 6, JSON.stringify(body.prediction));
        assert.equal(body.metadata.classes, undefined);
        assert.equal(body.metadata.svc_config.balance_probabilities, undefined);
      }
    });

    it('answers quantiles as [quantile][row], 0.1 to 0.9 by default, never crossing', async () => {
      const nine = (await h.predict(fitted, test, 'regression', { output_type: 'quantiles' })).body;
      assert.equal(nine.prediction.length, 9);
      for (let row = 0; row < 2; row++) {
        const values = nine.prediction.map((level: number[]) => level[row]) as number[];
        assert.deepEqual(
          values,
          [...values].sort((a, b) => a - b),
        );
      }
      const one = (
        await h.predict(fitted, test, 'regression', { output_type: 'quantiles', quantiles: [0.5] })
      ).body;
      assert.deepEqual([one.prediction.length, one.prediction[0].length], [1, 2]);
    });

    it('answers full with mean, median, mode, quantiles, borders and logits', async () => {
      const { prediction } = (await h.predict(fitted, test, 'regression', { output_type: 'full' })).body;
      const { borders, logits } = prediction;
      assert.deepEqual(Object.keys(prediction), ['mean', 'median', 'mode', 'quantiles', 'borders', 'logits']);
      assert.deepEqual([prediction.mean.length, prediction.quantiles.length], [2, 9]);
      assert.equal(logits.length, 2);
      assert.ok(borders.every((value: number, i: number) => i === 0 || value > borders[i - 1]));
      for (const row of logits as (number | null)[][]) {
        assert.equal(row.length, borders.length - 1);
        const sum = row.reduce<number>((total, value) => total + (value === null ? 0 : Math.exp(value)), 0);
        assert.ok(Math.abs(sum - 1) < 1e-6);
      }
    });

    it('serves /v1/predict from a multipart form (S 4.7)', async () => {
      const form = (data: object, file = test) => {
        const body = new FormData();
        body.set('data', new Blob([JSON.stringify(data)], { type: 'application/json' }));
        body.set('file', new Blob([file], { type: 'text/csv' }), 'rows.csv');
        return fetch(h.url('/v1/predict'), { method: 'POST', headers: h.bearer(), body }).then(
          async (response) => ({
            status: response.status,
            body: await response.json(),
          }),
        );
      };
      const { status, body } = await form({ model_id: fitted, task: 'regression', n_estimators: 4 });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.prediction.length, 2);
      assert.deepEqual(Object.keys(body).sort(), [
        'duration_seconds',
        'params',
        'prediction',
        'remaining_quota',
        'task',
        'used_credits',
      ]);
      assert.equal(body.used_credits, 0);
      assert.deepEqual([body.params.differentiable_input, body.params.n_jobs], [false, null]);
      assert.equal((await form({ model_id: fitted, task: 'regression', n_estimators: 11 })).status, 422);
      assert.equal((await form({ model_id: fitted, task: 'regression', colour: 1 })).status, 200);
      assert.equal((await form({ model_id: 'nobody', task: 'regression' })).status, 404);
      assert.equal((await form({ model_id: fitted, task: 'regression' }, 'z\n1\n')).status, 422);
    });
  });

  it('explains train sets that cannot be fitted, with 422', async () => {
    const ten = (name: string, value: (i: number) => unknown) =>
      `${name}\n${Array.from({ length: 10 }, (_, i) => String(value(i))).join('\n')}\n`;
    const x = ten('a', (i) => i);
    const cases: [string, string, string, RegExp][] = [
      [
        x,
        ten('y', (i) => (i === 3 ? '' : i)).replace('\n\n', '\n""\n'),
        'regression',
        /"y" is missing in row 4/,
      ],
      [x, ten('y', (i) => `k${i}`), 'regression', /holds text/],
      [x, ten('y', (i) => (i === 3 ? '' : `k${i % 2}`)).replace('\n\n', '\n""\n'), 'classification', /row 4/],
      [x, 'y\n1\n2\n', 'regression', /10 rows .* 2/],
      [x, 'y,z\n1,2\n', 'regression', /2 columns/],
      ['a\n', 'y\n', 'regression', /no rows/],
    ];
    for (const [features, target, task, pattern] of cases) {
      const id = await h.uploadTrain(features, target, { force_reupload: true });
      const { status, body } = await h.post('fit', { train_set_upload_id: id, task });
      assert.equal(status, 422, JSON.stringify(body));
      assert.match(body.message, pattern);
    }
    const many = `y\n${Array.from({ length: 200 }, (_, i) => `k${i}`).join('\n')}\n`;
    const wide = `a\n${Array.from({ length: 200 }, (_, i) => i).join('\n')}\n`;
    const id = await h.uploadTrain(wide, many);
    const { status, body } = await h.post('fit', { train_set_upload_id: id, task: 'classification' });
    assert.equal(status, 422);
    assert.match(body.message, /more than 160 classes/);
    const rubbish = await h.uploadTrain(Buffer.from('not parquet at all'), Buffer.from('nor this'));
    const refused = await h.post('fit', { train_set_upload_id: rubbish, task: 'classification' });
    assert.equal(refused.status, 422);
    assert.match(refused.body.message, /parquet/i);
  });

  it('enforces the limits that it reports', async () => {
    const small = await Harness.start({
      limits: {
        train_set_max_rows: 50,
        test_set_max_rows: 5,
        max_cols: 2,
        test_set_max_rows_w_full_regression_output: 1,
      },
    });
    try {
      const limits = (await small.get('get_model_limits')).body.max_model_limit;
      assert.equal(limits.train_set_max_rows, 50);
      const tooLong = await small.uploadTrain(line(51).x, line(51).y);
      const refused = await small.post('fit', { train_set_upload_id: tooLong, task: 'regression' });
      assert.equal(refused.status, 422);
      assert.match(refused.body.message, /51 rows.*50/);
      const fitted = await small.fit(line(40).x, line(40).y, 'regression');
      assert.equal((await small.predict(fitted, line(6).x, 'regression')).status, 422);
      assert.equal((await small.predict(fitted, line(5).x, 'regression')).status, 200);
      assert.equal(
        (await small.predict(fitted, line(2).x, 'regression', { output_type: 'full' })).status,
        422,
      );
    } finally {
      await small.stop();
    }
  });

  it('keeps a long fit alive with whitespace, and tells an error after it in the body (S 1)', async () => {
    const slow = await Harness.start({ keepaliveMs: 5 });
    try {
      const { x, y } = line(150);
      const id = await slow.uploadTrain(x, y);
      const good = await slow.post('fit', {
        train_set_upload_id: id,
        task: 'regression',
        svc_config: { n_estimators: 2 },
      });
      assert.equal(good.status, 200);
      assert.match(good.text, /^ +\{/);
      assert.equal(good.body.status, 'completed');
      const bad = await slow.uploadTrain('a\n1\n', `y\n${'1.5\n'.repeat(50_000)}`);
      const streamed = await slow.post('fit', { train_set_upload_id: bad, task: 'regression' });
      assert.equal(streamed.status, 200);
      assert.equal(streamed.body._streamed_error, true);
      assert.equal(streamed.body.status_code, 422);
      assert.match(streamed.body.message, /1 rows .* 50000/);
      const { body } = await slow.get('get_service_status');
      assert.deepEqual(body.fits, []);
    } finally {
      await slow.stop();
    }
  });

  it('shows a fit under way, joins the one who asks again, and goes on without its client', async () => {
    const { x, y } = line(2_500);
    const train_set_upload_id = await h.uploadTrain(x, y);
    const wanted = { train_set_upload_id, task: 'regression', svc_config: { n_estimators: 2 } };
    const controller = new AbortController();
    const gone = fetch(h.url('fit'), {
      method: 'POST',
      headers: { ...h.bearer(), 'content-type': 'application/json' },
      body: JSON.stringify(wanted),
      signal: controller.signal,
    }).catch(() => undefined);
    const fits = await waitFor('the fit to begin', async () => {
      const { body } = await h.get('get_service_status');
      return body.fits.length > 0 && body.fits;
    });
    assert.equal(fits.length, 1);
    assert.equal(fits[0].train_set_upload_id, train_set_upload_id);
    controller.abort();
    await gone;
    const again = await h.post('fit', wanted);
    assert.equal(again.body.fitted_train_set_id, fits[0].fitted_train_set_id);
    assert.equal(again.body.reused, true);
  });
});
