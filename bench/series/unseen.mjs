/*
 * The error reported at the fit against the later one, on series that nothing was tuned on: the first 60 % of each are
 * fitted with default settings, the rest is scored.
 * Rscript bench/series/export.R FOLDER && npm run bench -- unseen FOLDER [name part …]
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

import { openResults } from '../results.mjs';
import { fitAndPredict, seriesRows } from './rows.mjs';
import { readSeries } from './sources.mjs';

/** File, column, ahead. Some have a step of a calendar month. */
const SERIES = [
  ['nottem', 'temperature', '30d'],
  ['sunspots', 'spots', '30d'],
  ['seatbelts', 'drivers', '30d'],
  ['co2', 'ppm', '30d'],
  ['airquality', 'Temp', '1d'],
  ['airquality', 'Ozone', '1d'],
  ['treering', 'width', '1d'],
  ['economics', 'unemploy', '90d'],
  ['eustock', 'DAX', '1d'],
  ['airpassengers', 'passengers', '30d'],
  ['ukgas', 'gas', '90d'],
  ['taylor', 'demand', '3h'],
  ['taylor', 'demand', '1d'],
];

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) {
  console.error(
    'Usage: npm run bench -- unseen FOLDER [name part …]; bench/series/export.R writes the folder',
  );
  process.exit(1);
}
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const results = openResults(import.meta.url);
const table = results.table('series', [
  ...['series', 'rows fitted, scored', 'MAE at fit', 'later MAE'],
  ...['later / at fit', 'later / persistence', '80 % later'],
]);
for (const [name, column, ahead] of SERIES) {
  const file = path.join(folder, `${name}.csv`);
  if (!existsSync(file) || (wanted.length > 0 && !wanted.some((part) => name.includes(part)))) {
    continue;
  }
  const all = readSeries(file);
  const border = all[Math.floor(all.length * 0.6)].time;
  const rows = await seriesRows({ options: { column, ahead }, readings: all, border });
  const { trainSet, train, later } = rows;
  const columns = Object.keys(train[0]).filter((each) => each !== trainSet.target);
  const { model, result, base, truths } = fitAndPredict({ ...rows, columns });
  const means = result.mean();
  const [low, high] = result.quantiles([0.1, 0.9]);
  const told = model.report.scores.mae;
  const came = mean(truths.map((truth, i) => Math.abs(truth - means[i] - base[i])));
  const now = mean(
    later.map(({ row, truth }) => Math.abs(truth - row[column])).filter((loss) => !Number.isNaN(loss)),
  );
  const held = mean(
    truths.map((truth, i) => (truth >= low[i] + base[i] && truth <= high[i] + base[i] ? 1 : 0)),
  );
  table.row(
    `${name}, ${column}, ${ahead}${model.report.growth ? ' (percent)' : ''}`,
    `${train.length}, ${later.length}`,
    ...[told.toPrecision(3), came.toPrecision(3)],
    ...[came / told, came / now, held].map((figure) => figure.toFixed(2)),
  );
}
await results.save();
