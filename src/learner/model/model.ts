import type { Calibration } from '../calibration/calibrate';
import type { BucketFloor } from '../calibration/distribution';
import type { ResidualForest } from '../calibration/residuals';
import type { EncodedTable, Encoder } from '../features/encode';
import { type Ridge, ridgeScores } from '../gaussian/ridges';
import { type GaussianScores, gaussianScores } from '../gaussian/scores';
import { linearScores, type LinearTables } from '../linear/linear';
import { addTimes } from '../math/matrix';
import { exp, log } from '../math/numeric';
import { indices, sorted } from '../math/order';
import type { Trees } from '../trees/trees';
import type { FeatureColumn, FitReport, Label } from '../types';
import { addTreeScores } from './tree-scores';

/** A fitted model. Plain data; `task`, `classes`, `features` and `report` are its public part. */
export interface Model {
  readonly task: 'classification' | 'regression';
  /** In the order of `TrainInput`; empty for regression. */
  readonly classes: Label[];
  readonly features: { name: string; kind: FeatureColumn['kind'] }[];
  readonly report: FitReport;
  encoders: Encoder[];
  members: Member[];
  /** Undefined for regression. */
  calibration: Calibration | undefined;
  /** If undefined, the answer is the most probable class. */
  threshold: { of: number; at: number } | undefined;
  /** A prediction is center + scale × the ensemble's mean. */
  center: number;
  scale: number;
  /** Set if a prediction is the logarithm of a change that grows with its level. */
  growth?: LevelGrowth;
  residuals: ResidualForest | undefined;
  /** The mean is that of the distribution. Missing in models fitted before: theirs is the ensemble's. */
  meanOfDistribution?: true;
  /** Borders of the buckets of the full distribution, in units of the target. */
  borders: Float64Array | undefined;
  /** Of the full distribution. Missing in models fitted before: theirs has buckets of probability zero. */
  floor?: BucketFloor;
  /** Missing in models fitted before there was one. */
  background?: Background;
  /**
   * Columns × bins: the mean value of each bin, undefined for categories. Present only if a linear model is stored by
   * its terms.
   */
  centers?: (Float64Array | undefined)[];
}

/**
 * A weighted candidate in a member: `base` plus trees, one per output in turn or one for all outputs; trees whose
 * sums are votes for each class and are turned into scores; a linear model; a Gaussian process; or a function of one
 * direction.
 */
export type Part =
  | { kind: 'trees'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'votes'; weight: number; base: Float64Array; trees: Trees }
  | { kind: 'linear'; weight: number; base: Float64Array; tables: LinearTables }
  | { kind: 'gaussian'; weight: number; base: Float64Array; gaussian: GaussianScores }
  | { kind: 'ridge'; weight: number; base: Float64Array; ridge: Ridge };

/** The columns that a part takes as numbers: along a line, a direction or a process. Trees ask for bins alone. */
export function numberColumns(part: Part): Iterable<number> {
  switch (part.kind) {
    case 'linear':
      return part.tables.lines?.columns ?? [];
    case 'gaussian':
      return part.gaussian.kernel.columns;
    case 'ridge':
      return part.ridge.columns;
    default:
      return [];
  }
}

/** The model of one fold: a weighted sum of parts, with `width` scores per row. */
export interface Member {
  weight: number;
  width: number;
  parts: Part[];
}

/**
 * Rows that go through the trees together: as many as have their bins in the processor's cache, within these limits.
 */
const BLOCK_BYTES = 262_144;
const MIN_BLOCK = 256;
const MAX_BLOCK = 4096;

/** Scores of one part, before its weight: rows × width, in the order of `rows` (indices of table rows). */
export function partScores(part: Part, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = part.base.length;
  const scores = new Float64Array(rows.length * width);
  if (part.kind === 'linear') {
    return linearScores(part.tables, table, rows);
  }
  if (part.kind === 'gaussian') {
    return gaussianScores(part.gaussian, part.base, table, rows);
  }
  if (part.kind === 'ridge') {
    return ridgeScores(part.ridge, table, rows);
  }
  const { base, trees } = part;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = base[i % width];
  }
  const most = Math.max(MIN_BLOCK, Math.min(MAX_BLOCK, Math.floor(BLOCK_BYTES / table.columns.length)));
  for (let start = 0; start < rows.length; start += most) {
    const block = rows.subarray(start, Math.min(rows.length, start + most));
    addTreeScores(trees, table.columns, block, width, scores.subarray(start * width));
  }
  if (part.kind === 'votes') {
    scoresOfVotes(scores, width);
  }
  return scores;
}

/** Scores of one member: rows × width. */
export function memberScores(member: Member, table: EncodedTable, rows: Int32Array): Float64Array {
  const sum = new Float64Array(rows.length * member.width);
  for (const part of member.parts) {
    addTimes(part.weight, partScores(part, table, rows), sum);
  }
  return sum;
}

/** Scores of rows by the member that held them out (`holder[row]` is its index): rows × width. */
export function heldOutScores(members: Member[], holder: Uint8Array, table: EncodedTable): Float64Array {
  const { width } = members[0];
  const out = new Float64Array(holder.length * width);
  const all = indices(holder.length);
  members.forEach((member, m) => {
    const rows = all.filter((row) => holder[row] === m);
    const scores = memberScores(member, table, rows);
    rows.forEach((row, i) => out.set(scores.subarray(i * width, (i + 1) * width), row * width));
  });
  return out;
}

/** Added to each class's share, so that a class without votes has a score. */
const FLOOR = 0.005;

/**
 * Turns shares of votes into scores, in place: with one output the log-odds of the second of two classes, otherwise
 * the logarithm of each class's share.
 *
 * @param votes rows × outputs
 * @param width outputs
 */
