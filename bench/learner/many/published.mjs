/*
 * The learner beside figures that others published: npm run bench -- published FOLDER [--splits 5]
 * The figures are those of the authors of TabPFN (Hollmann et al., 2023, https://arxiv.org/abs/2207.01848), as kept in
 * TabularEvaluationVisualization.ipynb of https://github.com/automl/TabPFN: ROC AUC of one class against one other, the
 * mean of all pairs, five random halves of each table, an hour for CatBoost, XGBoost, Auto-sklearn 2 and AutoGluon.
 * FOLDER holds what export.R, export.py and export-published.R write. The halves are not those of the authors.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { openResults } from '../../results.mjs';
import { readTable, splitOf, takeRows, targetOf } from './table.mjs';

const PEERS = ['TabPFN', 'XGBoost', 'CatBoost', 'Auto-sklearn 2', 'AutoGluon'];
/** By the name of the file: the name in the publication and the figures of the peers. */
const PUBLISHED = {
  balance: ['balance-scale', 0.996, 0.979, 0.926, 0.997, 0.993],
  breast: ['breast-w', 0.992, 0.992, 0.993, 0.994, 0.993],
  german: ['credit-g', 0.787, 0.78, 0.782, 0.793, 0.792],
  pima: ['diabetes', 0.843, 0.831, 0.838, 0.834, 0.837],
  tictactoe: ['tic-tac-toe', 0.958, 0.996, 0.999, 0.994, 1],
  vehicle: ['vehicle', 0.958, 0.927, 0.927, 0.95, 0.941],
  dmft: ['analcatdata_dmft', 0.584, 0.576, 0.563, 0.575, 0.571],
  transfusion: ['blood-transfusion-service-center', 0.762, 0.733, 0.74, 0.75, 0.742],
  liver_patients: ['ilpd', 0.734, 0.717, 0.721, 0.721, 0.726],
  tumours: ['wdbc', 0.996, 0.993, 0.994, 0.995, 0.996],
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { splits: { type: 'string', default: '5' } },
});
const [folder] = positionals;
if (
  folder === undefined ||
  !Object.keys(PUBLISHED).some((file) => existsSync(path.join(folder, `${file}.csv`)))
) {
  console.error('Usage: npm run bench -- published FOLDER, where the folder has at least one of the tables');
  process.exit(1);
}
const learner = createRequire(import.meta.url)(process.env.LEARNER ?? '../../../dist/src/learner');

const rows = [];
const results = openResults(import.meta.url);
const measured = results.table('areas', [
  ...['table', 'rows fitted', 'ours', 'standard error'],
  ...[...PEERS, 's a fit'],
]);
for (const [file, [name, ...published]] of Object.entries(PUBLISHED)) {
  const at = path.join(folder, `${file}.csv`);
  if (!existsSync(at)) {
    console.log(`${name} is not there`);
    continue;
  }
  const table = readTable(at, Infinity);
  const splits = Array.from({ length: Number(options.splits) }, (_, i) => half(table, i + 1));
  const areas = splits.map(({ area }) => area);
  rows.push([mean(areas), ...published]);
  const error = Math.sqrt(mean(areas.map((area) => (area - mean(areas)) ** 2)) / (areas.length - 1));
  const seconds = mean(splits.map((split) => split.seconds));
  measured.row(
    ...[name, table.rows >> 1, mean(areas).toFixed(3), error.toFixed(3)],
    ...[...published.map((area) => area.toFixed(3)), seconds.toFixed(1)],
  );
}
const ranks = rows.map((row) =>
  row.map((area) => 1 + row.filter((other) => other > area).length + ties(row, area) / 2),
);
const overall = (of) => {
  const [ours, ...peers] = of[0].map((_, i) => mean(of.map((row) => row[i])).toFixed(of === ranks ? 2 : 3));
  return ['', ours, '', ...peers, ''];
};
measured.row('mean', ...overall(rows));
measured.row('mean rank', ...overall(ranks));
await results.save();

/** One fit of half of the rows: the ROC AUC on the others, and processor seconds. */
function half(table, seed) {
  const { order } = splitOf(table.rows, seed);
  const [train, test] = [order.slice(table.rows >> 1), order.slice(0, table.rows >> 1)];
  const of = (chosen) => table.features.map((feature) => takeRows(feature, chosen));
  const started = process.cpuUsage();
  const model = learner.trainModel({
    features: of(train),
    target: targetOf(table, train),
    options: { random_state: seed },
  });
  const seconds = process.cpuUsage(started).user / 1e6;
  const { probas } = learner.predict(model, of(test), test.length);
  return { area: oneAgainstOne(probas, targetOf(table, test).codes, table.classes.length), seconds };
}

/** ROC AUC of each class against each other one by the probability of the first, the mean of all (Hand and Till, 2001). */
function oneAgainstOne(probas, codes, classes) {
  const areas = [];
  for (let a = 0; a < classes; a++) {
    const [of, others] = [[], Array.from({ length: classes }, () => [])];
    codes.forEach((code, row) => (code === a ? of : others[code]).push(probas[row * classes + a]));
    others
      .filter((other) => other.length > 0 && of.length > 0)
      .forEach((other) => areas.push(area(of, other)));
  }
  return mean(areas);
}

/** The share of pairs in which the one of `high` is above the one of `low`; equal ones count as half. */
function area(high, low) {
  let above = 0;
  for (const a of high) {
    for (const b of low) {
      above += a > b ? 1 : a === b ? 0.5 : 0;
    }
  }
  return above / high.length / low.length;
}

function ties(row, area) {
  return row.filter((other) => other === area).length - 1;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
