/*
 * What the watch does: bands on real series and generators, with outcomes that come late; false alarms of decay, and the
 * decays found. npm run bench -- watch [bands] [refits] [changes] [decay] [weeks] [machines]
 */
import { createRequire } from 'node:module';

import { openResults } from '../results.mjs';
import { allOutcomes, fitAndPredict, seriesRows } from '../series/rows.mjs';
import { SOURCES } from '../series/sources.mjs';
import { likeNeighbours, quantilesAbout } from './noise.mjs';
import { machines, weeks } from './patterns.mjs';

const results = openResults(import.meta.url);
const require = createRequire(import.meta.url);
const { Watch } = require('../../dist/src/watch');

const parts = process.argv.slice(2);
const wants = (part) => parts.length === 0 || parts.includes(part);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const DAY = 86_400_000;

function pinball(prediction, truth) {
  return mean(
    LEVELS.map((level) => {
      const above = truth - prediction[level];
      return above >= 0 ? level * above : (level - 1) * above;
    }),
  );
}

/**
 * Sends predictions through a watch; the truth of each comes as the row `delay` later is predicted.
 *
 * @param rows {time, prediction, truth, key}
 * @returns what left for each row, and all changes with the number of the row at which they came
 */
function replay(rows, { delay, promised, options }) {
  const model = { name: 'bench', id: '1', task: 'regression', ...(promised && { promised }) };
  const watch = new Watch(model, options);
  const changes = [];
  const left = rows.map(({ time, prediction, key = null }, i) => {
    if (i >= delay) {
      const { time: then, truth, key: of = null } = rows[i - delay];
      const told = watch.truth({ series: { key: of, time: then }, truth });
      changes.push(...told.changes.map((change) => ({ ...change, at: i })));
    }
    return watch.predicted({ series: { key, time }, prediction }).prediction;
  });
  return { left, changes, watch };
}

function lowestOf(held, length = 200) {
  let inside = 0;
  let lowest = 1;
  held.forEach((one, i) => {
    inside += one - (i >= length ? held[i - length] : 0);
    lowest = i >= length - 1 ? Math.min(lowest, inside / length) : lowest;
  });
  return lowest;
}

function judge(rows, left) {
  const held = rows.map(({ truth }, i) => Number(left[i][0.1] <= truth && truth <= left[i][0.9]));
  return {
    coverage: mean(held),
    lowest: lowestOf(held),
    pinball: mean(rows.map(({ truth }, i) => pinball(left[i], truth))),
  };
}

/** The later part of a series with what a model of the first part says of it. */
async function laterPart(source) {
  const { trainSet, train, later } = await seriesRows(source);
  const columns = Object.keys(train[0]).filter((name) => name !== trainSet.target);
  const { result, base, truths } = fitAndPredict({ trainSet, train, later, columns });
  const quantiles = result.quantiles(LEVELS);
  return later.map(({ series }, row) => ({
    time: series.time,
    truth: truths[row],
    prediction: Object.fromEntries(LEVELS.map((level, k) => [level, quantiles[k][row] + base[row]])),
  }));
}

async function bands() {
  const table = results.table(
    'bands',
    [
      ...['series', 'outcomes', 'delay in rows', 'coverage', 'with the watch', 'pinball', 'with the watch'],
      ...['change', 'lowest', 'with the watch'],
    ],
    'Bands of 80 % on the later part of a series, as the model gives them and as they leave the watch:',
  );
  for (const [name, make] of Object.entries(SOURCES)) {
    const source = make();
    if (source === undefined || source.options.outcome === 'event') {
      continue;
    }
    const rows = await laterPart(source);
    const step = median(rows.slice(1).map(({ time }, i) => time - rows[i].time));
    const delay = Math.round(source.ahead / step);
    const plain = judge(
      rows,
      rows.map(({ prediction }) => prediction),
    );
    const watched = judge(rows, replay(rows, { delay }).left);
    const by = `${(100 * (watched.pinball / plain.pinball - 1)).toFixed(1)} %`;
    const digits = plain.pinball < 10 ? 3 : 0;
    table.row(
      ...[name, rows.length, delay, plain.coverage.toFixed(3), watched.coverage.toFixed(3)],
      ...[plain.pinball.toFixed(digits), watched.pinball.toFixed(digits), by],
      ...[plain.lowest.toFixed(2), watched.lowest.toFixed(2)],
    );
  }
}

