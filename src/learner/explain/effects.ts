import { alongRidge, type Ridge, ridgeAt } from '../gaussian/ridges';
import { gainedWhole, type Lines, valueAlong } from '../linear/linear';
import { indices } from '../math/order';
import { processApart } from '../model/ensemble';
import { type Background, type Member, type Part, partScores } from '../model/model';
import { explanationCache } from './explanation-cache';
import { processEffects } from './process-effects';
import { type ForegroundRow, shapleyValues } from './shapley';

/** Shapley values of a row: `base` and the effects (per group) add up to its prediction. */
export interface GroupEffects {
  base: number;
  effects: Float64Array;
}

const NONE = new Float64Array(0);

/**
 * Exact Shapley values of the ensemble's mean, for any number of groups, in the units of the members' scores.
 *
 * @param rows all with the same background and groups
 */
export function meanEffects(members: Member[], rows: ForegroundRow[]): GroupEffects[] {
  if (rows.length === 0) {
    return [];
  }
  const { background, groupOf, groups } = rows[0];
  const cache = explanationCache(background, groupOf, groups, members);
  const found = rows.map(() => new Float64Array(groups));
  const sums = found.map((effects) => ({ scores: NONE, effects }));
  const { process, others } = processApart(members);
  let base = 0;
  if (process) {
    rows.forEach((foreground, i) => {
      const { starts, effects } = processEffects(process, foreground);
      base = starts[0] / background.rows;
      effects.forEach((effect, group) => (found[i][group] += effect / background.rows));
    });
  }
  for (const member of others) {
    for (const part of member.parts) {
      if (part.kind === 'gaussian') {
        continue;
      }
      const weight = (member.weight * part.weight) / background.rows;
      base += weight * backgroundScores(part, background).reduce((sum, score) => sum + score, 0);
      if (part.kind === 'linear') {
        rows.forEach((foreground, i) => addLinearEffects(part, foreground, weight, found[i]));
        continue;
      }
      if (part.kind === 'ridge') {
        rows.forEach((foreground, i) => addRidgeEffects(part.ridge, foreground, weight, found[i]));
        continue;
      }
      cache.blocks(part.trees, 1).add(rows, weight, sums);
    }
  }
  return found.map((effects) => ({ base, effects }));
}

function addLinearEffects(
  part: Part & { kind: 'linear' },
  foreground: ForegroundRow,
  weight: number,
  effects: Float64Array,
): void {
  eachLinearTerm(part, foreground, (column, _, own, others) => {
    let differences = 0;
    for (const other of others) {
      differences += own - other;
    }
    effects[foreground.groupOf[column]] += weight * differences;
  });
}

/** Adds the Shapley values of a function of one direction: all sets of its groups are tried. */
function addRidgeEffects(
  ridge: Ridge,
  { numbers, background, groupOf }: ForegroundRow,
  weight: number,
  effects: Float64Array,
): void {
  const players = [...new Set(Array.from(ridge.columns, (column) => groupOf[column]))];
  const sums = new Float64Array(1 << players.length);
  for (let row = 0; row < background.rows; row++) {
    const steps = new Float64Array(players.length);
    sums.fill(0);
    ridge.columns.forEach((column, i) => {
      const other = alongRidge(ridge, i, background.numbers![column]![row]);
      sums[0] += other;
      steps[players.indexOf(groupOf[column])] += alongRidge(ridge, i, numbers[column]) - other;
    });
    for (let player = 0; player < players.length; player++) {
      for (let set = 0; set < 1 << player; set++) {
        sums[set | (1 << player)] = sums[set] + steps[player];
      }
    }
    const values = sums.map((t) => ridgeAt(ridge, t));
    shapleyValues(values, players.length).forEach((effect, player) => {
      effects[players[player]] += weight * effect;
    });
  }
}

/**
 * Visits the terms of a linear model, before the model's weight is applied.
 *
 * @param visit receives what the column adds to an output for the foreground row, and for each background row in a
 * list that is reused
 */
export function eachLinearTerm(
  { tables }: Part & { kind: 'linear' },
  { bins, numbers, background }: ForegroundRow,
  visit: (column: number, output: number, own: number, others: Float64Array) => void,
): void {
  const { base, at, scores, lines } = tables;
  const width = base.length;
  const others = new Float64Array(background.rows);
  const isWhole = lines !== undefined && gainedWhole(lines, (column) => numbers[column]) !== 0;
  const areWhole = lines ? wholeRows(lines, background) : [];
  for (let line = 0; lines && line < lines.columns.length; line++) {
    const column = lines.columns[line];
    const values = background.numbers![column]!;
    for (let k = 0; k < width; k++) {
      const slope = lines.weights[line * width + k];
      for (let row = 0; row < others.length; row++) {
        others[row] = slope * valueAlong(lines, line, values[row], areWhole[row]);
      }
      visit(column, k, slope * valueAlong(lines, line, numbers[column], isWhole), others);
    }
  }
  for (let column = 0; column < at.length; column++) {
    if (at[column] < 0) {
      continue;
    }
    for (let k = 0; k < width; k++) {
      const from = at[column] + k;
      for (let row = 0; row < others.length; row++) {
        others[row] = scores[from + background.columns[column][row] * width];
      }
      visit(column, k, scores[from + bins[column] * width], others);
    }
  }
}

const knownWhole = new WeakMap<Lines, { background: Background; areWhole: boolean[] }>();

/** Whether each background row counts whole. Cached as their scores are. */
function wholeRows(lines: Lines, background: Background): boolean[] {
  let own = knownWhole.get(lines);
  if (own?.background !== background) {
    const { numbers, rows } = background;
    const areWhole = Array.from(
      { length: rows },
      (_, row) => gainedWhole(lines, (column) => numbers![column]![row]) !== 0,
    );
    own = { background, areWhole };
    knownWhole.set(lines, own);
  }
  return own.areWhole;
}

const known = new WeakMap<Part, { background: Background; scores: Float64Array }>();

/**
 * What one part adds up to for the background rows, before its weight, and votes before they are turned into scores: rows ×
 * width. Cached, because a stream of single rows asks for it every time.
 */
export function backgroundScores(part: Part, background: Background): Float64Array {
  let own = known.get(part);
  if (own?.background !== background) {
    const { columns, numbers = [], rows } = background;
    const all = indices(rows);
    const sums: Part = part.kind === 'votes' ? { ...part, kind: 'trees' } : part;
    own = { background, scores: partScores(sums, { columns, numbers }, all) };
    known.set(part, own);
  }
  return own.scores;
}
