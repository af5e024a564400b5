import assert from 'node:assert/strict';

import type { Usage } from '../../doors/wire';
import { inTurn } from '../../helpers/strict-service';
import { fitted, rejection, withService, xOf } from './support';

const usage = { current_usage: 87, usage_limit: 100, reset_time: '2026-12-01T00:00:00Z' };

describe('client: what the service says of itself', () => {
  it('takes the limits from get_settings where get_model_limits is gone', () =>
    withService(
      { jobs: { async_settings: { poll_timeout_secs: 60 } }, limits: { max_model_limit: { max_cols: 7 } } },
      {},
      async (service, client) => {
        assert.deepEqual(await client.getModelLimits(), {
          max_model_limit: { max_cols: 7 },
          async_settings: { poll_timeout_secs: 60 },
        });
        assert.deepEqual((await client.getSettings()).async_settings, { poll_timeout_secs: 60 });
        assert.deepEqual(service.breaches, []);
      },
    ));

  it('is not_found where it has neither route, naming the first', () =>
    withService({}, { retries: 0 }, async (service, client) => {
      service.fault('get_model_limits', () => ({ status: 404, body: '' }));
      const error = await rejection(client.getModelLimits(), 'not_found');
      assert.match(error.message, /no route \/svc\/get_model_limits/);
    }));

  it('tells what the account has used', () =>
    withService({ jobs: { usage } }, {}, async (service, client) => {
      assert.deepEqual(await client.getUsage(), usage);
      assert.deepEqual(service.breaches, []);
    }));

  for (const [daily, monthly, current] of [
    [[80, 100], [100, 1000], { current_usage: 80, usage_limit: 100 }],
    [[8, 100], [900, 1000], { current_usage: 900, usage_limit: 1000 }],
    [[8, -1], [90, 1000], { current_usage: 90, usage_limit: 1000 }],
    [[8, -1], [90, -1], { current_usage: 8, usage_limit: -1 }],
  ] as const) {
    it(`tells what it has used of ${daily[1]} a day and ${monthly[1]} a month, and of the one nearer to its end`, () => {
      const both = {
        ...{ daily_tokens_used: daily[0], daily_token_limit: daily[1] },
        ...{ monthly_tokens_used: monthly[0], monthly_token_limit: monthly[1] },
      };
      return withService({ jobs: { usage: both } }, {}, async (service, client) => {
        assert.deepEqual(await client.getUsage(), { ...current, ...both });
        service.fault('get_api_usage', () => ({ patch: { daily_tokens_used: undefined, more: 1 } }));
        const { current_usage, usage_limit, more } = (await client.getUsage()) as Usage & { more?: number };
        assert.deepEqual([current_usage, usage_limit, more], [...monthly, 1]);
        service.fault('get_api_usage', () => ({ status: 200, body: { tokens: 5 } }));
        const error = await rejection(client.getUsage(), 'response.invalid');
        assert.match(error.message, /answer to the usage request is malformed/);
      });
    });
  }

  it('has the rate limit of the last answer that named one', () =>
    withService({}, {}, async (service, client) => {
      assert.equal(client.rateLimit, undefined);
      const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': '30' };
      service.fault('get_model_limits', inTurn({ headers }));
      await client.getModelLimits();
      await client.getModelLimits();
      assert.deepEqual(client.rateLimit, { limit: 60, remaining: 12, reset: 30 });
    }));

  for (const [limit, reset, expected] of [
    ['60, 60;w=60', '30', { limit: 60, remaining: 12, reset: 30 }],
    ['60', 'Thu, 01 Oct 2026 12:00:00 GMT', { limit: 60, remaining: 12, reset: 1_790_856_000 }],
    ['60;w=60, 1500;w=3600', '2026-10-01T12:00:00Z', { limit: 60, remaining: 12, reset: 1_790_856_000 }],
    ['60', '29.5', { limit: 60, remaining: 12, reset: 29 }],
    ['60', 'soon', { limit: 60, remaining: 12 }],
    ['sixty', '30', undefined],
  ] as const) {
    it(`reads the rate limit "${limit}" that is reset at "${reset}"`, () =>
      withService({}, {}, async (service, client) => {
        const headers = {
          'x-ratelimit-limit': limit,
          'x-ratelimit-remaining': '12',
          'x-ratelimit-reset': reset,
        };
        service.fault('get_model_limits', inTurn({ headers }));
        await client.getModelLimits();
        assert.deepEqual(client.rateLimit, expected);
      }));
  }

  it('takes no other word than true, or a date, for a deprecation', async () => {
    const warnings: string[] = [];
    const log = (level: string, text: string) => level === 'warn' && warnings.push(text);
    await withService({}, { log }, async (service, client) => {
      for (const deprecation of ['False', 'false', ' FALSE ', '0', '?0', 'no', '']) {
        service.fault('get_model_limits', () => ({ headers: { deprecation } }));
        await client.getModelLimits();
      }
      assert.deepEqual(warnings, []);
      for (const [route, deprecation] of [
        ['get_model_limits', 'True'],
        ['estimate_cost', 'Fri, 01 Jan 2027 00:00:00 GMT'],
      ] as const) {
        service.fault(route, () => ({ headers: { deprecation } }));
      }
      await client.getModelLimits();
      await client.estimateCost({ operation: 'predict' });
    });
    assert.equal(warnings.length, 2);
  });

  it('warns once of each route that is deprecated, with the day on which it will be gone', async () => {
    const warnings: string[] = [];
    const log = (level: string, text: string) => level === 'warn' && warnings.push(text);
    await withService({}, { log }, async (service, client) => {
      const headers = { deprecation: 'true', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' };
      service.fault('get_model_limits', () => ({ headers }));
      service.fault('predict', () => ({ headers: { deprecation: '@1735689600' } }));
      await client.getModelLimits();
      await client.getModelLimits();
      const fitted_train_set_id = await fitted(client, 'regression');
      const test = await client.uploadTestSet({ fitted_train_set_id, x: xOf([1]) });
      await client.predict({ ...test, fitted_train_set_id, task: 'regression' });
    });
    assert.deepEqual(warnings, [
      'The service says that its route /svc/get_model_limits is deprecated and will be gone on 2027-01-01. Look for an update of this package.',
      'The service says that its route /svc/predict is deprecated. Look for an update of this package.',
    ]);
  });

  it('says what to do where it is too new for this client (426)', () =>
    withService({}, {}, async (service, client) => {
      service.fault('get_model_limits', () => ({ status: 426, body: { detail: 'Client too old' } }));
      const error = await rejection(client.getModelLimits(), 'validation.failed');
      assert.match(error.message, /\(426\): Client too old\..*update this package/);
      assert.equal(service.seen('get_model_limits').length, 1);
    }));

  it('scores mean, median, mode and quantiles in one predict', () =>
    withService({}, {}, async (service, client) => {
      const fitted_train_set_id = await fitted(client, 'regression');
      const test = await client.uploadTestSet({ fitted_train_set_id, x: xOf([3, 1]) });
      const asked = { ...test, fitted_train_set_id, task: 'regression' as const };
      const { prediction } = await client.predict({ ...asked, output_type: 'main', quantiles: [0.25] });
      assert.deepEqual(prediction, {
        kind: 'main',
        quantiles: [0.25],
        value: { mean: [3, 1], median: [3.25, 1.25], mode: [3.5, 1.5], quantiles: [[3.25, 1.25]] },
      });
      assert.deepEqual(service.breaches, []);
    }));
});
