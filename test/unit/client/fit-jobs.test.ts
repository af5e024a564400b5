import assert from 'node:assert/strict';

import type { ServiceClient } from '../../../dist/src/client';
import { inTurn, type StrictService } from '../../helpers/strict-service';
import { fitted, rejection, withService, xOf, yOf } from './support';

const ids = Array.from({ length: 10 }, (_, i) => i);

async function trainSet(client: ServiceClient): Promise<{ train_set_upload_id: string; task: 'regression' }> {
  const { train_set_upload_id } = await client.uploadTrainSet({ x: xOf(ids), y: yOf(ids) });
  return { train_set_upload_id, task: 'regression' };
}

const bodyOf = (service: StrictService, route: 'fit' | 'submit_fit_job' | 'get_fit_status') =>
  service.seen(route)[0]?.body as Record<string, unknown> | undefined;

describe('client: a fit that is not done with its answer', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.02));
  after(() => (Math.random = random));

  it('is asked for with POST get_fit_status until it is completed, at the times that the service names', () =>
    withService({ jobs: { fitIsPending: true, polls: 3 } }, {}, async (service, client) => {
      const asked = await trainSet(client);
      const pending: string[] = [];
      const started = performance.now();
      const answer = await client.fit(asked, { onPending: (id) => pending.push(id) });
      assert.equal(answer.status, 'completed');
      assert.deepEqual(pending, [answer.fitted_train_set_id]);
      assert.equal(service.seen('get_fit_status').length, 4);
      assert.deepEqual(bodyOf(service, 'get_fit_status'), {
        fitted_train_set_id: answer.fitted_train_set_id,
      });
      assert.ok(performance.now() - started > 250, 'retry_in_secs is honoured');
      const { test_set_upload_id } = await client.uploadTestSet({ ...answer, x: xOf([4]) });
      const { prediction } = await client.predict({ ...asked, ...answer, test_set_upload_id });
      assert.deepEqual(prediction, { kind: 'numbers', values: [4] });
      assert.deepEqual(service.breaches, []);
    }));

  it('is asked for with GET fit/{id} where the service has no get_fit_status', () =>
    withService({ jobs: { fitIsPending: true, status: 'get' } }, {}, async (service, client) => {
      const answer = await client.fit(await trainSet(client));
      assert.equal(answer.status, 'completed');
      assert.deepEqual(
        service.seen('fit/{id}').map(({ url }) => url),
        Array.from({ length: 3 }, () => `/svc/fit/${answer.fitted_train_set_id}`),
      );
      assert.deepEqual(service.breaches, []);
    }));

  it('is fit.failed, with what the service left it as, where no route tells of it', () =>
    withService({}, {}, async (service, client) => {
      const asked = await trainSet(client);
      service.fault('fit', () => ({ patch: { status: 'running' } }));
      const error = await rejection(client.fit(asked), 'fit.failed');
      assert.match(error.message, /"running"/);
    }));

  it('is fit.failed where it fails, in the words and with the code of the service, though its status is 200', () =>
    withService(
      { jobs: { fitIsPending: true, polls: 1, failure: { error: 'Out of memory.', error_code: 'OOM' } } },
      {},
      async (service, client) => {
        const error = await rejection(client.fit(await trainSet(client)), 'fit.failed');
        assert.match(error.message, /"failed": Out of memory\.$/);
        assert.equal(error.cause?.serviceCode, 'OOM');
        assert.equal(service.seen('fit').length, 1);
      },
    ));

  for (const [what, fault] of [
    ['a broken connection', { reset: 'before' }],
    ['an answer cut short', { cutAt: 0.5 }],
    ['408', { status: 408 }],
    ['502', { status: 502, body: '<html>' }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
  ] as const) {
    it(`goes on through ${what}, however often the question fails`, () =>
      withService({ jobs: { fitIsPending: true, polls: 0 } }, { retries: 0 }, async (service, client) => {
        const asked = await trainSet(client);
        service.fault('get_fit_status', inTurn(fault, fault, fault, fault));
        service.fault('fit', () => ({ patch: { retry_in_secs: 0.1 } }));
        const answer = await client.fit(asked);
        assert.equal(answer.status, 'completed');
        assert.equal(service.seen('get_fit_status').length, 5);
      }));
  }

  for (const status of [429, 500, 200]) {
    it(`goes on after three ${status === 200 ? 'empty answers' : status} in a row, and is given up with the fourth`, () =>
      withService({ jobs: { fitIsPending: true } }, { retries: 4 }, async (service, client) => {
        const asked = await trainSet(client);
        const fault = { status, body: '' };
        service.fault(
          'get_fit_status',
          inTurn(fault, fault, fault, undefined, ...Array<object>(9).fill(fault)),
        );
        const error = await rejection(
          client.fit(asked),
          status === 429 ? 'rate.limit.exceeded' : 'service.unavailable',
        );
        assert.equal(error.cause?.status, status);
        assert.equal(service.seen('get_fit_status').length, 8);
      }));
  }

  it('is service.timeout at the deadline, whose error says that it goes on', () =>
    withService({ jobs: { fitIsPending: true, polls: 1e9 } }, {}, async (service, client) => {
      const error = await rejection(
        client.fit(await trainSet(client), { timeoutMs: 600 }),
        'service.timeout',
      );
      assert.match(error.message, /did not end within 0\.6 s: it goes on in the service/);
      assert.ok(service.seen('get_fit_status').length >= 3);
    }));

  it('can be taken up again by its id', () =>
    withService({ jobs: { fitIsPending: true, polls: 6 } }, {}, async (service, client) => {
      let id = '';
      const calling = new AbortController();
      const first = client.fit(await trainSet(client), {
        signal: calling.signal,
        onPending: (pending) => {
          id = pending;
          setTimeout(() => calling.abort(), 250);
        },
      });
      await rejection(first, 'closed');
      assert.equal((await client.resumeFit(id)).fitted_train_set_id, id);
      assert.equal(service.seen('fit').length, 1);
      const error = await rejection(client.resumeFit('00000000-0000-4000-8000-000000000000'), 'fit.failed');
      assert.equal(error.cause?.status, 404);
    }));
});

