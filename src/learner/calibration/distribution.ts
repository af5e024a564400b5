import { log } from '../math/numeric';

/**
 * A distribution of weighted atoms: `atoms` ascending, `weights` non-negative with a positive sum. Its distribution
 * function is linear between the midpoints of neighbouring atoms' weights and ends at the outermost atoms, so
 * quantiles never cross and never leave the range of the atoms.
 */
export interface Atoms {
  atoms: Float64Array;
  weights: Float64Array;
}

/** Quantiles at ascending `levels`, written to `out`. */
export function writeQuantiles(
  { atoms, weights }: Atoms,
  levels: ArrayLike<number>,
  out: Float64Array,
): void {
  let total = 0;
  for (const weight of weights) {
    total += weight;
  }
  let below = 0;
  let previousAt = 0;
  let previous = NaN;
  let next = 0;
  for (let i = 0; i < atoms.length && next < levels.length; i++) {
    const weight = weights[i];
    if (weight <= 0) {
      continue;
    }
    const at = (below + weight / 2) / total;
    below += weight;
    const atom = atoms[i];
    for (; next < levels.length && levels[next] <= at; next++) {
      const level = levels[next];
      const share = Number.isNaN(previous) ? 1 : (level - previousAt) / (at - previousAt);
      out[next] = Number.isNaN(previous)
        ? atom
        : previous + (atom - previous) * Math.min(1, Math.max(0, share));
    }
    previous = atom;
    previousAt = at;
  }
  for (; next < levels.length; next++) {
    out[next] = previous;
  }
}

/** The probability of a value of at most `x`, for ascending `points`, written to `out`. */
export function writeCumulative(
  { atoms, weights }: Atoms,
  points: ArrayLike<number>,
  out: Float64Array,
): void {
  let total = 0;
  for (const weight of weights) {
    total += weight;
  }
  let below = 0;
  let previousAt = 0;
  let previous = -Infinity;
  let next = 0;
  for (let i = 0; i < atoms.length && next < points.length; i++) {
    const weight = weights[i];
    if (weight <= 0) {
      continue;
    }
    const at = (below + weight / 2) / total;
    below += weight;
    const atom = atoms[i];
    for (; next < points.length && points[next] < atom; next++) {
      const gap = atom - previous;
      out[next] = gap < Infinity ? previousAt + ((at - previousAt) * (points[next] - previous)) / gap : 0;
    }
    previous = atom;
    previousAt = at;
  }
  for (; next < points.length; next++) {
    out[next] = 1;
  }
}

const MODE_LEVELS = Float64Array.from({ length: 64 }, (_, i) => (i + 0.5) / 64);
const MODE_WINDOW = 16;

/** The mode: the midpoint of the shortest interval that holds a quarter of the probability. */
export function findMode(distribution: Atoms): number {
  const grid = new Float64Array(MODE_LEVELS.length);
  writeQuantiles(distribution, MODE_LEVELS, grid);
  let start = 0;
  let shortest = Infinity;
  for (let i = 0; i + MODE_WINDOW < grid.length; i++) {
    const length = grid[i + MODE_WINDOW] - grid[i];
    if (length < shortest) {
      shortest = length;
      start = i;
    }
  }
  return grid[start + MODE_WINDOW / 2];
}

/** How much of a distribution comes from that of the whole target, and its share of each bucket. */
export interface BucketFloor {
  weight: number;
  shares: Float64Array;
}

/**
 * Logarithms of the probabilities between adjacent borders; the end buckets include everything outside. With a floor
 * no bucket is impossible, and the mean of the buckets stays where it was.
 */
export function bucketLogits(
  distribution: Atoms,
  borders: Float64Array,
  out: Float64Array,
  to: number,
  floor?: BucketFloor,
): void {
  const buckets = borders.length - 1;
  const cumulative = new Float64Array(borders.length);
  writeCumulative(distribution, borders, cumulative);
  cumulative[0] = 0;
  cumulative[buckets] = 1;
  const inside = cumulative.subarray(0, buckets).map((below, b) => Math.max(0, cumulative[b + 1] - below));
  if (floor) {
    mixWithFloor(inside, borders, floor);
  }
  for (let b = 0; b < buckets; b++) {
    out[to + b] = log(inside[b]);
  }
}

/**
 * Mixes the probabilities of buckets with those of a floor, whose parts below and above their mean are weighted so that
 * it has the same mean.
 */
function mixWithFloor(inside: Float64Array, borders: Float64Array, { weight, shares }: BucketFloor): void {
  const middles = inside.map((_, b) => borders[b] / 2 + borders[b + 1] / 2);
  const mean = inside.reduce((sum, share, b) => sum + share * middles[b], 0);
  const [low, high] = [partOf(true), partOf(false)];
  const below = low.mean < mean && mean < high.mean ? (high.mean - mean) / (high.mean - low.mean) : low.share;
  for (let b = 0; b < inside.length; b++) {
    const ofPart = middles[b] <= mean ? below / low.share : (1 - below) / high.share;
    inside[b] = (1 - weight) * inside[b] + weight * ofPart * shares[b];
  }

  /** The buckets up to the mean, or those above it: their share of the floor, and its mean. */
  function partOf(upToMean: boolean): { share: number; mean: number } {
    let share = 0;
    let sum = 0;
    for (let b = 0; b < shares.length; b++) {
      if (middles[b] <= mean === upToMean) {
        share += shares[b];
        sum += shares[b] * middles[b];
      }
    }
    return { share, mean: sum / share };
  }
}
