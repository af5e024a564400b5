import assert from 'node:assert/strict';

import fc from 'fast-check';

import { backOff, retryAfter } from '../../doors/client';
import { inTurn } from '../../helpers/strict-service';
import { waitFor } from '../../helpers/wait';
import { ready, rejection, withService, xOf, yOf } from './support';

describe('client: pacing', () => {
  it('backs off by full jitter under a bound that doubles to 20 s', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, share) => {
        const bound = Math.min(20_000, 500 * 2 ** attempt);
        assert.equal(
          backOff(attempt, () => share),
          share * bound,
        );
      }),
    );
  });

  it('reads Retry-After in seconds and as a date, by the clock of the service', () => {
    const read = (text?: string) =>
      retryAfter({
        date: 'Tue, 01 Jan 2030 00:00:00 GMT',
        ...(text !== undefined && { 'retry-after': text }),
      });
    assert.equal(read('120'), 120_000);
    assert.equal(read('1.5'), 1_500);
    assert.equal(read('Tue, 01 Jan 2030 00:01:00 GMT'), 60_000);
    assert.equal(read('Mon, 31 Dec 2029 23:00:00 GMT'), 0);
    for (const odd of ['soon', '-5', '+5', '30s', 'Infinity']) {
      assert.equal(read(odd), undefined, odd);
    }
    assert.equal(read(''), undefined);
    assert.equal(read(undefined), undefined);
    const own = retryAfter({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() })!;
    assert.ok(own > 50_000 && own <= 60_000, `${own}`);
  });

  it('Retry-After holds as long as it says where the clock is set back meanwhile', () =>
    withService({}, { timeoutMs: 5_000 }, async (service, client) => {
      const request = await ready(client);
      service.fault('predict', inTurn({ status: 429, headers: { 'retry-after': '1' } }));
      const first = client.predict(request);
      await waitFor('the refusal', () => client.whenBusy('predict').heldForMs > 0);
      const { now } = Date;
      Date.now = () => now() - 3_600_000;
      try {
        assert.ok(client.whenBusy('predict').heldForMs <= 1_000);
        await Promise.all([first, client.predict(request)]);
      } finally {
        Date.now = now;
      }
    }));

  for (const [what, header] of [
    ['seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ] as const) {
    it(`Retry-After in ${what} holds every request of that kind, and no other`, () =>
      withService({}, {}, async (service, client) => {
        const request = await ready(client);
        service.fault('predict', ({ n }) =>
          n === 0 ? { status: 429, headers: { 'retry-after': header() } } : undefined,
        );
        const first = client.predict(request);
        await waitFor('the refusal', () => client.whenBusy('predict').heldForMs > 0);
        assert.equal(client.whenBusy('upload').heldForMs, 0);
        const second = client.predict(request);
        const others = [
          client.getModelLimits(),
          client.uploadTestSet({ fitted_train_set_id: request.fitted_train_set_id, x: xOf([5]) }),
        ];
        await Promise.all([first, second, ...others]);
        const [refused, ...later] = service.seen('predict').map((r) => r.at);
        assert.equal(later.length, 2);
        for (const at of later) {
          assert.ok(at - refused! >= 900, `${at - refused!} ms`);
        }
        assert.deepEqual(service.breaches, []);
      }));
  }

  for (const [code, body] of [
    ['rate.limit.exceeded', { code: 'rate.limit.exceeded', detail: 'Too many requests for this token' }],
    ['rate.limit.exceeded', { detail: 'Request rate limit exceeded' }],
    ['rate.limit.exceeded', undefined],
    ['rate.limit.exceeded', { message: 'Quota of 60 requests per minute used up' }],
    ['budget.exceeded', { code: 'budget.exceeded', detail: 'Daily limit reached' }],
    ['budget.exceeded', { message: 'Monthly token budget exceeded', error_code: 'RESOURCE_EXHAUSTED' }],
    ['budget.exceeded', { message: 'You have used all your tokens for today' }],
    ['budget.exceeded', { detail: 'thinking-fit quota exceeded' }],
  ] as const) {
    it(`a 429 beyond the deadline fails at once with ${code} and the time (${body?.code ?? JSON.stringify(body)})`, () =>
      withService({}, { timeoutMs: 600_000 }, async (service, client) => {
        const request = await ready(client);
        service.fault('predict', inTurn({ status: 429, body, headers: { 'retry-after': '3600' } }));
        const error = await rejection(client.predict(request), code);
        assert.match(error.message, /again in 3600 s \(at \d{4}-\d\d-\d\dT/);
        assert.equal(error.cause?.retryAfterMs, 3_600_000);
        const next = await rejection(client.predict(request), code);
        assert.ok(next.cause!.retryAfterMs! <= 3_600_000);
        assert.equal(service.seen('predict').length, 1, 'the next is not even sent');
      }));
  }

  it('keeps to its slots per kind, first come first served, and a long fit starves no predict', () =>
    withService({ fitMs: 400, predictMs: 40 }, { concurrency: 2 }, async (service, client) => {
      const request = await ready(client);
      const { train_set_upload_id } = await client.uploadTrainSet({ x: xOf([1, 2]), y: yOf(['a', 'b']) });
      const fits = [0, 1, 2].map(() => client.fit({ train_set_upload_id, task: 'classification' }));
      const order: number[] = [];
      await Promise.all(
        Array.from({ length: 6 }, async (_, i) => {
          await client.predict(request);
          order.push(i);
        }),
      );
      assert.deepEqual(
        order.map((i) => Math.floor(i / 2)),
        [0, 0, 1, 1, 2, 2],
      );
      const times = service.seen('predict').map((r) => r.at);
      for (let i = 2; i < times.length; i += 1) {
        assert.ok(times[i]! - times[i - 2]! >= 35);
      }
      await Promise.all(fits);
      assert.deepEqual(service.breaches, []);
    }));

  it('a call that gets no slot before its deadline is service.timeout and was never sent', () =>
    withService({ predictMs: 500 }, { concurrency: 1 }, async (service, client) => {
      const request = await ready(client);
      const first = client.predict(request);
      const error = await rejection(client.predict(request, { timeoutMs: 100 }), 'service.timeout');
      assert.match(error.message, /in flight/);
      await first;
      assert.equal(service.seen('predict').length, 1);
    }));

  it('paces itself by the limits of a service, without one breach', () =>
    withService(
      { rateLimits: { predict: { count: 3, windowMs: 1_000 } } },
      { concurrency: 2 },
      async (service, client) => {
        const request = await ready(client);
        await Promise.all(Array.from({ length: 7 }, () => client.predict(request)));
        assert.deepEqual(service.breaches, []);
      },
    ));

  it('close ends what runs and what waits with closed, and leaves no connection', () =>
    withService({}, { concurrency: 1 }, async (service, client) => {
      const request = await ready(client);
      service.fault('predict', () => ({ silent: true }));
      const works = [0, 1, 2].map(() => rejection(client.predict(request), 'closed'));
      await waitFor('the first', () => service.seen('predict').length > 0);
      await client.close();
      await Promise.all(works);
      await waitFor('the end of its connection', () => service.connections === 0);
      await rejection(client.getModelLimits(), 'closed');
    }));
});
