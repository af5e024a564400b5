import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { answerOf, flowers, type Harness, infoOf, line } from './harness';
import { sharedService } from './shared';

describe('Service: what a client of a hosted service asks beside fit and predict', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  const call = async (method: string, route: string, headers: Record<string, string> = {}) =>
    answerOf(await fetch(h.url(route), { method, headers }));

  it('says that it is there to anybody, and no more', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }, h.bearer()] as Record<string, string>[]) {
      const { status, body } = await call('GET', '/', headers);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['status', 'package_version']);
    }
    assert.equal((await call('HEAD', '/')).status, 200);
    assert.equal((await call('POST', '/')).status, 401);
    assert.equal((await call('POST', '/', h.bearer())).status, 405);
  });

  it('checks a token, with or without the slash at the end', async () => {
    for (const route of ['/protected/', '/protected']) {
      assert.equal((await call('GET', route, h.bearer())).status, 200);
      assert.equal((await call('GET', route)).status, 401);
      assert.equal((await call('GET', route, { authorization: 'Bearer wrong' })).status, 401);
    }
    assert.equal((await h.get('/protected/more')).status, 404);
    assert.equal((await h.get('/protected//')).status, 404);
  });

  it('has no greeting and no limit of usage', async () => {
    assert.deepEqual((await h.get('/retrieve_greeting_messages/')).body, { messages: [] });
    const usage = await call('POST', '/get_api_usage/', h.bearer());
    assert.deepEqual(usage.body, { current_usage: 0, usage_limit: -1, reset_time: 'never' });
    assert.equal((await call('POST', '/get_api_usage/')).status, 401);
  });

  it('lists what of a fit and of a predict had no effect', async () => {
    const { x, y } = line();
    const upload = await h.uploadTrain(x, y, { api_mode: 'auto' });
    const fit = await h.post('fit', {
      train_set_upload_id: upload,
      task_config: { task: 'regression', svc_config: { n_estimators: 2, device: 'auto', wings: 2 }, legs: 4 },
      colour: 1,
    });
    assert.equal(fit.status, 200, fit.text);
    assert.deepEqual(fit.body.ignored_options, ['colour', 'device', 'task_config.legs', 'wings']);
    const fitted = fit.body.fitted_train_set_id as string;
    const { body } = await h.post('predict', {
      test_set_upload_id: await h.uploadTest(fitted, x),
      fitted_train_set_id: fitted,
      task_config: {
        task: 'regression',
        svc_config: { n_estimators: 2, device: 'auto', wings: 2, tail: 1 },
        predict_params: { output_type: 'mean', tone: 3 },
      },
    });
    assert.deepEqual(body.metadata.ignored_options, [
      'device',
      'tail',
      'task_config.predict_params.tone',
      'wings',
    ]);
  });

  it('uploads a test set again where it is forced to', async () => {
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    const prepare = (force_reupload?: boolean) =>
      h.post('prepare_test_set_upload', {
        fitted_train_set_id: fitted,
        x_test_info: { ...infoOf(x), hash: createHash('sha256').update(x).digest('hex') },
        force_reupload,
      });
    const first = await prepare(false);
    assert.equal(first.status, 200);
    const put = await fetch(first.body.x_test_info.signed_urls[0] as string, {
      method: 'PUT',
      headers: first.body.x_test_info.required_headers as Record<string, string>,
      body: x,
    });
    assert.equal(put.status, 200);
    assert.equal((await prepare()).status, 409);
    assert.equal((await prepare(false)).status, 409);
    const forced = await prepare(true);
    assert.equal(forced.status, 200);
    assert.notEqual(forced.body.test_set_upload_id, first.body.test_set_upload_id);
  });

  it('ends no sentence of an error itself, since clients put it into one of theirs', async () => {
    const { body } = await h.get('/svc/nothing');
    assert.match(body.message, /[^.]$/);
    assert.match((await call('GET', '/protected/')).body.detail, /[^.]$/);
  });
});
