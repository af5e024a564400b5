import { areNeighboursAlike } from '../../metrics/neighbours';
import { probabilities, rowLogLosses } from '../calibration/calibrate';
import {
  binCenters,
  type ColumnSpec,
  columnSpecs,
  encodeColumn,
  type EncodedTable,
  type Encoder,
  measuredValues,
  selectNumbers,
} from '../features/encode';
import { finerBorders } from '../features/finer-borders';
import { square } from '../math/numeric';
import { indices } from '../math/order';
import type { Random } from '../math/random';
import { partScores } from '../model/model';
import { boost, type Boosted, type BoostRules } from '../trees/boost';
import { classLogLoss, type Objective, squaredError } from '../trees/loss';
import { growRandomised, type RandomisedInput, type RandomisedRules } from '../trees/randomised';
import { isCategoryNode, LEAF, type Trees } from '../trees/trees';
import { CALENDAR, FINER_BINS, NEIGHBOURS, RANDOMISED } from '../tuned';
import type { FeatureColumn, Label } from '../types';
import { DEFAULT_BLOCKS } from './options';
import { assignParts, type Clusters, cutBlocks, type HoldOut } from './parts';

/** A train set as trees and linear models see it. */
interface Encoded extends EncodedTable {
  encoders: Encoder[];
  specs: ColumnSpec[];
  /** Per encoder, the index of its first column. */
  firstColumn: number[];
  /** Columns × bins: the mean value of each bin; undefined for categories. */
  centers: (Float64Array | undefined)[];
}

/** Encodes all columns; bins are in shared memory. */
export function encodeAll(encoders: Encoder[], features: FeatureColumn[]): Encoded {
  const specs = columnSpecs(encoders);
  const table: Encoded = { encoders, specs, columns: [], numbers: [], centers: [], firstColumn: [] };
  for (const encoder of encoders) {
    const feature = features[encoder.source];
    const values = measuredValues(encoder, feature);
    const bins = encodeColumn(encoder, feature, values, sharedBytes);
    table.firstColumn.push(table.columns.length);
    table.columns.push(...bins);
    const numbers = selectNumbers(encoder, values);
    table.numbers.push(...bins.map(() => numbers));
    table.centers.push(...binCenters(encoder, feature, values, bins));
  }
  return table;
}

function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

interface TrialInput {
  rules: BoostRules;
  /** Class and part of each row. */
  codes: Int32Array;
  classes: number;
  part: Uint8Array;
  /** The part to hold out. */
  heldOut: number;
  random: Random;
}

/** Boosted trees for classes, trained on all parts but one, and the loss of each row of that one. */
interface Trial extends Boosted {
  losses: Float64Array;
}

/** The rows of a part, to be held out, and those beside it. */
function beside(part: Uint8Array, own: number) {
  const all = indices(part.length);
  const rows = all.filter((row) => part[row] !== own);
  return { rows, heldOut: all.filter((row) => part[row] === own), tableRows: part.length };
}

function tryBoosting(
  table: Pick<Encoded, 'columns' | 'numbers' | 'specs'>,
  { rules, codes, classes, part, random, ...rest }: TrialInput,
): Trial {
  const { heldOut, ...learned } = beside(part, rest.heldOut);
  const { columns, specs } = table;
  const objective = classLogLoss(codes, classes);
  const boosted = boost({ columns, specs, objective, heldOut, ...learned }, rules, random);
  const { base, trees } = boosted;
  const scores = partScores({ kind: 'trees', weight: 1, base, trees }, table, heldOut);
  const probas = probabilities(scores, base.length, classes, 1);
  const losses = rowLogLosses(
    probas,
    heldOut.map((row) => codes[row]),
    classes,
  );
  return { ...boosted, losses };
}