/** A series whose model is fitted anew every 400 rows: bands in the rows after each. */
async function refits() {
  const [MOST, FIRST, EVERY, KEEP] = [3200, 1200, 400, 1000];
  const bins = [20, 50, 100, 200];
  const table = results.table(
    'refits',
    ['series', 'delay', '0 to 20', '20 to 50', '50 to 100', '100 to 200', 'pinball', 'widest'],
    'Coverage of the 80 % band in the rows after a refit, model → with the watch; pinball loss of the first 100 relative to the model, widest of the first 20:',
  );
  for (const [name, make] of Object.entries(SOURCES)) {
    const source = make();
    if (source === undefined || source.options.outcome === 'event') {
      continue;
    }
    const { trainSet, rows } = await allOutcomes(source);
    const newest = rows.slice(-MOST);
    const times = newest.map(({ series }) => series.time);
    const delay = Math.round(source.ahead / median(times.slice(1).map((time, i) => time - times[i])));
    const trained = newest.map(({ row, truth }) => ({ ...row, [trainSet.target]: truth }));
    const columns = Object.keys(trained[0]).filter((column) => column !== trainSet.target);
    const given = [];
    for (let from = FIRST; from < newest.length; from += EVERY) {
      const later = newest.slice(from, from + EVERY);
      const train = trained.slice(Math.max(0, from - delay - KEEP), from - delay);
      const { result, base, truths } = fitAndPredict({ trainSet, train, later, columns });
      const quantiles = result.quantiles(LEVELS);
      later.forEach(({ series }, row) => {
        const prediction = Object.fromEntries(
          LEVELS.map((level, k) => [level, quantiles[k][row] + base[row]]),
        );
        given.push({ model: from, at: row, time: series.time, truth: truths[row], prediction });
      });
    }
    const watch = new Watch({ name: 'bench', id: `${FIRST}`, task: 'regression' });
    const held = bins.map(() => [[], []]);
    const losses = [[], []];
    let widest = 0;
    given.forEach(({ model, at, time, truth, prediction }, i) => {
      if (i >= delay) {
        watch.truth({ series: { time: given[i - delay].time }, truth: given[i - delay].truth });
      }
      watch.modelChanged({ name: 'bench', id: `${model}`, task: 'regression' });
      const left = watch.predicted({ series: { time }, prediction }).prediction;
      const bin = bins.findIndex((end) => at < end);
      if (model === FIRST || bin < 0) {
        return;
      }
      [prediction, left].forEach((one, k) => {
        held[bin][k].push(Number(one[0.1] <= truth && truth <= one[0.9]));
        if (at < 100) {
          losses[k].push(pinball(one, truth));
        }
      });
      if (bin === 0) {
        widest = Math.max(widest, (left[0.9] - left[0.1]) / (prediction[0.9] - prediction[0.1]));
      }
    });
    const cells = held.map(([plain, watched]) => `${mean(plain).toFixed(2)} → ${mean(watched).toFixed(2)}`);
    const by = (mean(losses[1]) / mean(losses[0])).toFixed(2);
    table.row(name, delay, ...cells, by, widest.toFixed(1));
  }
}

/** Bands under a sudden change, and their width without one. */
function changes() {
  const CALM = 1000;
  const AFTER = 400;
  const bins = [50, 100, 200, 400];
  const table = results.table(
    'changes',
    ['change', 'autocorrelation', 'delay', '0 to 50', '50 to 100', '100 to 200', '200 to 400', 'widest'],
    'Coverage of the 80 % band after a sudden change, mean of 100 runs; without one, the widest band:',
  );
  const cases = [
    ['noise doubled', 0, 1],
    ['level + 1.5 sd', 0, 1],
    ['noise doubled', 0.8, 10],
    ['noise doubled', 0.8, 30],
    ['none', 0, 1],
    ['none', 0.8, 12],
    ['none', 0.95, 24],
    ['none', 0.95, 100],
  ];
  for (const [what, likeness, delay] of cases) {
    const held = bins.map(() => []);
    let widest = 0;
    for (let run = 0; run < 100; run++) {
      const noise = likeNeighbours(run * 7 + 1, likeness);
      const rows = Array.from({ length: CALM + AFTER + delay }, (_, i) => {
        const isAfter = i >= CALM && what !== 'none';
        const error = noise() * (isAfter && what.startsWith('noise') ? 2 : 1);
        const truth = error + (isAfter && what.startsWith('level') ? 1.5 : 0);
        return { time: i * 60_000, truth, prediction: quantilesAbout(0) };
      });
      const { left } = replay(rows, { delay });
      for (let i = 0; i < AFTER; i++) {
        const bin = bins.findIndex((end) => i < end);
        const { truth } = rows[CALM + i];
        held[bin].push(Number(left[CALM + i][0.1] <= truth && truth <= left[CALM + i][0.9]));
      }
      if (what === 'none') {
        const widths = left.slice(100).map((one) => one[0.9] - one[0.1]);
        widest = Math.max(widest, Math.max(...widths) / mean(widths));
      }
    }
    const cells = held.map((one) => mean(one).toFixed(3));
    table.row(what, likeness, delay, ...cells, what === 'none' ? widest.toFixed(2) : '');
  }
}

function decay() {
  const RUNS = 60;
  const CALM = 5000;
  const table = results.table(
    'decay',
    [
      ...['autocorrelation', 'loss promised', 'false alarms per 10,000 outcomes', 'found'],
      'median outcomes until then',
    ],
    'Decay: false alarms, and losses half as high again found within 1,000 outcomes:',
  );
  for (const likeness of [0, 0.8, 0.95]) {
    for (const isPromised of [true, false]) {
      let false_ = 0;
      const found = [];
      for (let run = 0; run < RUNS; run++) {
        const noise = likeNeighbours(run * 13 + 5, likeness);
        const rows = Array.from({ length: CALM + 1000 }, (_, i) => ({
          time: i * DAY,
          truth: noise() * (i >= CALM ? 1.5 : 1),
          prediction: 0,
        }));
        const promised = isPromised ? { rows: 2000, mae: Math.sqrt(2 / Math.PI) } : undefined;
        const told = replay(rows, { delay: 1, promised }).changes.filter(({ what }) => what === 'decay');
        false_ += told.filter(({ at }) => at <= CALM).length;
        const first = told.find(({ at }) => at > CALM);
        found.push(first === undefined ? Infinity : first.at - CALM);
      }
      const share = found.filter((at) => at <= 1000).length / RUNS;
      table.row(
        ...[likeness, isPromised ? 'yes' : 'no'],
        ...[((1e4 * false_) / (RUNS * CALM)).toFixed(2), `${(100 * share).toFixed(0)} %`, median(found)],
      );
    }
  }
}

if (wants('bands')) {
  await bands();
}
if (wants('refits')) {
  await refits();
}
if (wants('changes')) {
  changes();
}
if (wants('decay')) {
  decay();
}
if (wants('weeks')) {
  weeks();
}
if (wants('machines')) {
  machines();
}
await results.save();
