/*
 * npm run bench -- told FOLDER [--tables 30] [--from 0] [--rows 1000] [--far] [--keep FILE] [--against FILE]: what a fit tells of its loss,
 * beside the loss of rows that it did not see, on CSV files of a folder such as https://github.com/vincentarelbundock/Rdatasets.
 * The tables are drawn from it, with a target each; three splits, of which 30 % are held back. `--from` leaves out the first
 * ones. A table counts as doubted where a fit of it doubted what it tells, and as unsure where the range that is told with
 * the loss reaches to twice the log loss, or to one and a half times the RMSE. As many by chance: what would be within 15 % if
 * the expected loss were told, as later rows of the same number are drawn anew from those held back. `--keep` keeps the figures, and goes on with them;
 * `--against` compares the losses with those of another learner (LEARNER=…). `--far`: only tables with a number for a target, of
 * which a split holds back a row with a number far from those that are learned from.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

import Papa from 'papaparse';

import { littleEvidence } from '../../dist/src/train/score-warnings.js';
import { openResults } from '../results.mjs';
import { takeRows, targetOf } from './many/table.mjs';
import { measure } from './measure.mjs';
import { toFeature } from './tables.mjs';

const SEEDS = [1, 2, 3];
const HELD_BACK = 0.3;
const FEWEST_ROWS = 100;
const COLUMNS = { fewest: 4, most: 40 };
const MOST_CLASSES = 8;
const FEWEST_VALUES = 20;
/** Later over told: within this, and above this. */
const NEAR = 1.15;
const FAR = 1.4;
/** A loss that changes by more than this part of it. */
const MOVED = 0.01;
/** The upper end of the told range over told: above these the loss is told to be unsure. */
const UNSURE = { classification: 2, regression: 1.5 };
/** Values further from their mean are clipped by lines. */
const DEVIATIONS = 5;
/** How often later rows are drawn anew. */
const DRAWS = 200;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tables: { type: 'string', default: '30' },
    from: { type: 'string', default: '0' },
    rows: { type: 'string', default: '1000' },
    far: { type: 'boolean', default: false },
    keep: { type: 'string' },
    against: { type: 'string' },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error(
    'Usage: npm run bench -- told FOLDER [--tables 30] [--from 0] [--rows 1000] [--far] [--keep FILE] [--against FILE]',
  );
  process.exit(1);
}
const learner = createRequire(import.meta.url)(process.env.LEARNER ?? '../../dist/src/learner');
const read = (file) => (file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

/** Random numbers by a seed, the same on every machine. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function shuffled(list, random) {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

const isMissing = (cell) => cell === '' || cell === 'NA' || cell === undefined;

/** A table of a file with one of its columns for a target; undefined where none will do. */
function tableOf(file, random) {
  const { data, meta } = Papa.parse(readFileSync(path.join(folder, file), 'utf8'), {
    header: true,
    skipEmptyLines: true,
  });
  const names = (meta.fields ?? []).filter((name) => name !== 'rownames' && name !== '');
  if (data.length < FEWEST_ROWS || names.length < COLUMNS.fewest || names.length > COLUMNS.most) {
    return undefined;
  }
  const target = shuffled(names, random).find((name) => taskOf(data.map((row) => row[name])) !== undefined);
  if (target === undefined) {
    return undefined;
  }
  const rows = shuffled(
    data.filter((row) => !isMissing(row[target])),
    random,
  ).slice(0, Number(options.rows));
  const cells = rows.map((row) => row[target]);
  const task = taskOf(cells);
  if (task === undefined || rows.length < FEWEST_ROWS) {
    return undefined;
  }
  const features = names
    .filter((name) => name !== target)
    .map((name) =>
      toColumn(
        name,
        rows.map((row) => row[name]),
      ),
    );
  const table = { target, rows: rows.length, features, task };
  if (task === 'regression') {
    return { ...table, values: Float64Array.from(cells, Number) };
  }
  const classes = [...new Set(cells)].sort();
  return { ...table, classes, codes: Int32Array.from(cells, (cell) => classes.indexOf(cell)) };
}

/** What a column may be learned as: labels of few kinds, or numbers of many. */
function taskOf(cells) {
  const values = new Set(cells.filter((cell) => !isMissing(cell)));
  const areNumbers = [...values].every((cell) => Number.isFinite(Number(cell)));
  if (values.size >= 2 && values.size <= MOST_CLASSES) {
    return 'classification';
  }
  return areNumbers && values.size >= FEWEST_VALUES ? 'regression' : undefined;
}

/** A feature column; days as YYYY-MM-DD are dates. */
function toColumn(name, cells) {
  const known = cells.filter((cell) => !isMissing(cell));
  return known.length > 0 && known.every((cell) => /^\d{4}-\d\d-\d\d/.test(cell))
    ? {
        name,
        kind: 'date',
        values: Float64Array.from(cells, (cell) => (isMissing(cell) ? NaN : Date.parse(cell))),
      }
    : toFeature(name, cells);
}

/** The rows that are held back, and those to learn from. */
function divided({ rows }, seed) {
  const order = shuffled(
    Array.from({ length: rows }, (_, row) => row),
    randomOf(seed),
  );
  const held = Math.round(HELD_BACK * rows);
  return [order.slice(0, held), order.slice(held)];
}

/** Whether a number of a row that is held back is more than `DEVIATIONS` from the mean of those to learn from. */
function hasFarRows({ features, rows }, seed) {
  const [test, train] = divided({ rows }, seed);
  return features.some(({ values }) => {
    const known = values ? train.map((row) => values[row]).filter(Number.isFinite) : [];
    const mean = known.reduce((sum, value) => sum + value / known.length, 0);
    const deviation = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2 / known.length, 0));
    return (
      new Set(known).size > 2 && test.some((row) => Math.abs(values[row] - mean) > DEVIATIONS * deviation)
    );
  });
}

