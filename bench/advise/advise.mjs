/*
 * Advice on machines whose truth is known: how often the advised setting reaches the goal in truth, what it costs beside
 * the cheapest setting that does in truth, and the time of a question. The same search with the truth in place of the
 * model tells what of the cost is the search's. On a machine where a hidden cause moves the setting too: how often the
 * answer names the column that went along. npm run bench -- advise [questions] [train rows]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { choose, promising } from '../../dist/src/advise/choose.js';
import { knobsOf } from '../../dist/src/advise/knobs.js';
import { search, searchRounds } from '../../dist/src/advise/search.js';
import { connect } from '../../dist/src/index.js';
import { seededRandom } from '../../dist/src/util/random.js';
import { anyRow, confounded, costOf, historyOf, machines, seen, trueBest, truthOf } from './machines.mjs';

const QUESTIONS = Number(process.argv[2] ?? 200);
const ROWS = Number(process.argv[3] ?? 2_000);
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
function questionsOf(machine, seed) {
  const random = seededRandom(seed);
  const questions = [];
  while (questions.length < QUESTIONS) {
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
  const isNumber = (range) => typeof range[0] === 'number';
  const columns = ranges.map(([name, range]) => ({ name, type: isNumber(range) ? 'number' : 'text' }));
  const usual = ranges.map(([, range]) =>
    isNumber(range)
      ? { kind: 'number', q05: range[0], q95: range[1] }
      : { kind: 'category', categories: range, complete: true },
  );
  let cost = 0;
  for (const { row } of questions) {
    const knobs = knobsOf(varied(machine), columns, usual, (column) => row[column]);
    const ask = async (settings) =>
      settings.map((setting) => {
        const set = Object.fromEntries(ranges.map(([name], at) => [name, setting[at]]));
        const reach = truthOf(machine, { ...row, ...set }) - SURE;
        return { expected: { value: null }, attached: {}, reach, unlike: { rank: 0, columns: [], new: [] } };
      });
    const options = { hasLimit: true, rounds: searchRounds(2_000), random: seededRandom(1) };
    const found = await search(knobs, ask, (all) => promising(all, true), options);
    cost += choose(found, true).good[0].cost;
  }
  return cost / sum(questions.map(({ best }) => best));
}

async function ask(tabular, name, machine) {
  const model = await tabular.train({
    table: historyOf(machine, ROWS, 1),
    target: machine.target,
    model: name,
  });
  const questions = questionsOf(machine, 2);
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
  return { questions, answers, advised: answers.filter(({ set }) => set !== null) };
}

const held = (advised) => (sum(advised.map((one) => one.held)) / advised.length).toFixed(3);

async function measure(tabular, name, machine) {
  const { questions, answers, advised } = await ask(tabular, name, machine);
  const [cost, best] = ['cost', 'best'].map((what) => sum(advised.map((one) => one[what])));
  return {
    machine: name,
    advised: `${advised.length} of ${answers.length}`,
    held: held(advised),
    'cost / best': (cost / best).toFixed(3),
    'search alone': (await searchAlone(machine, questions)).toFixed(3),
    'median s': (median(answers.map(({ time }) => time)) / 1000).toFixed(2),
  };
}

/** How often an answer that changes the speed names the load of the motor, which rose where the speed fell. */
async function measureConfounded(tabular, name, machine) {
  const { answers, advised } = await ask(tabular, name, machine);
  const [setting] = Object.keys(machine.settings);
  const changing = advised.filter(({ set }) => Object.hasOwn(set, setting));
  return {
    machine: name,
    advised: `${advised.length} of ${answers.length}`,
    held: held(advised),
    [`change ${setting}`]: changing.length,
    'name what went along': changing.filter(({ named }) => named.includes('motor_load')).length,
  };
}

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'advise-bench-'));
const tabular = await connect({ dataDir });
try {
  console.log(
    `${QUESTIONS} questions to models of ${ROWS} rows, 2,000 candidates each; the goal is to hold with ${SURE}.`,
  );
  const lines = [];
  for (const [name, machine] of Object.entries(machines)) {
    lines.push(await measure(tabular, name, machine));
  }
  console.table(lines);
  for (const [name, machine] of Object.entries(confounded)) {
    console.table([await measureConfounded(tabular, name, machine)]);
  }
} finally {
  await tabular.close();
  await rm(dataDir, { recursive: true, force: true });
}
