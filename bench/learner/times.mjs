/*
 * Processor time of a fit and of predicting 4,000 rows, beside scikit-learn's histogram boosting on one thread in the same run:
 * PYTHON=… npm run bench -- times [rows …]. 20 columns: numbers alone, or mixed; a number and two classes to predict.
 *
 * Each time is the lowest of some after a first fit, which compiles; so is scikit-learn's. Ratios above the aim are in bold.
 */
import { createRequire } from 'node:module';

import { openResults } from '../results.mjs';
import { measure } from './measure.mjs';
import { hasSklearn, timeSklearn } from './sklearn.mjs';
import { mixed, plain } from './tables.mjs';

const learner = createRequire(import.meta.url)('../../dist/src/learner');
const TESTED = 4000;
/** Fits of a table, and predictions by each model. */
const REPEATS = [
  [1000, 7, 7],
  [10_000, 4, 7],
  [Infinity, 2, 5],
];

if (!hasSklearn()) {
  console.error('Python has no scikit-learn: PYTHON names one that has it.');
  process.exit(1);
}
const sizes = process.argv.slice(2).map(Number);
const results = openResults(import.meta.url);
const measured = results.table('fits', [
  ...['rows', 'columns', 'target', 'fit s', 'scikit-learn', 'ratio'],
  ...['4,000 rows ms', 'scikit-learn', 'ratio', 'loss', 'scikit-learn'],
]);
for (const rows of sizes.length > 0 ? sizes : [300, 3000, 30_000, 100_000]) {
  for (const [columns, make] of [
    ['numbers', plain],
    ['mixed', mixed],
  ]) {
    for (const regression of [true, false]) {
      report(rows, columns, make(rows + TESTED, regression));
    }
  }
}
await results.save();

function report(rows, columns, table) {
  const [, fits, predictions] = REPEATS.find(([most]) => rows <= most);
  const input = { ...part(table, 0, rows), options: {} };
  const test = part(table, rows, rows + TESTED);
  learner.trainModel(input);
  let model;
  const fit = lowest(fits, () => (model = learner.trainModel(input)));
  let result;
  const predict = lowest(predictions, () => {
    result = learner.predict(model, test.features, TESTED);
    result.mean?.();
  });
  const peer = timeSklearn(table, rows, { fits, predictions });
  const loss = lossOf(table, result, test);
  const other = lossOf(table, peer, test);
  const cells = [
    rows.toLocaleString('en'),
    columns,
    table.task === 'regression' ? 'number' : 'two classes',
    ...[fit.toFixed(2), peer.fit.toFixed(2), (fit / peer.fit).toFixed(1)],
    ...[(predict * 1000).toFixed(0), (peer.predict * 1000).toFixed(0), (predict / peer.predict).toFixed(1)],
    ...[loss.toFixed(3), other.toFixed(3)],
  ];
  measured.row(...cells);
}

function lowest(times, work) {
  let least = Infinity;
  for (let i = 0; i < times; i++) {
    globalThis.gc?.();
    const started = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(started);
    least = Math.min(least, (user + system) / 1e6);
  }
  return least;
}

function part(table, from, to) {
  const features = table.features.map((feature) =>
    feature.kind === 'text'
      ? { ...feature, codes: feature.codes.slice(from, to) }
      : { ...feature, values: feature.values.slice(from, to) },
  );
  const { task, classes } = table;
  const target =
    task === 'regression'
      ? { task, values: table.values.slice(from, to) }
      : { task, classes, codes: table.codes.slice(from, to) };
  return { features, target };
}

function lossOf(table, result, { target }) {
  const { rmse, logloss } = measure(table, result, target);
  return rmse ?? logloss;
}
