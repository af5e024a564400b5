import { exp, log } from '../math/numeric';
import type { FeatureColumn } from '../types';

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
export function levelsOf({ level, floor }: LevelGrowth, features: readonly FeatureColumn[]): Float64Array {
  const column = features[level] as FeatureColumn & { kind: 'number' };
  return column.values.map((value) => (value > floor && value < Infinity ? value : floor));
}

/** Divides the features that grow with the level by it. */
export function divideByLevel(growth: LevelGrowth, features: readonly FeatureColumn[]): FeatureColumn[] {
  const levels = levelsOf(growth, features);
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
