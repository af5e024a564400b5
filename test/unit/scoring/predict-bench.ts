import type { PredictRequest } from '../../../dist/src/connection';
import type { StrictOptions } from '../../helpers/strict-service';
import { type Bench, bench, history, row } from './stand-in';

/** What the stand-in answers for a row with this id: the probability of the first class. */
export const probability = (id: number): number => 1 / (id + 2);

export const REFUSED = {
  status: 422,
  body: { code: 'validation.failed', detail: 'no', retryable: false, support: '' },
};
export const NOT_FOUND = {
  status: 404,
  body: { message: 'gone', error_code: 'NOT_FOUND', trace_id: 'x' },
};

/** More rows than go without their hash. */
export const LARGE = Array.from({ length: 40_000 }, (_, id) => ({ ...row(id), size: Math.sin(id) * 1e6 }));

/** A bench with a model of the name `pets`. */
export async function benchWithModel(options: StrictOptions = {}, target = 'species'): Promise<Bench> {
  const at = await bench(options);
  await at.connection.train({ table: { value: history() }, target, model: 'pets' });
  return at;
}

export const ask = (value: unknown, more: PredictRequest = {}): PredictRequest => ({
  table: { value },
  model: 'pets',
  ...more,
});

/** The test sets that were predicted, by their sizes. */
export function sizesOf(at: Bench): Promise<number[]> {
  return Promise.all(
    at.service.seen('predict').map(async ({ body }) => {
      const rows = await at.service.rowsOf((body as { test_set_upload_id: string }).test_set_upload_id);
      return rows.length;
    }),
  );
}
