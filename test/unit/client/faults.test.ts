import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';

import { ServiceClient } from '../../../dist/src/client';
import { type Fault, inTurn, type StrictRoute } from '../../helpers/strict-service';
import { fitted, ready, rejection, withService, xOf, yOf } from './support';

type Run = { run: () => Promise<unknown> };
type Work = (client: ServiceClient) => Run | Promise<Run>;

const train = () => ({ x: xOf([1, 2, 3, 4]), y: yOf(['a', 'b', 'a', 'b']) });

/** Each request that may be repeated, and how it is made once everything before it is there. */
const REPEATABLE: [string, StrictRoute, Work][] = [
  ['limits', 'get_model_limits', (client) => ({ run: () => client.getModelLimits() })],
  ['cost', 'estimate_cost', (client) => ({ run: () => client.estimateCost({ operation: 'predict' }) })],
  [
    'prepare train set',
    'prepare_train_set_upload',
    (client) => ({ run: () => client.uploadTrainSet(train()) }),
  ],
  [
    'prepare test set',
    'prepare_test_set_upload',
    async (client) => {
      const fitted_train_set_id = await fitted(client);
      return { run: () => client.uploadTestSet({ fitted_train_set_id, x: xOf([1]) }) };
    },
  ],
  ['PUT', 'put', (client) => ({ run: () => client.uploadTrainSet(train()) })],
  [
    'plain fit',
    'fit',
    async (client) => {
      const { train_set_upload_id } = await client.uploadTrainSet(train());
      return { run: () => client.fit({ train_set_upload_id, task: 'classification' }) };
    },
  ],
  [
    'predict that may be repeated',
    'predict',
    async (client) => {
      const request = await ready(client);
      return { run: () => client.predict({ ...request, retryAmbiguous: true }) };
    },
  ],
];

const predictOnce: Work = async (client) => {
  const request = await ready(client);
  return { run: () => client.predict(request) };
};

const forcedFit: Work = async (client) => {
  const { train_set_upload_id } = await client.uploadTrainSet(train());
  return { run: () => client.fit({ train_set_upload_id, task: 'classification', force_refit: true }) };
};

const thinkingFit: Work = async (client) => {
  const { train_set_upload_id } = await client.uploadTrainSet(train());
  return {
    run: () => client.fit({ train_set_upload_id, task: 'classification', thinking_effort: 'medium' }),
  };
};

const AMBIGUOUS: [string, Fault][] = [
  ['reset before the body is read', { reset: 'before' }],
  ['reset while the body is read', { reset: 'during' }],
  ['reset after the service acted', { reset: 'after' }],
  ['answer cut in half', { cutAt: 0.5 }],
  ['408', { status: 408 }],
  ['500', { status: 500 }],
  ['502 with an HTML page', { status: 502, body: '<html>Bad gateway</html>' }],
  ['504', { status: 504 }],
  ['200 with white space alone', { status: 200, body: ' \n\n  ' }],
  ['200 with nothing', { status: 200, body: '' }],
];

const REFUSED: [string, Fault][] = [
  ['429 without Retry-After', { status: 429 }],
  ['429 with Retry-After in seconds', { status: 429, headers: { 'retry-after': '0' } }],
  [
    '429 with Retry-After as a date',
    { status: 429, headers: { 'retry-after': new Date(Date.now() - 1_000).toUTCString() } },
  ],
  ['503 that is retryable', { status: 503, body: { code: 'busy', detail: 'busy', retryable: true } }],
  ['400 that is retryable', { status: 400, body: { code: 'busy', detail: 'busy', retryable: true } }],
  ['500 that is retryable', { status: 500, body: { code: 'busy', detail: 'busy', retryable: true } }],
];

const GATEWAY: Fault = { status: 503, body: '<html>Service unavailable</html>' };

