import assert from 'node:assert/strict';

import fc from 'fast-check';

import { readBatches } from '../../../dist/src/program-table';
import {
  cellAt,
  type Column,
  type ColumnBatch,
  joinBatches,
  listCells,
  openTable,
  pickRows,
  sliceBatch,
} from '../../../dist/src/table';
import { collect } from './helpers';

const COLUMNS: Column[] = [
  { name: 'n', type: 'number' },
  { name: 'g', type: 'bigint' },
  { name: 'f', type: 'boolean' },
  { name: 't', type: 'text' },
  { name: 'd', type: 'date' },
];

const row = fc.record({
  n: fc.option(fc.double({ noNaN: true })),
  g: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  f: fc.option(fc.boolean()),
  t: fc.option(fc.string({ unit: 'grapheme', maxLength: 5 })),
  d: fc.option(fc.date({ noInvalidDate: true })),
});

function rowsOf(batch: ColumnBatch): unknown[][] {
  const cells = batch.columns.map(listCells);
  return Array.from({ length: batch.rows }, (_, i) => cells.map((column) => column[i]));
}

describe('Batches', () => {
  it('can be read in part: the rows picked, as they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 20 }),
        fc.infiniteStream(fc.boolean()),
        async (rows, coins) => {
          const [batch] = await collect(readBatches(await openTable(rows), COLUMNS));
          const picked = rows.flatMap((_, i) => (coins.next().value === true ? [i] : []));
          const all = rowsOf(batch!);
          assert.deepEqual(
            rowsOf(pickRows(batch!, picked)),
            picked.map((i) => all[i]),
          );
        },
      ),
    );
  });

  it('can be cut and joined without a change', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.nat(40),
        fc.nat(40),
        async (rows, a, b) => {
          const [whole] = await collect(readBatches(await openTable(rows), COLUMNS));
          const expected = rows.map((r) => [r.n, r.g, r.f, r.t, r.d]);
          assert.deepEqual(rowsOf(whole!), expected);
          const [first, second] = a < b ? [a, b] : [b, a];
          const parts = [
            sliceBatch(whole!, 0, first),
            sliceBatch(whole!, first, second),
            sliceBatch(whole!, second, 1e9),
          ];
          assert.deepEqual(parts.flatMap(rowsOf), expected);
          const joined = joinBatches(parts);
          assert.deepEqual(rowsOf(joined), expected);
          joined.columns.forEach((column, index) => {
            rows.forEach((_, i) => assert.deepEqual(cellAt(column, i), expected[i]![index]));
          });
        },
      ),
    );
  });

  it('join to numbers where some hold whole numbers and others fractions', async () => {
    const columns: Column[] = [{ name: 'n', type: 'integer' }];
    const [whole] = await collect(readBatches(await openTable({ n: 1 }), columns));
    const [fraction] = await collect(readBatches(await openTable({ n: 1.5 }), columns));
    const joined = joinBatches([whole!, fraction!]);
    assert.deepEqual([joined.columns[0]!.type, listCells(joined.columns[0]!)], ['number', [1, 1.5]]);
  });

  it('keeps text whose halves of a character stand in neighbouring cells', async () => {
    const rows = [{ t: 'a\ud83d' }, { t: '\ude00b' }, { t: 'é' }];
    const [batch] = await collect(readBatches(await openTable(rows), [{ name: 't', type: 'text' }]));
    assert.deepEqual(listCells(batch!.columns[0]!), ['a\ufffd', '\ufffdb', 'é']);
  });
});
