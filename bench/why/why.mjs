/*
 * How accurate and how fast explanations are: npm run bench -- why [table name part …]
 * A quarter of the rows is held out; 100 of these are explained, with two classes those above 0.3 first. "Exact"
 * enumerates every coalition of columns against the same 32 background rows; "other rows" are 128 others of the train set.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { TABLES } from '../learner/tables.mjs';

const require = createRequire(import.meta.url);
const { explain, predict, trainModel } = require('../../dist/src/learner');
const { makeBackground } = require('../../dist/src/learner/model/model');
const { encodeWithLevels } = require('../../dist/src/learner/model/predict');
const { connect } = require('../../dist/src');

const WANTED = [
  'ai4i2020',
  'ai4i torque',
  'titanic',
  'penguins',
  'mpg',
  'churn 1000',
  'friedman 2000',
  'mixed 20 columns',
];
const args = process.argv.slice(2);
const names = WANTED.filter((name) => args.length === 0 || args.some((arg) => name.includes(arg)));

const ROWS = 100;
/** More causes than this are too many to try every coalition. */
const EXACT = 13;

function takeRows(feature, rows) {
  return feature.kind === 'text'
    ? { ...feature, codes: Int32Array.from(rows, (row) => feature.codes[row]) }
    : { ...feature, values: Float64Array.from(rows, (row) => feature.values[row]) };
}

function takeTarget(target, rows) {
  return target.task === 'classification'
    ? { ...target, codes: Int32Array.from(rows, (row) => target.codes[row]) }
    : { ...target, values: Float64Array.from(rows, (row) => target.values[row]) };
}

/** A table of the learner's bench as features and target, every so many rows of it. */
function read(table, step = 1) {
  if (table === undefined) {
    return undefined;
  }
  const { features, task, classes, codes, values } = table;
  const target = task === 'classification' ? { task, classes, codes } : { task, values };
  const rows = Array.from({ length: (codes ?? values).length }, (_, i) => i).filter((i) => i % step === 0);
  return {
    features: features.map((feature) => takeRows(feature, rows)),
    target: takeTarget(target, rows),
    count: rows.length,
  };
}

/** Numbers from 0 to 1 by a seed. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const largest = (effects) =>
  effects.reduce((best, e, i) => (Math.abs(e) > Math.abs(effects[best]) ? i : best), 0);

function compare(told, exact, width, unit) {
  let [same, away, worst, apart] = [0, 0, 0, 0];
  told.rows.forEach((_, i) => {
    const [a, b] = [told, exact].map(({ effects }) => effects.subarray(i * width, (i + 1) * width));
    same += largest(a) === largest(b) ? 1 : 0;
    a.forEach((effect, g) => {
      away += Math.abs(effect - b[g]) / (unit * width * told.rows.length);
      worst = Math.max(worst, Math.abs(effect - b[g]) / unit);
    });
    const sum = a.reduce((total, effect) => total + effect, told.bases[i]);
    apart = Math.max(apart, Math.abs(sum - told.predictions[i]) / unit);
  });
  return { same: `${Math.round((100 * same) / told.rows.length)} %`, away, worst, apart };
}

/** The mean of explanations against other rows of the train set. */
function againstOthers(model, train, rows, features, result, options) {
  const { table: columns } = encodeWithLevels(model, train, rows);
  const all = Array.from({ length: 4 }, (_, seed) => {
    const background = makeBackground(train, columns, rows, generator(seed + 1));
    return explain({ ...model, background }, features, result, { ...options, exactUpTo: EXACT });
  });
  return {
    ...all[0],
    effects: all[0].effects.map((_, i) => all.reduce((sum, one) => sum + one.effects[i] / 4, 0)),
  };
}

