import { quantileOf } from '../../../metrics/regression';
import type { ResidualForest } from '../../calibration/residuals';
import { exp } from '../../math/numeric';
import { sorted } from '../../math/order';
import { changeOfLog, inUnits } from '../../model/growth';
import type { FitReport } from '../../types';
import type { PreparedFit } from '../preparation/prepare';

/** The mean of e^residual over all held-out rows. */
export function smearingOf({ atoms, overall }: ResidualForest, scale: number): number {
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
  const low = Math.min(0, atoms[0]);
  const high = Math.max(0, atoms[atoms.length - 1]);
  const half = BUCKETS / 2;
  const points = new Set<number>();
  let own: Float64Array;
  let unit = scale;
  const addEnds = (first: number, last: number) => {
    const margin = Math.max(1e-9, Math.abs(center) * 1e-9, scale * 1e-6);
    points.add(first - margin);
    points.add(last + margin);
  };
  if (levels === undefined) {
    const ascending = sorted(values);
    own = ascending.map((value) => center + scale * value);
    const first = ascending[0] + low;
    const last = ascending[ascending.length - 1] + high;
    for (let i = 0; i <= half; i++) {
      points.add(own[Math.round((i * (own.length - 1)) / half)]);
      points.add(center + scale * (first + ((last - first) * i) / half));
    }
    addEnds(center + scale * first, center + scale * last);
  } else {
    own = values.map((value, row) => inUnits(prepared, value, row)).sort();
    const top = levels.reduce((most, level) => Math.max(most, level), 0);
    unit = scale * top;
    const [least, most] = values.reduce(
      ([down, up], value) => [Math.min(down, value), Math.max(up, value)],
      [Infinity, -Infinity],
    );
    const first = Math.min(own[0], changeOfLog(center + scale * (least + low), top));
    const last = Math.max(own[own.length - 1], changeOfLog(center + scale * (most + high), top));
    for (let i = 0; i <= half; i++) {
      points.add(own[Math.round((i * (own.length - 1)) / half)]);
      points.add(first + ((last - first) * i) / half);
    }
    addEnds(first, last);
  }
  const ofTarget = spread(own, 0.01) / TARGET_PART;
  const ofResiduals = (unit * spread(atoms, 0.1)) / RESIDUALS_PART;
  return atLeastApart(Float64Array.from(points).sort(), Math.min(ofTarget, ofResiduals));
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
