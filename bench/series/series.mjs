/*
 * Correlated rows: scores reported at the fit against later ones, with rows held out at random, in blocks, and by group.
 * The first part of each table is fitted, the later part scored: npm run bench -- series [name part …]
 */
import { createRequire } from 'node:module';

import { measure } from '../learner/measure.mjs';
import { openResults } from '../results.mjs';
import { SERIES } from './tables.mjs';

const require = createRequire(import.meta.url);
const learner = require('../../dist/src/learner');

const wanted = process.argv.slice(2);

function pick(feature, rows) {
  if (feature.kind === 'text') {
    return { ...feature, codes: Int32Array.from(rows, (row) => feature.codes[row]) };
  }
  return { ...feature, values: Float64Array.from(rows, (row) => feature.values[row]) };
}

function targetOf(table, rows) {
  return table.task === 'regression'
    ? { task: 'regression', values: Float64Array.from(rows, (row) => table.values[row]) }
    : {
        task: 'classification',
        classes: table.classes,
        codes: Int32Array.from(rows, (row) => table.codes[row]),
      };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Loss of always predicting 0, such as no change; for classification, of the train set's class frequencies. */
function naiveLoss(table) {
  if (table.task === 'regression') {
    return mean(table.later.map((row) => Math.abs(table.values[row])));
  }
  const shares = table.classes.map(
    (_, k) => table.train.filter((row) => table.codes[row] === k).length / table.train.length,
  );
  return mean(table.later.map((row) => -Math.log(shares[table.codes[row]])));
}

function run(table, config) {
  const started = process.cpuUsage();
  const model = learner.trainModel({
    features: table.features.map((feature) => pick(feature, table.train)),
    target: targetOf(table, table.train),
    options: config ? { inference_config: config } : {},
  });
  const seconds = process.cpuUsage(started).user / 1e6;
  const result = learner.predict(
    model,
    table.features.map((feature) => pick(feature, table.later)),
    table.later.length,
  );
  const target = targetOf(table, table.later);
  const { logloss, pinball, coverage } = measure(table, result, target);
  const { scores, trees } = model.report;
  if (table.task === 'classification') {
    return [scores.log_loss, logloss, undefined, undefined, undefined, trees, seconds];
  }
  const later = mean(Array.from(result.mean(), (value, row) => Math.abs(value - target.values[row])));
  return [scores.mae, later, scores.coverage_80, coverage, pinball, trees, seconds];
}

const results = openResults(import.meta.url);
const measured = results.table('held-out', [
  ...['table', 'held out', 'loss at fit', 'later loss', 'later / at fit', 'naive'],
  ...['80 % at fit', '80 % later', 'later pinball', 'trees', 's'],
]);
for (const [name, make] of Object.entries(SERIES)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) {
    continue;
  }
  const table = make();
  if (table === undefined) {
    continue;
  }
  const naive = naiveLoss(table);
  for (const [how, config] of [['random', undefined], ...Object.entries(table.ways)]) {
    const [told, later, coverageTold, coverage, pinball, trees, seconds] = run(table, config);
    const digits = (value, count) => value?.toFixed(count) ?? '';
    const cells = [
      name,
      how,
      digits(told, 3),
      digits(later, 3),
      digits(later / told, 2),
      digits(naive, 3),
      digits(coverageTold, 2),
      digits(coverage, 2),
      digits(pinball, 3),
      trees,
      digits(seconds, 1),
    ];
    measured.row(...cells);
  }
}
await results.save();
