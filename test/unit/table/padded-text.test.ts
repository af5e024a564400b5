import { strict as assert } from 'node:assert';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { listCells, openTable } from '../../../dist/src/table';
import { collect } from './helpers';

const CSV = 'age,workclass,income\n25, Private, <=50K\n26, Gov, >50K\n27, ?, <=50K\n28, ,>50K\n'.replace(
  ',>50K',
  ', >50K',
);

const cells = async (table: unknown, columns: Parameters<typeof readBatches>[1]): Promise<unknown[][]> => {
  const batches = await collect(readBatches(await openTable(table), columns));
  return batches[0]!.columns.map(listCells);
};

describe('Text with white space around it in every cell', () => {
  it('is read without it, said once, and so by the model', async () => {
    const { columns, warnings, target } = await profileTable(await openTable(CSV), { target: 'income' });
    assert.deepEqual(columns, [
      { name: 'age', type: 'integer' },
      { name: 'workclass', type: 'text', trim: true },
      { name: 'income', type: 'text', trim: true },
    ]);
    assert.deepEqual(warnings, [
      'Every cell of columns "workclass", "income" begins or ends with white space, which is left off: " Private" is "Private", and so it is when the model predicts.',
    ]);
    assert.deepEqual(target!.classes, ['<=50K', '>50K']);
    const features = columns.slice(0, 2);
    assert.deepEqual((await cells(CSV, features))[1], ['Private', 'Gov', '?', null]);
    for (const workclass of ['Private', ' Private', 'Private ']) {
      assert.deepEqual(await cells([{ age: 30, workclass }], features), [[30], ['Private']]);
    }
  });

  it('is so too where it is padded at its end, in objects and in a target', async () => {
    const rows = [
      { v: 'high  ', y: 'on ' },
      { v: 'low   ', y: 'off' },
      { v: null, y: 'off' },
    ];
    const { columns } = await profileTable(await openTable(rows), { target: 'y' });
    assert.deepEqual(columns, [
      { name: 'v', type: 'text', trim: true },
      { name: 'y', type: 'text' },
    ]);
    assert.deepEqual((await cells(rows, columns))[0], ['high', 'low', null]);
  });

  it('keeps it where one cell has none', async () => {
    const table = 'v,x\n high,1\n low,2\nlow,3\n';
    const { columns, warnings } = await profileTable(await openTable(table));
    assert.deepEqual([columns[0], warnings], [{ name: 'v', type: 'text' }, []]);
    assert.deepEqual((await cells(table, columns))[0], [' high', ' low', 'low']);
  });
});
