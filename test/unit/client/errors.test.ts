import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Agent } from 'undici';

import { ServiceClient } from '../../../dist/src/client';
import { AnswerTooLong, exchange, type HttpRequest } from '../../doors/client';
import type { ErrorCode } from '../../doors/wire';
import { garbageCollector } from '../../helpers/garbage';
import { ready, rejection, withService, xOf, yOf } from './support';

const id = '00000000-0000-4000-8000-000000000000';

describe('client: what an answer means', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.02));
  after(() => (Math.random = random));

  for (const [status, body, code, pattern] of [
    [
      400,
      { code: 'bad', detail: 'no such thing', retryable: false },
      'validation.failed',
      /\(400\): no such thing/,
    ],
    [
      401,
      { message: 'Invalid token', error_code: 'UNAUTHORIZED', trace_id: 't-1' },
      'auth.unauthorized',
      /token/,
    ],
    [402, { detail: 'pay first' }, 'budget.exceeded', /pay first/],
    [403, { error: { code: 'plan', message: 'not in your plan' } }, 'auth.forbidden', /not in your plan/],
    [403, { detail: 'not yours' }, 'auth.forbidden', /not yours/],
    [404, { message: 'Gone', error_code: 'NOT_FOUND' }, 'not_found', /Gone/],
    [408, '', 'service.timeout', /took the service too long/],
    [409, { message: 'Busy fitting', error_code: 'CONFLICT' }, 'duplicate', /Busy fitting/],
    [413, 'too large', 'limit.exceeded', /too large/],
    [422, { detail: [{ loc: ['body', 'task'], msg: 'unknown' }] }, 'validation.failed', /task: unknown/],
    [422, { detail: { message: 'inner' } }, 'validation.failed', /inner/],
    [429, { message: 'slow down' }, 'rate.limit.exceeded', /too many requests: slow down/],
    [500, '<html><body>nginx</body></html>', 'service.unavailable', /an HTML page/],
    [504, { detail: 'upstream' }, 'service.timeout', /upstream/],
    [507, { detail: 'make room' }, 'storage.failed', /failed in the service \(507\): make room/],
  ] as [number, unknown, ErrorCode, RegExp][]) {
    it(`${status} ${JSON.stringify(body)} is ${code}`, () =>
      withService({}, { retries: 0 }, async (service, client) => {
        service.fault('get_model_limits', () => ({ status, body }));
        const error = await rejection(client.getModelLimits(), code);
        assert.match(error.message, pattern);
        assert.equal(error.cause?.status, status);
      }));
  }

  for (const [what, patch, pattern] of [
    ['an id that is no UUID', { train_set_upload_id: 'x' }, /train_set_upload_id must be a UUID/],
    ['no id', { train_set_upload_id: undefined }, /train_set_upload_id is required/],
    ['no URLs', { x_train_info: { signed_urls: [], expires_at: 1, required_headers: {} } }, /signed_urls/],
    [
      'no headers',
      { y_train_info: { signed_urls: ['http://a'], expires_at: 1 } },
      /y_train_info\.required_headers/,
    ],
    [
      'a URL that is none',
      { x_train_info: { signed_urls: ['file:///etc/passwd'], expires_at: 1, required_headers: {} } },
      /not an http\(s\) URL/,
    ],
  ] as const) {
    it(`prepare with ${what} is response.invalid, naming it`, () =>
      withService({}, {}, async (service, client) => {
        service.fault('prepare_train_set_upload', () => ({ patch }));
        const error = await rejection(
          client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) }),
          'response.invalid',
        );
        assert.match(error.message, pattern);
      }));
  }

  for (const [what, patch, pattern] of [
    ['no prediction', { prediction: undefined }, /prediction is required/],
    ['a prediction of another length', { prediction: [[1, 0]] }, /1 rows where the test set has 3/],
    ['a prediction of another shape', { prediction: [1, 2, 3] }, /prediction\[0\] must be an array/],
    ['text', { prediction: 'a' }, /prediction must be an array/],
    ['metadata that is none', { metadata: 3 }, /metadata/],
    [
      'more classes than columns',
      { metadata: { classes: ['a', 'b', 'c'], test_set_num_rows: 3 } },
      /2 probabilities a row for 3 classes/,
    ],
  ] as const) {
    it(`predict with ${what} is response.invalid, naming it, and is not repeated`, () =>
      withService({}, {}, async (service, client) => {
        const request = await ready(client);
        service.fault('predict', () => ({ patch }));
        const error = await rejection(
          client.predict({ ...request, retryAmbiguous: true }),
          'response.invalid',
        );
        assert.match(error.message, pattern);
        assert.equal(service.seen('predict').length, 1);
      }));
  }

  it('a fit without an id, limits and a cost of a wrong kind are response.invalid', () =>
    withService({}, {}, async (service, client) => {
      service.fault('fit', () => ({ status: 200, body: { fitted: true } }));
      const fit = await rejection(
        client.fit({ train_set_upload_id: id, task: 'regression' }),
        'response.invalid',
      );
      assert.match(fit.message, /fitted_train_set_id is required/);
      service.fault('get_model_limits', () => ({ patch: { max_model_limit: { max_cols: 'many' } } }));
      const limits = await rejection(client.getModelLimits(), 'response.invalid');
      assert.match(limits.message, /max_model_limit\.max_cols must be a whole number/);
      service.fault('estimate_cost', () => ({ patch: { estimated_cost: 'free' } }));
      await rejection(client.estimateCost({ operation: 'predict' }), 'response.invalid');
    }));

  it('ends the sentence of the service once, and does not repeat its advice', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      const messages: [string, string][] = [
        ['No such model. Fit it again.', 'No such model. Fit it again.'],
        ['No such model', 'No such model. Fit it again.'],
      ];
      for (const [message, end] of messages) {
        service.fault('predict', () => ({ status: 404, body: { message, error_code: 'NOT_FOUND' } }));
        const error = await rejection(client.predict(request), 'model.unknown');
        assert.equal(error.message, `The service does not know the model any more (404): ${end}`);
      }
    }));

  it('a duplicate without the id to reuse is response.invalid', () =>
    withService({}, {}, async (service, client) => {
      const upload = () => client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) });
      for (const body of [
        { message: 'Duplicate', error_code: 'DUPLICATE_TRAIN_SET_UPLOAD' },
        { message: 'Duplicate', train_set_upload_id: 'that one', error_code: 'DUPLICATE_TRAIN_SET_UPLOAD' },
        { message: 'Duplicate', test_set_upload_id: id },
      ]) {
        service.fault('prepare_train_set_upload', () => ({ status: 409, body }));
        const error = await rejection(upload(), 'response.invalid');
        assert.match(error.message, /no train_set_upload_id says which/);
      }
      const body = { message: 'Locked', error_code: 'CONFLICT' };
      service.fault('prepare_train_set_upload', () => ({ status: 409, body }));
      await rejection(upload(), 'duplicate');
    }));

  it('upload headers that HTTP cannot carry are response.invalid, and are not tried again', () =>
    withService({}, {}, async (service, client) => {
      const info = {
        signed_urls: [`${service.url}/signed/a`],
        expires_at: 1,
        required_headers: { 'x-a': 'b\r\nc: d' },
      };
      service.fault('prepare_train_set_upload', () => ({ patch: { x_train_info: info } }));
      const error = await rejection(
        client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) }),
        'response.invalid',
      );
      assert.match(error.message, /headers that cannot be sent/);
    }));

  it('takes null for missing in metadata, but leaves the configuration as it is', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      const config = { categorical_features_indices: null, n_estimators: 2 };
      const metadata = { classes: null, test_set_num_rows: null, package_version: null, svc_config: config };
      service.fault('predict', () => ({ patch: { metadata } }));
      assert.deepEqual((await client.predict(request)).metadata, { svc_config: config });
    }));

  it('takes unknown fields, and values of enums that the specification does not list', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      service.fault('predict', () => ({
        patch: { news: 1, metadata: { task: 'ranking', test_set_num_rows: 3, more: { a: 1 } } },
      }));
      const { metadata, rows } = await client.predict(request);
      assert.deepEqual(metadata, { task: 'ranking', test_set_num_rows: 3, more: { a: 1 } });
      assert.equal(rows, 3);
      service.fault('prepare_train_set_upload', () => ({ patch: { region: 'eu' } }));
      await client.uploadTrainSet({ x: xOf([1]), y: yOf(['a']) });
    }));

  it('a thinking fit gets at least its thinking time and a minute', () =>
    withService({ fitMs: 600 }, { timeoutMs: 200 }, async (_, client) => {
      const { train_set_upload_id } = await client.uploadTrainSet(
        { x: xOf([1, 2]), y: yOf(['a', 'b']) },
        { timeoutMs: 5_000 },
      );
      const request = { train_set_upload_id, task: 'classification' } as const;
      await client.fit({ ...request, thinking_effort: 'medium', thinking_timeout_s: 1 });
      await rejection(client.fit(request), 'service.timeout');
    }));

  it('checks the settings', () => {
    const bad = (options: object, pattern: RegExp) =>
      assert.throws(
        () => new ServiceClient({ baseUrl: 'https://a.test', token: 't', ...options }),
        (error: { code: string; message: string }) =>
          error.code === 'config.invalid' && pattern.test(error.message),
      );
    bad({ baseUrl: 'api.test' }, /not a URL|begins with/);
    bad({ baseUrl: '' }, /not a URL/);
    bad({ baseUrl: 'ftp://a.test' }, /must start with http:.*not ftp:/);
    bad({ baseUrl: 'https://a.test/?x=1' }, /query/);
    bad({ dialect: { apiName: 'a/b' } }, /API name/);
    bad({ timeoutMs: 0 }, /timeout/);
    bad({ retries: -1 }, /retries/);
    bad({ concurrency: 0.5 }, /concurrency/);
    bad({ timeoutMs: '5' }, /timeout/);
    bad({ userAgent: 'a\r\nb: c' }, /userAgent must be printable/);
    bad({ tls: { servername: 5 } }, /tls: servername must be a text, not 5/);
    bad({ proxy: { noProxy: 'a.test' } }, /noProxy must be an array of texts, not 'a.test'/);
    const secret = 'a-secret-key';
    bad({ tls: { key: [secret] } }, /key must be a text or a Buffer\.$/);
    bad({ proxy: { url: { secret } } }, /url must be a text\.$/);
  });

  it('takes a token pasted with the word Bearer and white space', () =>
    withService({}, {}, async (service) => {
      const client = new ServiceClient({ baseUrl: service.url, token: `  Bearer ${service.token}\n` });
      await client.getModelLimits();
      assert.deepEqual(service.breaches, []);
      await client.close();
    }));

  describe('long answers', () => {
    const spaces = Buffer.alloc(65_536, ' ');
    const letters = Buffer.alloc(65_536, 'x');
    const endless = createServer((req, res) => {
      res.writeHead(req.url === '/error' ? 500 : 200, { 'content-type': 'text/plain' });
      const more = () => {
        const chunk = req.url === '/space' ? spaces : letters;
        let goesOn = true;
        while (goesOn && !res.destroyed) {
          sent += chunk.length;
          goesOn = res.write(chunk);
        }
      };
      res.on('drain', more);
      more();
    });
    let base = '';
    let sent = 0;
    before((done) => {
      endless.listen(0, '127.0.0.1', () => {
        base = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
        done();
      });
    });
    after(() => {
      endless.closeAllConnections();
      endless.close();
    });
    const get = (path: string, ms: number, longest?: number, signal?: AbortSignal) => {
      const request: HttpRequest = { method: 'GET', url: new URL(path, base), headers: {} };
      const ends = AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])]);
      return exchange(new Agent({ bodyTimeout: 0 }), request, ends, longest);
    };

    it('an answer longer than can be taken ends there', async () => {
      await assert.rejects(get('/answer', 5_000, 3_000_000), AnswerTooLong);
    });

    it('an endless error page is read in part', async () => {
      const answer = await get('/error', 5_000);
      assert.equal(answer.status, 500);
      assert.ok(answer.body.length > 500_000 && answer.body.length <= 1_048_576);
    });

    it('endless white space takes no memory, and ends with the call', async () => {
      const collectGarbage = garbageCollector();
      const before = process.memoryUsage().arrayBuffers;
      const sentBefore = sent;
      const calling = new AbortController();
      const ended = assert.rejects(get('/space', 15_000, undefined, calling.signal), {
        name: 'TransportFailure',
      });
      // Freed buffers are given back by and by: what counts is that it ever falls that low after so much has come.
      let held = Infinity;
      for (let turn = 0; turn < 100 && held >= 20_000_000; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        collectGarbage();
        if (sent - sentBefore > 80_000_000) {
          held = process.memoryUsage().arrayBuffers - before;
        }
      }
      calling.abort();
      await ended;
      assert.ok(held < 20_000_000, `${held} bytes are held of ${sent - sentBefore}`);
    });
  });
});