async function throughput(features, target, trained) {
  const cell = (feature, row) => {
    const value = feature.kind === 'text' ? feature.dictionary[feature.codes[row]] : feature.values[row];
    return value === undefined || Number.isNaN(value) ? null : value;
  };
  const row = (i) => Object.fromEntries(features.map((feature) => [feature.name, cell(feature, i)]));
  const label = (i) => (target.task === 'classification' ? `c${target.codes[i]}` : target.values[i]);
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tabular-why-'));
  const tabular = await connect({ dataDir, settings: { batchRows: 100 } });
  try {
    const model = await tabular.train({
      table: trained.map((i) => ({ ...row(i), y: label(i) })),
      target: 'y',
    });
    const ask = (i, explained) => tabular.predict({ table: row(i), model, explain: explained });
    const perSecond = async (count, explained) => {
      await Promise.all(Array.from({ length: 200 }, (_, i) => ask(i, explained)));
      const began = performance.now();
      await Promise.all(Array.from({ length: count }, (_, i) => ask(i, explained)));
      return Math.round((1000 * count) / (performance.now() - began));
    };
    const plain = await perSecond(2000, false);
    const explained = await perSecond(1000, true);
    const waits = [];
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      await ask(i, true);
      waits.push(performance.now() - began);
    }
    return { plain, explained, alone: waits.sort((a, b) => a - b)[20].toFixed(1) };
  } finally {
    await tabular.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

console.log(
  '| table | columns | top cause as exact | mean error | worst | top cause as with other rows | CPU ms per row | × a prediction | explained messages/s | without | ms alone |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|---|');
for (const name of names) {
  const table = name === 'mixed 20 columns' ? read(TABLES['mixed 100000'](), 10) : read(TABLES[name]());
  if (table === undefined) {
    continue;
  }
  const { features, target, count } = table;
  const all = Array.from({ length: count }, (_, i) => i);
  const random = generator(5);
  const held = new Set(all.filter(() => random() < 0.25));
  const trained = all.filter((i) => !held.has(i));
  const train = features.map((feature) => takeRows(feature, trained));
  const model = trainModel({ features: train, target: takeTarget(target, trained), options: {} });
  const of = model.classes.length === 2 ? 1 : undefined;
  const candidates = [...held];
  const first = predict(
    model,
    features.map((feature) => takeRows(feature, candidates)),
    candidates.length,
  );
  const isAlarm = (i) => of !== undefined && first.probas[2 * i + of] > 0.3;
  const order = candidates.map((_, i) => i).sort((a, b) => Number(isAlarm(b)) - Number(isAlarm(a)));
  const chosen = order.slice(0, ROWS).map((i) => candidates[i]);
  const own = features.map((feature) => takeRows(feature, chosen));
  const result = predict(model, own, chosen.length);
  const width = features.length;
  // Of numbers in the target's standard deviations, of classes in points of probability.
  const unit = model.calibration === undefined ? model.scale : 0.01;
  explain(model, own, result, { of });
  const began = processorMs();
  const told = explain(model, own, result, { of });
  const spent = (processorMs() - began) / chosen.length;
  const before = processorMs();
  for (let i = 0; i < 10; i++) {
    const again = predict(model, own, chosen.length);
    again.mean?.();
  }
  const predicting = (processorMs() - before) / chosen.length / 10;
  const feasible = width <= EXACT || model.calibration === undefined;
  const exact = feasible ? explain(model, own, result, { of, exactUpTo: EXACT }) : undefined;
  const agreement = compare(told, exact ?? told, width, unit);
  const others = compare(told, againstOthers(model, train, trained.length, own, result, { of }), width, unit);
  if (agreement.apart > 1e-9) {
    throw new Error(`${name}: effects do not add up (${agreement.apart})`);
  }
  const speed = await throughput(features, target, trained);
  const errors = exact
    ? [agreement.same, agreement.away.toFixed(2), agreement.worst.toFixed(2)]
    : ['', '', ''];
  const figures = [
    others.same,
    spent.toFixed(1),
    `${Math.round(spent / predicting)} ×`,
    speed.explained,
    speed.plain,
    speed.alone,
  ];
  console.log(`| ${[name, width, ...errors, ...figures].join(' | ')} |`);
}
