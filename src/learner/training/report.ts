import type { ModelCurves } from '../../metrics/curves';
import { type HeldOutLosses, heldOutLosses } from '../../metrics/held-out-losses';
import { inBlocks } from '../../metrics/loss-range';
import { areNeighboursAlike, type ScoredRows } from '../../metrics/neighbours';
import { quantileOf } from '../../metrics/regression';
import type { Scores } from '../../metrics/scores';
import type { Thresholds } from '../../metrics/thresholds';
import type { BucketFloor } from '../calibration/distribution';
import type { ResidualForest } from '../calibration/residuals';
import { findBin } from '../features/binning';
import type { EncodedTable } from '../features/encode';
import { columnVariances } from '../linear/linear';
import { exp } from '../math/numeric';
import { argsort, sorted } from '../math/order';
import { Random } from '../math/random';
import { changeOfLog, inUnits, type Member, type Part } from '../model/model';
import type { FeatureImportance, FitReport } from '../types';
import type { LearnedCandidate } from './candidates';
import type { FoldResult } from './fold';
import { type PreparedFit, STREAM } from './prepare';

/** A fit, what its folds learned, and the members that were made of that. */
export interface Combined {
  prepared: PreparedFit;
  folds: FoldResult[];
  members: Member[];
}

/** What the importance of features is told by. `lossesOf` scores copies of the sampled rows. */
interface Asked {
  candidates: LearnedCandidate[];
  weights: Float64Array;
  sample: Int32Array;
  lossesOf: CopyLosses;
}

export function measureImportance(combined: Combined, asked: Asked): FeatureImportance[] {
  const { prepared, members } = combined;
  const { candidates, weights, sample, lossesOf } = asked;
  const gains = new Float64Array(prepared.specs.length);
  candidates.forEach(({ boosted }, c) => {
    for (const own of boosted ?? []) {
      own.gains.forEach((gain, column) => (gains[column] += weights[c] * gain));
    }
  });
  otherGains(combined).forEach((gain, column) => (gains[column] += gain));
  if (prepared.plan.lineFirst !== undefined) {
    lineGains(prepared, members, sample).forEach((gain, column) => (gains[column] += gain));
  }
  return featureImportance(prepared, gains, sample, lossesOf);
}

/** Which held-out rows are alike, those of a block or a group: undefined where they were drawn one by one and tell apart. */
export function rowsTogether(prepared: PreparedFit, heldOut: ScoredRows): Int32Array | undefined {
  const { clusters, rows } = prepared;
  if (clusters) {
    return Int32Array.from(heldOut.rows, (row) => clusters.of[row]);
  }
  return areNeighboursAlike(inOrder(heldOut)) ? inBlocks(heldOut.rows, rows) : undefined;
}

/** The report of a fit. */
export function makeReport(
  { prepared, folds, members }: Combined,
  parts: {
    scores: Scores;
    baseline: Scores;
    growth?: FitReport['growth'];
    curves: ModelCurves;
    /** Of `measureImportance`. */
    importance: FeatureImportance[];
    /** The held-out rows, in the order of the folds. */
    heldOut: ScoredRows;
    /** Of `rowsTogether`. */
    together: Int32Array | undefined;
    /** The loss of each of them; undefined if errors grow with their level. */
    losses: Float64Array | undefined;
    thresholds?: Thresholds;
    candidates: LearnedCandidate[];
    /** Of what is learned beside the candidates. */
    extraWork: number;
  },
): FitReport {
  const { plan, settings } = prepared;
  const limited = folds.some(({ boosted }) => boosted.some((run) => run.limited));
  const reasons = [...plan.reasons];
  if (limited) {
    reasons.push('Boosting reached its work budget before the held-out loss stopped falling.');
  }
  const areAlike = prepared.learnsNeighbours || (!prepared.clusters && parts.together !== undefined);
  return {
    task: prepared.task,
    rows: prepared.rows,
    ...(prepared.copies > 0 && { repeated_rows: prepared.copies }),
    features: prepared.features.length,
    estimators: folds.length,
    trees: members.reduce((sum, { parts }) => sum + treesIn(parts), 0),
    scores: parts.scores,
    baseline: parts.baseline,
    growth: parts.growth,
    curves: parts.curves,
    folds: describeFolds(prepared),
    ...(areAlike && { neighbours_alike: true }),
    thresholds: parts.thresholds,
    losses: lossesInTable(prepared, parts.heldOut.rows, parts.losses),
    importance: parts.importance,
    options: { used: settings.used, ignored: settings.ignored },
    work: {
      units: parts.candidates.reduce((sum, { work }) => sum + work, parts.extraWork),
      budget: plan.workBudget,
      limited: reasons.length > 0,
      reasons,
    },
  };
}

