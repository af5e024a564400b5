import type { EncodedTable } from '../features/encode';
import { standardised } from '../linear/design';
import { exp } from '../math/numeric';
import { inducingRows } from './inducing';
import { type Dimensions, KIND, someDimensions } from './kernel';

/**
 * A function of one direction: of a weighted sum of standardised columns, such as a difference that must be right. It is linear
 * between `values`, which begin at `from` and are `step` apart, and goes on as it ends.
 */
export interface Ridge {
  /** Per column of numbers: its mean and scale, and its weight in the sum. */
  columns: Uint16Array;
  means: Float64Array;
  scales: Float64Array;
  weights: Float64Array;
  from: number;
  step: number;
  values: Float32Array;
}

/** What a kernel of one direction is made of: its variance, and √5 / length of each dimension. */
export interface RidgeShape {
  variance: number;
  weights: Float64Array;
}

/** A direction over the rows of a table, as features of a linear regression. */
export interface RidgeFeatures {
  /** Without values. */
  ridge: Omit<Ridge, 'values'>;
  /** Features × places: what a feature adds to the values. */
  factor: Float64Array;
  /** Of each row, where it lies among the places. */
  at: Float64Array;
  /** Features of a row. */
  count: number;
}

/** Weights below this part of the largest are none: the fewer columns, the simpler to explain. */
const LEAST_WEIGHT = 0.02;
/** Most columns of a direction: explaining tries all sets of them. */
export const MOST_RIDGE_COLUMNS = 8;
/** Between two places, in lengths of the kernel times √5; and how many there may be. */
const APART = 0.25;
const PLACES = { least: 16, most: 256 };
const MOST_FEATURES = 60;
/** Fraction of the variance that features may leave unexplained. */
const LEFT = 1e-3;

/** The value of a ridge where the sum is `t`. */
export function ridgeAt({ from, step, values }: Ridge, t: number): number {
  const last = values.length - 1;
  const place = Math.min(last, Math.max(0, (t - from) / step));
  const left = Math.min(last - 1, Math.floor(place));
  return values[left] + (place - left) * (values[left + 1] - values[left]);
}

/** What a column adds to the sum. */
export function alongRidge(
  { means, scales, weights }: Omit<Ridge, 'values'>,
  i: number,
  value: number,
): number {
  return weights[i] * standardised(value, means[i], scales[i]);
}

/** Where rows lie along the direction. */
function findPlaces(ridge: Omit<Ridge, 'values'>, { numbers }: EncodedTable, rows: Int32Array): Float64Array {
  const out = new Float64Array(rows.length);
  ridge.columns.forEach((column, i) => {
    const values = numbers[column]!;
    for (let row = 0; row < rows.length; row++) {
      out[row] += alongRidge(ridge, i, values[rows[row]]);
    }
  });
  return out;
}

/** The scores of rows. */
export function ridgeScores(ridge: Ridge, table: EncodedTable, rows: Int32Array): Float64Array {
  return findPlaces(ridge, table, rows).map((t) => ridgeAt(ridge, t));
}

/** The features of a kernel of one direction, for all rows: of places along it, between which they are linear. */
export function ridgeFeatures(
  dimensions: Dimensions,
  { variance, weights: all }: RidgeShape,
  table: EncodedTable,
  rows: Int32Array,
): RidgeFeatures {
  const least = LEAST_WEIGHT * Math.max(...all.map(Math.abs));
  const used = Array.from(all.keys())
    .filter((d) => dimensions.kinds[d] === KIND.number && Math.abs(all[d]) > least)
    .sort((a, b) => Math.abs(all[b]) - Math.abs(all[a]) || a - b)
    .slice(0, MOST_RIDGE_COLUMNS)
    .sort((a, b) => a - b);
  const { columns, means, scales } = someDimensions(dimensions, used);
  const weights = Float64Array.from(used, (d) => all[d]);
  const ridge = { columns, means, scales, weights, from: 0, step: 1 };
  const own = findPlaces(ridge, table, rows);
  const [low, high] = own.reduce(([a, b], t) => [Math.min(a, t), Math.max(b, t)], [Infinity, -Infinity]);
  const places = Math.max(PLACES.least, Math.min(PLACES.most, Math.ceil((high - low) / APART)));
  const step = Math.max(high - low, 1e-9) / (places - 1);
  const grid = Float64Array.from({ length: places }, (_, i) => i * step);
  const one = { columns: Uint16Array.of(0), kinds: Uint8Array.of(KIND.number), means: grid, scales: grid };
  const { pivots, factor } = inducingRows(one, { rates: Float64Array.of(1) }, grid, MOST_FEATURES, LEFT);
  const root = Math.sqrt(variance);
  return {
    ridge: { ...ridge, from: low, step },
    factor: factor.map((value) => root * value),
    at: own.map((t) => (t - low) / step),
    count: pivots.length,
  };
}

