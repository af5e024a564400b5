/*
 * The learner on every table: node bench/learner/learner.mjs [--seeds 3] [table name part …]
 * A quarter of the rows is held back, a split per seed; of a generator at least 4,000 fresh ones. Figures are means over
 * the seeds; times are processor seconds.
 */
import { createRequire } from 'node:module';

import { openResults } from '../results.mjs';
import { measure } from './measure.mjs';
import { loadPeer, runPeer } from './peer.mjs';
import { hasSklearn, runSklearn } from './sklearn.mjs';
import { TABLES } from './tables.mjs';

const ydf = await loadPeer();
const sklearn = hasSklearn();
const require = createRequire(import.meta.url);
const learner = require('../../dist/src/learner');

const args = process.argv.slice(2);
let seeds = 3;
const wanted = [];
for (let i = 0; i < args.length; i++) {
  if (args[i] === '--seeds') {
    seeds = Number(args[++i]);
  } else {
    wanted.push(args[i]);
  }
}

function takeRows(feature, rows) {
  if (feature.kind === 'text') {
    return { ...feature, codes: Int32Array.from(rows, (row) => feature.codes[row]) };
  }
  return { ...feature, values: Float64Array.from(rows, (row) => feature.values[row]) };
}

function split(rows, held, seed) {
  let state = (seed * 747796405 + 2891336453) >>> 0;
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
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

const results = openResults(import.meta.url);
const measured = results.table('losses', [
  ...['table', 'loss', 'ours', 'ydf-training', 'sklearn hist. boosting', 'sklearn forest', 'trivial'],
  ...['accuracy', 'ece (by chance)', 'pinball', '80 %', 'fit s, ours', 'ydf', 'hist', 'forest'],
]);
for (const [name, make] of Object.entries(TABLES)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) {
    continue;
  }
  const table = make();
  if (!table) {
    continue;
  }
  const rows = (table.codes ?? table.values).length;
  const runs = rows - (table.test ?? 0) >= 50_000 ? 1 : seeds;
  const sums = {};
  for (let seed = 1; seed <= runs; seed++) {
    const { train, test } = split(rows, table.test ?? Math.round(rows / 4), seed);
    const options = { random_state: seed, ...JSON.parse(process.env.OPTIONS ?? '{}') };
    const started = process.cpuUsage();
    const model = learner.trainModel({
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
    const target = targetOf(table, test);
    const own = measure(table, result, target);
    const figures = { ...own, ours: lossOf(own), ours_fit: seconds };
    figures.trivial = lossOf(measure(table, trivial(table, train, test), target));
    if (ydf) {
      addPeer(figures, 'ydf', runPeer(ydf, table, train, test));
    }
    if (sklearn) {
      const { error, ...peers } = runSklearn(table, train, test);
      for (const peer of ['hist', 'forest']) {
        addPeer(figures, peer, peers[peer] ?? { error });
      }
    }
    if (process.env.VERBOSE) {
      console.log(seed, model.report);
    }
    for (const [key, value] of Object.entries(figures)) {
      sums[key] = (sums[key] ?? 0) + value / runs;
    }

    function addPeer(to, peer, answer) {
      if (answer.error) {
        console.error(`${peer}: ${answer.error}`);
        return;
      }
      to[peer] = lossOf(measure(table, answer, target));
      to[`${peer}_fit`] = answer.seconds;
    }
  }
  measured.row(...cellsOf(name, table, sums));
}
await results.save();

function lossOf({ logloss, rmse }) {
  return logloss ?? rmse;
}

/** Always the train set's class frequencies, or its mean. */
function trivial(table, train, test) {
  if (table.task === 'regression') {
    const mean = train.reduce((sum, at) => sum + table.values[at] / train.length, 0);
    return { mean: new Float64Array(test.length).fill(mean) };
  }
  const count = table.classes.length;
  const shares = new Float64Array(count);
  for (const at of train) {
    shares[table.codes[at]] += 1 / train.length;
  }
  return { probas: Float64Array.from({ length: test.length * count }, (_, i) => shares[i % count]) };
}

function cellsOf(name, table, sums) {
  const fixed = (key, digits) => (sums[key] === undefined ? '' : sums[key].toFixed(digits));
  const losses = ['ours', 'ydf', 'hist', 'forest', 'trivial'].map((key) => fixed(key, 3));
  const best = Math.min(...losses.filter((loss) => loss !== '').map(Number));
  return [
    name,
    table.task === 'regression' ? 'RMSE' : 'log-loss',
    ...losses.map((loss) => (loss !== '' && Number(loss) === best ? `**${loss}**` : loss)),
    fixed('accuracy', 3),
    sums.ece === undefined ? '' : `${fixed('ece', 3)} (${fixed('floor', 3)})`,
    fixed('pinball', 3),
    fixed('coverage', 2),
    ...['ours', 'ydf', 'hist', 'forest'].map((key) => fixed(`${key}_fit`, 1)),
  ];
}
