import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';

import { type Answer, answerOf, flowers, Harness, infoOf, nobody, UUID } from './harness';
import { sharedService } from './shared';

const GENERIC = ['code', 'detail', 'retryable', 'support'];
const QUICKSTART = ['error_code', 'message', 'trace_id'];
const CSV = { format: 'csv' };
const ids = { test_set_upload_id: nobody, fitted_train_set_id: nobody };

const POSTS: [route: string, body: object][] = [
  ['prepare_train_set_upload', { x_train_info: CSV, y_train_info: CSV }],
  ['prepare_test_set_upload', { fitted_train_set_id: nobody, x_test_info: CSV }],
  ['fit', { train_set_upload_id: nobody, task: 'regression' }],
  ['predict', { ...ids, task_config: { task: 'regression' } }],
  ['estimate_cost', { operation: 'predict' }],
];

interface Raw {
  status: number;
  text: string;
  headers: IncomingMessage['headers'];
}

/** A request whose body goes out piece by piece; without a length in chunks of HTTP. */
function sendPieces(
  method: string,
  url: string,
  headers: Record<string, string>,
  pieces: Iterable<string | Uint8Array>,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const req = request(url, { method, headers }, (res) => {
      answered = true;
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (part: string) => (text += part));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text, headers: res.headers }));
    });
    req.on('error', (error) => {
      if (!answered) {
        reject(error);
      }
    });
    for (const piece of pieces) {
      req.write(piece);
    }
    req.end();
  });
}