/** Writes the features of a row, from `to` on. */
export function writeRidgeFeatures(
  { factor, at, count }: RidgeFeatures,
  row: number,
  out: Float64Array,
  to: number,
): void {
  const places = factor.length / count;
  const left = Math.min(places - 2, Math.floor(at[row]));
  const share = at[row] - left;
  for (let i = 0, from = left; i < count; i++, from += places) {
    out[to + i] = (1 - share) * factor[from] + share * factor[from + 1];
  }
}

/** The ridge of these weights of its features. */
export function ridgeOfWeights({ ridge, factor, count }: RidgeFeatures, weights: Float64Array): Ridge {
  const places = factor.length / count;
  const values = new Float32Array(places);
  for (let place = 0; place < places; place++) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      sum += weights[i] * factor[i * places + place];
    }
    values[place] = sum;
  }
  return { ...ridge, values };
}

/** Kernels of one direction between all pairs of rows i > j, with their slopes by the weights of the direction. */
export class RidgePairs {
  private readonly kernels: Float64Array[] = [];
  private readonly slopes: Float64Array[] = [];

  /** @param positions rows × dimensions */
  constructor(
    private readonly positions: Float64Array,
    private readonly size: number,
  ) {}

  /** Adds the kernels to the lower triangle of a matrix, and to its diagonal. */
  add(ridges: readonly RidgeShape[], matrix: Float64Array): void {
    const { positions, size } = this;
    const count = positions.length / size;
    ridges.forEach(({ variance, weights }, r) => {
      const kernel = (this.kernels[r] ??= new Float64Array((size * (size - 1)) / 2));
      const slope = (this.slopes[r] ??= new Float64Array(kernel.length));
      const at = new Float64Array(size);
      for (let i = 0; i < size; i++) {
        for (let d = 0; d < count; d++) {
          at[i] += weights[d] * positions[i * count + d];
        }
      }
      for (let i = 0, pair = 0; i < size; i++) {
        for (let j = 0; j < i; j++, pair++) {
          const gap = at[i] - at[j];
          const s = Math.abs(gap);
          const falling = variance * exp(-s);
          kernel[pair] = (1 + s + (s * s) / 3) * falling;
          slope[pair] = ((-gap * (1 + s)) / 3) * falling;
          matrix[i * size + j] += kernel[pair];
        }
        matrix[i * size + i] += variance;
      }
    });
  }

  /**
   * Writes the derivatives of the sum of share × kernel, as they were added: by the logarithm of the variance, then by each
   * weight.
   *
   * @param shares per pair
   * @param ofDiagonal the sum of the shares of the diagonal
   */
  writeSlopes(
    ridges: readonly RidgeShape[],
    shares: Float64Array,
    ofDiagonal: number,
    out: Float64Array,
  ): void {
    const { positions, size } = this;
    const count = positions.length / size;
    out.fill(0);
    ridges.forEach(({ variance }, r) => {
      const at = r * (count + 1);
      const ofRow = new Float64Array(size);
      for (let i = 0, pair = 0; i < size; i++) {
        for (let j = 0; j < i; j++, pair++) {
          out[at] += shares[pair] * this.kernels[r][pair];
          const slope = shares[pair] * this.slopes[r][pair];
          ofRow[i] += slope;
          ofRow[j] -= slope;
        }
      }
      out[at] += variance * ofDiagonal;
      for (let i = 0; i < size; i++) {
        for (let d = 0; d < count; d++) {
          out[at + 1 + d] += ofRow[i] * positions[i * count + d];
        }
      }
    });
  }
}