interface FinerInput {
  features: FeatureColumn[];
  /** Of the candidate for low-noise targets. */
  rules: BoostRules;
  /** Class and part of each row. */
  codes: Int32Array;
  classes: number;
  part: Uint8Array;
  parts: number;
  maxBins: number;
  /** For the new borders, and for the trial on each part. */
  random: (stream: number) => Random;
}

/**
 * Moves borders closer together where the trees of a trial split most; returns the table unchanged if that gains
 * nothing. Only the choice of bins depends on the target: their new borders lie between all of their values.
 */
export function withFinerBins(table: Encoded, input: FinerInput): Encoded {
  const { part, parts } = input;
  const { encoders } = table;
  const isMany = (encoder: Encoder) =>
    encoder.type === 'number' && encoder.borders.length >= FINER_BINS.borders;
  if (part.length < FINER_BINS.rows || parts < 2 || !encoders.some(isMany)) {
    return table;
  }
  const { curve, trees } = tryBoosting(table, {
    ...input,
    rules: quick(input),
    heldOut: 0,
    random: input.random(1),
  });
  if (1 - Math.min(...curve) / curve[0] < FINER_BINS.explained) {
    return table;
  }
  const splits = countSplits(trees, table);
  let isChanged = false;
  const finer = encoders.map((encoder, e) => {
    const column = table.firstColumn[e];
    const values = table.numbers[column];
    if (!isMany(encoder) || encoder.type !== 'number' || values === undefined) {
      return encoder;
    }
    const borders = finerBorders(values, encoder.borders, splits[column], input.maxBins, input.random(0));
    isChanged ||= borders !== undefined;
    return borders ? { ...encoder, borders } : encoder;
  });
  if (!isChanged) {
    return table;
  }
  const changed = encodeAll(finer, input.features);
  return isBetter(changed, table, input) ? changed : table;
}

/** The rules of a trial: few and quick trees. */
function quick({ rules }: FinerInput): BoostRules {
  return { ...rules, learningRate: FINER_BINS.learningRate, maxIterations: FINER_BINS.iterations };
}

/** Whether the new borders are better on the held-out parts. */
function isBetter(changed: Encoded, table: Encoded, input: FinerInput): boolean {
  const gains: number[] = [];
  for (let heldOut = 0; heldOut < Math.min(FINER_BINS.parts, input.parts); heldOut++) {
    // Each tree sees all rows: sampling would make more of a difference than the borders do.
    const rules = { ...quick(input), rowSample: 1 };
    const [before, after] = [table, changed].map(
      (one) => tryBoosting(one, { ...input, rules, heldOut, random: input.random(1 + heldOut) }).losses,
    );
    before.forEach((loss, i) => gains.push(loss - after[i]));
  }
  const sum = gains.reduce((total, gain) => total + gain, 0);
  const squares = gains.reduce((total, gain) => total + square(gain - sum / gains.length), 0);
  return sum > FINER_BINS.errors * Math.sqrt(squares);
}

/** How often trees split after each bin of each numeric column. */
function countSplits(trees: Trees, { specs }: Encoded): Int32Array[] {
  const splits = specs.map(({ bins }) => new Int32Array(bins));
  trees.feature.forEach((column, node) => {
    if (column !== LEAF && !isCategoryNode(trees, node)) {
      splits[column][trees.bin[node]]++;
    }
  });
  return splits;
}

interface InTimeInput extends EncodedTable {
  specs: ColumnSpec[];
  /** Of the first candidate. */
  rules: BoostRules;
  /** Class of each row. */
  codes: Int32Array;
  classes: Label[];
  holdOut: HoldOut;
  random: (stream: number) => Random;
}

/**
 * Whether classes hang together in the order of the rows in a way that the features do not tell: trees that learned the
 * rows next to a held-out one know its class far better than trees that did not. Rows held out at random then promise
 * too much for rows to come, and choose what knows its neighbours by heart.
 */
