import assert from 'node:assert/strict';

import { readStateLines, stateLines, Watch } from '../../doors/watch';
import { MINUTE, NUMBERS, START } from './support';

const FIRST = { ...NUMBERS, version: 1, relativeTo: 'heat' };
const SECOND = { ...FIRST, id: 'fit-2', version: 2 };

const rowAt = (i: number) => ({ key: 'p', time: START + i * MINUTE });

/** Rows `from` to `to`, each with a prediction of 0, a current value of 4 and a truth `off`. */
function run(watch: Watch, from: number, to: number, off: number): void {
  for (let i = from; i < to; i++) {
    watch.predicted({ series: rowAt(i), prediction: 0, row: { heat: 4 } });
    watch.truth({ series: rowAt(i), truth: off });
  }
}

describe('the live scores of versions', () => {
  it('stay when another version takes over, and go on after a roll back', () => {
    const watch = new Watch(FIRST);
    run(watch, 0, 10, 1);
    watch.modelChanged(SECOND);
    run(watch, 10, 14, 3);
    const first = { version: 1, measure: 'mae', rows: 10, loss: 1, now: 3 };
    const second = { version: 2, measure: 'mae', rows: 4, loss: 3, now: 1 };
    assert.deepEqual(watch.report().versions, [
      { ...second, since: rowAt(10).time, until: rowAt(13).time },
      { ...first, since: rowAt(0).time, until: rowAt(9).time },
    ]);
    watch.modelChanged(FIRST);
    run(watch, 14, 24, 2);
    assert.deepEqual(watch.report().versions[1], {
      ...{ ...first, rows: 20, loss: 1.5, now: 2.5 },
      ...{ since: rowAt(0).time, until: rowAt(23).time },
    });
  });

  it('count an outcome that comes after the take over for the version that predicted its row', () => {
    const watch = new Watch(FIRST);
    run(watch, 0, 5, 1);
    watch.predicted({ series: rowAt(5), prediction: 0 });
    watch.modelChanged(SECOND);
    run(watch, 6, 8, 3);
    assert.equal(watch.truth({ series: rowAt(5), truth: 7 }).counted, 'former');
    const { versions, live } = watch.report();
    assert.deepEqual(
      versions.map(({ version, rows, loss, now }) => [version, rows, loss, now]),
      // One row of version 1 lacks the current value: loss and "no change" are over the other five.
      [
        [2, 2, 3, 1],
        [1, 5, 1, 3],
      ],
    );
    assert.deepEqual([live.rows, live.loss], [2, 3]);
  });

  it('compare with no change over the same rows, if most of them give the current value', () => {
    const watch = new Watch(FIRST);
    const scored = () => {
      const { rows, loss, now } = watch.report().versions[0]!;
      return [rows, loss, now];
    };
    run(watch, 0, 4, 1);
    for (let i = 4; i < 8; i++) {
      watch.predicted({ series: rowAt(i), prediction: 0 });
      watch.truth({ series: rowAt(i), truth: 9 });
    }
    assert.deepEqual(scored(), [4, 1, 3]);
    watch.predicted({ series: rowAt(8), prediction: 0 });
    watch.truth({ series: rowAt(8), truth: 9 });
    assert.deepEqual(scored(), [9, (4 * 1 + 5 * 9) / 9, undefined]);
  });

  it('survive a restart, and a state without them is taken', () => {
    const watch = new Watch(FIRST);
    run(watch, 0, 10, 1);
    watch.modelChanged(SECOND);
    const state = readStateLines(stateLines(watch.toJSON()))!;
    assert.deepEqual(Watch.from(state).report().versions, watch.report().versions);
    const from = Watch.from({ ...state, versions: undefined });
    assert.deepEqual(from.report().versions, []);
    run(from, 10, 11, 3);
    assert.deepEqual(from.report().versions[0]!.rows, 1);
  });

  it('are not those of a deleted model whose version had the same number', () => {
    const watch = new Watch(FIRST);
    run(watch, 0, 10, 1);
    for (const i of [20, 21]) {
      watch.predicted({ series: rowAt(i), prediction: 0 });
    }
    watch.modelChanged({ ...FIRST, id: 'another' });
    watch.truth({ series: rowAt(20), truth: 9 });
    assert.deepEqual(watch.report().versions, []);
    run(watch, 10, 12, 3);
    watch.truth({ series: rowAt(21), truth: 9 });
    assert.deepEqual(
      watch.report().versions.map(({ rows, loss }) => [rows, loss]),
      [[2, 3]],
    );
  });

  it('are bounded, and none are kept of a model without versions', () => {
    const watch = new Watch(NUMBERS);
    run(watch, 0, 2, 1);
    assert.deepEqual(watch.report().versions, []);
    for (let version = 1; version <= 20; version++) {
      watch.modelChanged({ ...FIRST, id: `fit-${version}-of-20`, version });
      run(watch, 10 * version, 10 * version + 2, 1);
    }
    assert.deepEqual(
      watch.report().versions.map(({ version }) => version),
      [20, 19, 18, 17, 16, 15, 14, 13],
    );
  });
});
