import type { Calibration } from '../calibration/calibrate';
import { type Atoms, bucketLogits, findMode, writeQuantiles } from '../calibration/distribution';
import { atomWeights, meanResiduals, type ResidualForest } from '../calibration/residuals';
import { binAll } from '../features/binning';
import { encodeColumn, type EncodedTable, measuredValues, selectNumbers } from '../features/encode';
import { extrapolatedBy } from '../linear/linear';
import { exp, log } from '../math/numeric';
import { indices } from '../math/order';
import { type ClassificationResult, type FeatureColumn, LearnerError, type RegressionResult } from '../types';
import { ensembleMean, ensembleProbabilities } from './ensemble';
import { divideByLevel, inUnits, type Member, type Model, readLevels } from './model';

/** What a caller may override; anything left out stays as fitted. */
export interface PredictOptions {
  /** Use only the first few members. */
  estimators?: number;
  /** Divides the calibrated logits; 1 changes nothing. This and the options below are for classification. */
  temperature?: number;
  averageScores?: boolean;
  balance?: boolean;
}

/**
 * Predicts rows. Columns are found by name, extra ones are ignored, and unseen categories count as rare.
 *
 * @throws LearnerError if a column is missing or cannot be read as the kind it was trained with
 */
export function predict(
  model: Model,
  features: FeatureColumn[],
  rows: number,
  options: PredictOptions = {},
): ClassificationResult | RegressionResult {
  const { table, levels } = encodeWithLevels(model, features, rows);
  const all = indices(rows);
  const members = firstMembers(model.members, options.estimators);
  const { classes } = model;
  if (!model.calibration) {
    return regressionResult({ ...model, members }, table, all, levels);
  }
  const calibration = recalibrated(model.calibration, options);
  const probas = ensembleProbabilities(members, table, all, calibration);
  return { task: 'classification', rows, classes, probas, threshold: model.threshold };
}

/** Applies the caller's overrides to a calibration. */
export function recalibrated(
  fitted: Calibration,
  { temperature, averageScores, balance }: PredictOptions,
): Calibration {
  return {
    ...fitted,
    softmaxTemperature: temperature ?? fitted.softmaxTemperature,
    averageScores: averageScores ?? fitted.averageScores,
    balance: balance ?? fitted.balance,
  };
}

/** The first `count` members, with equal weights. */
export function firstMembers(members: Member[], count = members.length): Member[] {
  if (count >= members.length) {
    return members;
  }
  return members
    .slice(0, Math.max(1, count))
    .map((member, _, kept) => ({ ...member, weight: 1 / kept.length }));
}

/**
 * Encodes a table for the model's members, with the level of each row if changes grow with it.
 *
 * @throws LearnerError if a column is missing or cannot be read as the kind it was trained with
 */
export function encodeWithLevels(
  model: Model,
  features: FeatureColumn[],
  rows: number,
): { table: EncodedTable; levels: Float64Array | undefined } {
  const byName = new Map(features.map((feature) => [feature.name, feature]));
  const { growth } = model;
  const given = model.features.map(({ name, kind }) => {
    const feature = byName.get(name);
    if (!feature) {
      throw new LearnerError(`Column "${name}" is missing.`);
    }
    const length = feature.kind === 'text' ? feature.codes.length : feature.values.length;
    if (length !== rows) {
      throw new LearnerError(`Column "${name}" has ${length} rows, not ${rows}.`);
    }
    return asKind(feature, kind);
  });
  const found = growth === undefined ? given : divideByLevel(growth, given);
  const table: EncodedTable = { columns: [], numbers: [] };
  for (const encoder of model.encoders) {
    const feature = found[encoder.source];
    const values = measuredValues(encoder, feature);
    const bins = encodeColumn(encoder, feature, values);
    table.columns.push(...bins);
    const numbers = selectNumbers(encoder, values);
    table.numbers.push(...bins.map(() => numbers));
  }
  return { table, levels: growth && readLevels(growth, given) };
}