export function isLearnedFromNeighbours(input: InTimeInput): boolean {
  const { codes, classes, holdOut } = input;
  if (codes.length < NEIGHBOURS.rows || !hangsTogether(codes, classes.length)) {
    return false;
  }
  const blocks = cutBlocks(
    { task: 'classification', codes, classes },
    holdOut,
    DEFAULT_BLOCKS,
    NEIGHBOURS.parts,
  );
  return areMuchWorse(trialLosses(input, blocks), trialLosses(input), blocks);
}

function hangsTogether(codes: Int32Array, classes: number): boolean {
  const shares = new Float64Array(classes);
  for (const code of codes) {
    shares[code] += 1 / codes.length;
  }
  const runs = codes.reduce((count, code, row) => count + (code === codes[row - 1] ? 0 : 1), 0);
  if (runs < NEIGHBOURS.runs * classes) {
    return false;
  }
  return areNeighboursAlike({
    rows: codes.map((_, row) => row),
    target: codes,
    width: classes,
    error: (row, k) => (codes[row] === k ? 1 : 0) - shares[k],
  });
}

/** The loss of each row, by trees that did not learn its part. */
function trialLosses(
  { random, rules, codes, classes, ...table }: InTimeInput,
  blocks?: Clusters,
): Float64Array {
  const part = assignParts({ task: 'classification', codes, classes }, blocks, NEIGHBOURS.parts, random(0));
  const quick: BoostRules = {
    ...rules,
    learningRate: NEIGHBOURS.learningRate,
    maxIterations: NEIGHBOURS.iterations,
  };
  const losses = new Float64Array(codes.length);
  for (let heldOut = 0; heldOut < NEIGHBOURS.parts; heldOut++) {
    const own = { rules: quick, codes, classes: classes.length, part, heldOut, random: random(1 + heldOut) };
    const trial = tryBoosting(table, own);
    let next = 0;
    part.forEach((one, row) => {
      if (one === heldOut) {
        losses[row] = trial.losses[next++];
      }
    });
  }
  return losses;
}

/** Compares block by block, since the rows of one are alike. */
function areMuchWorse(losses: Float64Array, others: Float64Array, { of, count }: Clusters): boolean {
  const more = new Float64Array(count);
  let [sum, other] = [0, 0];
  for (let row = 0; row < losses.length; row++) {
    more[of[row]] += losses[row] - others[row];
    sum += losses[row];
    other += others[row];
  }
  const mean = (sum - other) / count;
  const squares = more.reduce((total, one) => total + square(one - mean), 0);
  return (
    sum > NEIGHBOURS.worse * other &&
    sum - other > NEIGHBOURS.errors * Math.sqrt((squares * count) / (count - 1))
  );
}

const { manyRows, single: TRIAL } = RANDOMISED;

/** A train set of many rows, and the part of each row. */
interface ManyTrial extends EncodedTable, Omit<RandomisedInput, 'columns' | 'rows' | 'base'> {
  part: Uint8Array;
}

/**
 * Whether randomised trees of many rows, of a number or of classes, should have single-row leaves: which of two rules for a
 * whole model has the lower squared error, as two trees of each say of one part. Single rows help most with targets without
 * noise, and with rows that come in groups of nearly equal ones.
 */
export function wantsSingleRowsOfMany(
  input: ManyTrial,
  [own, single]: [RandomisedRules, RandomisedRules],
  random: Random,
): boolean {
  const { part } = input;
  if (part.length <= manyRows || own.minLeaf === 1 || input.columns.length > TRIAL.triedColumns) {
    return false;
  }
  const all = indices(part.length);
  const rows = thinned(all.filter((row) => part[row] !== 0));
  const heldOut = thinned(all.filter((row) => part[row] === 0));
  if (rows.length === 0 || heldOut.length === 0) {
    return false;
  }
  const errorOf = (rules: RandomisedRules) => expectedError({ ...input, rows, heldOut }, rules, random);
  return errorOf(single) < TRIAL.left * errorOf(own);
}

