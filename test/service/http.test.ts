import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';

import { answerOf, Harness, nobody } from './harness';
import { sharedService } from './shared';

/** Envelope 1 of S 7. */
function assertGeneric(body: Record<string, unknown>, code: string): void {
  assert.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'retryable', 'support']);
  assert.equal(body.code, code);
  assert.equal(typeof body.detail, 'string');
  assert.equal(typeof body.retryable, 'boolean');
  assert.match(String(body.support), /^https:\/\//);
}

/** Envelope 2 of S 7. */
function assertQuickstart(body: Record<string, unknown>, code: string): void {
  assert.deepEqual(Object.keys(body).sort(), ['error_code', 'message', 'trace_id']);
  assert.equal(body.error_code, code);
}

describe('Service: HTTP', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  /** The answer to a JSON body of so many bytes, none of which is sent: a sender still writing may meet a closed line. */
  const announce = (route: string, bytes: number) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { ...h.bearer(), 'content-type': 'application/json', 'content-length': bytes };
      const req = request(h.url(route), { method: 'POST', headers }, (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (part: string) => (text += part));
        res.on('end', () => {
          resolve({ status: res.statusCode ?? 0, text });
          req.destroy();
        });
      });
      req.on('error', reject);
      req.flushHeaders();
    });

  it('asks for the bearer token on every route (S 5)', async () => {
    const routes: [string, string][] = [
      ['GET', '/svc/get_model_limits'],
      ['POST', '/svc/prepare_train_set_upload'],
      ['POST', '/svc/prepare_test_set_upload'],
      ['POST', '/svc/fit'],
      ['POST', '/svc/predict'],
      ['POST', '/svc/estimate_cost'],
      ['POST', '/v1/predict'],
    ];
    for (const [method, route] of routes) {
      for (const authorization of [undefined, 'Bearer wrong', 'Basic c2VjcmV0LXRva2Vu', 'Bearer ']) {
        const headers: Record<string, string> = { 'content-type': 'application/json' };
        if (authorization !== undefined) {
          headers.authorization = authorization;
        }
        const body = method === 'POST' ? '{}' : undefined;
        const answer = await answerOf(await fetch(h.url(route), { method, headers, body }));
        assert.equal(answer.status, 401, `${route} ${String(authorization)}`);
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
        assertGeneric(answer.body, 'auth.unauthorized');
      }
    }
  });

  it('answers paths that are no URLs as any other that leads nowhere', async () => {
    const { port } = new URL(h.service.url);
    const ask = (path: string, headers: object) =>
      new Promise<number>((resolve, reject) => {
        request({ port, path, headers: { ...headers } }, (res) => {
          res.resume();
          resolve(res.statusCode!);
        })
          .on('error', reject)
          .end();
      });
    for (const path of ['//', '///', '//svc/get_model_limits', '//[', '*', 'http://[', '/svc//']) {
      assert.deepEqual([await ask(path, {}), await ask(path, h.bearer())], [401, 404], path);
    }
  });

  it('answers any name of the API, and only the one it was given where one was', async () => {
    assert.equal((await h.get('/acme/get_model_limits')).status, 200);
    assert.equal((await h.get('/svc/get_model_limits')).status, 200);
    const named = await Harness.start({ apiName: 'acme', api: 'acme' });
    try {
      assert.equal((await named.get('get_model_limits')).status, 200);
      const other = await named.get('/svc/get_model_limits');
      assert.equal(other.status, 404);
      assert.match(other.body.message, /"svc".*"acme"/);
    } finally {
      await named.stop();
    }
  });

  it('answers 404 with envelope 2 for what does not exist, the legacy fit among them', async () => {
    for (const route of ['/svc', '/svc/nothing', '/svc/fit/more', '/svc/constructor', '/v1/nothing']) {
      const answer = await h.get(route);
      assert.equal(answer.status, 404, route);
      assertQuickstart(answer.body, 'NOT_FOUND');
    }
    assert.match((await h.post('/v1/fit', {})).body.message, /\/v1\/fit/);
    const unknown = await h.post('fit', { train_set_upload_id: nobody, task_config: { task: 'regression' } });
    assert.equal(unknown.status, 404);
    assertQuickstart(unknown.body, 'NOT_FOUND');
    const test = await h.post('prepare_test_set_upload', {
      fitted_train_set_id: nobody,
      x_test_info: { format: 'csv' },
    });
    assert.equal(test.status, 404);
    const predict = await h.post('predict', {
      test_set_upload_id: nobody,
      fitted_train_set_id: nobody,
      task_config: { task: 'regression' },
    });
    assert.equal(predict.status, 404);
  });

  it('answers 405 with the method that is allowed', async () => {
    const answer = await h.post('get_model_limits', {});
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    assert.equal((await h.get('fit')).headers.get('allow'), 'POST');
  });

  it('refuses what is not JSON, not UTF-8, not an object, or too long', async () => {
    assert.equal((await h.post('fit', 'no json')).status, 422);
    assert.equal((await h.post('fit', '[]')).status, 422);
    assert.equal((await h.post('fit', '')).status, 422);
    assert.equal((await h.post('fit', {}, { 'content-type': 'text/plain' })).status, 422);
    for (const [route, mebibytes] of [
      ['fit', 8],
      ['predict', 8],
      ['estimate_cost', 1],
    ] as const) {
      const long = await announce(route, mebibytes * 1024 * 1024 + 1);
      assert.equal(long.status, 413, route);
      assertGeneric(JSON.parse(long.text) as Record<string, unknown>, 'limit.exceeded');
    }
  });

  it('names what it refuses in a fit and a predict, mixed shapes among it (S 4.3, 4.4)', async () => {
    const ids = { test_set_upload_id: nobody, fitted_train_set_id: nobody };
    const cases: [string, object, RegExp][] = [
      ['fit', { train_set_upload_id: nobody, task: 'regression', task_config: {} }, /task/],
      ['fit', { train_set_upload_id: nobody, task_config: { task: 'clustering' } }, /task_config\.task/],
      ['fit', { train_set_upload_id: 'x', task: 'regression' }, /train_set_upload_id/],
      ['fit', { task: 'regression' }, /train_set_upload_id/],
      [
        'fit',
        { train_set_upload_id: nobody, task_config: { task: 'regression', svc_config: { n_estimators: 0 } } },
        /task_config\.svc_config\.n_estimators/,
      ],
      ['predict', { ...ids, task: 'regression' }, /task/],
      [
        'predict',
        { ...ids, task_config: { task: 'regression', predict_params: { output_type: 'preds' } } },
        /output_type/,
      ],
      [
        'predict',
        {
          ...ids,
          task_config: { task: 'regression', predict_params: { output_type: 'quantiles', quantiles: [1.5] } },
        },
        /quantiles/,
      ],
      ['estimate_cost', { operation: 'predict', train_rows: -1 }, /train_rows/],
    ];
    for (const [route, body, pattern] of cases) {
      const answer = await h.post(route, body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.match(answer.body.message, pattern);
      assert.equal(answer.body.error_code, 'VALIDATION_ERROR');
    }
  });

  it('takes the configuration under the name of the API only', async () => {
    const body = { train_set_upload_id: nobody, task: 'regression' };
    const own = await h.post('/acme/fit', { ...body, acme_config: {}, acme_systems: ['text'] });
    assert.equal(own.status, 404);
    const wrong = await h.post('/acme/fit', { ...body, acme_config: { n_estimators: 0 } });
    assert.equal(wrong.status, 422);
    const other = await h.post('/acme/fit', { ...body, svc_config: { n_estimators: 0 } });
    assert.equal(other.status, 404, 'nobody looked into it');
  });

  it('reports its limits, every field (S 4.5), and costs nothing (S 4.6)', async () => {
    const { status, body } = await h.get('get_model_limits');
    assert.equal(status, 200);
    const fields = [
      'max_classes',
      'max_cols',
      'predict_row_pairs_budget',
      'test_set_max_cells',
      'test_set_max_rows',
      'test_set_max_rows_w_full_regression_output',
      'train_set_max_cells',
      'train_set_max_rows',
      'train_set_max_upload_cells',
    ];
    assert.deepEqual(Object.keys(body.max_model_limit).sort(), fields);
    assert.ok(Object.values(body.max_model_limit).every(Number.isSafeInteger));
    assert.deepEqual(body.model_limits[body.default_model_version], body.max_model_limit);
    for (const own of ['dataset_max_size_bytes', 'prediction_max_cells', 'max_quantiles']) {
      assert.ok(Number.isSafeInteger(body[own]), own);
    }
    const cost = await h.post('estimate_cost', {
      model_version: 'v3.5',
      operation: 'predict',
      train_rows: 100,
      test_rows: 10,
      raw_columns: 5,
      n_estimators: 8,
    });
    const inputs = {
      ...{ model_version: 'v3.5', operation: 'predict', train_rows: 100 },
      ...{ test_rows: 10, raw_columns: 5, n_estimators: 8 },
    };
    assert.deepEqual([cost.status, cost.body], [200, { estimated_cost: 0, pricing_version: 'free', inputs }]);
    const { body: plain } = await h.post('estimate_cost', { train_rows: 3 });
    const { default_model_version: model_version } = body;
    assert.deepEqual(plain.inputs, { operation: 'predict', model_version, train_rows: 3 });
  });

  it('limits requests per kind when told to, with Retry-After', async () => {
    const limited = await Harness.start({ rateLimit: { fit: { perMinute: 2 } } });
    try {
      const fit = () => limited.post('fit', { train_set_upload_id: nobody, task: 'regression' });
      assert.deepEqual([(await fit()).status, (await fit()).status], [404, 404]);
      const refused = await fit();
      assert.equal(refused.status, 429);
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 60);
      assertGeneric(refused.body, 'rate.limit.exceeded');
      assert.equal(refused.body.retryable, true);
      assert.equal((await limited.post('estimate_cost', { operation: 'predict' })).status, 200);
    } finally {
      await limited.stop();
    }
  });

  it('outlives nonsense on the socket', async () => {
    const { port } = h.service;
    for (const text of [
      'nonsense\r\n\r\n',
      'GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n',
      'POST /svc/fit HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{',
      'GET //\\x HTTP/1.1\r\nhost: x\r\n\r\n',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.end(text));
        socket.on('close', () => resolve());
        socket.on('error', () => resolve());
        socket.resume();
        setTimeout(() => socket.destroy(), 300);
      });
    }
    assert.equal((await h.get('get_model_limits')).status, 200);
  });

  it('makes signed URLs for the address that the client used, unless told which', async () => {
    const prepare = { x_train_info: { format: 'csv' }, y_train_info: { format: 'csv' } };
    const local = await answerOf(
      await fetch(`http://localhost:${h.service.port}/svc/prepare_train_set_upload`, {
        method: 'POST',
        headers: { ...h.bearer(), 'content-type': 'application/json' },
        body: JSON.stringify(prepare),
      }),
    ).catch(() => undefined);
    if (local !== undefined) {
      assert.match(local.body.x_train_info.signed_urls[0], /^http:\/\/localhost:/);
    }
    const behind = await Harness.start({ publicUrl: 'https://models.example/tabular/' });
    try {
      const { body } = await behind.post('prepare_train_set_upload', prepare);
      assert.match(body.x_train_info.signed_urls[0], /^https:\/\/models\.example\/tabular\/_upload\//);
    } finally {
      await behind.stop();
    }
  });
});