describe('client: a fit in the background', () => {
  it('is submitted, and completed when the service says so', () =>
    withService({ jobs: {} }, {}, async (service, client) => {
      const asked = await trainSet(client);
      const answer = await client.fit({ ...asked, force_refit: true }, { background: true });
      assert.equal(answer.status, 'completed');
      assert.equal(service.seen('fit').length, 0);
      assert.equal(service.seen('submit_fit_job').length, 1);
      assert.deepEqual(service.breaches, []);
    }));

  it('is submitted once, unless the connection never came about', () =>
    withService({ jobs: {} }, { retries: 4 }, async (service, client) => {
      const asked = await trainSet(client);
      service.fault('submit_fit_job', () => ({ reset: 'after' }));
      await rejection(client.fit(asked, { background: true }), 'service.unavailable');
      assert.equal(service.seen('submit_fit_job').length, 1);
    }));

  for (const [what, fault, times] of [
    ['503 by a gateway', { status: 503, body: '<html>Service unavailable</html>' }, 1],
    ['503 without a word', { status: 503 }, 1],
    ['503 by the service', { status: 503, body: { message: 'Down', error_code: 'UNAVAILABLE' } }, 1],
    ['white space', { status: 200, body: ' \n' }, 1],
    ['503 that says it is retryable', { status: 503, body: { detail: 'busy', retryable: true } }, 2],
    ['429', { status: 429 }, 2],
  ] as const) {
    it(`is submitted ${times === 1 ? 'once' : 'again'} where it is answered with ${what}`, () =>
      withService({ jobs: {} }, {}, async (service, client) => {
        const asked = { ...(await trainSet(client)), thinking_effort: 'high' as const };
        service.fault('submit_fit_job', inTurn(fault));
        const fit = client.fit(asked, { background: true });
        await (times === 1 ? rejection(fit, 'service.unavailable') : fit);
        assert.equal(service.seen('submit_fit_job').length, times);
        assert.equal(service.seen('fit').length, 0);
      }));
  }

  it('is a plain fit where the service has no route for it', () =>
    withService({}, {}, async (service, client) => {
      const answer = await client.fit(await trainSet(client), { background: true });
      assert.equal(answer.status, undefined);
      assert.equal(service.seen('fit').length, 1);
      assert.deepEqual(service.breaches, []);
    }));
});

describe('client: a thinking fit', () => {
  for (const [given, sent] of [
    [undefined, ['preprocessing', 'text', 'thinking']],
    [['text'], ['text', 'thinking']],
    [
      ['thinking', 'text'],
      ['thinking', 'text'],
    ],
  ] as const) {
    it(`with the systems ${given?.join() ?? 'left out'} names ${sent.join()}`, () =>
      withService({}, {}, async (service, client) => {
        const asked = await trainSet(client);
        await client.fit({ ...asked, svc_systems: given && [...given], thinking_effort: 'medium' });
        assert.deepEqual(bodyOf(service, 'fit')?.svc_systems, sent);
        assert.deepEqual(service.breaches, []);
      }));
  }

  it('is the only one that gets systems by itself', () =>
    withService({}, {}, async (service, client) => {
      await fitted(client);
      assert.equal(bodyOf(service, 'fit')?.svc_systems, undefined);
    }));
});
