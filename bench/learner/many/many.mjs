/*
 * The learner on a folder of CSV files, each with its target in the column `target`, beside single models of
 * scikit-learn and XGBoost: npm run bench -- many FOLDER [table …] [--rows 4000] [--splits 5] [--more] [--cache FILE] [--keep FILE] [--against FILE] [--as all]
 * A quarter of the rows is held back: 5 splits up to 300 rows, 3 up to 1,500, else 2. `--more` asks XGBoost with tuned
 * settings, ydf-training and the mean of all peers too. `--cache` keeps what the peers answered, `--keep` our own figures,
 * `--against` compares with figures kept before. `--as` names the table among the results.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { measure } from '../measure.mjs';
import { startPeers } from './peers.mjs';
import { printReport } from './report.mjs';
import { readTable, splitOf, splitsOf, takeRows, targetOf } from './table.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '4000' },
    cache: { type: 'string' },
    keep: { type: 'string' },
    against: { type: 'string' },
    splits: { type: 'string', default: '5' },
    peers: { type: 'boolean', default: false },
    as: { type: 'string', default: 'all' },
    more: { type: 'boolean', default: false },
  },
});
const [folder, ...wanted] = positionals;
if (folder === undefined) {
  console.error(
    'Usage: npm run bench -- many FOLDER [table …] [options]; bench/learner/many/export.R writes the folder',
  );
  process.exit(1);
}
const learner = createRequire(import.meta.url)(process.env.LEARNER ?? '../../../dist/src/learner');
const read = (file) => (file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
const lossOf = ({ logloss, rmse }) => logloss ?? rmse;

const cache = read(options.cache);
const saved = read(options.keep);
let peers;
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.csv'))
  .map((file) => file.slice(0, -4))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
for (const name of names) {
  const table = readTable(path.join(folder, `${name}.csv`), Number(options.rows));
  for (let seed = 1; seed <= Math.min(Number(options.splits), splitsOf(table.rows)); seed++) {
    const key = `${name} ${table.rows} ${seed}`;
    const rows = splitOf(table.rows, seed);
    const target = targetOf(table, rows.test);
    if (options.cache && cache[key] === undefined) {
      peers ??= await startPeers(options);
      const answers = await peers.ask(table, rows);
      cache[key] = {};
      for (const [peer, answer] of Object.entries(answers)) {
        cache[key][peer] = answer.error
          ? { error: answer.error }
          : { loss: lossOf(measure(table, answer, target)), seconds: answer.seconds };
      }
      writeFileSync(options.cache, JSON.stringify(cache));
    }
    if (options.peers || saved[key] !== undefined) {
      continue;
    }
    saved[key] = fit(table, rows, target, seed);
    if (options.keep) {
      writeFileSync(options.keep, JSON.stringify(saved));
    }
  }
}
peers?.end();
if (!options.peers) {
  await printReport({ ours: saved, peers: cache, before: read(options.against), names, id: options.as });
}

/** Our own figures of one split. */
function fit(table, { train, test }, target, seed) {
  const of = (rows) => table.features.map((feature) => takeRows(feature, rows));
  const started = process.cpuUsage();
  const model = learner.trainModel({
    features: of(train),
    target: targetOf(table, train),
    options: { random_state: seed, ...JSON.parse(process.env.OPTIONS ?? '{}') },
  });
  const fitted = process.cpuUsage(started).user / 1e6;
  const asked = process.cpuUsage();
  const result = learner.predict(model, of(test), test.length);
  const figures = measure(table, result, target);
  const { parts } = model.members[0];
  return {
    ...figures,
    loss: lossOf(figures),
    seconds: fitted,
    predict: process.cpuUsage(asked).user / 1e6,
    bytes: learner.saveModel(model).length,
    weights: parts.map(({ kind, weight }) => `${kind} ${weight.toFixed(2)}`).join(', '),
  };
}
