import assert from 'node:assert/strict';

import {
  DEFAULT_DIALECT,
  type FitRequest,
  fromWireMetadata,
  type Parsed,
  type ParsedPredictRequest,
  parseEstimateCost,
  parseFit,
  parseLegacyPredict,
  parsePredict,
  parsePrepareTestSetUpload,
  parsePrepareTrainSetUpload,
  routePath,
  toWireFit,
  toWireMetadata,
  toWirePredict,
  toWireTestSetUpload,
  toWireTrainSetUpload,
} from '../../doors/wire';

const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
const svc = { apiName: 'svc' };

const fit: FitRequest = {
  train_set_upload_id: id,
  task: 'classification',
  svc_systems: ['text', 'thinking'],
  svc_config: { n_estimators: 3, categorical_features_indices: [0] },
  thinking_effort: 'high',
  thinking_timeout_s: 90,
  thinking_effort_metric: 'log_loss',
  force_refit: true,
};

const predict: ParsedPredictRequest = {
  test_set_upload_id: id,
  fitted_train_set_id: id,
  task: 'regression',
  output_type: 'quantiles',
  quantiles: [0.05, 0.95],
  svc_config: { random_state: 7 },
};

const file = { format: 'parquet', hash: '4waSgw==', size_bytes: 9, use_chunks: true } as const;

function fault(parsed: Parsed<unknown>): string {
  assert.ok(!parsed.ok, 'expected a fault');
  return `${parsed.path} ${parsed.message}`;
}

describe('wire: the dialect', () => {
  it('writes the fit in shape B, with the product name', () => {
    assert.deepEqual(toWireFit(fit, { ...DEFAULT_DIALECT, apiName: 'acme' }), {
      train_set_upload_id: id,
      task_config: {
        task: 'classification',
        acme_config: { n_estimators: 3, categorical_features_indices: [0] },
      },
      acme_systems: ['text', 'thinking'],
      thinking_config: { effort: 'high', timeout_secs: 90, metric: 'log_loss' },
      force_refit: true,
    });
  });

  it('writes the fit in shape A', () => {
    const { svc_systems, svc_config, ...rest } = fit;
    assert.deepEqual(toWireFit(fit, { ...DEFAULT_DIALECT, apiName: 'acme', fitRequest: 'flat' }), {
      ...rest,
      acme_systems: svc_systems,
      acme_config: svc_config,
    });
  });

  it('leaves off what is not asked for', () => {
    const least = { train_set_upload_id: id, task: 'regression' } as const;
    assert.deepEqual(toWireFit(least, DEFAULT_DIALECT), {
      train_set_upload_id: id,
      task_config: { task: 'regression' },
    });
    assert.deepEqual(toWireFit(least, { ...DEFAULT_DIALECT, fitRequest: 'flat' }), least);
    assert.deepEqual(toWirePredict({ ...predict, output_type: 'mean', svc_config: undefined }, svc), {
      test_set_upload_id: id,
      fitted_train_set_id: id,
      task_config: { task: 'regression', predict_params: { output_type: 'mean' } },
    });
  });

  it('names file info as the schema or as the samples do', () => {
    const request = { fitted_train_set_id: id, x_test_info: file };
    assert.deepEqual(toWireTestSetUpload(request, DEFAULT_DIALECT).x_test_info, file);
    assert.deepEqual(toWireTestSetUpload(request, { ...DEFAULT_DIALECT, fileInfo: 'sample' }).x_test_info, {
      filename: 'x_test.parquet',
      size_bytes: 9,
      use_chunks: true,
      content_hash: '4waSgw==',
    });
  });

  it('renames the configuration in metadata, there and back, and keeps what it does not know', () => {
    const metadata = { task: 'regression', svc_config: { n_estimators: 1 }, news: [1] };
    const wire = toWireMetadata(metadata, { apiName: 'acme' });
    assert.deepEqual(wire, { task: 'regression', acme_config: { n_estimators: 1 }, news: [1] });
    assert.deepEqual(fromWireMetadata(wire, { apiName: 'acme' }), metadata);
  });

  it('builds routes', () => {
    assert.equal(routePath('fit', { apiName: 'acme' }), '/acme/fit');
  });
});

