import { quantileOf } from '../../metrics/regression';

/** Excesses fewer rows apart than this belong to one episode. */
export const HOLD_ROWS = 30;
/** Where the tail begins, before there are too many episodes beyond. */
const FIRST_THRESHOLD = 0.95;
/** As many episodes at most shape the tail, or this share of the rows. */
const MOST_EPISODES = 15;
const EPISODE_SHARE = 0.02;
/** The threshold is raised to this quantile of the episodes' peaks, as often as it takes. */
const NEXT_THRESHOLD = 0.35;
const RAISES = 8;
const RANKS = 100;
/** Nothing is called rarer than once in 10^100 rows: far beyond, so that a larger fault still exceeds a large one. */
const RAREST = 100;
const LN10 = Math.log(10);
/**
 * Rarities exceed a threshold by so much in the mean if they are right: as if of so many episodes beside those seen. How
 * many hardly matters: 0, 5 and 20 send the same alarms on motors 141 to 144 (docs/benchmarks/anomaly.md).
 */
const RARITY_EXCESS = 1 / LN10;
const RARITY_EPISODES = 5;

/**
 * How rare the values of a statistic are, in −log10 of episodes a row: a value of 4 is met in one episode in 10,000 rows.
 * Values below the threshold go by their rank. Beyond it, a generalised Pareto distribution is fitted to the peaks of
 * separate episodes, since neighbouring rows are one event (peaks over threshold with declustering: Coles, An
 * Introduction to Statistical Modeling of Extreme Values, 2001, chapters 4 and 5).
 */
export interface Tail {
  threshold: number;
  /** Rarity at the threshold. */
  top: number;
  shape: number;
  scale: number;
  /** The values at 100 evenly spaced ranks up to the threshold, ascending, and how rare each is. */
  values: Float64Array;
  rarities: Float64Array;
}

/** @param statistic one value a row, in order of time; NaN is missing */
export function fitTail(statistic: Float64Array): Tail {
  return tailBy(fitPareto, statistic, 0);
}

/**
 * The tail of how rare rows are. Rarities are logarithms of a probability, so what exceeds a threshold is exponential
 * whatever the tails of the statistics are. A Pareto distribution would count a heavy tail twice: after 50 minutes of
 * constant load an alarm then had to be so rare on some motors that a doubled current sent none
 * (docs/benchmarks/anomaly.md). Where the rows show few episodes, how far they go is hardly taken from them: one large
 * one, such as a machine that warms up, says nothing of the next.
 *
 * @param rarities one a row, in order of time; NaN is missing
 */
export function fitRarityTail(rarities: Float64Array): Tail {
  return tailBy(fitRarities, rarities, RARITY_EPISODES);
}

/** @param more episodes that are known beside those seen */
function tailBy(fit: (excesses: number[]) => ExcessFit, statistic: Float64Array, more: number): Tail {
  const known = statistic.filter((value) => !Number.isNaN(value));
  const sorted = known.slice().sort();
  const rows = Math.max(1, known.length);
  let threshold = quantileOf(sorted, FIRST_THRESHOLD) || 0;
  let peaks = episodePeaks(known, threshold);
  for (
    let raise = 0;
    raise < RAISES && peaks.length > Math.max(MOST_EPISODES, EPISODE_SHARE * rows);
    raise++
  ) {
    threshold = quantileOf(Float64Array.from(peaks).sort(), NEXT_THRESHOLD);
    peaks = episodePeaks(known, threshold);
  }
  const episodes = Math.max(1, peaks.length);
  const { shape, scale } = fit(peaks.map((peak) => peak - threshold));
  let beyond = 0;
  for (const value of known) {
    beyond += Number(value > threshold);
  }
  const top = -Math.log10(episodes / rows);
  const bulk = 1 - Math.max(beyond, 1) / rows;
  const values = new Float64Array(RANKS);
  const rarities = new Float64Array(RANKS);
  const last = -Math.log10(1 - bulk);
  for (let rank = 0; rank < RANKS; rank++) {
    const level = (bulk * rank) / (RANKS - 1);
    values[rank] = rank === RANKS - 1 ? threshold : quantileOf(sorted, level) || 0;
    rarities[rank] = (-Math.log10(1 - level) * top) / Math.max(last, 1e-9);
  }
  // Few episodes say little of what lies beyond them: the fewer, the longer the tail is taken to be.
  const widened = Math.max(scale, 0.02 * Math.max(threshold, 1e-6)) * (1 + 1 / Math.sqrt(episodes + more));
  return { threshold, top, shape, scale: widened, values, rarities };
}

