import assert from 'node:assert/strict';

import { Gather } from '../../doors/anomaly';

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

  it('make a row of what came where one is lost, and wait for it in the next round', () => {
    const gather = new Gather();
    const rows = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'c', 'a', 'b', 'c', 'a', 'b', 'c'].flatMap((column) =>
      gather.add('m', { [column]: 1 }),
    );
    assert.deepEqual(
      rows.map((row) => Object.keys(row).sort().join('')),
      ['abc', 'abc', 'ac', 'abc', 'abc'],
    );
  });

  it('make a row of each value where there is one sensor, or the others have stopped', () => {
    const one = new Gather();
    assert.deepEqual(one.add(undefined, { x: 1 }), []);
    assert.deepEqual(one.add(undefined, { x: 2 }), [{ x: 1 }, { x: 2 }]);
    assert.deepEqual(one.add(undefined, { x: 3 }), [{ x: 3 }]);
    const two = new Gather();
    ['a', 'b', 'a', 'b'].forEach((column) => two.add('m', { [column]: 1 }));
    const alone = [1, 2, 3, 4, 5, 6, 7].flatMap((value) => two.add('m', { a: value }));
    assert.deepEqual(
      alone,
      [1, 2, 3, 4, 5, 6, 7].map((a) => ({ a })),
    );
  });

  it('take names that every object has', () => {
    const gather = new Gather();
    assert.deepEqual(gather.add('m', { constructor: 1 }), []);
    assert.deepEqual(gather.add('m', { toString: 2 }), []);
  });
});
