import type { TermInput } from '../linear/design';
import { fitLinear } from '../linear/linear';
import { exp, log, square } from '../math/numeric';
import { indices } from '../math/order';
import { inUnits, type LevelGrowth, logOfChange, type Scaled } from '../model/model';
import { squaredError } from '../trees/loss';
import { GROWTH } from '../tuned';
import type { FeatureColumn } from '../types';

/**
 * Whether changes clearly grow with their level, and which features do. Rows are in order of time. The evidence is
 * the mean level and change of stretches of rows, so that a daily or seasonal pattern of the level does not count as
 * growth.
 *
 * @param features in the order of the model
 * @param level the index of the feature that the target is the change from
 * @param changes the target of each row
 */
export function findGrowth(
  features: readonly FeatureColumn[],
  level: number,
  changes: Float64Array,
): LevelGrowth | undefined {
  const column = features[level];
  const count = Math.min(GROWTH.stretches.most, Math.floor(changes.length / GROWTH.stretches.rows));
  if (column?.kind !== 'number' || count < GROWTH.stretches.least) {
    return undefined;
  }
  const { values } = column;
  if (!values.every((value, row) => value > 0 && value < Infinity && value + changes[row] > 0)) {
    return undefined;
  }
  const logs = changes.map((change, row) => logOfChange(change, values[row]));
  const levels = logMeans(values, count);
  const sizes = logMeans(changes, count);
  const own = logMeans(logs, count);
  const isClear =
    isGrowth(levels, sizes) &&
    // Divided by their level, changes are of more even size between rows and between stretches.
    deviation(own) < deviation(sizes) &&
    meanSize(logs) < meanSize(changes) / geometricMean(values);
  if (!isClear) {
    return undefined;
  }
  const divided = features.flatMap((feature, i) => {
    const means = feature.kind === 'number' && i !== level ? logMeans(feature.values, count) : [];
    const less = means.map((mean, k) => mean - levels[k]);
    return means.every(Number.isFinite) && deviation(less) < deviation(means) ? [i] : [];
  });
  return {
    level,
    floor: values.reduce((low, value) => Math.min(low, value), Infinity),
    divided,
    smearing: 1,
  };
}

/** Per stretch of rows, the logarithm of the mean absolute value; NaN without values. */
function logMeans(values: Float64Array, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const from = Math.floor((k * values.length) / count);
    const to = Math.floor(((k + 1) * values.length) / count);
    return log(meanSize(values.subarray(from, to).filter((value) => !Number.isNaN(value))));
  });
}

function meanSize(values: Float64Array): number {
  return values.reduce((sum, value) => sum + Math.abs(value) / values.length, values.length > 0 ? 0 : NaN);
}

function geometricMean(values: Float64Array): number {
  return exp(values.reduce((sum, value) => sum + log(value) / values.length, 0));
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

function deviation(values: readonly number[]): number {
  const mean = average(values);
  return Math.sqrt(average(values.map((value) => square(value - mean))));
}

/** Whether the logarithm of the size of changes clearly rises with that of the level. */
function isGrowth(levels: readonly number[], sizes: readonly number[]): boolean {
  const range = Math.max(...levels) - Math.min(...levels);
  if (!sizes.every(Number.isFinite) || !(range >= log(GROWTH.range))) {
    return false;
  }
  const [x, y] = [average(levels), average(sizes)];
  const products = average(levels.map((level, k) => (level - x) * (sizes[k] - y)));
  const slope = products / square(deviation(levels));
  const correlation = products / (deviation(levels) * deviation(sizes));
  const t = correlation * Math.sqrt((levels.length - 2) / Math.max(1e-12, 1 - square(correlation)));
  return slope >= GROWTH.slope && t >= GROWTH.t;
}

/** A numeric train set, and the part of each row. */
interface LineInput extends Omit<TermInput, 'rows' | 'whole'> {
  values: Float64Array;
  part: Uint8Array;
}

/**
 * The mean absolute error of a linear model trained on some parts and tested on the others, in units of the target;
 * undefined if there is no model. `changes` is the target.
 */
export function lineError(
  { values, part, ...table }: LineInput & Scaled,
  changes: Float64Array,
): number | undefined {
  const all = indices(part.length);
  const rows = all.filter((row) => part[row] % GROWTH.triedEach !== 0);
  const heldOut = all.filter((row) => part[row] % GROWTH.triedEach === 0);
  if (rows.length < heldOut.length) {
    return undefined;
  }
  const { columns, numbers, specs, centers } = table;
  const objective = {
    ...squaredError(values),
    loss: (scores: Float64Array, scored: Int32Array) =>
      scored.reduce((sum, row) => sum + Math.abs(changes[row] - inUnits(table, scores[row], row)), 0) /
      scored.length,
  };
  const input = { columns, numbers, specs, centers, rows, heldOut, target: values, regression: true };
  const linear = fitLinear({ ...input, objective, tableRows: part.length });
  return linear && Math.min(...linear.curve);
}
