/*
 * The learner on every table: node bench/learner/learner.mjs [--seeds 3] [table name part …]
 * A quarter of the rows is held back, a split per seed; figures are means over the seeds. Times are processor seconds.
 */
import { createRequire } from 'node:module';
import { TABLES } from './tables.mjs';
import { measure } from './measure.mjs';
import { loadPeer, runPeer } from './peer.mjs';
import { hasSklearn, runSklearn } from './sklearn.mjs';

const ydf = await loadPeer();
const sklearn = hasSklearn();
const require = createRequire(import.meta.url);
const learner = require('../../dist/src/learner');

const args = process.argv.slice(2);
let seeds = 3;
const wanted = [];
for (let i = 0; i < args.length; i++) {
  if (args[i] === '--seeds') seeds = Number(args[++i]);
  else wanted.push(args[i]);
}

function takeRows(feature, rows) {
  if (feature.kind === 'text')
    return { ...feature, codes: Int32Array.from(rows, (row) => feature.codes[row]) };
  return { ...feature, values: Float64Array.from(rows, (row) => feature.values[row]) };
}

function split(rows, seed) {
  let state = (seed * 747796405 + 2891336453) >>> 0;
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const held = Math.round(rows / 4);
  return { test: order.slice(0, held), train: order.slice(held) };
}

const targetOf = (table, rows) =>
  table.task === 'regression'
    ? { task: 'regression', values: Float64Array.from(rows, (row) => table.values[row]) }
    : {
        task: 'classification',
        classes: table.classes,
        codes: Int32Array.from(rows, (row) => table.codes[row]),
      };

for (const [name, make] of Object.entries(TABLES)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  const table = make();
  if (!table) continue;
  const rows = (table.codes ?? table.values).length;
  const runs = rows >= 50_000 ? 1 : seeds;
  const sums = {};
  for (let seed = 1; seed <= runs; seed++) {
    const { train, test } = split(rows, seed);
    const options = { random_state: seed, ...JSON.parse(process.env.OPTIONS ?? '{}') };
    const started = process.cpuUsage();
    const model = learner.train({
      features: table.features.map((feature) => takeRows(feature, train)),
      target: targetOf(table, train),
      options,
    });
    const seconds = process.cpuUsage(started).user / 1e6;
    const result = learner.predict(
      model,
      table.features.map((feature) => takeRows(feature, test)),
      test.length,
    );
    const figures = {
      ...measure(table, result, targetOf(table, test)),
      oof: model.report.scores.log_loss ?? model.report.scores.rmse,
      fit: seconds,
      trees: model.report.trees,
    };
    if (ydf) {
      const peer = runPeer(ydf, table, train, test);
      if (peer.error) console.log(`${name}: ydf-training: ${peer.error}`);
      else {
        const theirs = measure(table, peer, targetOf(table, test));
        figures['ydf loss'] = theirs.logloss ?? theirs.rmse;
        if (theirs.accuracy !== undefined) figures['ydf acc'] = theirs.accuracy;
        figures['ydf fit'] = peer.seconds;
      }
    }
    if (sklearn) {
      const { error, ...peers } = runSklearn(table, train, test);
      if (error) console.log(`${name}: scikit-learn: ${error}`);
      for (const [peer, theirs] of Object.entries(peers)) {
        const { logloss, rmse, accuracy } = measure(table, theirs, targetOf(table, test));
        figures[`${peer} loss`] = logloss ?? rmse;
        if (accuracy !== undefined) figures[`${peer} acc`] = accuracy;
        figures[`${peer} fit`] = theirs.seconds;
      }
    }
    if (process.env.VERBOSE) console.log(seed, model.report);
    for (const [key, value] of Object.entries(figures)) sums[key] = (sums[key] ?? 0) + value / runs;
  }
  const line = Object.entries(sums).map(([key, value]) => `${key} ${value.toFixed(key === 'trees' ? 0 : 4)}`);
  console.log(`${name.padEnd(26)}${line.join('  ')}`);
}
