import assert from 'node:assert/strict';

import { type Harness, line } from './harness';
import { sharedService } from './shared';

describe('Service: predictions that other languages read', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  it('answers main with the statistics of full, and the quantiles that were asked for', async () => {
    const { x, y } = line();
    const fitted = await h.fit(x, y, 'regression');
    const ask = async (output_type: string, quantiles?: number[]) =>
      (await h.predict(fitted, 'a,b\n10,1\n20,2\n', 'regression', { output_type, quantiles })).body
        .prediction;
    const main = await ask('main', [0.2, 0.5]);
    assert.deepEqual(Object.keys(main), ['mean', 'median', 'mode', 'quantiles']);
    assert.deepEqual(main.quantiles, await ask('quantiles', [0.2, 0.5]));
    assert.deepEqual(main.mean, await ask('mean'));
    const full = await ask('full', [0.2, 0.5]);
    assert.deepEqual(full.quantiles, main.quantiles);
    assert.equal((await ask('main')).quantiles.length, 9);
  });

  it('keeps the mean of the bars at the mean, and calls none of them impossible', async () => {
    const { x, y } = line(400);
    const fitted = await h.fit(x, y, 'regression');
    const { body } = await h.predict(fitted, x, 'regression', { output_type: 'full' });
    const { borders, logits, mean } = body.prediction as Record<string, number[]> & { logits: number[][] };
    logits.forEach((row, at) => {
      const weights = row.map(Math.exp);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      assert.ok(row.every((logit) => logit > -50 && logit <= 0));
      const barred = weights.reduce(
        (sum, weight, bar) => sum + (weight / total) * ((borders![bar]! + borders![bar + 1]!) / 2),
        0,
      );
      const spread = borders!.at(-1)! - borders![0]!;
      assert.ok(Math.abs(barred - mean![at]!) < spread / 200, `${barred} for ${mean![at]}`);
    });
  });

  it('has the limits in its settings too', async () => {
    const { async_settings, ...limits } = (await h.get('get_settings')).body;
    assert.deepEqual(limits, (await h.get('get_model_limits')).body);
    assert.deepEqual(async_settings, { use_above_trainset_size_bytes: 52_428_800, poll_timeout_secs: 7_200 });
    const head = await fetch(h.url('get_settings'), { method: 'HEAD', headers: h.bearer() });
    assert.equal(head.status, 200);
  });

  it('judges a search by a metric under another name too', async () => {
    const { x, y } = line();
    const upload = await h.uploadTrain(x, y, { force_reupload: true });
    const fit = (metric: string) =>
      h.post('fit', {
        train_set_upload_id: upload,
        task_config: { task: 'regression', svc_config: { n_estimators: 1 } },
        thinking_config: { effort: 'medium', timeout_secs: 1, metric },
      });
    for (const metric of ['mae', 'mean_absolute_error', 'root_mean_squared_error']) {
      assert.deepEqual((await fit(metric)).body.ignored_options, [], metric);
    }
    assert.deepEqual((await fit('mape')).body.ignored_options, ['thinking.metric']);
  });
});
