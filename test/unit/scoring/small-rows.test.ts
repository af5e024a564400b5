import { strict as assert } from 'node:assert';
import { runInNewContext } from 'node:vm';

import { hasColumns, smallRows } from '../../doors/scoring';

describe('smallRows', () => {
  it('copies one object, or a few', () => {
    const one = { x: 1, when: new Date(0), name: 'a' };
    const small = smallRows(one)!;
    assert.equal(small.single, true);
    assert.deepEqual(small.rows, [one]);
    assert.notEqual(small.rows[0], one);
    assert.deepEqual(smallRows([one, { y: 2 }])!.rows, [one, { y: 2 }]);
    assert.ok(small.bytes > 0);
  });

  it('takes objects of a function node, which come from another realm, and such without a prototype', () => {
    assert.deepEqual({ ...smallRows(runInNewContext('({ x: 1 })'))!.rows[0] }, { x: 1 });
    assert.equal(smallRows(runInNewContext('[{ x: 1 }, { x: 2 }]'))!.rows.length, 2);
    assert.equal(smallRows(Object.assign(Object.create(null) as object, { x: 1 }))!.rows.length, 1);
  });

  it('leaves all other forms to src/table', () => {
    class Table {
      x = 1;
    }
    const others: unknown[] = [
      undefined,
      null,
      7,
      'x\n1',
      Buffer.from('x\n1'),
      [],
      {},
      [{}],
      [[1]],
      [{ x: 1 }, 7],
      [null],
      { x: [1, 2], y: [3, 4] },
      { x: new Float64Array(2) },
      { x: 1, y: [1] },
      new Date(),
      new Map([['x', 1]]),
      new Table(),
      Array.from({ length: 1000 }, () => ({ x: 1 })),
    ];
    for (const other of others) {
      assert.equal(smallRows(other), undefined);
    }
  });

  it('keeps columns of any name', () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "a.b": 3, "é🙂": 4}') as object;
    const { rows } = smallRows(odd)!;
    assert.deepEqual(Object.entries(rows[0]!), Object.entries(odd));
    const columns = Object.keys(odd).map((name) => ({ name, type: 'number' as const }));
    assert.equal(hasColumns(rows, columns), true);
    assert.equal(hasColumns([{ x: 1 }], [{ name: 'toString', type: 'number' }]), false);
    assert.equal(hasColumns([{ x: 1 }, { y: 1 }], [{ name: 'y', type: 'number' }]), true);
  });
});
