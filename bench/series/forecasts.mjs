/*
 * The next day, step by step: one model for all steps against seasonal naive, Holt-Winters and, where PYTHON (python3) has
 * it, scikit-learn's boosting with a model for each step, from an origin every few hours of the later part.
 * npm run bench -- forecasts [FOLDER]; at most BENCH_ROWS (6000) are fitted. The folder holds R's own series as CSV
 * files (Rscript bench/series/export.R FOLDER).
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { hasSklearn, python } from '../learner/sklearn.mjs';
import { fitAndPredict, seriesRows } from './rows.mjs';
import { house, readSeries, taxi } from './sources.mjs';

const most = Number(process.env.BENCH_ROWS ?? 6000);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Additive Holt-Winters with a damped trend. The smoothing factors are those of a small grid that forecast the last part
 * of the train set best, `steps` ahead.
 */
function holtWinters(values, border, period, origins, steps) {
  let best;
  for (const alpha of [0.02, 0.1, 0.3, 0.6]) {
    for (const beta of [0, 0.01]) {
      for (const gamma of [0.05, 0.15, 0.3]) {
        const run = (marks, horizon) => smooth(values, period, { alpha, beta, gamma }, marks, horizon);
        const marks = [];
        for (let at = Math.floor(border * 0.7); at + Math.max(...steps) < border; at += 13) {
          marks.push(at);
        }
        const loss = mean(
          run(marks, steps).flatMap((all, i) =>
            all.map((value, k) => Math.abs(value - values[marks[i] + steps[k]])),
          ),
        );
        if (best === undefined || loss < best.loss) {
          best = { loss, run };
        }
      }
    }
  }
  return best.run(origins, steps);
}

function smooth(values, period, { alpha, beta, gamma }, origins, steps) {
  const damped = 0.98;
  let level = mean(values.slice(0, period));
  let trend = 0;
  const season = values.slice(0, period).map((value) => value - level);
  const forecasts = [];
  let next = 0;
  for (let i = period; i <= origins.at(-1); i++) {
    const before = level;
    const old = season[i % period];
    level = alpha * (values[i] - old) + (1 - alpha) * (level + damped * trend);
    trend = beta * (level - before) + (1 - beta) * damped * trend;
    season[i % period] = gamma * (values[i] - level) + (1 - gamma) * old;
    if (i === origins[next]) {
      forecasts.push(
        steps.map((step) => {
          let sum = 0;
          for (let k = 1; k <= step; k++) {
            sum += damped ** k;
          }
          return level + sum * trend + season[(i + step) % period];
        }),
      );
      next++;
    }
  }
  return forecasts;
}

/** undefined where Python lacks scikit-learn. */
function boostingWithLags(given) {
  if (!hasSklearn()) {
    return undefined;
  }
  const script = path.join(import.meta.dirname, 'lags_peer.py');
  const done = spawnSync(python, [script], { input: JSON.stringify(given), maxBuffer: 2 ** 30 });
  if (done.status !== 0) {
    throw new Error(String(done.stderr));
  }
  return JSON.parse(String(done.stdout));
}

async function run(name, source, column, perDay) {
  const { readings, border } = source;
  const values = readings.map((reading) => reading[column]);
  const from = readings.findIndex(({ time }) => time >= border);
  const hours = Array.from({ length: 24 }, (_, i) => i + 1);
  const steps = hours.map((hour) => (hour * perDay) / 24);
  const origins = [];
  for (let at = from; at + perDay < values.length; at += 7) {
    origins.push(at);
  }
  const truth = origins.map((at) => steps.map((step) => values[at + step]));
  const mae = (forecasts) =>
    mean(forecasts.flatMap((all, i) => all.map((value, k) => Math.abs(value - truth[i][k]))));
  const losses = {
    'the day before': mae(origins.map((at) => steps.map((step) => values[at + step - perDay]))),
    'the week before': mae(origins.map((at) => steps.map((step) => values[at + step - 7 * perDay]))),
    'Holt-Winters, day': mae(holtWinters(values, from, perDay, origins, steps)),
    'Holt-Winters, week': mae(holtWinters(values, from, 7 * perDay, origins, steps)),
  };
  const peer = boostingWithLags({ values, border: from, day: perDay, steps, origins });
  losses['scikit-learn, lags'] = peer === undefined ? NaN : mae(peer);
  const { trainSet, train, later } = await seriesRows(source);
  const times = new Set(origins.map((at) => readings[at].time));
  const asked = later.filter(({ series }) => times.has(series.time));
  const columns = Object.keys(train[0]).filter((each) => each !== trainSet.target);
  const { result, base, truths } = fitAndPredict({ trainSet, train, later: asked, columns, most });
  const means = result.mean();
  const [low, high] = result.quantiles([0.1, 0.9]);
  losses.series = mean(truths.map((value, row) => Math.abs(means[row] + base[row] - value)));
  const covered = mean(
    truths.map((value, row) => (value >= low[row] + base[row] && value <= high[row] + base[row] ? 1 : 0)),
  );
  const cells = Object.values(losses).map((loss) =>
    Number.isNaN(loss) ? '' : loss.toFixed(loss < 10 ? 3 : 0),
  );
  console.log(`| ${name} | ${cells.join(' | ')} | ${covered.toFixed(2)} | ${trainSet.train.rows} |`);
}

console.log(
  '| series | the day before | the week before | Holt-Winters, day | Holt-Winters, week | scikit-learn, lags | series, one model | 80 % band | rows |',
);
console.log(`|${'---|'.repeat(9)}`);
const taxiSource = taxi('x');
if (taxiSource !== undefined) {
  taxiSource.options = { ...taxiSource.options, ahead: '1h..24h', keep: 20_000 };
  await run('taxi demand, half-hourly', taxiSource, 'value', 48);
}
const folder = process.argv[2];
if (folder !== undefined) {
  const readings = readSeries(path.join(folder, 'taylor.csv'));
  const border = readings[Math.floor(readings.length * 0.6)].time;
  const options = { column: 'demand', ahead: '1h..24h', keep: 20_000 };
  await run('electricity demand, half-hourly', { options, readings, border }, 'demand', 48);
}
const hourly = house('1h..24h');
hourly.options.keep = 20_000;
await run('generator: a house, hourly', hourly, 'use', 24);
