import { exp, log } from '../math/numeric';
import type { FeatureColumn } from '../types';

/**
 * How a change is learned that grows with its level: as the difference of logarithms, log((level + change) / level).
 * Some columns are divided by the level, and an error of so many percent counts alike at any level.
 */
export interface LevelGrowth {
  /** The number of the feature that holds the level. */
  level: number;
  /** The smallest level of the train set: smaller ones, and missing ones, count as this. */
  floor: number;
  /** Numbers of the features that are divided by the level: changes and spreads of it, mostly. */
  divided: number[];
  /** The mean of e^residual over the rows held out: what the mean of a change is above e^(its mean logarithm) (Duan 1983). */
  smearing: number;
}

/** The level of each row. Features as numbered in the model. */
export function levelsOf({ level, floor }: LevelGrowth, features: readonly FeatureColumn[]): Float64Array {
  const column = features[level] as FeatureColumn & { kind: 'number' };
  return column.values.map((value) => (value > floor && value < Infinity ? value : floor));
}

/** Features with those that grow with the level divided by it. */
export function divideByLevel(growth: LevelGrowth, features: readonly FeatureColumn[]): FeatureColumn[] {
  const levels = levelsOf(growth, features);
  return features.map((feature, i) =>
    growth.divided.includes(i) && feature.kind === 'number'
      ? { ...feature, values: feature.values.map((value, row) => value / levels[row]) }
      : feature,
  );
}

/** The logarithm that is learned of a change. NaN where the change would end below 0. */
export function logOfChange(change: number, level: number): number {
  return log(1 + change / level);
}

/** The change that a logarithm stands for, times a factor: 1, or the smearing for a mean. */
export function changeOfLog(value: number, level: number, factor = 1): number {
  return level * (exp(value) * factor - 1);
}

/** How scores stand for values of the target. */
export interface Scaled {
  center: number;
  scale: number;
  /** The level of each row, where scores are logarithms of changes that grow with it. */
  levels: Float64Array | undefined;
}

/** A score as a value of the target, in its units. @param factor of a mean: the smearing, where changes grow */
export function inUnits(
  { center, scale, levels }: Scaled,
  score: number,
  row: number,
  factor?: number,
): number {
  const value = center + scale * score;
  return levels === undefined ? value : changeOfLog(value, levels[row], factor);
}
