/*
 * Advice on machines whose truth is known: how often the advised setting reaches the goal in truth, what it costs beside
 * the cheapest setting that does in truth, and the time of a question. npm run bench -- advise [questions] [train rows]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { connect } from '../../dist/src/index.js';
import { seededRandom } from '../../dist/src/util/random.js';
import { anyRow, costOf, historyOf, machines, trueBest, truthOf } from './machines.mjs';

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

async function measure(tabular, name, machine) {
  const model = await tabular.train({
    table: historyOf(machine, ROWS, 1),
    target: machine.target,
    model: name,
  });
  const answers = [];
  const times = [];
  for (const { row, best } of questionsOf(machine, 2)) {
    const began = performance.now();
    const wish = { model, row, vary: varied(machine), sure: SURE, ...machine.goal };
    const { set } = await tabular.advise(wish);
    times.push(performance.now() - began);
    answers.push({
      set,
      best,
      held: set && truthOf(machine, { ...row, ...set }),
      cost: set && costOf(machine, row, { ...row, ...set }),
    });
  }
  const advised = answers.filter(({ set }) => set !== null);
  return {
    machine: name,
    advised: `${advised.length} of ${answers.length}`,
    held: (sum(advised.map(({ held }) => held)) / advised.length).toFixed(3),
    'cost / best': (sum(advised.map(({ cost }) => cost)) / sum(advised.map(({ best }) => best))).toFixed(3),
    'median s': (median(times) / 1000).toFixed(2),
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
} finally {
  await tabular.close();
  await rm(dataDir, { recursive: true, force: true });
}
