/*
 * Advice on machines whose truth is known: how often the advised setting reaches the goal in truth, what it costs beside
 * the cheapest setting that does in truth, and the time of a question; over several train sets, as one may be lucky. The
 * same search with the truth in place of the model tells what of the cost is the search's, and the true form fitted to
 * the same rows what no model can be expected to do better. Machines that nothing was tuned on come after those that
 * the correction in src/advise/goal.ts was. On a machine where a hidden cause moves the setting too: how often the answer
 * names the column that went along. npm run bench -- advise [questions] [train rows, …] [train sets] [machines, …]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { choose, promising } from '../../dist/src/advise/choose.js';
import { surer } from '../../dist/src/advise/goal.js';
import { knobsOf } from '../../dist/src/advise/knobs.js';
import { search, searchRounds } from '../../dist/src/advise/search.js';
import { connect } from '../../dist/src/index.js';
import { seededRandom } from '../../dist/src/util/random.js';
import {
  anyRow,
  confounded,
  costOf,
  fresh,
  heldOut,
  historyOf,
  machines,
  seen,
  trueBest,
  truthOf,
} from './machines.mjs';
import { fitted } from './true-form.mjs';

const QUESTIONS = Number(process.argv[2] ?? 200);
const ROWS = (process.argv[3] ?? '2000').split(',').map(Number);
const TRAIN_SETS = Number(process.argv[4] ?? 4);
const SURE = 0.9;

const sum = (values) => values.reduce((all, value) => all + value, 0);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The columns that may be changed, within the whole range of the past. */
const varied = ({ settings, cost }) =>
  Object.entries(settings).map(([column, range]) => ({
    column,
    cost: cost[column],
    ...(typeof range[0] === 'number' && { from: range[0], to: range[1] }),
  }));

/** Rows that do not hold the goal in truth, and can: with the cheapest setting that makes them. */
function questionsOf(machine, seed, count) {
  const random = seededRandom(seed);
  const questions = [];
  while (questions.length < count) {
    const row = anyRow(machine, random);
    const best = truthOf(machine, row) >= SURE ? undefined : trueBest(machine, row, SURE);
    if (best?.setting !== undefined) {
      questions.push({ row, best: best.cost });
    }
  }
  return questions;
}

/** What the search alone costs beside the best, where it asks the truth in place of a model. */
async function searchAlone(machine, questions) {
  const ranges = Object.entries(machine.settings);
  const columns = ranges.map(([name, [low, , step]]) => ({
    name,
    type: typeof low !== 'number' ? 'text' : step === undefined ? 'number' : 'integer',
  }));
  const usual = ranges.map(([, range]) =>
    typeof range[0] === 'number'
      ? { kind: 'number', q05: range[0], q95: range[1] }
      : { kind: 'category', categories: range, complete: true },
  );
  const found = [];
  for (const { row, best } of questions) {
    const knobs = knobsOf(varied(machine), columns, usual, (column) => row[column]);
    const ask = async (settings) =>
      settings.map((setting) => {
        const set = Object.fromEntries(ranges.map(([name], at) => [name, setting[at]]));
        const reach = truthOf(machine, { ...row, ...set }) - SURE;
        return { expected: { value: null }, attached: {}, reach, unlike: { rank: 0, columns: [], new: [] } };
      });
    const options = { hasLimit: true, rounds: searchRounds(2_000), random: seededRandom(1) };
    const all = await search(knobs, ask, (some) => promising(some, true), options);
    found.push({ best, cost: choose(all, true).good[0]?.cost });
  }
  // What it does not find at all has no cost.
  return found.filter(({ cost }) => cost !== undefined);
}

/** What is advised by the true form, fitted to the same rows and asked for as much. */
function byTrueForm(machine, history, questions, asked) {
  const known = fitted(machine, history);
  return questions.flatMap(({ row, best }) => {
    const found = truthOf(known, row) >= SURE ? { setting: row, cost: 0 } : trueBest(known, row, asked);
    return found.setting === undefined
      ? []
      : [{ held: truthOf(machine, found.setting), cost: found.cost, best }];
  });
}

async function ask(tabular, name, machine, { rows, trainSet = 1, count }) {
  const history = historyOf(machine, rows, trainSet);
  const model = await tabular.train({ table: history, target: machine.target, model: name });
  const questions = questionsOf(machine, 1 + trainSet, count);
  const answers = [];
  for (const { row, best } of questions) {
    const began = performance.now();
    const wish = { model, row: seen(machine, row), vary: varied(machine), sure: SURE, ...machine.goal };
    const { set, rests_on: rests } = await tabular.advise(wish);
    answers.push({
      ...{ set, best, time: performance.now() - began },
      held: set && truthOf(machine, { ...row, ...set }),
      cost: set && costOf(machine, row, { ...row, ...set }),
      named: rests?.together.map(({ column }) => column) ?? [],
    });
  }
  return { history, model, questions, answers, advised: answers.filter(({ set }) => set !== null) };
}

