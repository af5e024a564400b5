/*
 * How well "unlike the train set" separates bad periods from calm ones, what it costs, and how often drift thresholds are
 * exceeded without drift. npm run bench -- unlike
 */
import { createRequire } from 'node:module';

import { openResults } from '../results.mjs';
import { milling, seeded, simulatedBench, temperature, turbofan, wander } from './machines.mjs';

const load = createRequire(import.meta.url);
const table = load('../../dist/src/program-table.js');
const { joinBatches } = load('../../dist/src/table/index.js');
const { makeReference } = load('../../dist/src/models/reference.js');
const { driftOfNumbers } = load('../../dist/src/models/reference.js');
const { sampleChoice } = load('../../dist/src/models/reference.js');
const { driftBin, driftBins } = load('../../dist/src/models/reference.js');
const { TrainSetComparison } = load('../../dist/src/predict/unlike.js');
const { stabilityIndex } = load('../../dist/src/metrics/stability.js');

/** The reference of rows, as a fit makes it. */
async function referenceOfRows(rows) {
  const source = await table.openTable(rows.map((row, at) => ({ ...row, target: at })));
  const profile = await table.profileTable(source, { target: 'target' });
  const columns = profile.columns.filter(({ name }) => name !== 'target');
  const sample = sampleChoice(columns, rows.length);
  const files = await table.encodeTrainSet(source, profile, { target: 'target', sample });
  await Promise.all([files.x.dispose(), files.y.dispose()]);
  return makeReference(columns, files.sample, true);
}

async function batchOf(rows, columns) {
  const batches = [];
  for await (const batch of table.readBatches(await table.openTable(rows), columns)) {
    batches.push(batch);
  }
  return joinBatches(batches);
}

/** Area under the ROC curve: how often a bad row ranks above a calm one. */
function rocArea(scores, bad) {
  const order = scores.map((score, at) => ({ score, bad: bad[at] })).sort((a, b) => a.score - b.score);
  let [ranks, bads] = [0, 0];
  for (let at = 0; at < order.length;) {
    let end = at;
    while (end < order.length && order[end].score === order[at].score) {
      end++;
    }
    const rank = (at + end + 1) / 2;
    for (; at < end; at++) {
      if (order[at].bad) {
        ranks += rank;
        bads++;
      }
    }
  }
  const calm = order.length - bads;
  return (ranks - (bads * (bads + 1)) / 2) / (bads * calm);
}

async function measure({ train, test, bad }) {
  const reference = await referenceOfRows(train);
  const comparison = await TrainSetComparison.of(reference);
  const batch = await batchOf(test, reference.columns);
  const names = reference.columns.map(({ name }) => name);
  await comparison.compare(names, batch, { to: Math.min(200, batch.rows) });
  const began = process.cpuUsage();
  const unlike = await comparison.compare(names, batch);
  // Processor time: a busy machine would count as slow.
  const { user, system } = process.cpuUsage(began);
  const micros = (user + system) / batch.rows;
  return {
    area: rocArea(
      unlike.map(({ rank }) => rank),
      bad,
    ),
    outside: rocArea(
      unlike.map((one) => one.new.length),
      bad,
    ),
    high: unlike.filter(({ rank }, at) => rank > 0.99 && !bad[at]).length / bad.filter((one) => !one).length,
    micros,
    columns: names.length,
  };
}

const digits = (value, count = 3) => value.toFixed(count);
const results = openResults(import.meta.url);
const ranks = results.table('ranks', [
  ...['machine', 'columns', 'AUC of the rank', 'out of range alone'],
  ...['calm rows above rank 0.99', 'µs per row'],
]);
const print = (name, { area, outside, high, micros, columns }) =>
  ranks.row(
    ...[name, Math.round(columns), digits(area), digits(outside)],
    ...[`${digits(100 * high, 0)} %`, digits(micros, 0)],
  );

const faults = {};
for (let seed = 0; seed < 40; seed++) {
  const bench = simulatedBench(seed);
  (faults[bench.name] ??= []).push(await measure(bench));
}
const mean = (list, of) => list.reduce((sum, one) => sum + of(one) / list.length, 0);
const joined = (list) =>
  Object.fromEntries(Object.keys(list[0]).map((key) => [key, mean(list, (one) => one[key])]));
for (const [name, list] of Object.entries(faults)) {
  print(`simulated, ${name}`, joined(list));
}
print('simulated, all', joined(Object.values(faults).flat()));
for (const make of [turbofan, milling, temperature]) {
  const machine = make();
  if (machine !== undefined) {
    print(machine.name, await measure(machine));
  }
}

const drifts = results.table(
  'drift',
  [
    ...['autocorrelation', 'above their own threshold, no drift', 'above 0.25, no drift'],
    'found after a shift of two standard deviations',
  ],
  'Windows of 200 values:',
);
const [TRAIN, LATER, WINDOW, RUNS] = [4000, 4000, 200, Number(process.env.BENCH_RUNS ?? 200)];
for (const alike of [0, 0.8, 0.95]) {
  let [over, plain, found, windows] = [0, 0, 0, 0];
  for (let run = 0; run < RUNS; run++) {
    const values = wander(seeded(run * 31 + 7), TRAIN + LATER, alike);
    const train = values.slice(0, TRAIN);
    const drift = driftOfNumbers(train, train.slice().sort(), 'whole');
    const indexOf = (at, shift) => {
      const counts = new Float64Array(driftBins(drift));
      values.subarray(at, at + WINDOW).forEach((value) => counts[driftBin(drift, value + shift)]++);
      return stabilityIndex(drift.shares, counts);
    };
    for (let at = TRAIN; at < TRAIN + LATER; at += WINDOW) {
      windows++;
      over += indexOf(at, 0) > drift.threshold ? 1 : 0;
      plain += indexOf(at, 0) > 0.25 ? 1 : 0;
      found += indexOf(at, 2) > drift.threshold ? 1 : 0;
    }
  }
  const percent = (count) => `${((100 * count) / windows).toFixed(1)} %`;
  drifts.row(alike, percent(over), percent(plain), percent(found));
}
await results.save();
await table.closeEncoder();
