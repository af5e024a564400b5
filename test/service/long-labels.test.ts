import assert from 'node:assert/strict';

import { connect, type Tabular } from '../../dist/src';
import { startEndpoint } from '../helpers/endpoint';
import { temporaryFolder } from './harness';
import { sharedService } from './shared';

/** Whole numbers around and beyond 2^53, in the order of their value. */
const LONG = [
  '-9223372036854775808',
  '-9007199254740993',
  '7',
  '9007199254740991',
  '9007199254740993',
  '1152921504606846976',
  '1152921504606846977',
  '9223372036854775807',
];

describe('labels that are whole numbers beyond 2^53', function () {
  this.timeout(60_000);
  const rows = LONG.flatMap((label, at) => Array.from({ length: 6 }, (_, i) => ({ at, i: i % 3, label })));
  const asked = LONG.map((_, at) => ({ at, i: 1 }));
  const predicted = async (tabular: Tabular, more: object = {}) =>
    (await tabular.predict({ table: asked, model: 'label', ...more })).table as {
      prediction: string;
      prediction_probabilities?: Record<string, number>;
    }[];

  it('keep every digit on their way through table, service, JSON and message', async () => {
    const tabular = await connect({ dataDir: await temporaryFolder() });
    try {
      const tables = {
        bigint: rows.map((row) => ({ ...row, label: BigInt(row.label) })),
        csv: `at,i,label\n${rows.map(({ at, i, label }) => `${at},${i},${label}\n`).join('')}`,
        json: `[${rows.map(({ at, i, label }) => `{"at":${at},"i":${i},"label":${label}}`).join(',')}]`,
      };
      for (const [form, table] of Object.entries(tables)) {
        const card = await tabular.train({
          table,
          target: 'label',
          task: 'classification',
          options: { n_estimators: 2 },
        });
        assert.deepEqual(card.classes, LONG, form);
        const labels = await predicted(tabular, { outputType: 'preds' });
        assert.deepEqual(
          labels.map(({ prediction }) => prediction),
          LONG,
          form,
        );
        const [first] = await predicted(tabular);
        assert.equal(first!.prediction, LONG[0]);
        assert.deepEqual(Object.keys(first!.prediction_probabilities!).sort(), [...LONG].sort());
      }
    } finally {
      await tabular.close();
    }
  });

  it('are bare numbers on the wire, as other readers take them; text of digits stays text', async () => {
    const h = await sharedService();
    const x = `at,i\n${rows.map(({ at, i }) => `${at},${i}\n`).join('')}`;
    const numbers = await h.fit(
      x,
      `label\n${rows.map(({ label }) => `${label}\n`).join('')}`,
      'classification',
    );
    const test = `at,i\n${asked.map(({ at, i }) => `${at},${i}\n`).join('')}`;
    const preds = await h.predict(numbers, test, 'classification', { output_type: 'preds' });
    assert.ok(preds.text.startsWith(`{"prediction":[${LONG.join(',')}],`), preds.text);
    assert.ok(preds.text.includes(`"classes":[${LONG.join(',')}]`), preds.text);
    const text = await h.post('/predict', {
      task_config: {
        task: 'classification',
        svc_config: { n_estimators: 2 },
        predict_params: { output_type: 'preds' },
      },
      X_train: rows.map(({ at }) => [at]),
      y_train: rows.map(({ label }) => label),
      X_test: [[5]],
    });
    assert.deepEqual(text.body.prediction, ['1152921504606846976']);
  });

  it('pass through an on-premises endpoint, a real one and one that answers small ones as numbers', async () => {
    const h = await sharedService();
    const endpoint = await startEndpoint();
    try {
      for (const to of [
        { endpoint: h.url('/predict'), token: h.service.token },
        { endpoint: endpoint.url },
      ]) {
        const tabular = await connect(to);
        const table = rows.map((row) => ({ ...row, label: BigInt(row.label) }));
        await tabular.train({ table, target: 'label', task: 'classification', options: { n_estimators: 2 } });
        if (to.endpoint === endpoint.url) {
          endpoint.fault = () => ({ status: 200, raw: `{"prediction":[${LONG.join(', ')}]}` });
        }
        const labels = await predicted(tabular, { outputType: 'preds' });
        assert.deepEqual(
          labels.map(({ prediction }) => prediction),
          LONG,
        );
        await tabular.close();
      }
    } finally {
      await endpoint.close();
    }
  });
});