/** How rare a value is: −log10 of episodes a row. */
export function computeRarity(tail: Tail, value: number): number {
  if (value > tail.threshold) {
    const excess = (value - tail.threshold) / tail.scale;
    const beyond = tail.shape > 1e-6 ? Math.log1p(tail.shape * excess) / tail.shape : excess;
    return Math.min(RAREST, tail.top + beyond / LN10);
  }
  return between(tail.values, tail.rarities, value);
}

/** What belongs to a place among ascending ones, between two of them by linear interpolation. */
function between(from: Float64Array, to: Float64Array, place: number): number {
  if (!(place > from[0])) {
    return to[0];
  }
  let below = 0;
  let above = RANKS - 1;
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (from[middle] <= place) {
      below = middle;
    } else {
      above = middle;
    }
  }
  const width = from[above] - from[below];
  const share = width > 0 ? Math.min(1, (place - from[below]) / width) : 1;
  return to[below] + share * (to[above] - to[below]);
}

/** The value that is as rare as this: the inverse of `computeRarity`. */
export function valueOfRarity(tail: Tail, rarity: number): number {
  const beyond = (rarity - tail.top) * LN10;
  if (beyond > 0) {
    const excess = tail.shape > 1e-6 ? Math.expm1(beyond * tail.shape) / tail.shape : beyond;
    return tail.threshold + excess * tail.scale;
  }
  return between(tail.rarities, tail.values, rarity);
}

/** The largest value of each episode: rows beyond the threshold with fewer than `HOLD_ROWS` others between them. */
function episodePeaks(statistic: Float64Array, threshold: number): number[] {
  const peaks: number[] = [];
  let last = -Infinity;
  for (let row = 0; row < statistic.length; row++) {
    const value = statistic[row];
    if (!(value > threshold)) {
      continue;
    }
    if (row - last > HOLD_ROWS) {
      peaks.push(value);
    } else {
      peaks[peaks.length - 1] = Math.max(peaks[peaks.length - 1], value);
    }
    last = row;
  }
  return peaks;
}

interface ExcessFit {
  shape: number;
  scale: number;
}

function fitRarities(excesses: number[]): ExcessFit {
  const sum = excesses.reduce((all, excess) => all + excess, RARITY_EPISODES * RARITY_EXCESS);
  return { shape: 0, scale: sum / (excesses.length + RARITY_EPISODES) };
}

/**
 * A generalised Pareto distribution by probability-weighted moments (Hosking and Wallis, Technometrics 29, 1987), its
 * shape held within 0 and 0.5: no end of the tail, and a finite variance.
 */
function fitPareto(excesses: number[]): ExcessFit {
  const sorted = Float64Array.from(excesses).sort();
  const count = sorted.length;
  let mean = 0;
  let weighted = 0;
  for (let i = 0; i < count; i++) {
    mean += sorted[i] / count;
    weighted += (sorted[i] * (count - 1 - i)) / (count - 1) / count;
  }
  if (count < 5 || !(sorted[count - 1] > 0)) {
    return { shape: 0, scale: count === 0 ? 1 : Math.max(mean, 1e-6) };
  }
  const k = mean > 2 * weighted + 1e-12 ? mean / (mean - 2 * weighted) - 2 : 0;
  const shape = Math.min(0.5, Math.max(0, -k));
  return { shape, scale: Math.max(mean * (1 - shape), 1e-9) };
}