/** Reads a column as the kind it was trained with: numbers and dates convert to each other, and to and from text. */
function asKind(feature: FeatureColumn, kind: FeatureColumn['kind']): FeatureColumn {
  if (feature.kind === kind) {
    return feature;
  }
  const { name } = feature;
  if (kind === 'text') {
    const values = (feature as FeatureColumn & { kind: 'number' }).values;
    const index = new Map<number, number>();
    const codes = Int32Array.from(values, (value) => {
      if (Number.isNaN(value)) {
        return -1;
      }
      if (!index.has(value)) {
        index.set(value, index.size);
      }
      return index.get(value)!;
    });
    return { name, kind, codes, dictionary: Array.from(index.keys(), String) };
  }
  if (feature.kind !== 'text') {
    return { name, kind, values: feature.values };
  }
  const parsed = feature.dictionary.map((text) => (text.trim() === '' ? NaN : Number(text)));
  const values = Float64Array.from(feature.codes, (code, row) => {
    if (code >= 0 && Number.isNaN(parsed[code])) {
      throw new LearnerError(
        `Column "${name}" holds text in row ${row + 1}; the model was trained with numbers.`,
      );
    }
    return code < 0 ? NaN : parsed[code];
  });
  return { name, kind, values };
}

function regressionResult(
  model: Model,
  table: EncodedTable,
  all: Int32Array,
  levels: Float64Array | undefined,
): RegressionResult {
  const { center, scale, residuals, borders, floor, growth } = model;
  const units = { center, scale, levels };
  const scaled = ensembleMean(model.members, table, all);
  const rows = all.length;
  if (!residuals || !borders) {
    throw new LearnerError('The model holds no residuals.');
  }
  const atoms = new Float64Array(residuals.atoms.length);
  /** Visits each row's distribution, in units of the target. */
  const eachRow = (visit: (distribution: Atoms, row: number) => void) => {
    eachDistribution(model, table, scaled, (around, weights, row) => {
      for (let i = 0; i < atoms.length; i++) {
        atoms[i] = inUnits(units, scaled[row] + around[i], row);
      }
      visit({ atoms, weights }, row);
    });
  };
  const mean = () => {
    if (model.meanOfDistribution !== true) {
      return scaled.map((score, row) => inUnits(units, score, row, growth?.smearing));
    }
    const shifts = meanShifts(model, table, scaled);
    return scaled.map((score, row) => inUnits(units, score + shifts[row], row));
  };
  const quantiles = (levels: number[]) => {
    const odd = levels.find((level) => !(level > 0 && level < 1));
    if (odd !== undefined) {
      throw new LearnerError(`Quantile ${odd} is not between 0 and 1.`);
    }
    const order = levels.map((_, i) => i).sort((a, b) => levels[a] - levels[b]);
    const ascending = order.map((i) => levels[i]);
    const out = levels.map(() => new Float64Array(rows));
    const one = new Float64Array(levels.length);
    eachRow((distribution, row) => {
      writeQuantiles(distribution, ascending, one);
      order.forEach((level, i) => (out[level][row] = one[i]));
    });
    return out;
  };
  return {
    task: 'regression',
    rows,
    mean,
    median: () => quantiles([0.5])[0],
    mode: () => {
      const out = new Float64Array(rows);
      eachRow((distribution, row) => (out[row] = findMode(distribution)));
      return out;
    },
    quantiles,
    full: () => {
      const buckets = borders.length - 1;
      const logits = new Float64Array(rows * buckets);
      eachRow((distribution, row) => {
        bucketLogits(distribution, borders, logits, row * buckets, floor);
      });
      return { borders, logits };
    },
  };
}

/**
 * Visits the distribution around each row: its atoms, relative to the ensemble's mean on the scale of the scores, and
 * their weights. Both arrays are used again for the next row.
 *
 * Where a row is beyond the train set, its residuals are widened about their mean: how far off a model may be there is
 * not known, and nothing says that it is off to one side. A model that answers the ensemble's mean has them widened about
 * that.
 *
 * @param scaled the ensemble's mean of each row, on the scale of the scores
 */
