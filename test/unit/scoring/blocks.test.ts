import { strict as assert } from 'node:assert';

import { groupBlocks, rowBlocks, standardErrors } from '../../doors/scoring';
import { seededRandom } from '../../doors/util';

const order = (rows: number): Int32Array => Int32Array.from({ length: rows }, (_, row) => row);

describe('blocks of rows', () => {
  it('are ten of as many rows each, fewer of few rows, and none where that leaves less than five', () => {
    const sizes = (rows: number): number[] => rowBlocks(order(rows)).map(({ length }) => length);
    assert.deepEqual(sizes(49), []);
    assert.deepEqual(sizes(52), [10, 10, 11, 10, 11]);
    assert.deepEqual(sizes(1005), [100, 101, 100, 101, 100, 101, 100, 101, 100, 101]);
  });

  it('keep rows of one time together', () => {
    const day = (row: number): number => Math.floor(row / 24);
    const blocks = rowBlocks(order(240), (row, before) => day(row) === day(before));
    assert.deepEqual([...new Set(blocks.map(({ length }) => length % 24))], [0]);
    assert.equal(blocks.flatMap((block) => [...block]).length, 240);
    assert.deepEqual(
      rowBlocks(order(240), () => true),
      [],
    );
  });
});

describe('blocks of whole groups', () => {
  it('split no group, are about as large, and none where there are less than five groups', () => {
    const machine = (row: number): number => Math.floor(Math.sqrt(row));
    const groups = Array.from({ length: 400 }, (_, row) => machine(row));
    const blocks = groupBlocks(groups);
    const machines = blocks.map((block) => new Set([...block].map(machine)));
    assert.equal(blocks.flatMap((block) => [...block]).length, 400);
    assert.equal(
      machines.reduce((sum, { size }) => sum + size, 0),
      20,
    );
    const sizes = blocks.map(({ length }) => length);
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 4, String(sizes));
    assert.equal(groupBlocks(groups.slice(0, 25)).length, 5);
    assert.deepEqual(groupBlocks(groups.slice(0, 16)), []);
    assert.equal(groupBlocks([null, null, null, null, null]).length, 5);
  });
});

describe('standard errors of scores', () => {
  it('are as large as the scores vary, also where the errors of neighbours are alike', async () => {
    const random = seededRandom(5);
    const rows = 600;
    for (const alike of [0, 0.9]) {
      const means: number[] = [];
      let told = 0;
      for (let time = 0; time < 150; time++) {
        let error = 0;
        const actual = Float64Array.from({ length: rows }, () => {
          const chance = random() + random() + random() + random() - 2;
          return (error = alike * error + Math.sqrt(1 - alike ** 2) * chance);
        });
        const mean = actual.reduce((sum, value) => sum + Math.abs(value) / rows, 0);
        means.push(mean);
        const answers = {
          task: 'regression',
          mean: [...actual].map(() => 0),
          quantiles: [],
          actual,
        } as const;
        const { mae, rmse } = await standardErrors(
          answers,
          { rows, mae: mean, rmse: 1 },
          rowBlocks(order(rows)),
        );
        told += mae! / 150;
        assert.ok(rmse! > 0);
      }
      const middle = means.reduce((sum, mean) => sum + mean / 150, 0);
      const varied = Math.sqrt(means.reduce((sum, mean) => sum + (mean - middle) ** 2 / 149, 0));
      assert.ok(told > 0.75 * varied && told < 1.3 * varied, `${alike}: ${told} told, ${varied} varied`);
    }
  });

  it('are left out of a score that some blocks do not have', async () => {
    const probas = Array.from({ length: 60 }, (_, row) => [1 - row / 60, row / 60]);
    const of = (codes: number[]) =>
      standardErrors(
        { task: 'classification', classes: ['no', 'yes'], probas, codes },
        { rows: 60, accuracy: 0.5, roc_auc: 0.5 },
        rowBlocks(order(60)),
      );
    assert.deepEqual(Object.keys(await of(probas.map((_, row) => (row < 5 ? 1 : 0)))), ['accuracy']);
    assert.deepEqual(Object.keys(await of(probas.map((_, row) => row % 2))), ['accuracy', 'roc_auc']);
  });
});
