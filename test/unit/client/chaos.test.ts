import assert from 'node:assert/strict';

import { seededRandom } from '../../doors/util';
import { type ErrorCode, ServiceError } from '../../doors/wire';
import type { Fault, StrictRoute } from '../../helpers/strict-service';
import { fitted, type MemorySource, withService, xOf } from './support';

const FAULTS: Fault[] = [
  { reset: 'before' },
  { reset: 'during' },
  { reset: 'after' },
  { cutAt: 0.6 },
  { status: 500 },
  { status: 502, body: '<html></html>' },
  { status: 503, headers: { 'retry-after': '0' } },
  { status: 503, early: true },
  { status: 429, headers: { 'retry-after': '0.01' } },
  { status: 408 },
  { status: 200, body: '' },
  { status: 200, body: { _streamed_error: true, detail: 'lost', retryable: true } },
  { whitespaceMs: 30 },
  { delayMs: 30 },
];

const ROUTES: StrictRoute[] = ['prepare_test_set_upload', 'put', 'predict'];
const EXPECTED: ErrorCode[] = [
  'predict.unknown',
  'response.invalid',
  'service.unavailable',
  'service.timeout',
  'upload.failed',
  'rate.limit.exceeded',
];

describe('client: chaos', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.01));
  after(() => (Math.random = random));

  it('200 uploads and predicts under random faults: each ends once, with its own rows or an error of its own', () =>
    withService(
      { chunks: 2, testDuplicates: true },
      { concurrency: 6, timeoutMs: 90_000 },
      async (service, client) => {
        const fitted_train_set_id = await fitted(client);
        const seed = 20_260_101;
        const chance = seededRandom(seed);
        for (const route of ROUTES) {
          // Any 2xx to a PUT is success, so a 200 without effect would be a lie, not a fault.
          const faults = FAULTS.filter((fault) => route !== 'put' || fault.status !== 200);
          service.fault(route, () =>
            chance() < 0.15 ? faults[Math.floor(chance() * faults.length)] : undefined,
          );
        }
        const sources: MemorySource[] = [];
        const counts = new Map<string, number>();
        await Promise.all(
          Array.from({ length: 200 }, async (_, i) => {
            const ids = [i * 3, i * 3 + 1, i * 3 + 2];
            const x = xOf(ids);
            sources.push(x);
            let end = 'answered';
            try {
              const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x });
              const { prediction } = await client.predict({
                fitted_train_set_id,
                test_set_upload_id,
                task: 'classification',
              });
              assert.equal(prediction.kind, 'probas');
              assert.deepEqual(
                prediction.values,
                service.predictionFor(ids, 'probas', { classes: ['a', 'b'] }),
                `rows of another (seed ${seed})`,
              );
            } catch (error) {
              assert.ok(error instanceof ServiceError, `${String(error)} (seed ${seed})`);
              assert.ok(EXPECTED.includes(error.code), `${error.code}: ${error.message} (seed ${seed})`);
              end = error.code;
            }
            counts.set(end, (counts.get(end) ?? 0) + 1);
          }),
        );
        const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
        assert.equal(total, 200);
        assert.ok(counts.get('answered')! > 150, JSON.stringify([...counts]));
        assert.ok(counts.get('predict.unknown')! > 0);
        assert.deepEqual(
          (['fit', 'predict', 'upload'] as const).map((kind) => client.whenBusy(kind).inFlight),
          [0, 0, 0],
        );
        assert.equal(
          sources.reduce((sum, source) => sum + source.live, 0),
          0,
          'every file is closed',
        );
        await client.close();
        await new Promise((resolve) => setTimeout(resolve, 50));
        assert.equal(service.connections, 0);
        assert.deepEqual(service.breaches, [], JSON.stringify([...counts]));
      },
    )).timeout(180_000);
});
