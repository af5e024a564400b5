import assert from 'node:assert/strict';

import { usedTokens } from '../doors/runtime';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Setup, startBench, stopBench, trainRows } from './bench';

describe('tabular-limits and tabular-cost on a strict service', () => {
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService({
      limits: {
        default_model_version: 'v2',
        max_model_limit: { train_set_max_rows: 1000, test_set_max_rows: 20, max_cols: 50 },
        model_limits: { 'v2-small': { train_set_max_rows: 10 } },
      },
    });
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  const hosted = (...nodes: Setup['nodes']) =>
    startBench({ config: { service: 'hosted', baseUrl: service.url }, token: service.token, nodes });

  it('limits sets msg.limits to the body of the service, and asks once an hour', async () => {
    const bench = await hosted({ id: 'l', type: 'tabular-limits' });
    bench.send('l', { payload: 'not looked at' });
    const [msg] = await bench.out('l').first();
    bench.send('l', {});
    await bench.out('l').first(2);
    assert.equal(msg?.limits.default_model_version, 'v2');
    assert.deepEqual(msg?.limits.model_limits, { 'v2-small': { train_set_max_rows: 10 } });
    assert.equal(msg?.payload, 'not looked at');
    assert.equal(service.seen('get_model_limits').length, 1);
    assert.equal(bench.out('l', 1).all.length, 0);
  });

  it('limits tells what the account has used and how many requests are left, where the service does', async () => {
    await service.close();
    const usage = { current_usage: 874, usage_limit: 1000, reset_time: '2026-12-01T00:00:00Z' };
    service = await startStrictService({ jobs: { usage } });
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' };
    service.fault('get_settings', () => ({ headers }));
    const bench = await hosted({ id: 'l', type: 'tabular-limits' });
    bench.send('l', {});
    const [msg] = await bench.out('l').first();
    assert.deepEqual(msg?.limits.usage, usage);
    assert.deepEqual(msg?.limits.rate_limit, { limit: 60, remaining: 59 });
    assert.deepEqual(usedTokens(usage), { key: 'limits.used', values: { percent: 87 } });
    assert.equal(usedTokens({ current_usage: 5, usage_limit: -1 }), undefined);
  });

  it('limits shows the budgets of the day and of the month, where the service has both', async () => {
    await service.close();
    const usage = {
      ...{ daily_tokens_used: 4_000_000, daily_token_limit: 5_000_000 },
      ...{ monthly_tokens_used: 5_000_000, monthly_token_limit: 20_000_000 },
    };
    service = await startStrictService({ jobs: { usage } });
    const bench = await hosted({ id: 'l', type: 'tabular-limits' });
    bench.send('l', {});
    const [msg] = await bench.out('l').first();
    assert.deepEqual(msg?.limits.usage, { current_usage: 4_000_000, usage_limit: 5_000_000, ...usage });
    await bench.shows('l', /limits\.usedBoth|80.*25/);
    const onlyDay = { ...usage, current_usage: 1, usage_limit: 4, monthly_token_limit: -1 };
    assert.deepEqual(usedTokens(onlyDay), { key: 'limits.used', values: { percent: 25 } });
  });

  it('with check, a table within leaves by the first output and one beyond by the second', async () => {
    const bench = await hosted(
      { id: 'l', type: 'tabular-limits', check: true, modelVersion: 'v2-small' },
      { id: 't', type: 'tabular-limits', check: true, set: 'test' },
    );
    bench.send('l', { payload: trainRows(5), limits_exceeded: 'stale' });
    bench.send('l', { payload: trainRows(11) });
    const [within] = await bench.out('l').first();
    const [beyond] = await bench.out('l', 1).first();
    assert.ok(!('limits_exceeded' in within!));
    assert.deepEqual(beyond?.limits_exceeded, [{ limit: 'train_set_max_rows', value: 11, max: 10 }]);
    assert.equal(beyond?.payload.length, 11);
    bench.send('t', { payload: trainRows(21) });
    const [test] = await bench.out('t', 1).first();
    assert.deepEqual(test?.limits_exceeded, [{ limit: 'test_set_max_rows', value: 21, max: 20 }]);
  });

  it('a service without that route has no limits: one warning, and every table goes through', async () => {
    service.fault('get_model_limits', () => ({ status: 404, body: { detail: 'Not Found' } }));
    const bench = await hosted({ id: 'l', type: 'tabular-limits', check: true });
    bench.send('l', { payload: trainRows(2000) });
    bench.send('l', { payload: trainRows(2000) });
    const [msg] = await bench.out('l').first(2);
    assert.deepEqual(msg?.limits, {});
    await bench.shows('l', /limits\.none$/);
    assert.equal(bench.warnings().filter((line) => line.includes('no limits route')).length, 1);
  });

  it('cost counts rows and columns in the table, and takes numbers from the message first', async () => {
    const bench = await hosted({ id: 'c1', type: 'tabular-cost', modelVersion: 'v3.5', nEstimators: '8' });
    const body = () => service.seen('estimate_cost').at(-1)!.body as Record<string, unknown>;
    bench.send('c1', { payload: trainRows(7) });
    const [counted] = await bench.out('c1').first();
    assert.equal(counted?.estimated_cost, 7);
    assert.equal(body().operation, 'predict');
    assert.equal(body().model_version, 'v3.5');
    assert.equal(body().n_estimators, 8);
    assert.equal(body().test_rows, 7);
    assert.equal(body().raw_columns, 4);
    bench.send('c1', { payload: Date.now(), train_rows: 100, test_rows: 3, raw_columns: 5 });
    const [, given] = await bench.out('c1').first(2);
    assert.equal(given?.estimated_cost, 103);
    assert.equal(body().raw_columns, 5);
  });

  it('cost estimates a thinking fit of the table, and other operations with their effort', async () => {
    const bench = await hosted(
      { id: 'f', type: 'tabular-cost', operation: 'thinking_fit', thinkingEffort: 'high' },
      { id: 'p', type: 'tabular-cost', operation: 'thinking_predict' },
      { id: 'k', type: 'tabular-cost', operation: 'cache_predict', thinkingEffort: 'high' },
    );
    const body = () => service.seen('estimate_cost').at(-1)!.body;
    bench.send('f', { payload: trainRows(7), target: 'y' });
    await bench.out('f').first();
    const thinks = { thinking_effort: 'high', model_version: 'v2' };
    assert.deepEqual(body(), { operation: 'thinking_fit', ...thinks, train_rows: 7, raw_columns: 3 });
    bench.send('p', { payload: trainRows(3), train_rows: 500, thinking_effort: 'medium' });
    await bench.out('p').first();
    assert.deepEqual(body(), {
      ...{ operation: 'thinking_predict', thinking_effort: 'medium', model_version: 'v2' },
      ...{ train_rows: 500, test_rows: 3, raw_columns: 4 },
    });
    bench.send('k', { payload: trainRows(3), train_rows: 500 });
    await bench.out('k').first();
    assert.deepEqual(body(), {
      ...{ operation: 'cache_predict', model_version: 'v2' },
      ...{ train_rows: 500, test_rows: 3, raw_columns: 4 },
    });
  });

  it('cost takes train rows and columns from the model card', async () => {
    const bench = await hosted(
      { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
      { id: 'c1', type: 'tabular-cost' },
    );
    bench.send('fit', { payload: trainRows(30) });
    const [fitted] = await bench.out('fit').first();
    bench.send('c1', { model: fitted?.model, test_rows: 2 });
    const [msg] = await bench.out('c1').first();
    assert.equal(msg?.estimated_cost, 32);
    // What stands in the payload is not read where all is known.
    bench.send('c1', { model: 'm', test_rows: 5, payload: 'go' });
    const [, named] = await bench.out('c1').first(2);
    assert.equal(named?.estimated_cost, 35);
    const { raw_columns } = service.seen('estimate_cost').at(-1)!.body as Record<string, unknown>;
    assert.equal(raw_columns, (fitted!.model as { columns: unknown[] }).columns.length);
  });
});
