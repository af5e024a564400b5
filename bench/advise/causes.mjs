/*
 * What an advice costs, and why: the same questions answered with the truth, with the true form fitted to the same rows,
 * and with the model as it is, with one thing after the other put right. Each tells what that thing costs.
 * npm run bench -- advise-causes [questions] [train rows] [train sets] [machines, …]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { readGoal, surer } from '../../dist/src/advise/goal.js';
import { choose, promising, search, searchRounds } from '../../dist/src/advise/search.js';
import { connect } from '../../dist/src/index.js';
import { seededRandom } from '../../dist/src/util/random.js';
import { openResults } from '../results.mjs';
import {
  anyRow,
  costOf,
  fresh,
  heldOut,
  historyOf,
  machines,
  meanOf,
  seen,
  trueBest,
  truthOf,
} from './machines.mjs';
import { askedRows, byTrueForm, dearer, heldOf, machineKnobs, SURE } from './questions.mjs';

const [questions, rows, trainSets] = [48, 2_000, 4].map((usual, at) => Number(process.argv[2 + at] ?? usual));
const WANTED = process.argv[5]?.split(',') ?? ['line', 'extruder', 'bonder', 'welder'];
/** Rows near the border: their probability in truth. */
const [LOWEST, HIGHEST] = [0.85, 0.95];
const BORDER_ROWS = 1_500;
/** The standard normal distribution is below this with the probability of `SURE`. */
const DEVIATIONS = 1.2816;
const NO_GROUND = { rank: 0, columns: [], new: [] };

const logit = (share) => Math.log(share / (1 - share));

/** Predicts rows: what `readGoal` reads of each, with how unlike it is. */
async function predictor(tabular, machine, model) {
  const goal = readGoal({ vary: [], sure: SURE, ...machine.goal }, model);
  return async (some) => {
    const asked = { model, table: some.map((row) => seen(machine, row)), property: 'p', unlike: true };
    const { table } = await tabular.predict({ ...asked, ...goal.asks });
    return table.map((row) => ({ ...goal.read(row, 'p'), unlike: row.p_unlike, attached: {} }));
  };
}

/** How far a row is beyond the goal, with the quantile at `SURE` or with more asked for. */
const atSure = ({ goal }, { expected: { low, high, probability } }) =>
  probability === undefined
    ? goal.goal === 'at least'
      ? low - goal.value
      : goal.value - high
    : probability - SURE;

/** Of a model of numbers, how its reach changes where its mean, or its spread, are true. */
const trueMean = (machine, row, answer) => {
  const way = machine.goal.goal === 'at least' ? 1 : -1;
  return atSure(machine, answer) + way * (meanOf(machine, row) - answer.expected.value);
};
const trueSpread = (machine, row, { expected: { value } }) => {
  const way = machine.goal.goal === 'at least' ? 1 : -1;
  return way * (value - machine.goal.value) - DEVIATIONS * machine.spread(row);
};

/** What the search finds where a row reaches as far as `read` says of its answer. */
async function found(machine, { row, best }, predict, { read, isAnyGround, given = [] }) {
  const names = Object.keys(machine.settings);
  const knobs = machineKnobs(machine, row);
  const rowIn = (one) => ({ ...row, ...Object.fromEntries(names.map((name, at) => [name, one[at]])) });
  let nowHolds;
  const ask = async (settings) => {
    const all = settings.map(rowIn);
    const answers = await predict(nowHolds === undefined ? [row, ...all] : all);
    if (nowHolds === undefined) {
      nowHolds = answers.shift().expected.holds;
    }
    return answers.map((answer, at) => ({
      ...answer,
      reach: read?.(machine, all[at], answer) ?? answer.reach,
      unlike: isAnyGround ? NO_GROUND : answer.unlike,
    }));
  };
  const options = { hasLimit: true, rounds: searchRounds(2_000), random: seededRandom(1) };
  const all = await search(knobs, ask, (some) => (nowHolds ? [] : promising(some, true)), options);
  if (nowHolds) {
    return { held: truthOf(machine, row), cost: 0, best };
  }
  const good = choose(all, true).good[0];
  const settings = good === undefined ? [] : [rowIn(good.setting)];
  for (const one of given.filter((one) => one !== undefined)) {
    const [{ reach, unlike }] = await predict([one]);
    if (reach >= 0 && unlike.rank <= 0.95) {
      settings.push(one);
    }
  }
  const priced = settings.map((one) => ({
    held: truthOf(machine, one),
    cost: costOf(machine, row, one),
    best,
  }));
  return priced.sort((a, b) => a.cost - b.cost)[0];
}

