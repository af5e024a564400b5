import assert from 'node:assert/strict';

import { type Answer, type Harness } from './harness';
import { parquetOf } from './parquet-file';
import { sharedService } from './shared';

const list = <T>(count: number, value: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => value(i));
const day = (i: number): Date => new Date(Date.UTC(2024, 0, 1 + i));

/** Tables that break services: each is fitted and predicted from real Parquet. */
describe('Service: odd tables', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  type Columns = Record<string, unknown[]>;
  async function run(x: Columns, y: unknown[], task: string, test: Columns = x): Promise<Answer> {
    const id = await h.fit(parquetOf(x), parquetOf({ y }), task);
    return h.predict(id, parquetOf(test), task);
  }

  const fine: [string, Columns, unknown[], string, Columns?][] = [
    ['one row', { a: [1.5] }, ['x'], 'classification'],
    ['one class', { a: list(30, (i) => i + 0.5) }, list(30, () => 'x'), 'classification'],
    [
      'constant columns',
      { a: list(30, () => 1), b: list(30, () => 'q') },
      list(30, (i) => i + 0.5),
      'regression',
    ],
    [
      'a column without values',
      { a: list(30, () => null), b: list(30, (i) => i + 0.5) },
      list(30, (i) => i + 0.5),
      'regression',
    ],
    ['dates', { d: list(40, day) }, list(40, (i) => (i % 7) + 0.5), 'regression'],
    [
      'infinite numbers',
      { a: list(40, (i) => (i === 3 ? Infinity : i + 0.5)) },
      list(40, (i) => i + 0.5),
      'regression',
    ],
    [
      'large integers',
      { a: BigInt64Array.from(list(30, (i) => BigInt(i) * 2n ** 55n)) as never },
      list(30, (i) => i + 0.5),
      'regression',
    ],
    [
      'names from elsewhere',
      {
        constructor: list(30, (i) => i + 0.5),
        'a.b': list(30, (i) => i % 3),
        'é 😀': list(30, (i) => `k${i % 3}`),
      },
      list(30, (i) => i % 2 === 0),
      'classification',
    ],
    [
      'dates sent as text',
      { d: list(40, day) },
      list(40, (i) => i + 0.5),
      'regression',
      { d: ['2024-01-03', '2024-02-05T10:00:00Z'] },
    ],
    [
      'booleans sent as numbers',
      { b: list(40, (i) => i % 2 === 0) },
      list(40, (i) => i % 2),
      'regression',
      { b: [1, 0] },
    ],
    [
      'numbers sent as booleans',
      { b: list(40, (i) => i % 2) },
      list(40, (i) => i % 2),
      'regression',
      { b: [true, false] },
    ],
    [
      'text that is missing altogether',
      { t: list(40, (i) => `k${i % 3}`) },
      list(40, (i) => i + 0.5),
      'regression',
      { t: [null, 'k1'] },
    ],
  ];
  for (const [name, x, y, task, test] of fine) {
    it(`works with ${name}`, async () => {
      const { status, body, text } = await run(x, y, task, test);
      assert.equal(status, 200, text);
      const rows = Object.values(test ?? x)[0]!.length;
      assert.equal(body.prediction.length, rows);
      for (const value of (body.prediction as (number | number[])[]).flat()) {
        assert.ok(Number.isFinite(value));
      }
    });
  }

  it('predicts what it should for booleans sent as numbers', async () => {
    const { body } = await run(
      { b: list(40, (i) => i % 2 === 0) },
      list(40, (i) => i % 2),
      'regression',
      { b: [1, 0] },
    );
    assert.ok(body.prediction[0] < 0.2 && body.prediction[1] > 0.8, String(body.prediction));
  });

  it('names the value that has another type than in the train set', async () => {
    const { status, body } = await run(
      { d: list(40, day) },
      list(40, (i) => i + 0.5),
      'regression',
      { d: [1.5, 2] },
    );
    assert.equal(status, 422);
    assert.match(body.message, /"d", row 1.*not a date/);
  });

  it('refuses infinite targets, and classes without an end', async () => {
    const x = { a: list(30, (i) => i + 0.5) };
    const y = list(30, (i) => (i === 4 ? Infinity : i + 0.5));
    for (const task of ['regression', 'classification']) {
      await assert.rejects(run(x, y, task), /422.*Infinity in row 5/);
    }
  });
});
