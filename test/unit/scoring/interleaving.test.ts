import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { Connection, HostedService, ModelCards, type PredictOutcome } from '../../../dist/src/connection';
import type { PredictCall, ServiceClient, TestSetUpload } from '../../doors/client';
import { ServiceError } from '../../doors/wire';
import { decodeTable } from '../../helpers/strict-tables';

/** What one predict of the fake does: ends after some turns of the event loop, well or badly. */
interface Flight {
  turns: number;
  error?: 'service.unavailable' | 'validation.failed' | 'predict.unknown';
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A client without a network, whose predictions are the `id` of each row, and whose timing is as told. */
function fakeClient(flights: readonly Flight[], refused: ReadonlySet<number>): ServiceClient {
  const uploads = new Map<string, number[]>();
  let flown = 0;
  const fake: Partial<ServiceClient> = {
    getModelLimits: () => Promise.resolve({ max_model_limit: { test_set_max_rows: 15 } }),
    uploadTestSet: async ({ x }: TestSetUpload) => {
      const chunks: Buffer[] = [];
      for await (const chunk of x.open()) {
        chunks.push(chunk as Buffer);
      }
      const { rows } = await decodeTable(Buffer.concat(chunks), 'parquet');
      const id = `upload-${uploads.size}`;
      uploads.set(
        id,
        rows.map((row) => Number(row.id)),
      );
      return { test_set_upload_id: id, reused: false };
    },
    predict: async (call: PredictCall) => {
      const { turns, error } = flights[flown++ % flights.length]!;
      for (let i = 0; i < turns; i++) {
        await turn();
      }
      const ids = uploads.get(call.test_set_upload_id)!;
      if (ids.some((id) => refused.has(id))) {
        throw new ServiceError('validation.failed', 'a row is refused');
      }
      if (error !== undefined) {
        throw new ServiceError(error, 'as told');
      }
      return { prediction: { kind: 'numbers', values: ids }, metadata: {}, rows: ids.length };
    },
    close: () => Promise.resolve(),
  };
  return fake as ServiceClient;
}

describe('Predictor, any interleaving', () => {
  it('each message has one outcome, with its own rows, in order where ordered', async () => {
    const flight = fc.record(
      {
        turns: fc.integer({ min: 0, max: 6 }),
        error: fc.constantFrom(
          'service.unavailable' as const,
          'validation.failed' as const,
          'predict.unknown' as const,
        ),
      },
      { requiredKeys: ['turns'] },
    );
    const message = fc.record({
      rows: fc.integer({ min: 1, max: 20 }),
      form: fc.constantFrom('rows', 'columns', 'csv', 'bad', 'refused'),
      gap: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 25 }),
        fc.array(flight, { minLength: 1, maxLength: 6 }),
        fc.record({
          ordered: fc.boolean(),
          batchRows: fc.constantFrom(1, 10, 500),
          batchMs: fc.constantFrom(0, 2),
          overflow: fc.constantFrom('reject' as const, 'dropOldest' as const),
          queueRows: fc.constantFrom(30, 1000),
        }),
        async (messages, flights, settings) => {
          const refused = new Set<number>();
          const cards = ModelCards.open({ service: 'fake' });
          const columns = [{ name: 'id', type: 'integer' as const }];
          cards.put({
            name: 'm',
            fitted_train_set_id: 'fitted',
            train_set_upload_id: 'upload',
            task: 'regression',
            target: 'y',
            columns,
            rows: 10,
            options: {},
            service: 'fake',
            fitted_at: '2026-01-01T00:00:00.000Z',
          });
          const connection = new Connection({
            service: new HostedService({
              key: 'fake',
              open: () => Promise.resolve(fakeClient(flights, refused)),
            }),
            cards,
            concurrency: 2,
          });
          const predictor = connection.predictor(settings);
          let next = 0;
          const delivered: number[] = [];
          const outcomes = messages.map((): unknown[] => []);
          const all: Promise<void>[] = [];
          for (const [index, { rows, form, gap }] of messages.entries()) {
            const ids = Array.from({ length: rows }, () => next++);
            if (form === 'refused') {
              refused.add(ids[0]!);
            }
            const value = {
              rows: rows === 1 ? { id: ids[0] } : ids.map((id) => ({ id })),
              refused: ids.map((id) => ({ id })),
              columns: { id: ids },
              csv: `id\n${ids.join('\n')}\n`,
              bad: ids.map((id, at) => ({ id: at === rows - 1 ? 'x' : id })),
            }[form];
            all.push(
              predictor.predict({ table: { value }, model: 'm' }).then(
                (outcome: PredictOutcome) => {
                  delivered.push(index);
                  outcomes[index]!.push(outcome.prediction);
                  assert.equal(outcome.metadata.test_set_num_rows, rows);
                  assert.deepEqual(outcome.prediction, ids);
                  const table = outcome.table as Record<string, unknown>;
                  const attached = Array.isArray(table)
                    ? table.map((row: { prediction: unknown }) => row.prediction)
                    : [table.prediction].flat();
                  assert.deepEqual(attached, ids);
                },
                (error: unknown) => {
                  outcomes[index]!.push((error as ServiceError).code);
                  assert.notEqual((error as ServiceError).code, 'internal');
                },
              ),
            );
            for (let i = 0; i < gap; i++) {
              await turn();
            }
          }
          await Promise.all(all);
          for (const [index, { form }] of messages.entries()) {
            assert.equal(outcomes[index]!.length, 1);
            if (form === 'bad' || form === 'refused') {
              assert.equal(typeof outcomes[index]![0], 'string');
            }
          }
          if (settings.ordered) {
            assert.deepEqual(
              delivered,
              [...delivered].sort((a, b) => a - b),
            );
          }
          assert.deepEqual(predictor.load(), { inFlight: 0, waiting: 0, forModel: 0, rows: 0, bytes: 0 });
          await connection.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});