describe('client: faults, each injected by a real server', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.02));
  after(() => (Math.random = random));

  for (const [name, route, work] of REPEATABLE) {
    for (const [what, fault] of [...AMBIGUOUS, ...REFUSED, ['503 of a gateway', GATEWAY] as const]) {
      // A limits request has no body that is read, and nothing is what a storage says to a PUT.
      if (
        (fault.reset === 'during' && route === 'get_model_limits') ||
        (fault.status === 200 && route === 'put')
      ) {
        continue;
      }
      it(`${name}: ${what} is repeated, and succeeds`, () =>
        withService({}, {}, async (service, client) => {
          const { run } = await work(client);
          const before = service.seen(route).length;
          service.fault(route, inTurn(fault, fault));
          await run();
          const files = route === 'put' ? 2 : 1;
          assert.equal(service.seen(route).length - before, files + 2);
          assert.deepEqual(service.breaches, []);
        }));
    }
  }

  for (const [what, fault] of AMBIGUOUS) {
    it(`predict: ${what} is predict.unknown, and is not repeated`, () =>
      withService({}, {}, async (service, client) => {
        const { run } = await predictOnce(client);
        service.fault('predict', inTurn(fault));
        const error = await rejection(run(), 'predict.unknown');
        assert.match(error.message, /may have been carried out and metered/);
        assert.equal(service.seen('predict').length, 1);
      }));

    it(`predict of a free service: ${what} is repeated, and succeeds`, () =>
      withService({}, { free: true }, async (service, client) => {
        const { run } = await predictOnce(client);
        service.fault('predict', inTurn(fault, fault));
        await run();
        assert.equal(service.seen('predict').length, 3);
      }));

    it(`forced and thinking fits: ${what} is an error, and is not repeated`, () =>
      withService({}, {}, async (service, client) => {
        for (const [work, costs] of [
          [forcedFit, false],
          [thinkingFit, true],
        ] as const) {
          const { run } = await work(client);
          const before = service.seen('fit').length;
          service.fault('fit', inTurn(fault));
          const timeout = fault.status === 408 || fault.status === 504;
          const error = await rejection(run(), timeout ? 'service.timeout' : 'service.unavailable');
          assert.equal(
            / It may go on in the service and be metered, so/.test(error.message),
            costs,
            error.message,
          );
          assert.equal(service.seen('fit').length - before, 1);
        }
      }));
  }

  it('a thinking fit that is not answered in time, or submitted, may be metered too', () =>
    withService({ jobs: {} }, {}, async (service, client) => {
      const { train_set_upload_id } = await client.uploadTrainSet(train());
      const asked = { train_set_upload_id, task: 'classification', thinking_effort: 'medium' } as const;
      service.fault('submit_fit_job', inTurn({ reset: 'after' }));
      const broken = await rejection(client.fit(asked, { background: true }), 'service.unavailable');
      assert.match(broken.message, /broke before .* may go on in the service and be metered/);
      service.fault('fit', () => ({ silent: true }));
      const late = await rejection(client.fit(asked, { timeoutMs: 300 }), 'service.timeout');
      assert.match(late.message, /gave no answer. It may go on in the service and be metered/);
      assert.equal(service.seen('fit').length, 1);
    }));

  it('predict of a free service: what it ended by itself is told without a charge, and is not repeated', () =>
    withService({}, { free: true }, async (service, client) => {
      const { run } = await predictOnce(client);
      const body = { error_code: 'TIMEOUT', message: 'The predict got no further.', retryable: false };
      service.fault('predict', () => ({ status: 504, body }));
      const error = await rejection(run(), 'service.timeout');
      assert.equal(error.message, 'The predict took the service too long (504): The predict got no further.');
      assert.equal(service.seen('predict').length, 1);
    }));

  for (const [what, fault] of AMBIGUOUS) {
    it(`legacy predict: ${what} is predict.unknown, and is not repeated`, () =>
      withService({}, {}, async (service, client) => {
        service.fault('v1/predict', inTurn(fault));
        const data = { model_id: 'm', task: 'classification' } as const;
        // oxlint-disable-next-line typescript/no-deprecated -- deprecated by the service, still ours to test
        await rejection(client.predictLegacy({ data, file: xOf([1, 2]) }), 'predict.unknown');
        assert.equal(service.seen('v1/predict').length, 1);
      }));
  }

  for (const [what, fault] of REFUSED) {
    it(`predict, a forced and a thinking fit: ${what} is repeated, because it costs nothing`, () =>
      withService({}, {}, async (service, client) => {
        for (const [route, work] of [
          ['predict', predictOnce],
          ['fit', forcedFit],
          ['fit', thinkingFit],
        ] as const) {
          const { run } = await work(client);
          const before = service.seen(route).length;
          service.fault(route, inTurn(fault));
          await run();
          assert.equal(service.seen(route).length - before, 2);
        }
      }));
  }

  it('503 of a gateway: a predict, which ends with its connection, is repeated', () =>
    withService({}, {}, async (service, client) => {
      const { run } = await predictOnce(client);
      service.fault('predict', inTurn(GATEWAY));
      await run();
      assert.equal(service.seen('predict').length, 2);
    }));

  it('503 of a gateway: a fit that costs may go on behind it, so it is not repeated', () =>
    withService({}, {}, async (service, client) => {
      for (const how of [{ force_refit: true }, { thinking_effort: 'medium' }] as const) {
        const { train_set_upload_id } = await client.uploadTrainSet(train());
        const before = service.seen('fit').length;
        service.fault('fit', inTurn(GATEWAY));
        const work = client.fit({ train_set_upload_id, task: 'classification', ...how });
        await rejection(work, 'service.unavailable');
        assert.equal(service.seen('fit').length - before, 1);
      }
    }));

  for (const [status, body] of [
    [429, { message: 'No tokens left', error_code: 'INSUFFICIENT_QUOTA', trace_id: 't' }],
    [429, { message: 'No tokens left', error_code: 'TOKEN_BUDGET_EXCEEDED', trace_id: 't' }],
    [429, { code: 'budget.exceeded', detail: 'Daily limit reached', retryable: true }],
    [429, { detail: 'The monthly token budget is used up' }],
    [402, { detail: 'pay first', retryable: true }],
    [200, { _streamed_error: true, error_code: 'INSUFFICIENT_QUOTA', message: 'none left' }],
  ] as const) {
    it(`a budget that is used up (${status} ${JSON.stringify(body)}) is told at once`, () =>
      withService({}, {}, async (service, client) => {
        for (const [route, work] of [
          ['predict', predictOnce],
          ['fit', forcedFit],
        ] as const) {
          const { run } = await work(client);
          const before = service.seen(route).length;
          service.fault(route, () => ({ status, body }));
          await rejection(run(), 'budget.exceeded');
          assert.equal(service.seen(route).length - before, 1);
          service.fault(route, undefined);
        }
      }));
  }

  it('a budget that comes back with Retry-After is waited for', () =>
    withService({}, {}, async (service, client) => {
      const { run } = await predictOnce(client);
      const body = { message: 'No tokens left', error_code: 'TOKEN_BUDGET_EXCEEDED' };
      service.fault('predict', inTurn({ status: 429, body, headers: { 'retry-after': '1' } }));
      await run();
      assert.equal(service.seen('predict').length, 2);
    }));

  it('retryable: false vetoes what the status would allow', () =>
    withService({}, {}, async (service, client) => {
      const body = {
        code: 'broken',
        detail: 'for good',
        retryable: false,
        support: 'https://help.example.org',
      };
      service.fault('get_model_limits', () => ({ status: 503, body }));
      const error = await rejection(client.getModelLimits(), 'service.unavailable');
      assert.equal(service.seen('get_model_limits').length, 1);
      assert.deepEqual(error.cause, {
        status: 503,
        serviceCode: 'broken',
        retryable: false,
        support: 'https://help.example.org',
      });
    }));

  it('gives up after the set number of retries, with the last error', () =>
    withService({}, { retries: 2 }, async (service, client) => {
      service.fault('get_model_limits', ({ n }) => ({ status: n === 2 ? 503 : 500 }));
      const error = await rejection(client.getModelLimits(), 'service.unavailable');
      assert.equal(error.cause?.status, 503);
      assert.equal(service.seen('get_model_limits').length, 3);
    }));

  it('a refused connection names host and port and what to do; a predict is repeated, as it never left', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    const warnings: string[] = [];
    const client = new ServiceClient({
      baseUrl: `http://127.0.0.1:${port}`,
      token: 'secret',
      retries: 2,
      log: (level, text) => level === 'warn' && warnings.push(text),
    });
    const id = '00000000-0000-4000-8000-000000000000';
    const error = await rejection(
      client.predict({ test_set_upload_id: id, fitted_train_set_id: id, task: 'regression' }),
      'service.unavailable',
    );
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port} \\(connection refused\\)`));
    assert.match(error.message, /Check that the service runs/);
    assert.equal(warnings.length, 2);
    await client.close();
  });

  it('a storage that refuses the connection is upload.failed, naming it', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    await withService({ storageUrl: `http://127.0.0.1:${port}` }, { retries: 1 }, async (service, client) => {
      const error = await rejection(client.uploadTrainSet(train()), 'upload.failed');
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port} \\(connection refused\\)`));
      assert.deepEqual(service.breaches, []);
    });
  });

  for (const [what, fault, pattern] of [
    ['HTML', { status: 200, body: '<html>Sign in</html>' }, /HTML page/],
    ['JSON cut short, complete as a message', { status: 200, body: '{"prediction":[1,2' }, /ends too early/],
    ['a JSON list', { status: 200, body: '[1]' }, /not an object/],
  ] as [string, Fault, RegExp][]) {
    it(`${what} at 200 is response.invalid on every route, and is not repeated`, () =>
      withService({}, {}, async (service, client) => {
        for (const [, route, work] of [...REPEATABLE, ['predict', 'predict', predictOnce] as const]) {
          if (route === 'put') {
            continue;
          }
          const { run } = await work(client);
          const before = service.seen(route).length;
          service.fault(route, () => fault);
          const error = await rejection(run(), 'response.invalid');
          assert.match(error.message, pattern);
          assert.equal(service.seen(route).length - before, 1);
          service.fault(route, undefined);
        }
      }));
  }

  for (const [what, body, code, pattern] of [
    ['a streamed error', { _streamed_error: true, detail: 'out of memory' }, 'fit.failed', /out of memory/],
    ['only a detail', { detail: 'no target' }, 'fit.failed', /no target/],
    ['only a message', { message: 'worker lost', error_code: 'INTERNAL' }, 'fit.failed', /worker lost/],
    [
      'a streamed validation error',
      { _streamed_error: true, code: 'validation.failed', detail: 'one class' },
      'validation.failed',
      /one class/,
    ],
    [
      'a streamed budget error',
      { _streamed_error: true, code: 'budget.exceeded', detail: 'monthly tokens', retryable: false },
      'budget.exceeded',
      /monthly tokens/,
    ],
    [
      'a status that is not completed',
      { fitted_train_set_id: '00000000-0000-4000-8000-000000000000', status: 'failed', message: 'bad' },
      'fit.failed',
      /"failed": bad/,
    ],
  ] as const) {
    it(`fit: ${what} at 200, after white space, is ${code}`, () =>
      withService({}, {}, async (service, client) => {
        const { run } = await forcedFit(client);
        service.fault('fit', () => ({ status: 200, body: ` \n \n${JSON.stringify(body)}` }));
        const error = await rejection(run(), code);
        assert.match(error.message, pattern);
        assert.equal(service.seen('fit').length, 1);
      }));
  }

  it('predict: a streamed error at 200 that is retryable is repeated', () =>
    withService({}, {}, async (service, client) => {
      const { run } = await predictOnce(client);
      const body = { _streamed_error: true, detail: 'restarting', retryable: true };
      service.fault('predict', inTurn({ status: 200, body }));
      await run();
      assert.equal(service.seen('predict').length, 2);
    }));

  for (const [what, body] of [
    ['503', { _streamed_error: true, status: 503, message: 'died while computing' }],
    ['503, not retryable', { _streamed_error: true, status: 503, message: 'died', retryable: false }],
    ['500', { _streamed_error: true, status: 500, message: 'lost' }],
    ['no status', { _streamed_error: true, message: 'lost' }],
    ['timeout', { _streamed_error: true, code: 'REQUEST_TIMEOUT', message: 'lost' }],
    ['408', { _streamed_error: true, status: 408, message: 'lost' }],
  ] as const) {
    it(`predict: a streamed error at 200 (${what}) is predict.unknown; repeated only where the user chose that`, () =>
      withService({}, {}, async (service, client) => {
        const request = await ready(client);
        service.fault('predict', inTurn({ status: 200, body }));
        const error = await rejection(client.predict(request), 'predict.unknown');
        assert.match(error.message, /may have been carried out and metered/);
        assert.equal(service.seen('predict').length, 1);

        service.fault('predict', inTurn({ status: 200, body }));
        const retried = client.predict({ ...request, retryAmbiguous: true });
        if ('retryable' in body) {
          await rejection(retried, 'service.unavailable');
        } else {
          await retried;
        }
        assert.equal(service.seen('predict').length, 'retryable' in body ? 2 : 3);
      }));
  }

  it('predict: a streamed 429 at 200 is repeated, as it was refused', () =>
    withService({}, {}, async (service, client) => {
      const { run } = await predictOnce(client);
      const body = { _streamed_error: true, status: 429, message: 'too many requests' };
      service.fault('predict', inTurn({ status: 200, body }));
      await run();
      assert.equal(service.seen('predict').length, 2);
    }));

  it('a forced fit that breaks off with a streamed 503 is not repeated', () =>
    withService({}, {}, async (service, client) => {
      const { run } = await forcedFit(client);
      const body = { _streamed_error: true, status: 503, message: 'died while fitting' };
      service.fault('fit', inTurn({ status: 200, body }));
      await rejection(run(), 'fit.failed');
      assert.equal(service.seen('fit').length, 1);
    }));

  it('white space for long, then JSON, is an answer', () =>
    withService({ keepaliveMs: 15 }, {}, async (service, client) => {
      const { run } = await predictOnce(client);
      service.fault('predict', inTurn({ whitespaceMs: 800 }));
      await run();
      assert.deepEqual(service.breaches, []);
    }));

  for (const [name, route, work] of REPEATABLE) {
    if (route === 'predict') {
      continue;
    }
    it(`${name}: a server that never answers is service.timeout, at the deadline`, () =>
      withService({}, { timeoutMs: 400 }, async (service, client) => {
        const { run } = await work(client);
        service.fault(route, () => ({ silent: true }));
        const error = await rejection(run(), 'service.timeout');
        assert.match(error.message, /did not end within 0\.4 s/);
      }));
  }

  it('a server that never answers ends at the deadline: service.timeout, for a predict predict.unknown', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      service.fault('predict', () => ({ silent: true }));
      service.fault('get_model_limits', () => ({ silent: true }));
      const error = await rejection(client.predict(request, { timeoutMs: 300 }), 'predict.unknown');
      assert.match(error.message, /did not end within 0\.3 s/);
      await rejection(client.getModelLimits({ timeoutMs: 200 }), 'service.timeout');
      assert.equal(service.seen('predict').length, 1);
    }));

  it('the deadline bounds all retries together', () =>
    withService({}, { retries: 1_000 }, async (service, client) => {
      service.fault('get_model_limits', () => ({ status: 500, delayMs: 60 }));
      const started = performance.now();
      await assert.rejects(client.getModelLimits({ timeoutMs: 400 }));
      const took = performance.now() - started;
      // A thousand of them would take minutes.
      assert.ok(took > 150, `${took} ms`);
    }));

  it('an abort ends a request, a back-off and a wait for a slot at once, with closed', () =>
    withService({}, { concurrency: 1 }, async (service, client) => {
      const request = await ready(client);
      service.fault('predict', () => ({ silent: true }));
      const first = new AbortController();
      const second = new AbortController();
      const works = [
        rejection(client.predict(request, { signal: first.signal }), 'closed'),
        rejection(client.predict(request, { signal: second.signal }), 'closed'),
      ];
      setTimeout(() => second.abort(), 50);
      setTimeout(() => first.abort(), 100);
      await Promise.all(works);
      assert.equal(client.whenBusy('predict').inFlight, 0);
      assert.equal(service.seen('predict').length, 1);

      service.fault('get_model_limits', () => ({ status: 503, headers: { 'retry-after': '5' } }));
      const third = new AbortController();
      const work = rejection(client.getModelLimits({ signal: third.signal }), 'closed');
      setTimeout(() => third.abort(), 50);
      await work;
    }));

  it('a call that has ended leaves no listener on its signal, which other calls share', () =>
    withService({}, { retries: 1 }, async (service, client) => {
      const { signal } = new AbortController();
      await client.getModelLimits({ signal });
      service.fault('estimate_cost', () => ({ status: 404 }));
      await assert.rejects(client.estimateCost({ operation: 'predict' }, { signal }));
      assert.deepEqual(getEventListeners(signal, 'abort'), []);
    }));

  it('a model deleted between two predicts is model.unknown', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      await client.predict(request);
      service.deleteModel(request.fitted_train_set_id);
      const error = await rejection(client.predict(request), 'model.unknown');
      assert.equal(error.cause?.serviceCode, 'NOT_FOUND');
      assert.equal(typeof error.cause.traceId, 'string');
      const { fitted_train_set_id } = request;
      await rejection(client.uploadTestSet({ fitted_train_set_id, x: xOf([1]) }), 'model.unknown');
    }));

  it('an upload that the service does not have is not_found, and no model is blamed', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      const id = '00000000-0000-4000-8000-000000000000';
      await rejection(client.predict({ ...request, test_set_upload_id: id }), 'not_found');
      await rejection(client.fit({ train_set_upload_id: id, task: 'regression' }), 'not_found');
      assert.deepEqual(service.breaches, []);
    }));

  it('a route that is not there is not_found with advice, even where a model could be missing', () =>
    withService({}, {}, async (service, client) => {
      const request = await ready(client);
      const ofGateways = [{ message: 'Not Found' }, { message: 'no Route matched with those values' }];
      for (const body of [{ detail: 'Not Found' }, '<html>404</html>', '', ...ofGateways]) {
        service.fault('predict', () => ({ status: 404, body }));
        const error = await rejection(client.predict(request), 'not_found');
        assert.match(error.message, /no route \/svc\/predict.*Check the base URL and the API name/);
      }
      service.fault('get_model_limits', () => ({ status: 404, body: { code: 'gone', detail: 'gone' } }));
      await rejection(client.getModelLimits(), 'not_found');
    }));

  it('401 after many 200s is auth.unauthorized with advice, and is not repeated', () =>
    withService({}, {}, async (service, client) => {
      for (let i = 0; i < 20; i += 1) {
        await client.getModelLimits();
      }
      const body = { code: 'auth.unauthorized', detail: 'token expired', retryable: false };
      service.fault('get_model_limits', () => ({ status: 401, body }));
      const error = await rejection(client.getModelLimits(), 'auth.unauthorized');
      assert.match(error.message, /token expired.*may have expired/);
      assert.equal(service.seen('get_model_limits').length, 21);
    }));

  it('no token is auth.unauthorized with advice, before anything is sent', () =>
    withService({}, { token: '' }, async (service, client) => {
      const error = await rejection(client.getModelLimits(), 'auth.unauthorized');
      assert.match(error.message, /token field/);
      assert.equal(service.requests.length, 0);
    }));
});