/** At most `TRIAL.tried` of them, at equal distances. */
function thinned(rows: Int32Array): Int32Array {
  const step = Math.max(1, rows.length / TRIAL.tried);
  return Int32Array.from(
    { length: Math.min(rows.length, TRIAL.tried) },
    (_, i) => rows[Math.floor(i * step)],
  );
}

/**
 * The expected squared error of the mean of all trees: the part that more trees do not lower, and some of the rest. A tree
 * differs from the next one by as much as the mean of a few is better than each of them.
 */
function expectedError(
  { heldOut, ...input }: ManyTrial & { rows: Int32Array; heldOut: Int32Array },
  rules: RandomisedRules,
  random: Random,
): number {
  const { classes, target, rows } = input;
  const width = classes > 2 ? classes : 1;
  const base = classes > 0 ? new Float64Array(width) : squaredError(Float64Array.from(target)).base(rows);
  const mean = new Float64Array(heldOut.length * width);
  const errorOf = (scores: Float64Array) =>
    scores.reduce((sum, score, i) => {
      const wanted = target[heldOut[Math.floor(i / width)]];
      return sum + square(score - (width === 1 ? wanted : wanted === i % width ? 1 : 0));
    }, 0);
  let alone = 0;
  for (let tree = 0; tree < TRIAL.trees; tree++) {
    const { trees } = growRandomised({ ...input, base }, { ...rules, trees: 1 }, random);
    const scores = partScores({ kind: 'trees', weight: 1, base, trees }, input, heldOut);
    alone += errorOf(scores) / TRIAL.trees;
    scores.forEach((score, i) => (mean[i] += score / TRIAL.trees));
  }
  const smoothed = (TRIAL.trees * errorOf(mean) - alone) / (TRIAL.trees - 1);
  return smoothed + (alone - smoothed) / rules.trees;
}

interface CalendarInput extends EncodedTable {
  encoders: Encoder[];
  specs: ColumnSpec[];
  objective: Objective;
  /** Of the first candidate. */
  rules: BoostRules;
  part: Uint8Array;
  parts: number;
  random: (stream: number) => Random;
}

/** Whether a part of a date, other than its place in time, is among the columns. */
export function hasCalendar(encoders: readonly Encoder[]): boolean {
  return encoders.some(isCalendar);
}

/** Whether trees predict held-out rows no worse with the calendar of the dates (weekday, month, …) than without it. */
export function wantsCalendar(input: CalendarInput): boolean {
  const { encoders, specs, columns, numbers, part, parts } = input;
  const isOf = encoders.flatMap((encoder) => columnSpecs([encoder]).map(() => isCalendar(encoder)));
  const without = <T>(list: readonly T[]): T[] => list.filter((_, at) => !isOf[at]);
  const bare = { ...input, specs: without(specs), columns: without(columns), numbers: without(numbers) };
  if (bare.columns.length === 0 || parts < 2 || part.length > CALENDAR.rows) {
    return true;
  }
  let gain = 0;
  let squares = 0;
  for (let heldOut = 0; heldOut < Math.min(CALENDAR.parts, parts); heldOut++) {
    const one = heldOutLoss(bare, heldOut) - heldOutLoss(input, heldOut);
    gain += one;
    squares += square(one);
  }
  return gain >= -CALENDAR.errors * Math.sqrt(squares);
}

function isCalendar(encoder: Encoder): boolean {
  return (
    (encoder.type === 'date' || encoder.type === 'between') &&
    encoder.part !== undefined &&
    encoder.part !== 'epoch'
  );
}

function heldOutLoss({ specs, columns, objective, rules, part, random }: CalendarInput, own: number): number {
  const input = { columns, specs, objective, ...beside(part, own) };
  const quick = { ...rules, learningRate: CALENDAR.learningRate, maxIterations: CALENDAR.iterations };
  return Math.min(...boost(input, quick, random(own)).curve);
}
