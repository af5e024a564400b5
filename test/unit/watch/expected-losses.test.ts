import assert from 'node:assert/strict';

import { Watch, type WatchChange, type WatchedModel, watchedModel } from '../../doors/watch';
import { DAY, MINUTE, noise, NUMBERS, START } from './support';

const STEP = 10 * MINUTE;
const PER_DAY = DAY / STEP;
const PER_WEEK = 7 * PER_DAY;

/** START is a Monday. */
function isWeekend(row: number): boolean {
  return Math.floor(row / PER_DAY) % 7 >= 5;
}

/** Errors of a reading each ten minutes, twice as large at weekends. */
function errorsOf(rows: number, seed: number): number[] {
  const next = noise(seed, 0.8);
  return Array.from({ length: rows }, (_, row) => next() * (isWeekend(row) ? 2 : 1));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** What a watch tells of decay, and in which row. @param restartAt goes on from its own state, as JSON keeps it */
function decaysOf(
  errors: readonly number[],
  model: WatchedModel,
  restartAt?: number,
): (WatchChange & { row: number })[] {
  let watch = new Watch(model);
  return errors.flatMap((truth, row) => {
    if (row === restartAt) {
      watch = Watch.from(JSON.parse(JSON.stringify(watch)) as ReturnType<Watch['toJSON']>);
    }
    const series = { time: START + row * STEP };
    watch.predicted({ series, prediction: 0 });
    const { changes } = watch.truth({ series, truth });
    return changes.filter(({ what }) => what === 'decay').map((change) => ({ ...change, row }));
  });
}

describe('decay where weekends are harder than other days', () => {
  /** The mean of all days is promised, as of a train set of four weeks before. */
  const train = errorsOf(4 * PER_WEEK, 99).map(Math.abs);
  const promised = { rows: train.length, mae: meanOf(train) };
  const step = 9;
  const means = Array.from({ length: Math.floor(train.length / step) }, (_, at) =>
    meanOf(train.slice(at * step, (at + 1) * step)),
  );
  const plain: WatchedModel = { ...NUMBERS, promised };
  const seeds = [1, 2, 3, 4, 5, 6];

  it('is told of the first weekends where nothing but the mean is known, and no more when weeks are', () => {
    const told = seeds.flatMap((seed) => decaysOf(errorsOf(5 * PER_WEEK, seed), plain));
    const first = told.filter(({ row }) => row < 2 * PER_WEEK).length;
    const later = told.filter(({ row }) => row >= 2 * PER_WEEK).length;
    assert.ok(first >= 8, `${first} of 12 weekends`);
    assert.ok(later <= 3, `${later} in 18 weeks`);
  });

  it('is seldom told of the first ones where windows of the train set reach as far', () => {
    const model = { ...plain, losses: { step, means } };
    const told = seeds.flatMap((seed) => decaysOf(errorsOf(2 * PER_WEEK, seed), model));
    const bare = seeds.flatMap((seed) => decaysOf(errorsOf(2 * PER_WEEK, seed), plain));
    assert.ok(2 * told.length <= bare.length, `${told.length} in 12 weeks, else ${bare.length}`);
  });

  it('is found on a working day once weeks are known, also by a watch that was restarted', () => {
    const model = { ...plain, losses: { step, means } };
    const worse = 4 * PER_WEEK + PER_DAY / 2;
    for (const seed of seeds.slice(0, 3)) {
      const errors = errorsOf(5 * PER_WEEK, seed).map((error, row) => error * (row >= worse ? 2 : 1));
      const told = decaysOf(errors, model);
      const found = told.find(({ row }) => row >= worse);
      assert.ok(found !== undefined && found.row < worse + 4 * PER_DAY, `row ${found?.row}`);
      assert.ok(found.limit! < 0.95 * promised.mae, 'working days are expected to be better than the mean');
      assert.deepEqual(decaysOf(errors, model, 3 * PER_WEEK + 77), told);
    }
  });

  it('goes on from a state that was kept before weeks were', () => {
    const watch = new Watch(plain);
    for (const [row, truth] of errorsOf(300, 3).entries()) {
      watch.predicted({ series: { time: START + row * STEP }, prediction: 0 });
      watch.truth({ series: { time: START + row * STEP }, truth });
    }
    const state = JSON.parse(JSON.stringify(watch)) as ReturnType<Watch['toJSON']>;
    const { scored } = state;
    delete scored!.weekly;
    delete scored!.all.decay.blockCells;
    delete scored!.all.decay.referenceCells;
    delete scored!.all.decay.from;
    const after = Watch.from(state);
    const series = { time: START + 300 * STEP };
    after.predicted({ series, prediction: 0 });
    assert.equal(after.truth({ series, truth: 1 }).counted, 'yes');
    assert.equal(after.report().live.rows, 301);
  });
});

describe('decay of each key', () => {
  const scales = { quiet: 0.5, usual: 1, noisy: 2 };
  const keys = Object.keys(scales) as (keyof typeof scales)[];
  const CALM = 1500;

  /** Which keys are told, calm and after their errors have grown by half. */
  function told(model: WatchedModel): { calm: string[]; after: string[] } {
    const watch = new Watch(model, { perKey: true });
    const errors = keys.map((_, at) => noise(40 + at, 0.5));
    const heard = { calm: [] as string[], after: [] as string[] };
    for (let row = 0; row < CALM + 600; row++) {
      keys.forEach((key, at) => {
        const series = { key, time: START + row * DAY };
        const truth = errors[at]!() * scales[key] * (row < CALM ? 1 : 1.5);
        watch.predicted({ series, prediction: 0 });
        for (const change of watch.truth({ series, truth }).changes) {
          heard[row < CALM ? 'calm' : 'after'].push(`${change.what} ${change.key}`);
        }
      });
    }
    const { keys: reported } = watch.report();
    assert.deepEqual(reported!.map(({ key }) => key).sort(), [...keys].sort());
    return heard;
  }

  const usual = Math.sqrt(2 / Math.PI);
  const card = {
    ...{ name: 'heat', fitted_train_set_id: 'fit-1', task: 'regression' },
    scores: { from: 'out-of-fold', rows: 1200, mae: (usual * 3.5) / 3, baseline: { rows: 1200 } },
  } as unknown as Parameters<typeof watchedModel>[0];
  const reference = (losses: unknown) =>
    ({ columns: [], rows: [], usual: [], drift: [], losses }) as Parameters<typeof watchedModel>[1];

  it('is by what each was promised, where the fit tells it', () => {
    const known = keys.map((key) => ({ key, rows: 400, loss: usual * scales[key] }));
    const model = watchedModel(card, reference({ step: 1, means: [], keys: known }));
    const { calm, after } = told(model);
    assert.deepEqual(calm, []);
    assert.deepEqual(after.sort(), ['decay noisy', 'decay quiet', 'decay usual']);
    const quiet = model.keys!.find(({ key }) => key === 'quiet')!;
    assert.ok(quiet.ratio > 0.5 / (3.5 / 3) && quiet.ratio < 0.5, `shrunk a little: ${quiet.ratio}`);
  });

  it('is by the mean of all where it does not: the noisy one is told falsely, the quiet one not at all', () => {
    const { calm, after } = told(watchedModel(card));
    assert.ok(calm.includes('decay noisy'));
    assert.ok(!after.includes('decay quiet'));
  });

  it('is by what they were under the model before, where no fit tells it', () => {
    const bare = watchedModel(card);
    const watch = new Watch(bare, { perKey: true });
    const errors = keys.map((_, at) => noise(40 + at, 0.5));
    const heard: string[] = [];
    for (let row = 0; row < 2 * CALM; row++) {
      if (row === CALM) {
        watch.modelChanged({ ...bare, id: 'fit-2' });
        heard.length = 0;
      }
      keys.forEach((key, at) => {
        const series = { key, time: START + row * DAY };
        watch.predicted({ series, prediction: 0 });
        const { changes } = watch.truth({ series, truth: errors[at]!() * scales[key] });
        heard.push(...changes.map(({ what, key: of }) => `${what} ${of}`));
      });
    }
    assert.deepEqual(heard, []);
    const live = Object.fromEntries(watch.report().keys!.map((one) => [one.key, one.live]));
    assert.ok(live.noisy!.promised! > 1.4 * live.usual!.promised!);
    assert.ok(live.quiet!.promised! < 0.7 * live.usual!.promised!);
  });

  it('is by the mean of all where keys differ by no more than chance', () => {
    const alike = keys.map((key, at) => ({ key, rows: 40, loss: 1 + at / 50 }));
    const { keys: ratios } = watchedModel(card, reference({ step: 1, means: [], keys: alike }));
    assert.deepEqual(
      ratios!.map(({ ratio }) => ratio),
      [1, 1, 1],
    );
  });
});