/** The indices that sort rows by their position in the table. */
export function tableOrder(rows: ArrayLike<number>): Int32Array {
  return argsort(Float64Array.from(rows));
}

/** Only if rows were held out by order or by group. */
function lossesInTable(
  { clusters, groups }: PreparedFit,
  rows: ArrayLike<number>,
  losses: Float64Array | undefined,
): HeldOutLosses | undefined {
  if (clusters === undefined || losses === undefined) {
    return undefined;
  }
  const order = tableOrder(rows);
  const inTable = Float64Array.from(order, (i) => losses[i]);
  return groups
    ? heldOutLosses(inTable, { of: order.map((i) => groups.of[rows[i]]), count: groups.count })
    : heldOutLosses(inTable);
}

/** Scored rows in the order of the table. */
function inOrder({ rows, target, width, error }: ScoredRows): ScoredRows {
  const order = tableOrder(rows);
  return {
    rows: order.map((i) => rows[i]),
    target: Float64Array.from(order, (i) => target[i]),
    width,
    error: (i, output) => error(order[i], output),
  };
}

/** How rows were held out. */
function describeFolds({ clusters, groups, plan }: PreparedFit): FitReport['folds'] {
  if (!clusters) {
    return { by: 'random', parts: plan.parts };
  }
  const { kind, count, embargo } = clusters;
  return kind === 'groups'
    ? { by: kind, parts: plan.parts, groups: count }
    : { by: kind, parts: plan.parts, blocks: count, embargo, ...(groups && { groups: groups.count }) };
}

function treesIn(parts: Part[]): number {
  return parts.reduce((sum, part) => sum + ('trees' in part ? part.trees.roots.length : 0), 0);
}

const MAX_FEATURES = 200;
const MAX_PERMUTED = 30;
/** Cells of the sample's copies that are scored together. */
const MAX_CELLS = 2_000_000;
/** No feature: an unshuffled copy. */
const AS_IT_IS = -1;

/**
 * The weight of a linear model's columns next to the splits of trees: the variance that each explains, counted as
 * often as boosting would count it, step by step.
 *
 * @param rows table rows to take the variance over
 */
function lineGains(
  { columns, numbers, rows: count, plan }: PreparedFit,
  members: Member[],
  rows: Int32Array,
) {
  const gains = new Float64Array(columns.length);
  for (const member of members) {
    for (const part of member.parts) {
      if (part.kind === 'linear') {
        const factor =
          (member.weight * part.weight * count * members.length) / (2 * plan.boosts[0].learningRate);
        columnVariances(part.tables, { columns, numbers }, rows).forEach((variance, column) => {
          gains[column] += factor * variance;
        });
      }
    }
  }
  return gains;
}

/**
 * The weight of candidates that are neither boosted nor the linear model that boosting starts from: what the first
 * boosted candidate gained from the columns that they use, times their weight. A Gaussian process takes its columns
 * from it too.
 */
function otherGains({ prepared: { columns, plan }, folds, members }: Combined): Float64Array {
  const gains = new Float64Array(columns.length);
  const [{ parts }] = members;
  for (const part of parts) {
    // A direction is a part of a process, which counts once.
    if (
      part.kind === 'trees' ||
      part.kind === 'ridge' ||
      (part.kind === 'linear' && plan.lineFirst !== undefined)
    ) {
      continue;
    }
    const isUsed = (column: number) =>
      part.kind !== 'gaussian' || part.gaussian.kernel.columns.includes(column);
    for (const { boosted } of folds) {
      boosted[0]?.gains.forEach((gain, column) => (gains[column] += isUsed(column) ? part.weight * gain : 0));
    }
  }
  return gains;
}