describe('Service: statuses and error bodies (S 4, 5, 7)', () => {
  let h: Harness;
  let fitted: string;
  const { x, y } = flowers();
  before(async () => {
    h = await sharedService();
    fitted = await h.fit(x, y, 'classification');
  });

  const call = async (method: string, route: string, headers: Record<string, string> = h.bearer()) =>
    answerOf(await fetch(h.url(route), { method, headers }));

  function assertEnvelope(answer: Answer, status: number, code: string, where: string): void {
    assert.equal(answer.status, status, `${where}: ${answer.text}`);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.match(answer.headers.get('x-trace-id') ?? '', UUID);
    const names = Object.keys(answer.body).sort();
    if (code === code.toUpperCase()) {
      assert.deepEqual(names, QUICKSTART, where);
      assert.equal(answer.body.error_code, code, where);
      assert.equal(answer.body.trace_id, answer.headers.get('x-trace-id'));
      assert.ok(answer.body.message.length > 10);
    } else {
      assert.deepEqual(names, GENERIC, where);
      assert.equal(answer.body.code, code, where);
      assert.equal(typeof answer.body.retryable, 'boolean');
      assert.match(answer.body.support, /^https:\/\//);
      assert.ok(answer.body.detail.length > 10);
    }
  }

  it('takes the methods of the specification only, and HEAD', async () => {
    const limits = await call('GET', 'get_model_limits');
    const head = await call('HEAD', 'get_model_limits');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(limits.text)));
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, 'get_model_limits');
      assertEnvelope(answer, 405, 'method.not_allowed', method);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    }
    for (const [route] of [...POSTS, ['/v1/predict'] as const]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await call(method, route);
        assertEnvelope(answer, 405, 'method.not_allowed', `${method} ${route}`);
        assert.equal(answer.headers.get('allow'), 'POST');
      }
      assert.equal((await call('HEAD', route)).status, 405);
    }
    const { body } = await h.post(...POSTS[0]!);
    const signed = new URL(body.x_train_info.signed_urls[0] as string);
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, signed.pathname + signed.search, {});
      assertEnvelope(answer, 405, 'method.not_allowed', `${method} signed URL`);
      assert.equal(answer.headers.get('allow'), 'PUT');
    }
  });

  it('says 401 before anything else, on routes that do not exist too', async () => {
    for (const route of ['fit', 'nothing', '/', '/v1/predict', '/v1/fit']) {
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'bearer' }]) {
        const answer = await call('DELETE', route, headers as Record<string, string>);
        assertEnvelope(answer, 401, 'auth.unauthorized', route);
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
        assert.equal(answer.body.retryable, false);
      }
    }
    assert.equal(
      (await call('GET', 'get_model_limits', { authorization: 'bearer secret-token' })).status,
      200,
    );
  });

  it('puts each error into the envelope of its route', async () => {
    const cases: [string, object | string, number, string][] = [
      ['prepare_train_set_upload', {}, 422, 'validation.failed'],
      ['prepare_train_set_upload', 'no json', 422, 'validation.failed'],
      [
        'prepare_train_set_upload',
        { x_train_info: { ...CSV, size_bytes: 1e13 }, y_train_info: CSV },
        413,
        'limit.exceeded',
      ],
      ['prepare_test_set_upload', {}, 422, 'VALIDATION_ERROR'],
      ['prepare_test_set_upload', POSTS[1]![1], 404, 'NOT_FOUND'],
      [
        'prepare_test_set_upload',
        { fitted_train_set_id: fitted, x_test_info: { ...CSV, size_bytes: 1e13 } },
        413,
        'limit.exceeded',
      ],
      ['fit', {}, 422, 'VALIDATION_ERROR'],
      ['fit', POSTS[2]![1], 404, 'NOT_FOUND'],
      ['predict', {}, 422, 'VALIDATION_ERROR'],
      ['predict', POSTS[3]![1], 404, 'NOT_FOUND'],
      [
        'predict',
        { ...ids, fitted_train_set_id: fitted, task_config: { task: 'classification' } },
        404,
        'NOT_FOUND',
      ],
      [
        'predict',
        { ...ids, fitted_train_set_id: fitted, task_config: { task: 'regression' } },
        422,
        'VALIDATION_ERROR',
      ],
      ['estimate_cost', { operation: '' }, 422, 'VALIDATION_ERROR'],
      ['nothing', {}, 404, 'NOT_FOUND'],
      ['/v1/fit', {}, 404, 'NOT_FOUND'],
      ['/v1/predict', {}, 422, 'VALIDATION_ERROR'],
    ];
    for (const [route, body, status, code] of cases) {
      assertEnvelope(await h.post(route, body), status, code, `${route} ${JSON.stringify(body)}`);
    }
    const empty = await h.predict(fitted, 'length,width,place\n', 'classification');
    assertEnvelope(empty, 422, 'EMPTY_TABLE', 'no rows');
    const columns = await h.predict(fitted, 'length\n1\n', 'classification');
    assertEnvelope(columns, 422, 'COLUMNS_MISSING', 'columns');
    const rubbish = await h.predict(fitted, Buffer.from('not parquet'), 'classification');
    assertEnvelope(rubbish, 422, 'FILE_UNREADABLE', 'rubbish');
  });

  it('outlives JSON of any depth', async () => {
    const deep = `{"train_set_upload_id":"${nobody}","task":"regression","svc_config":{"inference_config":{"a":${'['.repeat(
      100_000,
    )}${']'.repeat(100_000)}}}}`;
    assertEnvelope(await h.post('fit', deep), 422, 'VALIDATION_ERROR', 'deep');
    assertEnvelope(await h.post('fit', '['.repeat(500_000)), 422, 'VALIDATION_ERROR', 'open');
    assertEnvelope(
      await h.post('fit', `{"__proto__":{"task":"regression"},"train_set_upload_id":"${nobody}"}`),
      422,
      'VALIDATION_ERROR',
      'prototype',
    );
  });

  it('takes bodies in chunks of HTTP', async () => {
    const headers = { ...h.bearer(), 'content-type': 'application/json; charset=utf-8' };
    const text = JSON.stringify({ fitted_train_set_id: fitted, x_test_info: CSV });
    const prepared = await sendPieces('POST', h.url('prepare_test_set_upload'), headers, text);
    assert.equal(prepared.status, 200, prepared.text);
    const { test_set_upload_id, x_test_info: info } = JSON.parse(prepared.text);
    const rows = ['length,width,place\n', '1,2,north\n', '3,4,south\n'];
    const put = await sendPieces('PUT', info.signed_urls[0], info.required_headers, rows);
    assert.equal(put.status, 200, put.text);
    const answer = await h.post('predict', {
      test_set_upload_id,
      fitted_train_set_id: fitted,
      task_config: { task: 'classification' },
    });
    assert.equal(answer.body.prediction.length, 2, answer.text);
  });

  it('answers what is too long before its end has come, instead of cutting the line', async () => {
    const small = await Harness.start({ limits: { dataset_max_size_bytes: 100_000 } });
    try {
      const megabyte = Buffer.alloc(1024 * 1024, 'x');
      const headers = { ...small.bearer(), 'content-type': 'application/json' };
      const json = await sendPieces('POST', small.url('estimate_cost'), headers, [
        megabyte,
        megabyte,
        megabyte,
      ]);
      assert.equal(json.status, 413);
      const { body } = await small.post('prepare_train_set_upload', {
        x_train_info: CSV,
        y_train_info: { ...infoOf(y), size_bytes: 10 },
      });
      for (const [info, status] of [
        [body.x_train_info, 413],
        [body.y_train_info, 400],
      ]) {
        const sent = [megabyte, megabyte, megabyte];
        const put = await sendPieces('PUT', info.signed_urls[0], info.required_headers, sent);
        assert.equal(put.status, status, put.text);
        assert.equal(put.headers.connection, 'close');
      }
      assert.equal((await small.get('get_model_limits')).status, 200);
    } finally {
      await small.stop();
    }
  });

  it('counts uploads, fits and predicts apart from one another (S 8)', async () => {
    const rate = { perMinute: 3, perHour: 2 };
    const limited = await Harness.start({ rateLimit: { upload: rate, fit: rate, predict: rate } });
    try {
      for (const kind of [[POSTS[0]!, POSTS[1]!], [POSTS[2]!], [POSTS[3]!]]) {
        for (let i = 0; i < 2; i++) {
          assert.notEqual((await limited.post(...kind[i % kind.length]!)).status, 429);
        }
        for (const [route, body] of kind) {
          const answer = await limited.post(route, body);
          assertEnvelope(answer, 429, 'rate.limit.exceeded', route);
          const seconds = Number(answer.headers.get('retry-after'));
          assert.ok(seconds > 3500 && seconds <= 3600, `${seconds} s until an hour is over`);
          assert.equal(answer.body.retryable, true);
        }
      }
      assert.equal((await limited.post('/v1/predict', {})).status, 429, 'it is a predict');
      assert.equal((await limited.get('get_model_limits')).status, 200);
      assert.equal((await limited.post(...POSTS[4]!)).status, 200);
    } finally {
      await limited.stop();
    }
  });

  it('answers a fit with nothing beyond id, status, reused, report and ignored_options, a predict with nothing beyond S 2.7', async () => {
    const upload = await h.uploadTrain(x, y, { force_reupload: true });
    const fit = await h.post('fit', {
      train_set_upload_id: upload,
      task: 'classification',
      svc_config: { n_estimators: 2 },
    });
    assert.deepEqual(Object.keys(fit.body).sort(), [
      'fitted_train_set_id',
      'ignored_options',
      'report',
      'reused',
      'status',
    ]);
    const { body } = await h.predict(fitted, x, 'classification');
    assert.deepEqual(Object.keys(body), ['prediction', 'metadata']);
    assert.deepEqual(Object.keys(body.metadata).sort(), [
      'classes',
      'ignored_columns',
      'ignored_options',
      'package_version',
      'svc_config',
      'task',
      'test_set_num_cols',
      'test_set_num_rows',
    ]);
  });

  it('writes the first whitespace of a long fit after the time it was told, and more at that pace (S 1)', async () => {
    const slow = await Harness.start({ keepaliveMs: 60 });
    try {
      const rows = Array.from({ length: 300 }, (_, i) => i);
      const upload = await slow.uploadTrain(
        `a,b\n${rows.map((i) => `${i % 97},${(i * 31) % 113}`).join('\n')}\n`,
        `y\n${rows.map((i) => ((i * 7) % 53) + (i % 97)).join('\n')}\n`,
      );
      const started = performance.now();
      const response = await fetch(slow.url('fit'), {
        method: 'POST',
        headers: { ...slow.bearer(), 'content-type': 'application/json' },
        body: JSON.stringify({
          train_set_upload_id: upload,
          task: 'regression',
          svc_config: { n_estimators: 2 },
        }),
      });
      const headersAfter = performance.now() - started;
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(response.headers.get('content-length'), null);
      const text = await response.text();
      const took = performance.now() - started;
      const spaces = /^ */.exec(text)![0].length;
      assert.ok(headersAfter >= 55, `the first came after ${headersAfter} ms`);
      assert.ok(spaces >= 1 && spaces <= took / 60 + 1, `${spaces} spaces in ${took} ms`);
      assert.match(JSON.parse(text).fitted_train_set_id, UUID);
    } finally {
      await slow.stop();
    }
  });
});
