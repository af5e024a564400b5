import type { ColumnSpec } from '../../features/encode';
import type { GrowSpace } from '../histograms/grow-space';
import type { Objective } from './loss';

/** Columns with at most this many levels are no easier to split by chance than numeric ones. */
const FEW_LEVELS = 10;
/**
 * How many times as much as by chance levels have to differ for a column to be informative. Without a bound on the rows
 * per level: of 19 public tables with fewer than 20 (Rdatasets) the RMSE falls by 1.3 % in the mean, worst +1.0 %, best
 * −16.6 %; taking all such columns for weak loses up to 5.6 %. `npm run bench -- many` measures it again.
 */
const INFORMATIVE_RATIO = 2;
/**
 * What the best partition of uninformative levels gains per level, in units of the mean squared gradient per hessian:
 * half of the levels are above their mean, by √(2/π) standard deviations on average.
 */
const CHANCE_GAIN = 2 / Math.PI;

interface Learned {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  rows: Int32Array;
}

/**
 * Finds categorical columns with many levels that differ no more than by chance, by the F ratio of an analysis of
 * variance (R. A. Fisher, 1925) of the first gradients: the variance between levels, by that within them. When sorted by
 * gradient, that many levels can always be partitioned at some gain, and in small trees such splits would displace
 * informative columns. The fewer rows a level has, the more it takes: without two rows in some level nothing shows that
 * levels differ. Returns 1 per such column; undefined if there are none.
 *
 * @param room of a run that has not begun: its contents are overwritten
 */
export function weakCategories(
  { columns, specs, objective, rows }: Learned,
  { scores, gradHess }: Pick<GrowSpace, 'scores' | 'gradHess'>,
): Uint8Array | undefined {
  const asked = specs.flatMap(({ category, bins }, column) =>
    category && bins - 1 > FEW_LEVELS ? [column] : [],
  );
  if (asked.length === 0) {
    return undefined;
  }
  const { width } = objective;
  const base = objective.base(rows);
  for (let i = 0; i < scores.length; i++) {
    scores[i] = base[i % width];
  }
  const between = new Float64Array(asked.length);
  const levels = new Float64Array(asked.length);
  let squares = 0;
  let hessians = 0;
  for (let output = 0; output < width; output++) {
    objective.gradHess(scores, rows, output, gradHess);
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i] * 2;
      squares += gradHess[at] * gradHess[at];
      hessians += gradHess[at + 1];
    }
    asked.forEach((column, i) => {
      const found = betweenLevels(columns[column], rows, gradHess);
      between[i] += found.gain;
      levels[i] += found.levels - 1;
    });
  }
  const weak = new Uint8Array(specs.length);
  const values = rows.length * width;
  const total = hessians > 0 ? (squares * values) / hessians : 0;
  asked.forEach((column, i) => {
    const free = values - levels[i] - width;
    const isWeak = free < 1 || between[i] * free < INFORMATIVE_RATIO * levels[i] * (total - between[i]);
    weak[column] = isWeak ? 1 : 0;
  });
  return weak.includes(1) ? weak : undefined;
}

/** The gain of splitting all levels apart, and the number of levels. */
function betweenLevels(
  bins: Uint8Array,
  rows: Int32Array,
  gradHess: Float64Array,
): { gain: number; levels: number } {
  const gradients = new Float64Array(256);
  const hessians = new Float64Array(256);
  for (let i = 0; i < rows.length; i++) {
    const bin = bins[rows[i]];
    gradients[bin] += gradHess[rows[i] * 2];
    hessians[bin] += gradHess[rows[i] * 2 + 1];
  }
  let gain = 0;
  let levels = 0;
  let gradient = 0;
  let hessian = 0;
  for (let bin = 0; bin < 256; bin++) {
    if (hessians[bin] > 0) {
      levels++;
      gain += (gradients[bin] * gradients[bin]) / hessians[bin];
      gradient += gradients[bin];
      hessian += hessians[bin];
    }
  }
  return { gain: hessian > 0 ? gain - (gradient * gradient) / hessian : 0, levels };
}

/**
 * What a weak category gains by chance for each of its levels, in a tree of these rows.
 *
 * @param gradHess rows × (width + 1), for all rows of the table
 */
export function chanceGain(gradHess: Float64Array, rows: Int32Array, width: number): number {
  let squares = 0;
  let hessians = 0;
  for (let i = 0; i < rows.length; i++) {
    const at = rows[i] * (width + 1);
    for (let d = 0; d < width; d++) {
      squares += gradHess[at + d] * gradHess[at + d];
    }
    hessians += gradHess[at + width];
  }
  return hessians > 0 ? (CHANCE_GAIN * squares) / hessians : 0;
}