const heldOf = (all) => sum(all.map(({ held }) => held)) / all.length;
const dearer = (all) => sum(all.map(({ cost }) => cost)) / sum(all.map(({ best }) => best));
/** Of all, with the standard error by how much the train sets differ, and of those with the least and the most. */
function told(measure, sets, digits) {
  // Where nothing was advised to a question of a train set, it has no figure.
  const some = sets.filter((set) => set.length > 0);
  if (some.length === 0) {
    return '–';
  }
  const each = some.map(measure).sort((a, b) => a - b);
  const mean = sum(each) / each.length;
  const variance = sum(each.map((one) => (one - mean) ** 2)) / (each.length - 1);
  const [error, low, high] = [Math.sqrt(variance / each.length), each[0], each.at(-1)];
  const [errorTold, ...ends] = [error, low, high].map((one) => one.toFixed(digits));
  const whole = measure(some.flat()).toFixed(digits);
  return each.length === 1 ? whole : `${whole} ± ${errorTold} (${ends.join(' to ')})`;
}

async function measure(tabular, name, machine, rows) {
  const sets = [];
  for (let trainSet = 1; trainSet <= TRAIN_SETS; trainSet++) {
    const count = Math.ceil(QUESTIONS / TRAIN_SETS);
    const { history, model, questions, answers, advised } = await ask(tabular, name, machine, {
      ...{ rows, trainSet, count },
    });
    const form = byTrueForm(machine, history, questions, surer(SURE, model));
    sets.push({ answers, advised, form, alone: await searchAlone(machine, questions) });
  }
  const [advised, form] = [sets.map((one) => one.advised), sets.map((one) => one.form)];
  const answers = sets.flatMap((one) => one.answers);
  return {
    ...{ machine: name, rows },
    advised: `${advised.flat().length} of ${answers.length}`,
    'no change': answers.filter(({ set }) => set !== null && Object.keys(set).length === 0).length,
    held: told(heldOf, advised, 3),
    'cost / best': told(dearer, advised, 2),
    'true form: held': told(heldOf, form, 3),
    'its cost': told(dearer, form, 2),
    'search alone': told(dearer, [sets.flatMap(({ alone }) => alone)], 3),
    'found by it': `${sets.flatMap(({ alone }) => alone).length} of ${answers.length}`,
    'median s': (median(answers.map(({ time }) => time)) / 1000).toFixed(2),
  };
}

/** How often an answer that changes the speed names the load of the motor, which rose where the speed fell. */
async function measureConfounded(tabular, name, machine, rows) {
  const { answers, advised } = await ask(tabular, name, machine, { rows, count: QUESTIONS });
  const [setting] = Object.keys(machine.settings);
  const changing = advised.filter(({ set }) => Object.hasOwn(set, setting));
  return {
    ...{ machine: name, rows },
    advised: `${advised.length} of ${answers.length}`,
    held: advised.length > 0 ? heldOf(advised).toFixed(3) : '–',
    [`change ${setting}`]: changing.length,
    'name what went along': changing.filter(({ named }) => named.includes('motor_load')).length,
  };
}

const WANTED =
  process.argv[5]?.split(',') ?? Object.keys({ ...machines, ...heldOut, ...fresh, ...confounded });
const wanted = (all) => Object.entries(all).filter(([name]) => WANTED.includes(name));

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'advise-bench-'));
const tabular = await connect({ dataDir });
try {
  console.log(
    `${QUESTIONS} questions to models of ${TRAIN_SETS} train sets, 2,000 candidates each; the goal is to hold with ${SURE}.`,
  );
  for (const [title, all, one] of [
    ['Tuned on:', machines, measure],
    ['Not tuned on:', heldOut, measure],
    ['Of other kinds:', fresh, measure],
    ['A hidden cause:', confounded, measureConfounded],
  ]) {
    const lines = [];
    for (const [name, machine] of wanted(all)) {
      for (const rows of ROWS) {
        lines.push(await one(tabular, name, machine, rows));
      }
    }
    if (lines.length > 0) {
      console.log(title);
      console.table(lines);
    }
  }
} finally {
  await tabular.close();
  await rm(dataDir, { recursive: true, force: true });
}
