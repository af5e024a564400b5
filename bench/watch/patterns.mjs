/* Decay where losses are not alike: on weekends that are harder than other days, and of machines of which some are noisier. */
import { createRequire } from 'node:module';

import { likeNeighbours } from './noise.mjs';

const require = createRequire(import.meta.url);
const { Watch, watchedModel } = require('../../dist/src/watch');
const { heldOutLosses } = require('../../dist/src/metrics/held-out-losses');

const MINUTE = 60_000;
const DAY = 86_400_000;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const LIKENESS = 0.8;

/** A model as the watch knows it. @param losses of its train set, held out; undefined: nothing is promised */
function modelOf(losses, keys) {
  const card = { name: 'bench', fitted_train_set_id: '1', task: 'regression' };
  if (losses === undefined) {
    return watchedModel(card);
  }
  const scores = { from: 'out-of-fold', rows: losses.length, mae: mean(losses), baseline: { rows: 1 } };
  const reference = { columns: [], rows: [], usual: [], drift: [] };
  const { step, means } = heldOutLosses(losses);
  return watchedModel({ ...card, scores }, { ...reference, losses: { step, means, ...(keys && { keys }) } });
}

/** Decays told of errors, in which row. @param errors [row] or, by key, [row][key] */
function decaysOf(model, errors, { every, delay = 0, keys }) {
  const watch = new Watch(model, { timezone: 'UTC', ...(keys && { perKey: true }) });
  const names = keys ?? [null];
  const errorAt = (row, k) => (keys ? errors[row][k] : errors[row]);
  const told = [];
  errors.forEach((_, row) => {
    names.forEach((key, k) => {
      watch.predicted({ series: { key, time: row * every }, prediction: 0 });
      if (row >= delay) {
        const series = { key, time: (row - delay) * every };
        const { changes } = watch.truth({ series, truth: errorAt(row - delay, k) });
        told.push(...changes.filter(({ what }) => what === 'decay').map((change) => ({ ...change, row })));
      }
    });
  });
  return told;
}

/** A reading each ten minutes, outcomes an hour late; errors are larger on two days of seven. */
export function weeks(runs = 40) {
  const every = 10 * MINUTE;
  const week = (7 * DAY) / every;
  console.log(
    '\nDecay with larger errors at weekends: false alarms by week, and losses half as high again found:\n',
  );
  console.log(
    '| weekends | loss promised | false per 10,000 | in weeks 1, 2, 3, 4 | found | median outcomes |',
  );
  console.log(`|${'---|'.repeat(6)}`);
  for (const hard of [1, 1.3, 2]) {
    for (const isPromised of [true, false]) {
      const byWeek = [0, 0, 0, 0];
      const found = [];
      for (let run = 0; run < runs; run++) {
        const noise = likeNeighbours(run * 17 + 3, LIKENESS);
        const sizeAt = (row) => (Math.floor(((row % week) * every) / DAY) >= 5 ? hard : 1);
        const train = Array.from({ length: 4 * week }, (_, row) => Math.abs(noise() * sizeAt(row)));
        const change = 4 * week + ((run * 37) % week);
        const errors = Array.from(
          { length: change + 1000 },
          (_, row) => noise() * sizeAt(row) * (row < change ? 1 : 1.5),
        );
        const told = decaysOf(modelOf(isPromised ? train : undefined), errors, { every, delay: 6 });
        told.filter(({ row }) => row < 4 * week).forEach(({ row }) => byWeek[Math.floor(row / week)]++);
        found.push((told.find(({ row }) => row >= change)?.row ?? Infinity) - change);
      }
      const rate = (1e4 * byWeek.reduce((sum, one) => sum + one)) / (runs * 4 * week);
      const share = found.filter((at) => at <= 1000).length / runs;
      console.log(
        `| ${hard} times | ${isPromised ? 'yes' : 'no'} | ${rate.toFixed(2)} | ${byWeek.join(', ')} | ${(100 * share).toFixed(0)} % | ${median(found)} |`,
      );
    }
  }
}

/** Seven machines under one model, 400 train rows each, each watched by itself: by its own promise, and by that of all. */
export function machines(runs = 40) {
  const sizes = [0.5, 0.8, 1, 1, 1, 1.3, 2];
  const CALM = 2000;
  const TRAIN = 400;
  const results = [false, true].map(() => sizes.map(() => ({ told: 0, found: [] })));
  for (let run = 0; run < runs; run++) {
    const noises = sizes.map((_, k) => likeNeighbours(run * 101 + k * 7 + 1, LIKENESS));
    const rowOf = (by) => sizes.map((size, k) => noises[k]() * size * by);
    const train = Array.from({ length: TRAIN }, () => rowOf(1).map(Math.abs));
    const errors = Array.from({ length: CALM + 1000 }, (_, row) => rowOf(row < CALM ? 1 : 1.5));
    const keys = sizes.map((_, k) => `machine ${k}`);
    const losses = keys.map((key, k) => ({ key, rows: TRAIN, loss: mean(train.map((row) => row[k])) }));
    [undefined, losses].forEach((own, by) => {
      const told = decaysOf(modelOf(train.flat(), own), errors, { every: DAY, keys });
      keys.forEach((key, k) => {
        const ofKey = told.filter((change) => change.key === key);
        results[by][k].told += ofKey.filter(({ row }) => row < CALM).length;
        results[by][k].found.push((ofKey.find(({ row }) => row >= CALM)?.row ?? Infinity) - CALM);
      });
    });
  }
  console.log(
    '\nDecay of each machine, by a shared promise → by its own: losses half as high again found:\n',
  );
  console.log('| errors | false per 10,000 | found | median outcomes |');
  console.log(`|${'---|'.repeat(4)}`);
  sizes.forEach((size, k) => {
    const rates = results.map((of) => ((1e4 * of[k].told) / (runs * CALM)).toFixed(1));
    const shares = results.map((of) =>
      Math.round((100 * of[k].found.filter((at) => at < 1000).length) / runs),
    );
    const medians = results.map((of) => median(of[k].found));
    console.log(`| ${size} | ${rates.join(' → ')} | ${shares.join(' → ')} % | ${medians.join(' → ')} |`);
  });
}