function fit(table, seed) {
  const [test, train] = divided(table, seed);
  const of = (rows) => table.features.map((feature) => takeRows(feature, rows));
  const { report, ...model } = learner.trainModel({
    features: of(train),
    target: targetOf(table, train),
    options: { random_state: seed },
  });
  const { scores } = report;
  const predicted = learner.predict({ ...model, report }, of(test), test.length);
  const later = measure(table, predicted, targetOf(table, test));
  const isDoubted =
    littleEvidence({ ...scores, rows: train.length }) !== undefined ||
    report.repeated_rows !== undefined ||
    report.neighbours_alike === true;
  const told = scores.log_loss ?? scores.rmse;
  return {
    told,
    later: later.logloss ?? later.rmse,
    inRange: scores.loss_high === undefined || (later.logloss ?? later.rmse) <= scores.loss_high,
    isDoubted,
    isUnsure: scores.loss_high > UNSURE[table.task] * told,
    losses: lossesOf(table, predicted, test),
  };
}

/** Of each row its log loss, or its squared error. */
function lossesOf(table, predicted, rows) {
  const short = (loss) => Number(loss.toPrecision(5));
  if (table.task === 'regression') {
    const mean = predicted.mean();
    return rows.map((row, i) => short((table.values[row] - mean[i]) ** 2));
  }
  const count = table.classes.length;
  return rows.map((row, i) =>
    short(-Math.log(Math.max(predicted.probas[i * count + table.codes[row]], 1e-15))),
  );
}

/** The part of the draws in which the loss of later rows is within 15 % of the expected one. */
function nearByChance({ task }, splits, random) {
  const lossOf = (sum, rows) => (task === 'regression' ? Math.sqrt(sum / rows) : sum / rows);
  const expected = splits.reduce(
    (all, { losses }) =>
      all +
      lossOf(
        losses.reduce((a, b) => a + b),
        losses.length,
      ),
    0,
  );
  let near = 0;
  for (let draw = 0; draw < DRAWS; draw++) {
    let later = 0;
    for (const { losses } of splits) {
      let sum = 0;
      for (let i = 0; i < losses.length; i++) {
        sum += losses[Math.floor(random() * losses.length)];
      }
      later += lossOf(sum, losses.length);
    }
    near += later <= NEAR * expected && later >= expected / NEAR ? 1 : 0;
  }
  return near / DRAWS;
}

