import { strict as assert } from 'node:assert';

import type { Connection, Predictor, PredictOutcome } from '../../../dist/src/connection';
import { seededRandom } from '../../doors/util';
import type { ServiceError } from '../../doors/wire';
import type { Fault, FaultFunction, StrictRoute } from '../../helpers/strict-service';
import { type Bench, bench, history, row } from './stand-in';

const envelope = (code: string, retryable: boolean) => ({
  code,
  detail: code,
  retryable,
  support: 'https://s',
});

const FAULTS: Partial<Record<StrictRoute, (Fault | undefined)[]>> = {
  prepare_test_set_upload: [
    { status: 503, body: '' },
    { status: 429, body: envelope('rate.limit.exceeded', true), headers: { 'retry-after': '0' } },
    { reset: 'before' },
    { cutAt: 0.5 },
  ],
  put: [{ status: 403, body: '<Error/>' }, { status: 503, body: '' }, { reset: 'during' }, { delayMs: 20 }],
  predict: [
    { status: 503, body: envelope('service.unavailable', true) },
    { status: 500, body: envelope('internal', false) },
    { reset: 'after' },
    { cutAt: 0.3 },
    { status: 422, body: envelope('validation.failed', false) },
    { status: 200, body: { _streamed_error: true, detail: 'broke' } },
    { status: 200, body: '' },
    { delayMs: 60 },
  ],
};

/** What a message may end with, beside its own prediction. */
const ALLOWED = new Set([
  'predict.unknown',
  'service.unavailable',
  'validation.failed',
  'response.invalid',
  'upload.failed',
  'upload.expired',
  'rate.limit.exceeded',
  'closed',
  'queue.full',
]);

describe('Scoring through faults', () => {
  let at: Bench;
  afterEach(() => at.close());

  for (const seed of [1, 2, 3]) {
    it(`every message has one outcome, its own, in order, across redeploys (seed ${seed})`, async () => {
      at = await bench({ predictMs: 5 });
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
      const random = seededRandom(seed);
      const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)]!;
      for (const [route, faults] of Object.entries(FAULTS)) {
        const fault: FaultFunction = () => (random() < 0.15 ? pick(faults) : undefined);
        at.service.fault(route as StrictRoute, fault);
      }
      const outcomes: string[][] = [];
      let delivered: number[] = [];
      const all: Promise<void>[] = [];
      let connection: Connection | undefined;
      let predictor: Predictor | undefined;
      let id = 0;
      for (let deploy = 0; deploy < 3; deploy++) {
        connection = at.connect({ clientOptions: { retries: 2 } });
        predictor = connection.predictor({
          batchRows: 20,
          queueRows: 400,
          overflow: pick(['reject', 'dropOldest']),
        });
        delivered = [];
        const own = delivered;
        for (let i = 0; i < 250; i++) {
          const ids = Array.from({ length: random() < 0.1 ? 1 + Math.floor(random() * 40) : 1 }, () => id++);
          const first = ids[0]!;
          outcomes[first] = [];
          const value = ids.length === 1 ? row(first) : ids.map(row);
          all.push(
            predictor.predict({ table: { value }, model: 'pets' }).then(
              (outcome: PredictOutcome) => {
                const firsts = (outcome.prediction as number[][]).map(([p]) => Math.round(1 / p! - 2));
                outcomes[first]!.push(JSON.stringify(firsts) === JSON.stringify(ids) ? 'own' : 'mixed up');
                own.push(first);
              },
              (error: unknown) => {
                outcomes[first]!.push((error as ServiceError).code);
              },
            ),
          );
          if (random() < 0.2) {
            await new Promise((resolve) => setTimeout(resolve, random() * 10));
          }
        }
        if (deploy < 2) {
          await connection.close();
        }
      }
      await Promise.all(all);
      const counts: Record<string, number> = {};
      for (const list of outcomes.filter((one) => one !== undefined)) {
        assert.equal(list.length, 1);
        counts[list[0]!] = (counts[list[0]!] ?? 0) + 1;
      }
      for (const code of Object.keys(counts)) {
        assert.ok(code === 'own' || ALLOWED.has(code), JSON.stringify(counts));
      }
      assert.ok((counts.own ?? 0) > 100, JSON.stringify(counts));
      assert.deepEqual(
        delivered,
        [...delivered].sort((a, b) => a - b),
      );
      assert.deepEqual(predictor!.load(), { inFlight: 0, waiting: 0, forModel: 0, rows: 0, bytes: 0 });
      await connection!.close();
      assert.deepEqual(at.service.breaches, []);
    });
  }
});
