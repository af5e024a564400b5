import assert from 'node:assert/strict';

import { encodeTrainSet, profileTable, readRows } from '../../../dist/src/program-table';
import { closeEncoder, openTable, TableSpool } from '../../../dist/src/table';
import { bytesOf, readByHyparquet, rejectsWith, tempFiles } from './helpers';

describe('Spool of a table that comes in parts', () => {
  after(() => closeEncoder());

  it('gives back what was appended, in order, from memory or from its file', async () => {
    for (const memoryBytes of [undefined, 1000]) {
      const spool = new TableSpool({ memoryBytes });
      const rows = Array.from({ length: 3000 }, (_, i) => ({
        i,
        t: `é${i}`,
        d: new Date(i),
        big: 2n ** 60n,
      }));
      const appends = [];
      for (let at = 0; at < rows.length; at += 7) {
        appends.push(spool.append(rows.slice(at, at + 7)));
      }
      await Promise.all(appends);
      assert.equal(spool.rows, 3000);
      assert.equal((await tempFiles()).length, memoryBytes === undefined ? 0 : 1);
      const source = await spool.finish();
      assert.deepEqual(await readRows(source), rows);
      const profile = await profileTable(source, { target: 't' });
      const { x } = await encodeTrainSet(source, profile, { target: 't' });
      const back = await readByHyparquet(await bytesOf(x));
      assert.deepEqual(back.rows[2999], [2999n, new Date(2999), 2n ** 60n]);
      await spool.dispose();
      assert.deepEqual(await tempFiles(), []);
    }
  });

  it('takes every form, and the union of the columns', async () => {
    const spool = new TableSpool();
    await spool.append({ a: 1 });
    await spool.append([{ b: 'x' }]);
    await spool.append({ a: [2, 3], c: [true, null] });
    await spool.append('a,b\n4,y\n');
    const source = await spool.finish();
    assert.deepEqual((await profileTable(source)).columns, [
      { name: 'a', type: 'integer' },
      { name: 'b', type: 'text' },
      { name: 'c', type: 'boolean' },
    ]);
    await spool.dispose();
  });

  it('is a copy: a message may be changed once it is in', async () => {
    const spool = new TableSpool();
    const row = { a: 1 };
    await spool.append(row);
    row.a = 99;
    assert.deepEqual(await readRows(await spool.finish()), [{ a: 1 }]);
  });

  it('settles types over all parts of CSV text', async () => {
    const spool = new TableSpool();
    await spool.append('a,b\n1,x\n');
    await spool.append('a,b\n2.5,y\n');
    assert.deepEqual(await readRows(await spool.finish()), [
      { a: 1, b: 'x' },
      { a: 2.5, b: 'y' },
    ]);
  });

  it('joins pieces of text by their separator, and pieces of bytes', async () => {
    for (const memoryBytes of [undefined, 5]) {
      const lines = new TableSpool({ memoryBytes });
      for (const line of ['a,b', '1,é', '2,y']) {
        await lines.append(line, { separator: '\n' });
      }
      const rows = [
        { a: 1, b: 'é' },
        { a: 2, b: 'y' },
      ];
      const source = await lines.finish();
      assert.equal(source.form, 'parsed');
      assert.deepEqual(await readRows(source), rows);
      await lines.dispose();

      const bytes = Buffer.from('a,b\n1,é\n2,y\n');
      const chunks = new TableSpool({ memoryBytes });
      for (let at = 0; at < bytes.length; at += 7) {
        await chunks.append(bytes.subarray(at, at + 7), { separator: '' });
      }
      assert.deepEqual(await readRows(await chunks.finish()), rows);
      await chunks.dispose();
    }
    assert.deepEqual(await tempFiles(), []);
  });

  it('takes many parts of a row each, between larger ones', async () => {
    const spool = new TableSpool({ memoryBytes: 100_000 });
    const rows = Array.from({ length: 9000 }, (_, i) => ({ i, t: `row ${i}` }));
    await spool.append(rows.slice(0, 3));
    for (const row of rows.slice(3, 5003)) {
      await spool.append(row);
    }
    await spool.append(rows.slice(5003));
    assert.equal(spool.rows, rows.length);
    assert.deepEqual(await readRows(await spool.finish()), rows);
    await spool.dispose();
  });

  it('refuses a part that is no table and keeps the others', async () => {
    const spool = new TableSpool();
    await spool.append({ a: 1 });
    await rejectsWith(spool.append(7), 'table.invalid', /a number \(7\)/);
    await rejectsWith(spool.append('line', { separator: '\n' }), 'table.invalid', /piece of text/);
    assert.deepEqual(await readRows(await spool.finish()), [{ a: 1 }]);
    await rejectsWith(new TableSpool().finish(), 'table.empty', /no rows/);
  });

  it('takes Parquet parts too', async () => {
    const source = await openTable([{ a: 1, y: 'x' }]);
    const { x } = await encodeTrainSet(source, await profileTable(source, { target: 'y' }), { target: 'y' });
    const spool = new TableSpool();
    await spool.append(await bytesOf(x));
    await spool.append(await bytesOf(x));
    assert.deepEqual(await readRows(await spool.finish()), [{ a: 1 }, { a: 1 }]);
  });
});