function eachDistribution(
  model: Model,
  table: EncodedTable,
  scaled: Float64Array,
  visit: (atoms: Float64Array, weights: Float64Array, row: number) => void,
): void {
  const { residuals, columns } = residualsAround(model, table, scaled);
  const { atoms } = residuals;
  const weights = new Float64Array(atoms.length);
  const widened = new Float64Array(atoms.length);
  const widths = widenings(model, table, scaled.length);
  for (let row = 0; row < scaled.length; row++) {
    atomWeights(residuals, residuals.mix, columns, row, weights);
    const width = widths[row];
    if (width === 1) {
      visit(atoms, weights, row);
      continue;
    }
    const center = model.meanOfDistribution === true ? weightedMean(atoms, weights) : 0;
    for (let i = 0; i < atoms.length; i++) {
      widened[i] = center + width * (atoms[i] - center);
    }
    visit(widened, weights, row);
  }
}

function weightedMean(atoms: Float64Array, weights: Float64Array): number {
  let sum = 0;
  let total = 0;
  for (let i = 0; i < atoms.length; i++) {
    sum += weights[i] * atoms[i];
    total += weights[i];
  }
  return sum / total;
}

/** The residuals, and the columns that their trees split at: those of the table, and the prediction. */
function residualsAround(
  { residuals }: Model,
  table: EncodedTable,
  scaled: Float64Array,
): { residuals: ResidualForest; columns: Uint8Array[] } {
  if (!residuals) {
    throw new LearnerError('The model holds no residuals.');
  }
  const binned = new Uint8Array(scaled.length);
  binAll(scaled, residuals.borders, binned);
  return { residuals, columns: [...table.columns, binned] };
}

/**
 * By how much the mean of each row's distribution is above the ensemble's mean, on the scale of the scores. If the model
 * predicts the logarithm of a change, it is the mean of the change, as a logarithm.
 *
 * On 24 public tables of 120 to 300 rows this mean has a squared error as low as the ensemble's (by 0.2 % in the mean);
 * moving the distribution to the ensemble's mean instead costs 1.8 % of the pinball loss.
 */
export function meanShifts(model: Model, table: EncodedTable, scaled: Float64Array): Float64Array {
  const { growth, scale } = model;
  if (growth === undefined) {
    const { residuals, columns } = residualsAround(model, table, scaled);
    return meanResiduals(residuals, columns, scaled.length);
  }
  const shifts = new Float64Array(scaled.length);
  eachDistribution(model, table, scaled, (atoms, weights, row) => {
    let sum = 0;
    let total = 0;
    for (let i = 0; i < atoms.length; i++) {
      total += weights[i];
      sum += weights[i] * exp(scale * atoms[i]);
    }
    shifts[row] = log(sum / total) / scale;
  });
  return shifts;
}

/**
 * Half-width added to the usual 80 % band, as a fraction of what a linear model extrapolates beyond the train set's
 * range.
 */
const WIDENED_BY = 0.25;
const LOW = 0.1;

/**
 * Per row, the factor for its residuals: 1 if every value is within the train set's range or no linear model uses it.
 * Held-out rows say nothing about what lies beyond.
 */
function widenings({ members, residuals }: Model, table: EncodedTable, rows: number): Float64Array {
  const out = new Float64Array(rows).fill(1);
  const half = residuals ? halfWidth(residuals) : 0;
  if (!(half > 0)) {
    return out;
  }
  const parts = members.flatMap((member) =>
    member.parts.flatMap((part) =>
      part.kind === 'linear' ? [{ tables: part.tables, weight: member.weight * part.weight }] : [],
    ),
  );
  for (let row = 0; row < rows; row++) {
    let beyond = 0;
    for (const { tables, weight } of parts) {
      beyond += weight * extrapolatedBy(tables, table, row);
    }
    out[row] = 1 + (WIDENED_BY * Math.abs(beyond)) / half;
  }
  return out;
}

/** Half the distance between the 10 % and 90 % quantiles of all residuals. */
function halfWidth({ atoms, overall }: NonNullable<Model['residuals']>): number {
  let sum = 0;
  let low = 0;
  let high = atoms.length - 1;
  for (let atom = 0; atom < atoms.length; atom++) {
    low = sum < LOW ? atom : low;
    sum += overall[atom];
    high = sum < 1 - LOW ? atom + 1 : high;
  }
  return (atoms[Math.min(high, atoms.length - 1)] - atoms[low]) / 2;
}
