/* What both benches of advice ask: questions about a machine, its knobs, and what its true form answers. */
import { makeKnobs } from '../../dist/src/advise/knobs.js';
import { seededRandom } from '../../dist/src/util/random.js';
import { anyRow, trueBest, truthOf } from './machines.mjs';
import { fitted } from './true-form.mjs';

/** The probability that the goal must hold with. */
export const SURE = 0.9;

const sum = (values) => values.reduce((all, value) => all + value, 0);

/** The columns that may be changed, within the whole range of the past. */
export const varied = ({ settings, cost }) =>
  Object.entries(settings).map(([column, range]) => ({
    column,
    cost: cost[column],
    ...(typeof range[0] === 'number' && { from: range[0], to: range[1] }),
  }));

/** The knobs of a row of a machine, as a search turns them. */
export function machineKnobs(machine, row) {
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
  return makeKnobs(varied(machine), columns, usual, (column) => row[column]);
}

/** Rows that do not hold the goal in truth, and can: with the cost of the cheapest setting that makes them. */
export function askedRows(machine, seed, count) {
  const random = seededRandom(seed);
  const questions = [];
  while (questions.length < count) {
    const row = anyRow(machine, random);
    const best = truthOf(machine, row) >= SURE ? undefined : trueBest(machine, row, SURE);
    if (best?.setting !== undefined) {
      questions.push({ row, best: best.cost, setting: best.setting });
    }
  }
  return questions;
}

/** What is advised by the true form, fitted to the same rows and asked for as much. */
export function byTrueForm(machine, history, questions, asked) {
  const known = fitted(machine, history);
  return questions.flatMap(({ row, best }) => {
    const found = truthOf(known, row) >= SURE ? { setting: row, cost: 0 } : trueBest(known, row, asked);
    return found.setting === undefined
      ? []
      : [{ held: truthOf(machine, found.setting), cost: found.cost, best }];
  });
}

/** How often it is held in truth, and what is paid for each unit that the cheapest way costs. */
export const heldOf = (all) => sum(all.map(({ held }) => held)) / all.length;
export const dearer = (all) => sum(all.map(({ cost }) => cost)) / sum(all.map(({ best }) => best));
