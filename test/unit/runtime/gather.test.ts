import assert from 'node:assert/strict';

import { Gather } from '../../doors/runtime';

describe('single values of several sensors', () => {
  it('make a row for each round of the sensors, from the second round on with the last of them', () => {
    const gather = new Gather();
    const rows: object[][] = [];
    for (const round of [1, 2, 3]) {
      for (const column of ['a', 'b', 'c']) {
        rows.push(gather.add('m', { [column]: round }));
      }
    }
    assert.deepEqual(rows, [
      [],
      [],
      [],
      [{ a: 1, b: 1, c: 1 }],
      [],
      [{ a: 2, b: 2, c: 2 }],
      [],
      [],
      [{ a: 3, b: 3, c: 3 }],
    ]);
  });

  it('make a row of what came where one is missing, and of each value where there is one sensor', () => {
    const gather = new Gather();
    gather.add('m', { a: 1 });
    gather.add('m', { b: 1 });
    gather.add('m', { a: 2 });
    assert.deepEqual(gather.add('m', { a: 3 }), [{ a: 2 }, { a: 3 }]);
    const one = new Gather();
    assert.deepEqual(one.add(undefined, { x: 1 }), []);
    assert.deepEqual(one.add(undefined, { x: 2 }), [{ x: 1 }, { x: 2 }]);
    assert.deepEqual(one.add(undefined, { x: 3 }), [{ x: 3 }]);
  });
});
