import assert from 'node:assert/strict';

import { Watch } from '../../doors/watch';
import { CLASSES, MINUTE, NUMBERS, START } from './support';

describe('truths and their predictions', () => {
  it('find each other in either order, and count once', () => {
    const watch = new Watch(NUMBERS);
    const series = (id: string) => ({ id, time: START });
    assert.equal(watch.truth({ series: series('a'), truth: 5 }).counted, 'early');
    assert.equal(watch.truth({ series: series('a'), truth: 6 }).counted, 'again');
    assert.equal(watch.report().live.rows, 0);
    watch.predicted({ series: series('a'), prediction: 4 });
    assert.deepEqual([watch.report().live.rows, watch.report().live.loss], [1, 1]);
    watch.predicted({ series: series('b'), prediction: 4 });
    assert.equal(watch.truth({ series: series('b'), truth: 7 }).counted, 'yes');
    assert.equal(watch.truth({ series: series('b'), truth: 7 }).counted, 'again');
    // The same row predicted once more leaves, and waits for nothing.
    watch.predicted({ series: series('b'), prediction: 4 });
    const { live, counts } = watch.report();
    assert.deepEqual([live.rows, live.loss], [2, 2]);
    assert.deepEqual([counts.open, counts.early, counts.again, counts.truths], [0, 0, 2, 2]);
  });

  it('are told apart by key, time and ahead where there is no id', () => {
    const watch = new Watch(NUMBERS);
    for (const key of ['p1', 'p2']) {
      for (const ahead of [MINUTE, 2 * MINUTE]) {
        watch.predicted({ series: { key, time: START, ahead }, prediction: 1 });
      }
    }
    assert.equal(watch.truth({ series: { key: 'p1', time: START, ahead: MINUTE }, truth: 3 }).counted, 'yes');
    assert.equal(watch.report().counts.open, 3);
    assert.equal(watch.truth({ series: { time: START, ahead: MINUTE }, truth: 3 }).counted, 'early');
  });

  it('find a prediction by key and time that has an id as well, and count once', () => {
    const watch = new Watch(NUMBERS);
    const place = { key: 'p1', time: START };
    watch.predicted({ series: { id: 'p1@1', ...place }, prediction: 1 });
    assert.equal(watch.truth({ series: place, truth: 3 }).counted, 'yes');
    assert.equal(watch.truth({ series: place, truth: 3 }).counted, 'again');
    assert.equal(watch.truth({ series: { id: 'p1@1', ...place }, truth: 3 }).counted, 'again');
    // A truth that comes first; and a watch that was kept meanwhile.
    const later = { key: 'p1', time: START + MINUTE };
    assert.equal(watch.truth({ series: later, truth: 5 }).counted, 'early');
    watch.predicted({ series: { id: 'p1@2', ...later }, prediction: 1 });
    const third = { key: 'p1', time: START + 2 * MINUTE };
    watch.predicted({ series: { id: 'p1@3', ...third }, prediction: 1 });
    const kept = Watch.from(watch.toJSON());
    assert.equal(kept.truth({ series: third, truth: 4 }).counted, 'yes');
    const { live, counts } = kept.report();
    assert.deepEqual([live.rows, counts.open, counts.early, counts.unmet], [3, 0, 0, 0]);
  });

  it('that meet no prediction though theirs should be there are told from those of the past', () => {
    const watch = new Watch(NUMBERS);
    const at = (minute: number) => ({ key: 'p1', time: START + minute * MINUTE });
    const unmet = () => watch.report().counts.unmet;
    watch.truth({ series: at(-3), truth: 1 });
    assert.equal(unmet(), 0, 'nothing was predicted yet');
    watch.predicted({ series: at(0), prediction: 1 });
    watch.truth({ series: at(-2), truth: 1 });
    assert.equal(unmet(), 0, 'its row is older than what was predicted');
    watch.truth({ series: { ...at(1), key: 'P1' }, truth: 1 });
    watch.truth({ series: { id: 'other' }, truth: 1 });
    assert.equal(Watch.from(watch.toJSON()).report().counts.unmet, 2);
    watch.predicted({ series: { ...at(1), key: 'P1' }, prediction: 1 });
    assert.deepEqual([unmet(), watch.report().counts.early], [1, 3]);
  });

  it('are kept for pictures: the newest of each key and step, the longest rows give way', () => {
    const watch = new Watch(NUMBERS);
    const tell = (key: string, ahead: number, minute: number) => {
      const series = { key, ahead, time: START + minute * MINUTE };
      watch.predicted({ series, prediction: minute });
      watch.truth({ series, truth: minute });
    };
    for (let minute = 0; minute < 250; minute++) {
      tell('p1', MINUTE, minute);
    }
    const recent = () => watch.report().recent;
    assert.deepEqual([recent().length, recent()[0]?.truth, recent().at(-1)?.truth], [200, 50, 249]);
    for (let minute = 0; minute < 150; minute++) {
      [1, 2, 3, 4].forEach((step) => tell('p2', step * MINUTE, minute));
    }
    const counts = new Map<string, number>();
    for (const { key, ahead } of recent()) {
      const place = `${key} ${(ahead ?? 0) / MINUTE}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    assert.deepEqual(
      [...counts].sort(),
      [1, 2, 3, 4]
        .map((step) => [`p2 ${step}`, 120])
        .concat([['p1 1', 120]])
        .sort(),
    );
    const times = recent().map(({ time }) => time);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    assert.deepEqual(Watch.from(watch.toJSON()).report().recent, recent());
  });

  it('that are no number are counted and left out', () => {
    const watch = new Watch(NUMBERS);
    for (const [at, truth] of [null, undefined, 'hot', {}, NaN].entries()) {
      watch.predicted({ series: { id: `${at}` }, prediction: 1 });
      assert.equal(watch.truth({ series: { id: `${at}` }, truth }).counted, 'unreadable', typeof truth);
    }
    assert.equal(watch.report().live.rows, 0);
  });

  it('that never come do not fill the memory: the oldest of 100,000 predictions give way', () => {
    const watch = new Watch(NUMBERS);
    for (let i = 0; i < 100_050; i++) {
      watch.predicted({ series: { id: `${i}`, time: START + i }, prediction: 1 });
    }
    assert.deepEqual([watch.report().counts.open, watch.report().counts.dropped], [100_000, 50]);
    assert.equal(watch.truth({ series: { id: '49' }, truth: 1 }).counted, 'early');
    assert.equal(watch.truth({ series: { id: '50' }, truth: 1 }).counted, 'yes');
  });

  it('of a model before count until one of the new model comes, and never after', () => {
    const watch = new Watch(NUMBERS);
    for (const id of ['a', 'b', 'c']) {
      watch.predicted({ series: { id, time: START }, prediction: 1 });
    }
    watch.truth({ series: { id: 'a' }, truth: 2 });
    const [change] = watch.modelChanged({ ...NUMBERS, id: 'fit-2', version: 2 });
    assert.deepEqual([change?.what, change?.value, change?.since], ['model', 2, START]);
    watch.truth({ series: { id: 'b' }, truth: 4 });
    assert.deepEqual([watch.report().live.rows, watch.report().live.loss], [2, 2]);
    watch.predicted({ series: { id: 'd', time: START }, prediction: 1 });
    watch.truth({ series: { id: 'd' }, truth: 1.5 });
    assert.deepEqual([watch.report().live.rows, watch.report().live.loss], [1, 0.5]);
    assert.equal(watch.truth({ series: { id: 'c' }, truth: 4 }).counted, 'former');
    assert.equal(watch.report().live.rows, 1);
  });

  it('of classes give log-loss, and the probabilities told beside what held', () => {
    const watch = new Watch({ ...CLASSES, promised: { rows: 100, log_loss: 0.3, accuracy: 0.9 } });
    for (let i = 0; i < 100; i++) {
      const probabilities = { yes: 0.8, no: 0.2 };
      watch.predicted({ series: { id: `${i}` }, prediction: 'yes', probabilities });
      watch.truth({ series: { id: `${i}` }, truth: i % 4 === 0 ? 'no' : 'yes' });
    }
    const { live, coverage, calibration } = watch.report();
    assert.deepEqual([live.measure, live.rows, live.promised], ['log_loss', 100, 0.3]);
    assert.ok(Math.abs(live.loss! + 0.75 * Math.log(0.8) + 0.25 * Math.log(0.2)) < 1e-6, `${live.loss}`);
    assert.deepEqual(coverage, { told: 0.8, held: 0.75, rows: 100 });
    assert.equal(calibration?.length, 1);
    assert.equal(calibration[0]!.held, 0.75);
  });

  it('of labels alone give the share that was wrong', () => {
    const watch = new Watch({ ...CLASSES, promised: { rows: 100, accuracy: 0.9 } });
    for (const [i, truth] of [true, false, true, true].entries()) {
      watch.predicted({ series: { id: `${i}` }, prediction: true });
      watch.truth({ series: { id: `${i}` }, truth });
    }
    const { live } = watch.report();
    assert.deepEqual([live.measure, live.loss, Math.round(live.promised! * 1e9)], ['error', 0.25, 1e8]);
  });

  it('are compared with "as it is now"', () => {
    const watch = new Watch({ ...NUMBERS, relativeTo: 'heat' });
    watch.predicted({ series: { id: 'a' }, prediction: 60, row: { heat: 50 } });
    watch.truth({ series: { id: 'a' }, truth: 58 });
    assert.deepEqual([watch.report().live.loss, watch.report().live.now], [2, 8]);
  });
});