/** By how much the mean errs near the border, in the noise, or the logit of classes: on average and as it scatters. */
async function borderErrors(machine, predict, seed) {
  const random = seededRandom(seed);
  const near = [];
  while (near.length < BORDER_ROWS) {
    const row = anyRow(machine, random);
    const truth = truthOf(machine, row);
    if (truth > LOWEST && truth < HIGHEST) {
      near.push(row);
    }
  }
  const way = machine.goal.goal === 'at least' ? 1 : -1;
  return (await predict(near)).map(({ expected: { value, probability } }, at) =>
    probability === undefined
      ? (way * (value - meanOf(machine, near[at]))) / machine.spread(near[at])
      : logit(Math.min(0.9999, Math.max(0.0001, probability))) - logit(truthOf(machine, near[at])),
  );
}

/** Why the model refuses the cheapest setting that is true with as much as is asked for. */
async function refusals(machine, bests, predict) {
  const answers = await predict(bests);
  const count = (is) => answers.filter(is).length;
  return {
    unlike: count(({ unlike }) => unlike.rank > 0.95),
    short: count((one) => one.reach < 0),
    of: answers.length,
  };
}

const VARIANTS = {
  ours: {},
  'nothing to spare': { read: (machine, _, answer) => atSure(machine, answer) },
  'any ground': { isAnyGround: true },
  'true spread': { numbers: true, read: trueSpread },
  'true mean': { numbers: true, read: trueMean },
};

const figures = (all, asked) =>
  all.length === 0
    ? '–'
    : `${dearer(all).toFixed(2)} (${heldOf(all).toFixed(2)}${all.length < asked ? `, ${all.length} answered` : ''})`;

async function measure(tabular, name, machine) {
  const sums = {};
  const add = (key, ...some) => (sums[key] ??= []).push(...some.filter((one) => one !== undefined));
  const refused = { unlike: 0, short: 0, of: 0 };
  const count = Math.ceil(questions / trainSets);
  for (let trainSet = 1; trainSet <= trainSets; trainSet++) {
    const history = historyOf(machine, rows, trainSet);
    const model = await tabular.train({ table: history, target: machine.target, model: name });
    const predict = await predictor(tabular, machine, model);
    const asked = surer(SURE, model);
    const all = askedRows(machine, 1 + trainSet, count);
    const bests = all.map(({ row }) => trueBest(machine, row, asked));
    add(
      'truth',
      ...all.flatMap(({ best }, at) =>
        bests[at].setting ? { held: asked, cost: bests[at].cost, best } : [],
      ),
    );
    add('form', ...byTrueForm(machine, history, all, asked));
    add('errors', ...(await borderErrors(machine, predict, trainSet)));
    const own = await refusals(
      machine,
      bests.flatMap(({ setting }) => setting ?? []),
      predict,
    );
    Object.keys(refused).forEach((key) => (refused[key] += own[key]));
    for (const [at, one] of all.entries()) {
      for (const [key, variant] of Object.entries(VARIANTS)) {
        if (machine.classes === undefined || variant.numbers === undefined) {
          add(key, await found(machine, one, predict, variant));
        }
      }
      add('given', await found(machine, one, predict, { given: [one.setting, bests[at].setting] }));
    }
  }
  const all = count * trainSets;
  const { errors } = sums;
  const mean = errors.reduce((sum, one) => sum + one, 0) / errors.length;
  const scatter = Math.sqrt(errors.reduce((sum, one) => sum + (one - mean) ** 2, 0) / errors.length);
  return [
    ...[name, figures(sums.truth, all), figures(sums.form, all)],
    ...[...Object.keys(VARIANTS), 'given'].map((key) => figures(sums[key] ?? [], all)),
    ...[`${refused.short} of ${refused.of}`, `${refused.unlike} of ${refused.of}`],
    `${mean.toFixed(2)} ± ${scatter.toFixed(2)}`,
  ];
}

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'advise-causes-'));
const tabular = await connect({ dataDir });
const results = openResults(import.meta.url);
try {
  const table = results.table(
    'causes',
    [
      ...['machine', 'the truth', 'true form', ...Object.keys(VARIANTS), 'given the true best'],
      ...['true best refused', 'true best unlike', 'off near the border'],
    ],
    `${questions} questions to models of ${trainSets} train sets of ${rows} rows: cost / best (held)`,
  );
  for (const [name, machine] of Object.entries({ ...machines, ...heldOut, ...fresh })) {
    if (WANTED.includes(name)) {
      table.row(...(await measure(tabular, name, machine)));
    }
  }
  await results.save();
} finally {
  await tabular.close();
  await rm(dataDir, { recursive: true, force: true });
}