function scoresOfVotes(votes: Float64Array, width: number): void {
  // Most classes get no vote of a row.
  const none = scoreVotes(0, width);
  for (let i = 0; i < votes.length; i++) {
    votes[i] = votes[i] === 0 ? none : scoreVotes(votes[i], width);
  }
}

function scoreVotes(votes: number, width: number): number {
  const share = votes + FLOOR;
  return width === 1 ? log(share / (1 - votes + FLOOR)) : log(share);
}

/** Adds `weight` times the scores of votes to `out`, and turns `votes` into scores. */
export function addScoresOfVotes(
  votes: Float64Array,
  width: number,
  weight: number,
  out: Float64Array,
): void {
  scoresOfVotes(votes, width);
  addTimes(weight, votes, out);
}

/** Rows of the background, one per bit of a 32-bit integer. */
export const BACKGROUND_ROWS = 32;

/** Rows of the train set that explanations compare with, and the usual range of each feature. */
export interface Background {
  rows: number;
  /** Columns × rows: bins. */
  columns: Uint8Array[];
  /**
   * Columns × rows: values of the columns that a linear model takes as numbers. Missing in models fitted before there
   * were any.
   */
  numbers?: (Float64Array | undefined)[];
  /** Per feature, the 10 % and 90 % quantiles over the train set; NaN for text. */
  low: Float64Array;
  high: Float64Array;
  /** Per feature, the mean over the background rows without missing values; NaN for text. */
  mean: Float64Array;
}

const LOW = 0.1;
const HIGH = 0.9;
const MOST_SORTED = 20_000;

/**
 * Draws one row from each of 32 equal stretches of the train set. Taking every n-th row would not do: in hourly data
 * it may always be the same hour.
 *
 * @param table the train set
 * @param uniform draws from [0, 1)
 */
export function makeBackground(
  features: FeatureColumn[],
  { columns, numbers }: EncodedTable,
  rows: number,
  uniform: () => number,
): Background {
  const count = Math.min(BACKGROUND_ROWS, rows);
  const chosen = Int32Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * rows) / count);
    const to = Math.floor(((i + 1) * rows) / count);
    return from + Math.floor(uniform() * (to - from));
  });
  const usual = features.map(findUsual);
  return {
    rows: count,
    columns: columns.map((bins) => Uint8Array.from(chosen, (row) => bins[row])),
    numbers: numbers.map((values) => values && Float64Array.from(chosen, (row) => values[row])),
    low: Float64Array.from(usual, ({ low }) => low),
    high: Float64Array.from(usual, ({ high }) => high),
    mean: Float64Array.from(features, (feature) => averageKnown(feature, chosen)),
  };
}

function findUsual(feature: FeatureColumn): { low: number; high: number } {
  if (feature.kind === 'text') {
    return { low: NaN, high: NaN };
  }
  const { values } = feature;
  const step = Math.ceil(values.length / MOST_SORTED);
  const known = sorted(values.filter((value, i) => i % step === 0 && !Number.isNaN(value)));
  const at = (level: number) => (known.length > 0 ? known[Math.round(level * (known.length - 1))] : NaN);
  return { low: at(LOW), high: at(HIGH) };
}

function averageKnown(feature: FeatureColumn, rows: Int32Array): number {
  if (feature.kind === 'text') {
    return NaN;
  }
  const known = Array.from(rows, (row) => feature.values[row]).filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value / known.length, known.length > 0 ? 0 : NaN);
}

/**
 * How to learn a change that grows with its level: as a difference of logarithms, log((level + change) / level). Some
 * columns are divided by the level, so that an error counts by its percentage at any level.
 */
export interface LevelGrowth {
  /** The index of the feature that holds the level. */
  level: number;
  /** The smallest level of the train set: smaller and missing levels count as this. */
  floor: number;
  /** Indices of the features that are divided by the level, mostly its changes and spreads. */
  divided: number[];
  /**
   * The mean of e^residual over the held-out rows: corrects the mean of a change for the logarithm (smearing: N.
   * Duan, 1983).
   */
  smearing: number;
}

/** The level of each row. Features are indexed as in the model. */
export function readLevels({ level, floor }: LevelGrowth, features: readonly FeatureColumn[]): Float64Array {
  const column = features[level] as FeatureColumn & { kind: 'number' };
  return column.values.map((value) => (value > floor && value < Infinity ? value : floor));
}

/** Divides the features that grow with the level by it. */
export function divideByLevel(growth: LevelGrowth, features: readonly FeatureColumn[]): FeatureColumn[] {
  const levels = readLevels(growth, features);
  const divided = new Set(growth.divided);
  return features.map((feature, i) =>
    divided.has(i) && feature.kind === 'number'
      ? { ...feature, values: feature.values.map((value, row) => value / levels[row]) }
      : feature,
  );
}

/** The logarithm to learn for a change, or NaN if the level would end below 0. */
export function logOfChange(change: number, level: number): number {
  return log(1 + change / level);
}

/** The change that a logarithm stands for, times a factor: 1, or the smearing for a mean. */
export function changeOfLog(value: number, level: number, factor = 1): number {
  return level * (exp(value) * factor - 1);
}

/** How scores map to values of the target. */
export interface Scaled {
  center: number;
  scale: number;
  /** The level of each row, if scores are logarithms of changes. */
  levels: Float64Array | undefined;
}

/** Converts a score to the units of the target. @param factor for a mean, the smearing */
export function inUnits(
  { center, scale, levels }: Scaled,
  score: number,
  row: number,
  factor?: number,
): number {
  const value = center + scale * score;
  return levels === undefined ? value : changeOfLog(value, levels[row], factor);
}