/** Losses on copies of the sample, stored one after the other. One loss per copy. */
type CopyLosses = (table: EncodedTable, copies: number) => number[];

/**
 * Importance of each feature: its share of the split gain and, for the 30 features with the most gain, how much the
 * loss of the sampled rows rises when its values are shuffled among them (permutation importance: L. Breiman, 2001).
 *
 * @param sample held-out table rows
 * @param lossesOf scores each row by the member that held it out
 */
function featureImportance(
  prepared: PreparedFit,
  gains: Float64Array,
  sample: Int32Array,
  lossesOf: CopyLosses,
): FeatureImportance[] {
  const perFeature = new Float64Array(prepared.features.length);
  let total = 0;
  prepared.specs.forEach((spec, column) => {
    perFeature[spec.source] += gains[column];
    total += gains[column];
  });
  const order = Array.from(perFeature.keys()).sort((a, b) => perFeature[b] - perFeature[a] || a - b);
  // If nothing was ever split, nothing shows which features count.
  const permuted =
    total === 0
      ? order.slice(0, MAX_FEATURES)
      : order.slice(0, MAX_PERMUTED).filter((source) => perFeature[source] > 0);
  const [before, ...after] = shuffledLosses(prepared, sample, [AS_IT_IS, ...permuted], lossesOf);
  const rises = new Map(permuted.map((source, i) => [source, after[i] - before]));
  return order.slice(0, MAX_FEATURES).map((source) => {
    const gain = total > 0 ? perFeature[source] / total : 0;
    return { feature: prepared.features[source].name, gain, permutation: rises.get(source) ?? 0 };
  });
}

/**
 * The losses of the sample with each of `sources` shuffled. Copies are scored together, since trees are prepared once
 * per call.
 */
function shuffledLosses(
  prepared: PreparedFit,
  sample: Int32Array,
  sources: number[],
  lossesOf: CopyLosses,
): number[] {
  if (sample.length === 0) {
    return sources.map(() => 0);
  }
  const shuffled = new Random(prepared.settings.seed, STREAM.importance, 1).shuffle(sample.slice());
  const atOnce = Math.max(1, Math.floor(MAX_CELLS / (sample.length * prepared.columns.length)));
  const losses: number[] = [];
  for (let start = 0; start < sources.length; start += atOnce) {
    const copies = sources.slice(start, start + atOnce);
    const rowsOf = copies.map(
      (source) => (column: number) => (prepared.specs[column].source === source ? shuffled : sample),
    );
    const table: EncodedTable = {
      columns: prepared.columns.map((bins, column) => {
        const out = new Uint8Array(copies.length * sample.length);
        rowsOf.forEach((of, copy) =>
          of(column).forEach((row, i) => (out[copy * sample.length + i] = bins[row])),
        );
        return out;
      }),
      numbers: prepared.numbers.map((values, column) => {
        const out = values && new Float64Array(copies.length * sample.length);
        rowsOf.forEach(
          (of, copy) => out && of(column).forEach((row, i) => (out[copy * sample.length + i] = values[row])),
        );
        return out;
      }),
    };
    losses.push(...lossesOf(table, copies.length));
  }
  return losses;
}

/** The mean of e^residual over all held-out rows. */
export function findSmearing({ atoms, overall }: ResidualForest, scale: number): number {
  return atoms.reduce((sum, atom, i) => sum + overall[i] * exp(scale * atom), 0);
}

/** Stretches of rows over which the level is averaged: a tenth each. */
const STRETCHES = 10;

/**
 * By what factor changes at the level of the newest rows exceed those of all rows; undefined if they do not grow with
 * their level. The level is averaged over stretches, so that a daily or seasonal pattern does not count.
 */
export function newestLevel(prepared: PreparedFit): FitReport['growth'] {
  const { levels, growth, values, features, rows } = prepared;
  if (levels === undefined || growth === undefined) {
    return undefined;
  }
  const means = new Float64Array(STRETCHES);
  const counts = new Float64Array(STRETCHES);
  const stretchOf = (row: number) => Math.floor((row * STRETCHES) / rows);
  levels.forEach((level, row) => {
    means[stretchOf(row)] += level;
    counts[stretchOf(row)]++;
  });
  const newest = means[STRETCHES - 1] / counts[STRETCHES - 1];
  let [own, moved] = [0, 0];
  values.forEach((value, row) => {
    const size = Math.abs(inUnits(prepared, value, row));
    own += size;
    moved += (size * newest * counts[stretchOf(row)]) / means[stretchOf(row)];
  });
  return { column: features[growth.level].name, factor: own > 0 ? moved / own : 1 };
}

