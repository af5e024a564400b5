import { strict as assert } from 'node:assert';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { listCells, openTable, type ProfileOptions } from '../../../dist/src/table';
import { collect } from './helpers';

async function read(
  table: unknown,
  options: ProfileOptions = {},
): Promise<{ type: string; cells: unknown[]; warnings: string[] }> {
  const source = await openTable(table);
  const { columns, warnings } = await profileTable(source, options);
  const batches = await collect(readBatches(source, columns.slice(0, 1)));
  return {
    type: columns[0]!.type,
    cells: batches.flatMap(({ columns: [column] }) => listCells(column!)),
    warnings,
  };
}

/** The same cells as CSV (beside a full column), and as objects, where numbers are numbers. */
const forms: [string, (cells: string[]) => unknown][] = [
  ['CSV', (cells) => `v,x\n${cells.map((cell) => `${cell},1`).join('\n')}`],
  ['tabs', (cells) => `v\tx\n${cells.map((cell) => `${cell}\t1`).join('\n')}`],
  ['objects', (cells) => cells.map((cell) => ({ v: /^[\d.]*\d$/.test(cell) ? Number(cell) : cell }))],
];

const words =
  'NA n/a NaN null <NA> unavailable Unknown none None ERR error offline missing n.a. - -- . .. ? ' +
  '#N/A #DIV/0! #WERT! #BEZUG! #NV #N/D #REF! #VALEUR! #¡VALOR! #¿NOMBRE? #NOMBRE! #RIF! #NÚM! #DEEL/0! #ARG! #DZIEL/0! ' +
  '#ЗНАЧ! #Н/Д #YOK #SPILL! #ERROR! ##### Err:502';

describe('A cell without a value', () => {
  for (const [form, table] of forms) {
    it(`is missing among numbers, whatever it says: ${form}`, async () => {
      const list = [...words.split(' '), ' ', '   ', '\u00a0', ' unavailable ', ' ?'];
      for (const word of list) {
        const { type, cells, warnings } = await read(table(['1.5', '2.5', word, '3.5']));
        assert.deepEqual([type, cells, warnings], ['number', [1.5, 2.5, null, 3.5], []], word);
      }
      const { type, cells } = await read(table(['1', ...list, '2']));
      assert.deepEqual([type, cells], ['integer', [1, ...list.map(() => null), 2]]);
    });
  }

  it('is missing among dates, truth values and numbers with a unit', async () => {
    for (const [full, type] of [
      ['2024-03-01', 'date'],
      ['true', 'boolean'],
      ['21.5 °C', 'number'],
      ['$1.50', 'number'],
    ] as const) {
      const { type: found, cells } = await read(`v,x\n${full},1\n-,1\n ,1\nunavailable,1\n${full},1\n`);
      assert.deepEqual([found, cells.slice(1, 4)], [type, [null, null, null]], full);
    }
  });

  it('stays as it is in a column of words', async () => {
    const states = ['on', 'off', 'unavailable', 'none', '-', 'error', '#REF!'];
    for (const [, table] of forms) {
      const { type, cells } = await read(table(states));
      assert.deepEqual([type, cells], ['text', states]);
    }
  });

  it('makes no number of a column that has no other cell', async () => {
    const { type } = await read('v,x\n-,1\nunknown,1\n');
    assert.equal(type, 'text');
  });

  it('may be a name in the header', async () => {
    const source = await openTable('error,-,none,unknown\n1,2,3,4\n');
    assert.deepEqual(source.names, ['error', '-', 'none', 'unknown']);
  });

  it('of spaces is missing in a column of words too, where Missing words has a space', async () => {
    const table = 'v,x\nhigh,1\n ,1\n   ,1\nlow,1\n';
    assert.deepEqual((await read(table)).cells, ['high', ' ', '   ', 'low']);
    assert.deepEqual((await read(table, { missingWords: [' '] })).cells, ['high', null, null, 'low']);
    const rows = [{ v: 1 }, { v: 0 }, { v: ' ' }];
    assert.deepEqual((await read(rows, { missingWords: [' '] })).cells, [1, 0, null]);
  });
});
