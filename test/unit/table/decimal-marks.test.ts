import { strict as assert } from 'node:assert';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { type Column, listCells, openTable } from '../../../dist/src/table';
import { collect, rejectsWith } from './helpers';

async function read(
  table: unknown,
  columns?: readonly Column[],
): Promise<{ column: Column; cells: unknown[]; warnings: string[] }> {
  const source = await openTable(table);
  const profile = await profileTable(source);
  const wanted = columns ?? profile.columns.slice(0, 1);
  const batches = await collect(readBatches(source, wanted));
  return {
    column: wanted[0]!,
    cells: batches.flatMap(({ columns: [column] }) => listCells(column!)),
    warnings: profile.warnings,
  };
}

describe('Numbers whose thousands are grouped', () => {
  const besides: [string, string, string, number[], string][] = [
    ['dollars', 'v,x\n"$300,100",50.5\n"$307,101 ",51.5\n', '$', [300100, 307101], '.'],
    ['hectopascals', 'v,x\n"1,010 hPa",20.5\n"1,013 hPa",21\n', 'hPa', [1010, 1013], '.'],
    ['revolutions, with tabs', 'v\tx\n1,400 rpm\t20.5\n1,403 rpm\t20.75\n', 'rpm', [1400, 1403], '.'],
    ['watts, with a decimal comma', 'v;x\n1.400 W;20,5\n1.403 W;20,75\n', 'W', [1400, 1403], ','],
  ];
  for (const [name, csv, unit, numbers, decimal] of besides) {
    it(`and have a unit are read with the mark of the other columns: ${name}`, async () => {
      const { column, cells, warnings } = await read(csv);
      assert.deepEqual(column, { name: 'v', type: 'integer', decimal, unit });
      assert.deepEqual([cells, warnings], [numbers, []]);
    });
  }

  const alone: [string, string, number[]][] = [
    ['a cell with both marks', 'v;y\n60.100;0\n61.101,50;1\n63.103;3\n', [60100, 61101.5, 63103]],
    ['two groups', 'v,y\n"1,234,567",0\n"62,283",1\n950,2\n', [1234567, 62283, 950]],
    ['money with both', 'v,y\n"$65,548.50",0\n"$62,283",1\n', [65548.5, 62283]],
    ['with tabs', 'v\ty\n1.234.567\t0\n62.283\t1\n', [1234567, 62283]],
  ];
  for (const [name, csv, numbers] of alone) {
    it(`show their own mark: ${name}`, async () => {
      const { cells, warnings } = await read(csv);
      assert.deepEqual([cells, warnings], [numbers, []]);
    });
  }

  it('show it to later tables too', async () => {
    const { column } = await read('price,area\n"$1,100.50",50.5\n"$2,107.50",51.5\n');
    assert.deepEqual(column, { name: 'price', type: 'number', decimal: '.', unit: '$' });
    assert.deepEqual((await read('price,area\n"$1,250",55.5\n', [column])).cells, [1250]);
    assert.deepEqual((await read([{ price: '$1,250' }], [column])).cells, [1250]);
    // Numbers without groups tell nothing of a comma.
    const plain = await read('price,area\n$100.50,50.5\n$107.50,51.5\n');
    assert.deepEqual(plain.column, { name: 'price', type: 'number', unit: '$' });
    await rejectsWith(read('price,area\n"$1,250",55.5\n', [plain.column]), 'table.invalid', /\$1,250/);
  });

  it('are none where they are a list', async () => {
    const list = Array.from({ length: 9 }, (_, i) => 290 + i).join(',');
    assert.deepEqual((await read(`v,x\n"${list}",1\n"${list}",2\n`)).cells, [list, list]);
  });

  it('stay text where a comma parts the fields and would be the decimal mark', async () => {
    const { column, warnings } = await read('v,x\n"61.101,50",1.5\n"62.283",2.5\n');
    assert.equal(column.type, 'text');
    assert.match(warnings.join(), /"v" is text that reads as numbers/);
  });
});

describe('A minus behind a number', () => {
  it('makes it negative, however many decimals it has', async () => {
    for (const [csv, numbers] of [
      ['v;x\n1;1,5\n3-;2,5-\n12-;0,125-\n', [1, -3, -12]],
      ['v,x\n0.5-,1\n1.25,2\n1.125-,3\n', [-0.5, 1.25, -1.125]],
      ['v,x\n125- kg,1\n3- kg,2\n', ['125- kg', '3- kg']],
    ] as const) {
      assert.deepEqual((await read(csv)).cells, numbers);
    }
  });
});
