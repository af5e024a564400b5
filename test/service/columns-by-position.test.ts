import assert from 'node:assert/strict';

import { type Harness, line } from './harness';
import { parquetOf } from './parquet-file';
import { sharedService } from './shared';

describe('Service: tables without column names', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  const rows = Array.from({ length: 120 }, (_, i) => i);
  const named = {
    load: rows.map((i) => i % 40),
    oil: rows.map((i) => ['007', '12', '3'][i % 3]!),
    on: rows.map((i) => i % 2),
  };
  const target = rows.map((i) => (i % 40) + (i % 3) * 10);
  const numbered = (table: Record<string, unknown[]>): Record<string, unknown[]> =>
    Object.fromEntries(Object.values(table).map((values, at) => [String(at), values]));
  const csvOf = (table: Record<string, unknown[]>): string => {
    const lines = rows.map((row) => Object.values(table).map((values) => String(values[row])));
    return [Object.keys(table), ...lines].map((cells) => cells.join(',')).join('\n');
  };

  it('are read by position where the model has names, and the other way round, in either format', async () => {
    const y = parquetOf({ target });
    const withNames = await h.fit(parquetOf(named), y, 'regression');
    const without = await h.fit(parquetOf(numbered(named)), y, 'regression');
    const answers = [];
    for (const id of [withNames, without]) {
      for (const table of [named, numbered(named)]) {
        for (const file of [parquetOf(table), csvOf(table)]) {
          const { status, body, text } = await h.predict(id, file, 'regression');
          assert.equal(status, 200, text);
          assert.deepEqual(body.metadata.ignored_columns, []);
          answers.push(body.prediction);
        }
      }
    }
    for (const prediction of answers) {
      assert.deepEqual(prediction, answers[0]);
    }
  });

  it('must have as many columns as the train set', async () => {
    const { x, y } = line();
    const fitted = await h.fit(x, y, 'regression');
    for (const file of ['0,1,2\n1,2,3\n', '0\n1\n', '1,0\n1,2\n', 'c,d\n1,2\n', 'a,1\n1,2\n']) {
      const { status, body } = await h.predict(fitted, file, 'regression');
      assert.deepEqual([status, body.error_code], [422, 'COLUMNS_MISSING'], file);
    }
    assert.match(
      (await h.predict(fitted, '0,1\nred,2\n', 'regression')).body.message,
      /Column "a", row 1: "red" is not a number/,
    );
  });
});