const BUCKETS = 400;

/**
 * A bucket is at least as wide as a 60th of the range from the 1st to the 99th percentile of the target, or as an eighth
 * of the middle 80 % of the residuals, whichever is narrower: what rows say of narrower ones is chance. On ten tables the
 * mean log loss of the density fell by 0.13 (RESIDUALS 6: 0.16, 20: 0.11; without the bound by residuals a target
 * without noise loses 1.4). test/unit/learner/buckets.test.ts measures it on a table of its own.
 */
const TARGET_PART = 60;
const RESIDUALS_PART = 8;

/**
 * Bucket borders in units of the target: at quantiles and at equal steps, extended at both ends by the outermost
 * residuals. If changes grow with their level, the ends are those at the highest level.
 */
export function bucketBorders(prepared: PreparedFit, atoms: Float64Array): Float64Array {
  const { values, center, scale, levels } = prepared;
  const own = sorted(values.map((value, row) => inUnits(prepared, value, row)));
  let first = values.reduce((least, value) => Math.min(least, value), Infinity) + Math.min(0, atoms[0]);
  let last =
    values.reduce((most, value) => Math.max(most, value), -Infinity) + Math.max(0, atoms[atoms.length - 1]);
  let unit = scale;
  let borderAt = (place: number) => center + scale * place;
  if (levels !== undefined) {
    const top = levels.reduce((highest, level) => Math.max(highest, level), 0);
    unit *= top;
    first = Math.min(own[0], changeOfLog(borderAt(first), top));
    last = Math.max(own[own.length - 1], changeOfLog(borderAt(last), top));
    borderAt = (place) => place;
  }
  const margin = Math.max(1e-9, Math.abs(center) * 1e-9, scale * 1e-6);
  const points = new Set([borderAt(first) - margin, borderAt(last) + margin]);
  const half = BUCKETS / 2;
  for (let i = 0; i <= half; i++) {
    points.add(own[Math.round((i * (own.length - 1)) / half)]);
    points.add(borderAt(first + ((last - first) * i) / half));
  }
  const ofTarget = spread(own, 0.01) / TARGET_PART;
  const ofResiduals = (unit * spread(atoms, 0.1)) / RESIDUALS_PART;
  return atLeastApart(Float64Array.from(points).sort(), Math.min(ofTarget, ofResiduals));
}

/** Of so many rows the next one is beyond all of them as often as a floor of this many rows says. */
const ROWS_BEYOND = 2;

/**
 * The target's own histogram, with one row spread evenly, and its weight in the distribution of each row: what held-out
 * rows never said may yet come (docs/benchmarks/told.md, "The full distribution as a density").
 */
export function bucketFloor(prepared: PreparedFit, borders: Float64Array): BucketFloor {
  const { values, rows } = prepared;
  const inner = borders.subarray(1, -1);
  const range = borders[borders.length - 1] - borders[0];
  const shares = Float64Array.from(
    borders.subarray(1),
    (border, b) => (border - borders[b]) / range / (rows + 1),
  );
  values.forEach((value, row) => {
    shares[findBin(inUnits(prepared, value, row), inner) - 1] += 1 / (rows + 1);
  });
  return { weight: ROWS_BEYOND / (rows + ROWS_BEYOND), shares };
}

/** From one quantile of ascending values to the opposite one. */
function spread(ascending: Float64Array, level: number): number {
  return quantileOf(ascending, 1 - level) - quantileOf(ascending, level);
}

/** Ascending borders without those that follow another one too closely; the outermost two stay. */
function atLeastApart(borders: Float64Array, width: number): Float64Array {
  const last = borders[borders.length - 1];
  const kept = [borders[0]];
  for (const border of borders.subarray(1, -1)) {
    if (border - kept[kept.length - 1] >= width && last - border >= width) {
      kept.push(border);
    }
  }
  return Float64Array.from([...kept, last]);
}
