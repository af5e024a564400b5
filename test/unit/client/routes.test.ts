import assert from 'node:assert/strict';

import { fitted, rejection, source, withService, xOf, yOf } from './support';

const ids = [7, 3, 11, 0];

describe('client: every route, against a strict service', () => {
  for (const fitRequest of ['task_config', 'flat'] as const) {
    for (const fileInfo of ['schema', 'sample'] as const) {
      for (const apiName of ['svc', 'tab_x']) {
        it(`${fitRequest}, ${fileInfo}, ${apiName}: uploads, fits and predicts without a breach`, () =>
          withService(
            {
              fitRequest,
              fileInfo,
              apiName,
              chunks: fileInfo === 'sample' ? 3 : 1,
              fitMs: 120,
              keepaliveMs: 20,
            },
            { dialect: { fitRequest, fileInfo, apiName } },
            async (service, client) => {
              const { train_set_upload_id } = await client.uploadTrainSet({
                x: xOf(ids),
                y: yOf([1.5, 2, 3, 4]),
                description: 'a try',
                chunks: true,
              });
              const fit = await client.fit({
                train_set_upload_id,
                task: 'regression',
                svc_systems: ['preprocessing', 'text', 'thinking'],
                svc_config: { n_estimators: 4, random_state: 1 },
                thinking_effort: 'medium',
                thinking_timeout_s: 5,
                thinking_effort_metric: 'rmse',
                force_refit: true,
              });
              const model = { fitted_train_set_id: fit.fitted_train_set_id };
              const { test_set_upload_id } = await client.uploadTestSet({
                ...model,
                x: xOf(ids),
                chunks: true,
              });
              const result = await client.predict({
                ...model,
                test_set_upload_id,
                task: 'regression',
                output_type: 'quantiles',
                quantiles: [0.1, 0.9],
                svc_config: { n_estimators: 4 },
                force_refit: true,
              });
              assert.deepEqual(result.prediction, {
                kind: 'quantiles',
                quantiles: [0.1, 0.9],
                values: [ids.map((id) => id + 0.1), ids.map((id) => id + 0.9)],
              });
              assert.equal(result.rows, 4);
              assert.deepEqual(result.metadata.svc_config, { n_estimators: 8, random_state: 0 });
              assert.deepEqual(service.breaches, []);
            },
          ));
      }
    }
  }

  it('reads every output type of both tasks', () =>
    withService({}, {}, async (service, client) => {
      for (const [task, outputs] of [
        ['classification', [undefined, 'probas', 'preds']],
        ['regression', [undefined, 'mean', 'median', 'mode', 'quantiles', 'main', 'full']],
      ] as const) {
        const fitted_train_set_id = await fitted(client, task);
        const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids) });
        for (const output_type of outputs) {
          const { prediction, rows } = await client.predict({
            fitted_train_set_id,
            test_set_upload_id,
            task,
            ...(output_type !== undefined && { output_type }),
          });
          const name = output_type ?? (task === 'classification' ? 'probas' : 'mean');
          const sent = service.predictionFor(ids, name, { classes: ['a', 'b'] });
          assert.equal(rows, 4);
          if (prediction.kind === 'full') {
            assert.deepEqual(
              prediction.value.logits,
              ids.map((id) => [id, -Infinity]),
            );
            assert.deepEqual(prediction.value.mean, ids);
          } else {
            const read = prediction.kind === 'main' ? prediction.value : prediction.values;
            assert.deepEqual(read, sent);
          }
        }
      }
      assert.deepEqual(service.breaches, []);
    }));

  it('gets limits and the cost, and takes a limit of null for none', () =>
    withService(
      {
        limits: {
          default_model_version: 'v2',
          max_model_limit: { max_cols: 9, max_classes: null },
          extra: 1,
        },
      },
      {},
      async (service, client) => {
        assert.deepEqual(await client.getModelLimits(), {
          default_model_version: 'v2',
          max_model_limit: { max_cols: 9 },
          extra: 1,
        });
        assert.deepEqual(await client.estimateCost({ operation: 'predict', train_rows: 20, test_rows: 3 }), {
          estimated_cost: 23,
        });
        assert.deepEqual(service.breaches, []);
      },
    ));

  it('sends the deprecated route its two parts', () =>
    withService({}, {}, async (service, client) => {
      // oxlint-disable-next-line typescript/no-deprecated -- deprecated by the service, still ours to test
      const result = await client.predictLegacy({
        data: { model_id: 'old-1', task: 'classification', output_type: 'preds', n_estimators: 2 },
        file: source('id\n4\n5\n'),
      });
      assert.deepEqual(result.prediction, { kind: 'labels', values: ['no', 'yes'] });
      assert.equal(result.used_credits, 2);
      assert.equal(result.remaining_quota, 1000);
      assert.deepEqual(service.breaches, []);
    }));

  it('reuses a train set and a test set that the service has, sending no bytes, unless forced', () =>
    withService({ testDuplicates: true }, {}, async (service, client) => {
      const train = () => ({ x: xOf(ids), y: yOf(['a', 'b', 'a', 'b']) });
      const first = await client.uploadTrainSet(train());
      const again = await client.uploadTrainSet(train());
      assert.deepEqual(again, { train_set_upload_id: first.train_set_upload_id, reused: true });
      assert.equal(service.seen('put').length, 2);
      const forced = await client.uploadTrainSet({ ...train(), force: true });
      assert.equal(forced.reused, false);
      assert.notEqual(forced.train_set_upload_id, first.train_set_upload_id);

      const { fitted_train_set_id } = await client.fit({
        train_set_upload_id: again.train_set_upload_id,
        task: 'classification',
      });
      const test = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids) });
      const same = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids) });
      assert.deepEqual(same, { test_set_upload_id: test.test_set_upload_id, reused: true });
      const anew = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids), force: true });
      assert.equal(anew.reused, false);
      assert.deepEqual(service.breaches, []);
    }));

  it('refuses a request that the specification does not allow, before anything is sent', () =>
    withService({}, {}, async (service, client) => {
      const error = await rejection(
        client.fit({ train_set_upload_id: 'not-an-id', task: 'regression' }),
        'validation.failed',
      );
      assert.match(error.message, /train_set_upload_id must be a UUID/);
      assert.equal(service.requests.length, 0);
    }));
});
