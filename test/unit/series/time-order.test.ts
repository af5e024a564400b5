import assert from 'node:assert/strict';

import { sortByTime } from '../../doors/series';

describe('a table of readings in any order', () => {
  it('is sorted by time in turns of the event loop; what has the same time stays in its order', async () => {
    const list = Array.from({ length: 300_000 }, (_, at) => ({ time: (at * 7919) % 1000, at }));
    const wanted = list.toSorted((a, b) => a.time - b.time);
    let turns = 0;
    const counting = setImmediate(function count() {
      turns++;
      immediate = setImmediate(count);
    });
    let immediate = counting;
    const sorted = await sortByTime(list);
    clearImmediate(immediate);
    assert.ok(sorted.every((one, at) => one === wanted[at]));
    assert.equal(sorted.length, wanted.length);
    assert.ok(turns > 2, `${turns} turns`);
    assert.equal(await sortByTime(wanted), wanted);
    assert.deepEqual(await sortByTime([]), []);
  });
});