const saved = read(options.keep);
const against = read(options.against);
const seen = new Set();
const files = shuffled(
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.csv'))
    .sort(),
  randomOf(1),
);
const results = [];
for (const file of files) {
  if (results.length >= Number(options.tables)) {
    break;
  }
  const table = tableOf(file, randomOf(2));
  // The same data set lies in several packages.
  const kind = table && `${table.rows} ${table.features.map(({ name }) => name).join()} ${table.target}`;
  if (table === undefined || seen.has(kind)) {
    continue;
  }
  const isAsked =
    !options.far || (table.task === 'regression' && SEEDS.some((seed) => hasFarRows(table, seed)));
  if (!isAsked) {
    continue;
  }
  seen.add(kind);
  if (seen.size <= Number(options.from)) {
    continue;
  }
  const key = `${file} ${table.rows}`;
  saved[key] ??= SEEDS.map((seed) => fit(table, seed));
  if (options.keep) {
    writeFileSync(options.keep, JSON.stringify(saved));
  }
  const mean = (splits, of) => splits.reduce((sum, split) => sum + split[of] / splits.length, 0);
  const splits = saved[key];
  const [told, later] = [mean(splits, 'told'), mean(splits, 'later')];
  const before = against[key] && mean(against[key], 'later');
  results.push({ file, table, told, later, ratio: later / told, change: before && later / before, splits });
  const { ratio, change } = results.at(-1);
  console.log(
    `| ${file.replace(/\.csv$/, '')} | ${table.target} | ${table.task} | ${table.rows} × ${table.features.length} | ` +
      `${told.toPrecision(3)} | ${later.toPrecision(3)} | ${ratio.toFixed(2)} | ` +
      `${splits.filter((split) => split.isDoubted).length} | ${splits.filter((split) => split.isUnsure).length} | ${splits.filter((split) => split.inRange).length} |` +
      (change ? ` ${((change - 1) * 100).toFixed(1)} % |` : ''),
  );
}
const near = results.filter(({ ratio }) => ratio <= NEAR && ratio >= 1 / NEAR);
const far = results.filter(({ ratio }) => ratio > FAR);
const without = (...words) => {
  const files = far.filter(({ splits }) => !splits.some((split) => words.some((word) => split[word])));
  return `${files.length} (${files.map(({ file }) => file).join(', ') || 'none'})`;
};
console.log(
  `\nLater over told within 15 % on ${near.length} of ${results.length} tables, above ${FAR} on ${far.length}, ` +
    `of which without a doubt ${without('isDoubted')}, without a doubt or a range as wide ${without('isDoubted', 'isUnsure')}.`,
);
const drawn = results.filter(({ splits }) => splits.every(({ losses }) => losses));
const chance = randomOf(3);
const byChance = drawn.reduce((sum, { table, splits }) => sum + nearByChance(table, splits, chance), 0);
const above = drawn.filter(({ ratio }) => ratio > 1);
console.log(
  `As many by chance of ${drawn.length}: ${byChance.toFixed(1)}. Later is above told on ${above.length} of them.`,
);
const changes = results.filter(({ change }) => change).map(({ change }) => Math.log(change));
if (changes.length > 0) {
  const percent = (log) => `${((Math.exp(log) - 1) * 100).toFixed(2)} %`;
  console.log(
    `Losses against those before: ${percent(changes.reduce((sum, one) => sum + one / changes.length, 0))} in the mean, ` +
      `at best ${percent(Math.min(...changes))}, at worst ${percent(Math.max(...changes))}.`,
  );
}
const tables = openResults(import.meta.url);
const nameOf = ({ file, table }) => [
  file.replace(/\.csv$/, ''),
  table.target,
  `${table.rows} × ${table.features.length}`,
];
const short = (figures) => figures.map((one) => one.toPrecision(3));
if (options.far) {
  const columns = ['table', 'target', 'rows × features', 'loss before', 'loss now', 'now over before'];
  const moved = tables.table('far', columns, `Losses that change by more than ${100 * MOVED} %:`);
  for (const one of results.toSorted((a, b) => a.change - b.change)) {
    if (Math.abs(one.change - 1) > MOVED) {
      moved.row(...nameOf(one), ...short([one.later / one.change, one.later, one.change]));
    }
  }
} else {
  const columns = ['table', 'target', 'rows × features', 'told', 'later', 'ratio'];
  const worst = tables.table('above', columns, `Later above ${FAR} times told:`);
  for (const one of far.toSorted((a, b) => b.ratio - a.ratio)) {
    worst.row(...nameOf(one), ...short([one.told, one.later, one.ratio]));
  }
}
await tables.save();
