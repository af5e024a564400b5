import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Answer, answerOf, Harness, hashOf, UUID } from './harness';
import { parquetOf } from './parquet-file';

/*
 * The requests that the releases of a hosted service's own client send, body for body: what they call when they
 * start, unset fields as null, the fields that are always sent, and both shapes of a fit.
 */

const API = 'nimbus';

const rows = Array.from({ length: 150 }, (_, i) => i);
const X = parquetOf({ load: rows.map((i) => i % 40), site: rows.map((i) => ['Oslo', 'Bern'][i % 2]!) });
const Y = parquetOf({ target: rows.map((i) => (i % 40) * 2 + (i % 2)) });
const X_TEST = parquetOf({ '0': [5, 20], '1': ['Oslo', 'Bern'] });

interface Release {
  name: string;
  limits: 'get_model_limits' | 'get_settings';
  config: Record<string, unknown>;
  fit: (upload: string, config: object) => object;
  submits?: true;
  /** What the answer to the fit has beside its id. */
  tells?: (answer: Answer['body']) => void;
  /** Fits in the background, and asks for the end by the older route. */
  asksByGet?: true;
}

/** Every field of the configuration, those that nobody has set as null. */
const NULLS = {
  n_estimators: 2,
  categorical_features_indices: null,
  softmax_temperature: 0.9,
  average_before_softmax: false,
  ignore_pretraining_limits: false,
  inference_precision: 'autocast',
  random_state: 0,
  inference_config: null,
  model_path: null,
  paper_version: false,
};

const RELEASES: Release[] = [
  {
    name: 'flat, with every unset field as null',
    limits: 'get_model_limits',
    config: NULLS,
    fit: (upload, config) => ({
      train_set_upload_id: upload,
      task: 'regression',
      [`${API}_systems`]: ['preprocessing', 'text'],
      [`${API}_config`]: config,
      thinking_effort: null,
      thinking_timeout_s: null,
      thinking_effort_metric: null,
      force_refit: false,
    }),
  },
  {
    name: 'flat, with async_mode',
    limits: 'get_model_limits',
    config: { n_estimators: 2, model_path: 'auto', inference_precision: 'auto' },
    fit: (upload, config) => ({
      train_set_upload_id: upload,
      task: 'regression',
      [`${API}_systems`]: ['preprocessing', 'text'],
      [`${API}_config`]: config,
      async_mode: false,
    }),
  },
  {
    name: 'flat, with async_mode set, and asks with GET',
    limits: 'get_model_limits',
    config: { n_estimators: 2, model_path: null },
    fit: (upload, config) => ({
      train_set_upload_id: upload,
      task: 'regression',
      [`${API}_systems`]: ['preprocessing', 'text'],
      [`${API}_config`]: config,
      async_mode: true,
      force_refit: true,
    }),
    asksByGet: true,
  },
  {
    name: 'with task_config',
    limits: 'get_settings',
    config: { n_estimators: 2, fit_mode: 'fit_preprocessors' },
    fit: (upload, config) => ({
      task_config: { task: 'regression', [`${API}_config`]: config },
      [`${API}_systems`]: [],
      train_set_upload_id: upload,
    }),
  },
  {
    name: 'with task_config, submitted and asked for',
    limits: 'get_settings',
    config: { n_estimators: 2 },
    fit: (upload, config) => ({
      task_config: { task: 'regression', [`${API}_config`]: config },
      [`${API}_systems`]: ['preprocessing', 'text'],
      train_set_upload_id: upload,
    }),
    submits: true,
  },
  {
    name: 'with thinking in groups, a mode of memory, and a system that is not here',
    limits: 'get_settings',
    config: { n_estimators: 2, memory_saving_mode: 'auto', text_handling: 'simple' },
    fit: (upload, config) => ({
      task_config: { task: 'regression', [`${API}_config`]: config },
      [`${API}_systems`]: ['preprocessing', 'text', 'thinking', 'routing'],
      thinking_config: {
        ...{ effort: 'medium', timeout_secs: 1, metric: 'rmse' },
        ...{ group_col: ['site', 'load'], time_col: null, group_time_col: 'load' },
      },
      train_set_upload_id: upload,
    }),
    tells: ({ report, ignored_options: ignored }) => {
      assert.deepEqual(ignored, ['memory_saving_mode', `${API}_systems.routing`, 'text_handling']);
      assert.deepEqual(report.folds, { by: 'groups', parts: 2, groups: 2 });
    },
  },
  {
    name: 'with thinking in order of time',
    limits: 'get_settings',
    config: { n_estimators: 2, text_handling: 'advanced' },
    fit: (upload, config) => ({
      task_config: { task: 'regression', [`${API}_config`]: config },
      [`${API}_systems`]: ['preprocessing', 'text', 'thinking'],
      thinking_config: {
        effort: 'medium',
        timeout_secs: 1,
        metric: 'rmse',
        group_col: null,
        time_col: 'load',
      },
      train_set_upload_id: upload,
    }),
    tells: ({ report, ignored_options: ignored }) => {
      assert.deepEqual(ignored, ['text_handling']);
      assert.equal(report.folds.by, 'blocks');
    },
  },
];

