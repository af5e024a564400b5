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

import { surer } from '../../dist/src/advise/goal.js';
import { choose, promising, search, searchRounds } from '../../dist/src/advise/search.js';
import { connect } from '../../dist/src/index.js';
import { seededRandom } from '../../dist/src/util/random.js';
import { openResults } from '../results.mjs';
import { confounded, costOf, fresh, heldOut, historyOf, machines, seen, truthOf } from './machines.mjs';
import { askedRows, byTrueForm, dearer, heldOf, machineKnobs, SURE, varied } from './questions.mjs';

const QUESTIONS = Number(process.argv[2] ?? 200);
const ROWS = (process.argv[3] ?? '2000').split(',').map(Number);
const TRAIN_SETS = Number(process.argv[4] ?? 4);

const sum = (values) => values.reduce((all, value) => all + value, 0);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** What the search alone costs beside the best, where it asks the truth in place of a model. */
async function searchAlone(machine, questions) {
  const names = Object.keys(machine.settings);
  const found = [];
  for (const { row, best } of questions) {
    const knobs = machineKnobs(machine, row);
    const ask = async (settings) =>
      settings.map((setting) => {
        const set = Object.fromEntries(names.map((name, at) => [name, setting[at]]));
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

async function ask(tabular, name, machine, { rows, trainSet = 1, count }) {
  const history = historyOf(machine, rows, trainSet);
  const model = await tabular.train({ table: history, target: machine.target, model: name });
  const questions = askedRows(machine, 1 + trainSet, count);
  const answers = [];
  for (const { row, best } of questions) {
    const began = process.cpuUsage();
    const wish = { model, row: seen(machine, row), vary: varied(machine), sure: SURE, ...machine.goal };
    const { set, rests_on: rests } = await tabular.advise(wish);
    // Processor time, of all threads: a busy machine would count as slow.
    const { user, system } = process.cpuUsage(began);
    answers.push({
      ...{ set, best, time: (user + system) / 1e6 },
      held: set && truthOf(machine, { ...row, ...set }),
      cost: set && costOf(machine, row, { ...row, ...set }),
      named: rests?.together.map(({ column }) => column) ?? [],
    });
  }
  return { history, model, questions, answers, advised: answers.filter(({ set }) => set !== null) };
}

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

const MEASURED = [
  ...['machine', 'advised', 'no change', 'held', 'cost / best', 'true form: held', 'its cost'],
  ...['search alone', 'found by it', 'processor s'],
];

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
  const alone = sets.flatMap((one) => one.alone);
  return [
    ...[name, `${advised.flat().length} of ${answers.length}`],
    answers.filter(({ set }) => set !== null && Object.keys(set).length === 0).length,
    ...[told(heldOf, advised, 3), told(dearer, advised, 2), told(heldOf, form, 3), told(dearer, form, 2)],
    ...[told(dearer, [alone], 3), `${alone.length} of ${answers.length}`],
    median(answers.map(({ time }) => time)).toFixed(2),
  ];
}

const CONFOUNDED = ['machine', 'rows', 'advised', 'held', 'change the setting', 'name what went along'];

/** How often an answer that changes the speed names the load of the motor, which rose where the speed fell. */
async function measureConfounded(tabular, name, machine, rows) {
  const { answers, advised } = await ask(tabular, name, machine, { rows, count: QUESTIONS });
  const [setting] = Object.keys(machine.settings);
  const changing = advised.filter(({ set }) => Object.hasOwn(set, setting));
  return [
    ...[name, rows, `${advised.length} of ${answers.length}`],
    advised.length > 0 ? heldOf(advised).toFixed(3) : '–',
    ...[changing.length, changing.filter(({ named }) => named.includes('motor_load')).length],
  ];
}

const open = { ...machines, ...heldOut, ...fresh };
const WANTED = process.argv[5]?.split(',') ?? Object.keys({ ...open, ...confounded });
const wanted = (all) => Object.entries(all).filter(([name]) => WANTED.includes(name));

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'advise-bench-'));
const tabular = await connect({ dataDir });
const results = openResults(import.meta.url);
const about = `${QUESTIONS} questions to models of ${TRAIN_SETS} train sets, 2,000 candidates each; the goal is to hold with ${SURE}.`;
try {
  for (const rows of wanted(open).length > 0 ? ROWS : []) {
    const table = results.table(`rows-${rows}`, MEASURED, about);
    for (const [name, machine] of wanted(open)) {
      table.row(...(await measure(tabular, name, machine, rows)));
    }
  }
  for (const [name, machine] of wanted(confounded)) {
    const table = results.table('hidden-cause', CONFOUNDED, about);
    for (const rows of ROWS) {
      table.row(...(await measureConfounded(tabular, name, machine, rows)));
    }
  }
  await results.save();
} finally {
  await tabular.close();
  await rm(dataDir, { recursive: true, force: true });
}
