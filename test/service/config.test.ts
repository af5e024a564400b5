import assert from 'node:assert/strict';

import { type Answer, answerOf, type Harness } from './harness';
import { sharedService } from './shared';

/** Two classes that overlap, one four times as frequent as the other. */
function overlapping(): { x: string; y: string } {
  const rows = Array.from({ length: 300 }, (_, i) => {
    const rare = i % 5 === 0;
    return { a: ((i * 37) % 101) / 20 + (rare ? 2 : 0), kind: rare ? 'rare' : 'usual' };
  });
  return {
    x: `a\n${rows.map(({ a }) => a).join('\n')}\n`,
    y: `y\n${rows.map(({ kind }) => kind).join('\n')}\n`,
  };
}

describe('Service: the configuration object (S 2.6)', () => {
  const { x, y } = overlapping();
  const rows = 'a\n0.5\n3\n4\n6\n';
  let h: Harness;
  let upload: string;
  before(async () => {
    h = await sharedService();
    upload = await h.uploadTrain(x, y);
  });

  const fit = async (config: object, task = 'classification'): Promise<string> => {
    const svc_config = { n_estimators: 3, ...config };
    const answer = await h.post('fit', { train_set_upload_id: upload, task, svc_config });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.fitted_train_set_id as string;
  };
  const predict = async (fitted: string, config?: object, task = 'classification'): Promise<Answer> => {
    const answer = await h.post('predict', {
      test_set_upload_id: await h.uploadTest(fitted, rows),
      fitted_train_set_id: fitted,
      task_config: { task, ...(config && { svc_config: config }) },
    });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const same = (a: Answer, b: Answer): void => assert.deepEqual(a.body.prediction, b.body.prediction);

  for (const config of [
    { softmax_temperature: 3 },
    { average_before_softmax: true },
    { balance_probabilities: true },
    { softmax_temperature: 0.5, average_before_softmax: true, balance_probabilities: true },
  ]) {
    it(`predicts with ${JSON.stringify(config)} as if it had been fitted so`, async () => {
      const plain = await fit({ softmax_temperature: 1 });
      const asked = await predict(plain, config);
      const fitted = await predict(await fit({ softmax_temperature: 1, ...config }));
      same(asked, fitted);
      assert.notDeepEqual(asked.body.prediction, (await predict(plain)).body.prediction);
      assert.deepEqual(asked.body.metadata, fitted.body.metadata);
      assert.deepEqual(asked.body.metadata.ignored_options, []);
      for (const [name, value] of Object.entries(config)) {
        assert.equal(asked.body.metadata.svc_config[name], value);
      }
    });
  }

  it('takes back at predict time what the fit was asked for', async () => {
    const plain = await fit({});
    const balanced = await fit({ balance_probabilities: true });
    same(await predict(balanced, { balance_probabilities: false }), await predict(plain));
    same(await predict(plain, { balance_probabilities: true }), await predict(balanced));
  });

  it('takes fewer estimators, and says that more cannot be had', async () => {
    const fitted = await fit({ n_estimators: 6 });
    const fewer = await predict(fitted, { n_estimators: 2 });
    assert.equal(fewer.body.metadata.svc_config.n_estimators, 2);
    assert.notDeepEqual(fewer.body.prediction, (await predict(fitted)).body.prediction);
    for (const row of fewer.body.prediction as [number, number][]) {
      assert.ok(Math.abs(row[0] + row[1] - 1) < 1e-12);
    }
    const more = await predict(fitted, { n_estimators: 9 });
    same(more, await predict(fitted));
    assert.equal(more.body.metadata.svc_config.n_estimators, 6);
    assert.deepEqual(more.body.metadata.ignored_options, ['n_estimators']);
  });

  it('shows what was used, and lists what had no effect, of the fit and of the predict', async () => {
    const fitted = await fit({ random_state: 5, device: ['cuda'], fit_mode: 'low_memory' });
    const { metadata } = (
      await predict(fitted, { random_state: 6, memory_saving_mode: true, device: ['cpu'] })
    ).body;
    assert.equal(metadata.svc_config.random_state, 5);
    assert.deepEqual(metadata.svc_config.device, ['cpu']);
    assert.equal(metadata.svc_config.memory_saving_mode, false);
    assert.deepEqual(metadata.ignored_options, ['device', 'fit_mode', 'memory_saving_mode', 'random_state']);
    assert.equal(metadata.svc_config.softmax_temperature, 1);
  });

  it('divides calibrated logits by the softmax temperature: 1 changes nothing, less sharpens, more flattens', async () => {
    const fitted = await fit({});
    const sureness = async (config?: object): Promise<number> => {
      const rows = (await predict(fitted, config)).body.prediction as number[][];
      for (const row of rows) {
        assert.ok(Math.abs(row[0]! + row[1]! - 1) < 1e-12);
      }
      return rows.reduce((sum, row) => sum + Math.max(...row), 0) / rows.length;
    };
    same(await predict(fitted, { softmax_temperature: 1 }), await predict(fitted));
    same(await predict(await fit({ softmax_temperature: 1 })), await predict(fitted));
    same(
      await predict(await fit({ softmax_temperature: 2 }), { softmax_temperature: 1 }),
      await predict(fitted),
    );
    const [sharp, plain, flat] = [
      await sureness({ softmax_temperature: 0.5 }),
      await sureness(),
      await sureness({ softmax_temperature: 2 }),
    ];
    assert.ok(sharp > plain && plain > flat, `${sharp} ${plain} ${flat}`);
    assert.ok(Math.abs((await sureness({ softmax_temperature: 0.9 })) - plain) < 0.03);
  });

  it('does not call ignored what the fit was given and the predict repeats', async () => {
    const halves = [0, 1].map((odd) => Array.from({ length: 150 }, (_, i) => i * 2 + odd));
    const configs = [
      { random_state: 5, inference_config: { SUBSAMPLE_SAMPLES: halves } },
      { n_estimators: 20, inference_config: { subsample_samples: 100 } },
    ];
    for (const config of configs) {
      const fitted = await fit(config);
      const again = await predict(fitted, config);
      assert.deepEqual(again.body.metadata.ignored_options, []);
      same(again, await predict(fitted));
    }
    const fitted = await fit({ random_state: 5, device: ['cuda'] });
    const { metadata } = (await predict(fitted, { random_state: 5, device: ['cuda'] })).body;
    assert.deepEqual(metadata.ignored_options, ['device'], 'it had no effect on the fit');
  });

  it('takes lists of rows that are longer than a mebibyte, at the fit and at the predict', async () => {
    const config = {
      inference_config: { SUBSAMPLE_SAMPLES: [Array.from({ length: 400_000 }, (_, i) => i % 300)] },
    };
    assert.ok(JSON.stringify(config).length > 1024 * 1024);
    const fitted = await fit(config);
    assert.deepEqual((await predict(fitted, config)).body.metadata.ignored_options, []);
  });

  it('holds out whole groups by a column that it does not learn from, nor ask for at the predict', async () => {
    const grouped = `machine,${x.split('\n')[0]}\n${x
      .trim()
      .split('\n')
      .slice(1)
      .map((value, i) => `m${Math.floor(i / 30)},${value}`)
      .join('\n')}\n`;
    const config = { n_estimators: 2, inference_config: { GROUP: 'machine', GROUP_AS_FEATURE: false } };
    const answer = await h.post('fit', {
      train_set_upload_id: await h.uploadTrain(grouped, y),
      task: 'classification',
      svc_config: config,
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.report.folds, { by: 'groups', parts: 5, groups: 10 });
    const { metadata } = (await predict(answer.body.fitted_train_set_id as string)).body;
    assert.deepEqual(metadata.ignored_options, []);
    const unknown = await h.post('fit', {
      train_set_upload_id: upload,
      task: 'classification',
      svc_config: { inference_config: { GROUP: 'machine' } },
    });
    assert.equal(unknown.status, 422, unknown.text);
    assert.match(unknown.text, /inference_config\.GROUP .*column of the train set/);
  });

  it('answers the rarer class from the threshold on that the fit was asked for', async () => {
    const labels = async (threshold: unknown): Promise<string[]> => {
      const fitted = await fit({ inference_config: { THRESHOLD: threshold } });
      const answer = await h.post('predict', {
        test_set_upload_id: await h.uploadTest(fitted, rows),
        fitted_train_set_id: fitted,
        task_config: { task: 'classification', predict_params: { output_type: 'preds' } },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.prediction as string[];
    };
    assert.deepEqual(new Set(await labels(0)), new Set(['rare']));
    assert.deepEqual(new Set(await labels(1)), new Set(['usual']));
  });

  it('says that a regression has no classes to treat so', async () => {
    const numbers = `y\n${Array.from({ length: 300 }, (_, i) => ((i * 37) % 101) / 20).join('\n')}\n`;
    const fitted = await h.fit(x, numbers, 'regression');
    const asked = { softmax_temperature: 0.5, average_before_softmax: true, balance_probabilities: true };
    const answer = await predict(fitted, asked, 'regression');
    assert.deepEqual(answer.body.metadata.ignored_options, Object.keys(asked).sort());
    same(answer, await predict(fitted, undefined, 'regression'));
    const one = await predict(fitted, { n_estimators: 1 }, 'regression');
    assert.notDeepEqual(one.body.prediction, answer.body.prediction);
  });

  it('honours the same options on the deprecated route', async () => {
    const fitted = await fit({ softmax_temperature: 1 });
    const form = async (data: object): Promise<Answer> => {
      const body = new FormData();
      body.set('data', new Blob([JSON.stringify({ model_id: fitted, task: 'classification', ...data })]));
      body.set('file', new Blob([rows]), 'rows.csv');
      return answerOf(await fetch(h.url('/v1/predict'), { method: 'POST', headers: h.bearer(), body }));
    };
    const config = { softmax_temperature: 3, balance_probabilities: true };
    const answer = await form(config);
    assert.deepEqual(answer.body.prediction, (await predict(fitted, config)).body.prediction);
    assert.equal(answer.body.params.softmax_temperature, 3);
    same(await form({}), await predict(fitted));
  });
});