describe("Service: the bodies of a hosted service's client", () => {
  let h: Harness;
  before(async () => {
    h = await Harness.start({ api: API, apiName: API });
  });
  after(() => h.stop());

  const call = async (
    method: string,
    route: string,
    headers: Record<string, string> = h.bearer(),
  ): Promise<Answer> => answerOf(await fetch(h.url(route), { method, headers }));
  const put = async (
    info: { signed_urls: string[]; required_headers: Record<string, string> },
    file: Uint8Array,
  ) => {
    const headers = { ...info.required_headers, ...h.bearer() };
    const answer = await fetch(info.signed_urls[0]!, { method: 'PUT', headers, body: new Uint8Array(file) });
    assert.equal(answer.status, 200);
  };
  const infoOf = (file: Uint8Array) => ({ format: 'parquet', hash: hashOf(file), size_bytes: file.length });

  async function fitted(release: Release, upload: string): Promise<string> {
    const body = release.fit(upload, release.config);
    if (release.asksByGet === true) {
      const { body: promised, text } = await h.post('fit', body);
      assert.equal(promised.status, 'pending', text);
      for (;;) {
        const asked = await call('GET', `fit/${promised.fitted_train_set_id}`);
        assert.equal(asked.status, 200, asked.text);
        assert.equal(asked.body.fitted_train_set_id, promised.fitted_train_set_id);
        if (asked.body.status !== 'pending') {
          assert.equal(asked.body.status, 'completed', asked.text);
          return promised.fitted_train_set_id as string;
        }
        await sleep(50);
      }
    }
    if (release.submits !== true) {
      const { status, body: said, text } = await h.post('fit', body);
      assert.deepEqual([status, said.status], [200, 'completed'], text);
      release.tells?.(said);
      return said.fitted_train_set_id as string;
    }
    const { status, body: promised, text } = await h.post('submit_fit_job', body);
    assert.equal(status, 200, text);
    const id = { fitted_train_set_id: promised.fitted_train_set_id as string };
    for (;;) {
      const asked = await h.post('get_fit_status', id);
      assert.equal(asked.status, 200, asked.text);
      if (asked.body.status !== 'pending') {
        assert.equal(asked.body.status, 'completed', asked.text);
        return id.fitted_train_set_id;
      }
      assert.ok(asked.body.retry_in_secs > 0);
      await sleep(50);
    }
  }

  for (const release of RELEASES) {
    it(`serves those of a client that fits ${release.name}`, async () => {
      assert.equal((await call('GET', '/protected/')).status, 200);
      assert.equal((await call('GET', '/', {})).status, 200);
      assert.deepEqual((await call('GET', '/retrieve_greeting_messages/', {})).body.messages, []);
      const { status: known, body: limits } = await call('GET', release.limits);
      assert.equal(known, 200);
      for (const set of [limits.max_model_limit, ...Object.values(limits.model_limits)]) {
        assert.ok(set.train_set_max_upload_cells >= set.train_set_max_cells);
      }
      const cost = await h.post('estimate_cost', { model_version: null, train_rows: 150, test_rows: 2 });
      assert.equal(cost.body.estimated_cost, 0, cost.text);
      assert.equal(typeof cost.body.pricing_version, 'string');
      assert.equal(cost.body.inputs.operation, 'predict');
      for (const operation of ['predict', 'cache_predict', 'thinking_fit', 'thinking_predict']) {
        const effort = operation === 'thinking_fit' ? 'high' : null;
        const asked = { operation, train_rows: 150, test_rows: 2, raw_columns: 2, thinking_effort: effort };
        const { status, body, text } = await h.post('estimate_cost', asked);
        assert.deepEqual([status, body.inputs?.operation], [200, operation], text);
      }
      assert.equal((await call('HEAD', release.limits)).status, 200);
      const prepared = await h.post('prepare_train_set_upload', {
        x_train_info: infoOf(X),
        y_train_info: infoOf(Y),
        description: null,
        force_reupload: true,
      });
      assert.equal(prepared.status, 200, prepared.text);
      await put(prepared.body.x_train_info, X);
      await put(prepared.body.y_train_info, Y);
      const id = await fitted(release, prepared.body.train_set_upload_id as string);
      assert.match(id, UUID);
      const test = await h.post('prepare_test_set_upload', {
        fitted_train_set_id: id,
        x_test_info: infoOf(X_TEST),
        force_reupload: false,
      });
      assert.equal(test.status, 200, test.text);
      await put(test.body.x_test_info, X_TEST);
      for (const predict_params of [
        { output_type: 'main', quantiles: [0.1, 0.5, 0.9] },
        { output_type: 'mean', quantiles: null },
        { output_type: 'full', quantiles: [0.5] },
        null,
      ]) {
        const { status, body, text } = await h.post('predict', {
          test_set_upload_id: test.body.test_set_upload_id,
          fitted_train_set_id: id,
          task_config: { task: 'regression', [`${API}_config`]: release.config, predict_params },
          force_refit: false,
        });
        assert.equal(status, 200, text);
        const { prediction, metadata } = body;
        const [mean] = (prediction.mean ?? prediction) as number[];
        assert.ok(Math.abs(mean! - 10) < 8, `${mean} for 10`);
        assert.doesNotMatch(
          JSON.stringify(prediction),
          /null/,
          'numbers only: whoever reads it works with them',
        );
        assert.equal(metadata[`${API}_config`].n_estimators, 2);
      }
      assert.equal((await call('POST', '/get_api_usage/')).body.usage_limit, -1);
    });
  }

  it('serves those of its estimators for an endpoint on-premises, in either spelling, and by the id of a cached model', async () => {
    const config = {
      n_estimators: 2,
      softmax_temperature: 0.9,
      average_before_softmax: false,
      inference_precision: 'auto',
      random_state: 0,
      inference_config: null,
      n_preprocessing_jobs: 4,
      fit_mode: 'fit_with_cache',
      balance_probabilities: false,
    };
    const task_config = {
      task: 'classification',
      [`${API}_config`]: config,
      predict_params: { output_type: 'probas' },
    };
    const train = rows.map((i) => [i % 40, i % 3 === 0 ? null : i % 7]);
    const labels = rows.map((i) => [i % 40 < 20 ? 0 : 1]);
    const tests = [
      [3, 1],
      [33, null],
    ];
    for (const [x_train, x_test] of [
      ['X_train', 'X_test'],
      ['x_train', 'x_test'],
    ] as const) {
      const first = await h.post('/predict', {
        task_config,
        [x_train]: train,
        y_train: labels,
        [x_test]: tests,
      });
      assert.equal(first.status, 200, first.text);
      const [low, high] = first.body.prediction as [[number, number], [number, number]];
      assert.ok(low[0] > 0.8 && high[1] > 0.8, first.text);
      const context = { model_id: first.body.model_id as string };
      const again = await h.post('/predict', {
        task_config: { ...task_config, predict_params: { output_type: 'preds' } },
        context,
        [x_test]: tests,
      });
      assert.deepEqual(again.body.prediction, [0, 1], again.text);
    }
  });

  it('serves those of its estimators for an endpoint on-premises in Parquet files', async () => {
    const task_config = {
      task: 'regression',
      [`${API}_config`]: { n_estimators: 2, fit_mode: 'fit_preprocessors', memory_saving_mode: 'auto' },
      predict_params: { output_type: 'mean', quantiles: null },
    };
    const form = new FormData();
    form.append('request', JSON.stringify({ task_config, payload_format: 'parquet' }));
    for (const [name, file] of Object.entries({ x_train: X, y_train: Y, x_test: X_TEST })) {
      form.append(name, new Blob([new Uint8Array(file)], { type: 'application/vnd.apache.parquet' }), name);
    }
    const answer = await answerOf(
      await fetch(h.url('/predict'), { method: 'POST', headers: h.bearer(), body: form }),
    );
    assert.equal(answer.status, 200, answer.text);
    const [first, second] = answer.body.prediction as [number, number];
    assert.ok(Math.abs(first - 10) < 8 && Math.abs(second - 41) < 8, answer.text);
  });

  it('serves those with bare NaN and Infinity in their rows, which are missing cells', async () => {
    const config = { n_estimators: 2, random_state: 0 };
    const task_config = { task: 'classification', [`${API}_config`]: config };
    const train = rows.map((i) => [i % 40, i % 3 === 0 ? '#' : `say "NaN, Infinity" \\ ${i % 2}`]);
    const body = {
      task_config,
      X_train: train,
      y_train: rows.map((i) => [i % 40 < 20 ? 0 : 1]),
      X_test: [
        [3, '#'],
        ['#', '#'],
      ],
    };
    const answers = [];
    for (const bare of ['null', 'NaN', '-Infinity', 'Infinity']) {
      const {
        status,
        body: said,
        text,
      } = await h.post('/predict', JSON.stringify(body).replaceAll('"#"', bare));
      assert.equal(status, 200, text);
      answers.push(said.prediction);
    }
    for (const answer of answers) {
      assert.deepEqual(answer, answers[0]);
    }
    const broken = await h.post('/predict', JSON.stringify(body).replaceAll('"#"', 'NaNs'));
    assert.equal(broken.status, 422);
    const { status } = await h.post('estimate_cost', '{"train_rows":NaN}');
    assert.equal(status, 422);
  });

  it('serves those by which its users list, take away and delete what is kept', async () => {
    const { body: summary } = await call('GET', '/get_data_summary/');
    assert.ok(summary.train_sets.length > 0);
    const download = await fetch(h.url('/download_all_data/'), { headers: h.bearer() });
    assert.equal(download.headers.get('content-type'), 'application/zip');
    assert.match(download.headers.get('content-disposition') ?? '', /attachment; filename=/);
    await download.arrayBuffer();
    const { dataset_uid: one } = summary.train_sets[0] as { dataset_uid: string };
    const deleted = await call('DELETE', `/delete_dataset/?dataset_uid=${one}`);
    assert.ok(deleted.body.deleted_dataset_uids.includes(one), deleted.text);
    const all = await call('DELETE', '/delete_all_datasets/');
    assert.equal(all.body.deleted_dataset_uids.length > 0, summary.train_sets.length > 1);
    const { body: after } = await call('GET', '/get_data_summary/');
    assert.deepEqual([after.train_sets, after.test_sets, after.fitted_train_sets], [[], [], []]);
  });
});