describe('wire: request parsers', () => {
  for (const apiName of ['svc', 'acme']) {
    for (const fitRequest of ['task_config', 'flat'] as const) {
      it(`read back a fit of shape ${fitRequest} under ${apiName}`, () => {
        const body = toWireFit(fit, { ...DEFAULT_DIALECT, apiName, fitRequest });
        assert.deepEqual(parseFit(body, { apiName }), { ok: true, value: fit, ignored: [] });
      });
    }
    it(`read back a predict under ${apiName}`, () => {
      assert.deepEqual(parsePredict(toWirePredict(predict, { apiName }), { apiName }), {
        ok: true,
        value: predict,
        ignored: [],
      });
    });
  }

  for (const fileInfo of ['schema', 'sample'] as const) {
    it(`read back uploads in the naming of the ${fileInfo}`, () => {
      const dialect = { ...DEFAULT_DIALECT, fileInfo };
      const train = { x_train_info: file, y_train_info: { format: 'csv' as const }, force_reupload: true };
      assert.deepEqual(parsePrepareTrainSetUpload(toWireTrainSetUpload(train, dialect)), {
        ok: true,
        value: train,
        ignored: [],
      });
      const test = { fitted_train_set_id: id, x_test_info: file };
      assert.deepEqual(parsePrepareTestSetUpload(toWireTestSetUpload(test, dialect)), {
        ok: true,
        value: test,
        ignored: [],
      });
    });
  }

  it('take the least that the quickstart sends', () => {
    const body = { x_train_info: { format: 'csv' }, y_train_info: { format: 'csv' } };
    assert.ok(parsePrepareTrainSetUpload(body).ok);
  });

  it('ignore an unknown property and list it by the name that was sent', () => {
    const flat = { train_set_upload_id: id, task: 'regression' };
    assert.deepEqual(parseFit({ ...flat, x: 1 }, svc), { ok: true, value: flat, ignored: ['x'] });
    const nested = { train_set_upload_id: id, task_config: { task: 'regression', svc_confg: {} } };
    assert.deepEqual(parseFit(nested, svc), { ok: true, value: flat, ignored: ['task_config.svc_confg'] });
    assert.deepEqual(parseEstimateCost({ operation: 'fit', rows: 3 }), {
      ok: true,
      value: { operation: 'fit' },
      ignored: ['rows'],
    });
  });

  it('keep an unknown option of the configuration, which the learner then lists', () => {
    const body = { train_set_upload_id: id, task: 'regression', acme_config: { n_estimator: 3, old: null } };
    const parsed = parseFit(body, { apiName: 'acme' });
    assert.ok(parsed.ok);
    assert.deepEqual([parsed.value.svc_config, parsed.ignored], [{ n_estimator: 3 }, []]);
  });

  it('refuse an unknown property of file info, naming its place', () => {
    const body = { fitted_train_set_id: id, x_test_info: { ...file, name: 'a' } };
    assert.equal(fault(parsePrepareTestSetUpload(body)), 'x_test_info.name is an unknown property');
  });

  it('know the product name only: svc_config is unknown to acme', () => {
    const flat = { train_set_upload_id: id, task: 'regression' };
    assert.deepEqual(parseFit({ ...flat, svc_config: { a: 1 } }, { apiName: 'acme' }), {
      ok: true,
      value: flat,
      ignored: ['svc_config'],
    });
    const nested = { train_set_upload_id: id, task_config: { task: 'regression', svc_config: {} } };
    assert.deepEqual(parseFit(nested, { apiName: 'acme' }), {
      ok: true,
      value: flat,
      ignored: ['task_config.svc_config'],
    });
  });

  it('take null for not given, at any depth but inside arrays', () => {
    const flat = {
      train_set_upload_id: id,
      task: 'regression',
      task_config: null,
      thinking_effort: null,
      unknown: null,
      svc_config: { model_path: null, inference_config: { A: null, B: [null] } },
    };
    assert.deepEqual(parseFit(flat, svc), {
      ok: true,
      value: {
        train_set_upload_id: id,
        task: 'regression',
        svc_config: { inference_config: { B: [null] } },
      },
      ignored: [],
    });
    const nested = { ...flat, task: null, svc_config: null, task_config: { task: 'regression' } };
    assert.ok(parseFit(nested, svc).ok, 'the flat fields are not given, so the two shapes do not meet');
    const file = { format: 'csv', hash: null, size_bytes: null, filename: null };
    assert.deepEqual(parsePrepareTestSetUpload({ fitted_train_set_id: id, x_test_info: file }), {
      ok: true,
      value: { fitted_train_set_id: id, x_test_info: { format: 'csv' } },
      ignored: [],
    });
    assert.equal(fault(parseFit({ ...flat, task: null }, svc)), 'task is required');
  });

  it('never take two shapes or two namings in one body', () => {
    const both = { train_set_upload_id: id, task: 'regression', task_config: { task: 'regression' } };
    assert.match(fault(parseFit(both, svc)), /^task cannot be sent with task_config/);
    const mixed = { train_set_upload_id: id, task_config: { task: 'regression' }, thinking_effort: 'high' };
    assert.match(fault(parseFit(mixed, svc)), /^thinking_effort cannot be sent with task_config/);
    const one = { x_train_info: { ...file, filename: 'a.csv' }, y_train_info: file };
    assert.match(fault(parsePrepareTrainSetUpload(one)), /^x_train_info\.filename cannot be sent with/);
    const two = { x_train_info: { filename: 'a.csv' }, y_train_info: { format: 'csv' } };
    assert.match(fault(parsePrepareTrainSetUpload(two)), /cannot be sent with y_train_info\.format/);
  });

  it('say what is missing or of a wrong kind', () => {
    assert.equal(fault(parseFit({ task: 'regression' }, svc)), 'train_set_upload_id is required');
    assert.equal(
      fault(parseFit({ train_set_upload_id: 'abc', task: 'regression' }, svc)),
      'train_set_upload_id must be a UUID',
    );
    assert.equal(
      fault(parseFit({ train_set_upload_id: id, task: 'ranking' }, svc)),
      'task must be one of classification, regression',
    );
    assert.match(
      fault(parsePrepareTrainSetUpload({ x_train_info: { filename: 'a.txt' } })),
      /\.csv or \.parquet/,
    );
    for (const body of [null, [], 'text', 3, undefined]) {
      assert.equal(fault(parsePredict(body, svc)), 'body must be a JSON object');
    }
  });

  it('say what they want in words', () => {
    const predictWith = (params: object, config: object = {}) =>
      fault(
        parsePredict(
          {
            test_set_upload_id: id,
            fitted_train_set_id: id,
            task_config: { task: 'regression', svc_config: config, predict_params: params },
          },
          svc,
        ),
      );
    const quantiles = 'task_config.predict_params.quantiles';
    assert.equal(
      predictWith({ quantiles: [0] }),
      `${quantiles}[0] must be a number greater than 0 and less than 1`,
    );
    assert.equal(predictWith({ quantiles: [] }), `${quantiles} must be an array of at least 1 item`);
    assert.equal(predictWith({ quantiles: 'all' }), `${quantiles} must be an array of at least 1 item`);
    const config = 'task_config.svc_config';
    assert.equal(
      predictWith({}, { n_estimators: 0 }),
      `${config}.n_estimators must be a whole number of at least 1`,
    );
    assert.equal(predictWith({}, { fit_mode: 1 }), `${config}.fit_mode must be text`);
    assert.equal(
      predictWith({}, { memory_saving_mode: 1 }),
      `${config}.memory_saving_mode must be true, false or auto`,
    );
    assert.equal(predictWith({}, { inference_config: 1 }), `${config}.inference_config must be an object`);
  });

  it('take quantiles with the output types that have them, and ignore them with others', () => {
    const read = (output_type: string | undefined, task = 'regression') => {
      const predict_params = { output_type, quantiles: [0.5] };
      const ids = { test_set_upload_id: id, fitted_train_set_id: id };
      const parsed = parsePredict({ ...ids, task_config: { task, predict_params } }, svc);
      assert.ok(parsed.ok);
      return [parsed.value.quantiles, parsed.ignored];
    };
    for (const output of ['quantiles', 'main', 'full']) {
      assert.deepEqual(read(output), [[0.5], []], output);
    }
    const ignored = [undefined, ['task_config.predict_params.quantiles']];
    for (const output of [undefined, 'mean', 'median', 'mode']) {
      assert.deepEqual(read(output), ignored, output);
    }
    assert.deepEqual(read('preds', 'classification'), ignored);
  });

  it('hold output types and quantiles to the task', () => {
    const body = (task: string, params: object) =>
      parsePredict(
        {
          test_set_upload_id: id,
          fitted_train_set_id: id,
          task_config: { task, predict_params: params },
        },
        svc,
      );
    assert.match(
      fault(body('classification', { output_type: 'mean' })),
      /one of probas, preds for classification/,
    );
    assert.match(fault(body('regression', { output_type: 'quantiles', quantiles: [1.5] })), /quantiles\[0\]/);
    assert.ok(body('regression', { output_type: 'full' }).ok);
    assert.ok(!parseLegacyPredict({ model_id: 'a', task: 'regression', output_type: 'probas' }).ok);
    assert.ok(!parseLegacyPredict({ model_id: 'a', task: 'regression', n_estimators: 11 }).ok);
    assert.ok(parseLegacyPredict({ model_id: 'a', task: 'regression', n_estimators: 10 }).ok);
  });
});
