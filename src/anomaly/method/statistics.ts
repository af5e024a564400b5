import { quantileOf } from '../../metrics/regression';

/** Of a normal distribution, the distance from its 5 % to its 95 % quantile, in standard deviations. */
const NORMAL_WIDTH = 3.29;
/** A spread below this share of the middle is rounding. */
const ROUNDING = 1e-9;
/** The spread of a column that never varied, as a share of its middle. */
const STILL = 1e-3;

/** Standardised values are held within this. */
export const MOST_SPREADS = 20;
/** What is missed, in its scale, counts for as much at most in a slow mean. */
export const MOST_IN_MEAN = 8;

/** The middle and the spread of each column. */
export interface Scale {
  middle: Float64Array;
  spread: Float64Array;
}

/**
 * The median of each column, and a spread that outliers do not move: the distance of the 5 % and the 95 % quantile as that
 * of a normal distribution. The standard deviation where that is 0, and a thousandth of the middle where both are.
 *
 * @param values rows × columns; NaN is missing
 */
export function robustScale(values: Float64Array, columns: number): Scale {
  const scale = { middle: new Float64Array(columns), spread: new Float64Array(columns) };
  for (let column = 0; column < columns; column++) {
    measureColumn(scale, column, sortedColumn(values, columns, column));
  }
  return scale;
}

function measureColumn({ middle, spread }: Scale, column: number, sorted: Float64Array): void {
  middle[column] = quantileOf(sorted, 0.5) || 0;
  const width = (quantileOf(sorted, 0.95) - quantileOf(sorted, 0.05)) / NORMAL_WIDTH;
  const size = Math.abs(middle[column]);
  spread[column] =
    width > ROUNDING * size ? width : standardDeviation(sorted) || Math.max(STILL * size, STILL);
}

/** The values of a column that are there, in ascending order. */
export function sortedColumn(values: Float64Array, columns: number, column: number): Float64Array {
  const found = new Float64Array(values.length / columns);
  let count = 0;
  for (let at = column; at < values.length; at += columns) {
    if (!Number.isNaN(values[at])) {
      found[count++] = values[at];
    }
  }
  return found.subarray(0, count).sort();
}

function standardDeviation(values: Float64Array): number {
  let mean = 0;
  for (const value of values) {
    mean += value / values.length;
  }
  let squares = 0;
  for (const value of values) {
    squares += (value - mean) ** 2;
  }
  const deviation = Math.sqrt(squares / values.length) || 0;
  return deviation > ROUNDING * Math.abs(mean) ? deviation : 0;
}

/** What a mean that weighs values by their age gives to the newest one, for a half-life in rows. */
export function shareOfNewest(halfLife: number): number {
  return 1 - 0.5 ** (1 / halfLife);
}

export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/**
 * The three expectations of a sensor: from states and calendar (level), from those and the other sensors now (cross), and
 * from those and the past of all (all).
 */
export const VIEWS = ['level', 'cross', 'all'] as const;
export const LEVEL = 0;
export const CROSS = 1;
export const ALL = 2;

/** The paces beside the row itself: means of what an expectation missed, with these half-lives in rows. */
const PACES = [5, 30];
const PACE_SHARES = PACES.map(shareOfNewest);
/** The half-life of how restless a sensor is, in rows. */
const RESTLESS_SHARE = shareOfNewest(15);
/** What keeps the logarithm of a silent sensor finite, and the most that one row adds. */
const SILENCE = 0.01;
const MOST_RESTLESS = 16;
/** A sensor counts for as much at most in a mean over sensors. */
const MOST_IN_SQUARES = 10;
/** Least scales of what an expectation missed, in usual spreads: below, a miss is no news. */
const LEAST_MISSED = [0.05, 0.02, 0.02];
const LEAST_PACE = 0.1;
const LEAST_RESTLESS = 0.2;
/** The 99 % quantile of a heavy tail raises its scale: it counts as so many spreads. */
const HEAVY_LEVEL = 0.99;
const HEAVY_SPREADS = 3.5;
/** A sensor that is away from its middle in a smaller share of the rows rests there. */
const MOST_AWAY = 0.1;

/** Where a sensor was most unusual: which part of the method saw it. */
export const KINDS = ['disagrees', 'time', 'jumped', 'creeping', 'quiet', 'restless'] as const;
export type OffKind = (typeof KINDS)[number];
/** What a part counts when it is asked which sensor it was. */
const LEVEL_SAY = 0.6;
const RESTLESS_SAY = 0.8;

/**
 * The row statistics: of each view the root mean square over the sensors and the largest, then the largest change of
 * restlessness and the distance to the kept rows.
 */
export const ROW_STATISTICS = 8;
export const LARGEST_OF_ALL = 2 * ALL + 1;
const RESTLESS = 6;
const DISTANCE = 7;

/** What a machine's last rows leave behind for the next one. */
export interface Memory {
  /** views × paces × sensors */
  slow: Float64Array;
  /** sensors: mean square of what the view `all` missed */
  restless: Float64Array;
}

/** The usual size of the slow means and of restlessness, by held-out rows. */
export interface PaceScales {
  /** views × paces */
  slow: Scale[];
  restless: Scale;
  /** sensors: what the largest of the view `all` is measured by; left out by versions before, as 1 */
  reach?: Float64Array;
}

export interface RowStatistics {
  values: Float64Array;
  /** sensors: how unusual, in spreads */
  weights: Float64Array;
  /** sensors: places in `KINDS` */
  kinds: Uint8Array;
  /** sensors: how far off by the view `all`, in spreads; NaN where the cell is missing */
  far: Float64Array;
}

export function emptyStatistics(sensors: number): RowStatistics {
  return {
    values: new Float64Array(ROW_STATISTICS),
    weights: new Float64Array(sensors),
    kinds: new Uint8Array(sensors),
    far: new Float64Array(sensors),
  };
}

/**
 * Sensors differ in how far they go now and then, as a flow does that starts before its pump tells so. So what is largest
 * is measured by how far each goes in so many rows of the history; at least as far as a normal distribution goes. Else one
 * that never jumps is lost behind those that do: of the faults in the voltage of the simulated machines 0.78 were found, now
 * 0.82, of all 0.951 instead of 0.938. Tuned on seeds 13000 to 13007 and 14000 to 14007: measured so in all views more is
 * found, but by 1.25 to 1.5 times the false alarms.
 */
const REACHING_ROWS = 12;
const LEAST_REACH = 3;

/** How far each sensor goes. @param far rows × sensors; NaN is missing */
export function computeReach(far: Float64Array, sensors: number): Float64Array {
  return Float64Array.from({ length: sensors }, (_, j) => {
    const sorted = sortedColumn(far, sensors, j);
    return Math.max(LEAST_REACH, sorted[sorted.length - REACHING_ROWS] ?? 0);
  });
}

/** The largest of a row. @param far of its sensors */
export function largestBy(reach: Float64Array | undefined, far: Float64Array): number {
  let largest = 0;
  far.forEach((value, j) => {
    const by = value / (reach?.[j] ?? 1);
    largest = by > largest ? by : largest;
  });
  return largest;
}

/** The place of the largest weight: the sensor in front. */
export function largestPlace(weights: Float64Array): number {
  let front = 0;
  weights.forEach((weight, j) => (front = weight > weights[front] ? j : front));
  return front;
}

/** As if all had been usual before. */
export function usualMemory({ slow, restless }: PaceScales): Memory {
  return {
    slow: Float64Array.from(slow.flatMap(({ middle }) => [...middle])),
    restless: restless.middle.map((logarithm) => Math.exp(logarithm) - SILENCE),
  };
}

/**
 * The scale of what an expectation missed. A sensor that rests at its middle, and only now and then leaves it, as a rain gauge
 * or a valve that opens once a day, shows in its quantiles what it misses at rest. So what it misses away from its middle
 * counts as much as a heavy tail does.
 *
 * @param missed rows × sensors; @param standard the same, standardised values
 */
export function missedScale(
  missed: Float64Array,
  standard: Float64Array,
  sensors: number,
  view: number,
): Scale {
  const scale = heavyScale(missed, sensors, LEAST_MISSED[view]);
  for (let j = 0; j < sensors; j++) {
    const away: number[] = [];
    let known = 0;
    for (let at = j; at < missed.length; at += sensors) {
      if (!Number.isNaN(missed[at])) {
        known++;
        if (standard[at] !== 0) {
          away.push(Math.abs(missed[at] - scale.middle[j]));
        }
      }
    }
    if (away.length < MOST_AWAY * known) {
      const usual = quantileOf(Float64Array.from(away).sort(), 0.5) || 0;
      scale.spread[j] = Math.max(scale.spread[j], usual / HEAVY_SPREADS);
    }
  }
  return scale;
}

function heavyScale(values: Float64Array, columns: number, least: number): Scale {
  const scale = { middle: new Float64Array(columns), spread: new Float64Array(columns) };
  for (let column = 0; column < columns; column++) {
    const sorted = sortedColumn(values, columns, column);
    measureColumn(scale, column, sorted);
    const sizes = sortedDistances(sorted, scale.middle[column]);
    const heavy = (quantileOf(sizes, HEAVY_LEVEL) || 0) / HEAVY_SPREADS;
    scale.spread[column] = Math.max(scale.spread[column], heavy, least);
  }
  return scale;
}

/** How far ascending values are from one of them, in ascending order: the farthest is at either end. */
function sortedDistances(sorted: Float64Array, from: number): Float64Array {
  const out = new Float64Array(sorted.length);
  let low = 0;
  let high = sorted.length - 1;
  for (let at = high; at >= 0; at--) {
    const below = Math.abs(sorted[low] - from);
    const above = Math.abs(sorted[high] - from);
    if (below > above) {
      out[at] = below;
      low++;
    } else {
      out[at] = above;
      high--;
    }
  }
  return out;
}

/**
 * The usual sizes of slow means and restlessness over held-out rows.
 *
 * @param missed views × (rows × sensors), in their scales; NaN where a cell is missing
 */
export function paceScales(missed: readonly Float64Array[], sensors: number): PaceScales {
  const slow = missed.flatMap((view) =>
    PACE_SHARES.map((share) => {
      const limited = view.map((value) => limit(value));
      return heavyScale(slowMeans(limited, sensors, share, 0), sensors, LEAST_PACE);
    }),
  );
  const squares = missed[ALL].map((value) => Math.min(value * value, MOST_RESTLESS));
  let sum = 0;
  let count = 0;
  for (const square of squares) {
    if (!Number.isNaN(square)) {
      sum += square;
      count++;
    }
  }
  const restless = slowMeans(squares, sensors, RESTLESS_SHARE, count === 0 ? 0 : sum / count);
  return {
    slow,
    restless: heavyScale(
      restless.map((mean) => Math.log(mean + SILENCE)),
      sensors,
      LEAST_RESTLESS,
    ),
  };
}

/** A mean that weighs by age down each column; a missing cell leaves it as it was. */
function slowMeans(values: Float64Array, columns: number, share: number, start: number): Float64Array {
  const out = new Float64Array(values.length);
  for (let column = 0; column < columns; column++) {
    let mean = start;
    for (let at = column; at < values.length; at += columns) {
      if (!Number.isNaN(values[at])) {
        mean += share * (values[at] - mean);
      }
      out[at] = mean;
    }
  }
  return out;
}

function limit(value: number): number {
  return clamp(value, -MOST_IN_MEAN, MOST_IN_MEAN);
}

/**
 * Takes what the expectations of one row missed, and says how unusual that is by each statistic. A missing cell takes no
 * part.
 *
 * @param missed views × sensors, in their scales
 * @param distance to the kept rows
 * @param memory brought up to date
 */
export function takeRow(
  { missed, distance }: { missed: Float64Array; distance: number },
  scales: PaceScales,
  memory: Memory,
  out: RowStatistics,
): void {
  const sensors = out.weights.length;
  out.weights.fill(0);
  out.far.fill(NaN);
  for (let view = 0; view < VIEWS.length; view++) {
    let squares = 0;
    let largest = 0;
    let present = 0;
    for (let j = 0; j < sensors; j++) {
      const value = missed[view * sensors + j];
      if (Number.isNaN(value)) {
        continue;
      }
      present++;
      const now = Math.abs(value);
      let slowest = 0;
      for (let pace = 0; pace < PACES.length; pace++) {
        const scale = scales.slow[view * PACES.length + pace];
        const at = (view * PACES.length + pace) * sensors + j;
        memory.slow[at] += PACE_SHARES[pace] * (limit(value) - memory.slow[at]);
        slowest = Math.max(slowest, Math.abs(memory.slow[at] - scale.middle[j]) / scale.spread[j]);
      }
      const most = Math.max(now, slowest);
      squares += Math.min(most, MOST_IN_SQUARES) ** 2;
      largest = Math.max(largest, most);
      out.far[j] = view === ALL ? most : out.far[j];
      weigh(out, j, view === LEVEL ? LEVEL_SAY * most : most, offKind(view, now >= slowest));
    }
    out.values[2 * view] = present === 0 ? 0 : Math.sqrt(squares / present);
    out.values[2 * view + 1] = largest;
  }
  out.values[LARGEST_OF_ALL] = largestBy(scales.reach, out.far);
  out.values[RESTLESS] = takeRestless(missed, scales.restless, memory, out);
  out.values[DISTANCE] = distance;
}

function takeRestless(
  missed: Float64Array,
  { middle, spread }: Scale,
  memory: Memory,
  out: RowStatistics,
): number {
  const sensors = out.weights.length;
  let largest = 0;
  for (let j = 0; j < sensors; j++) {
    const value = missed[ALL * sensors + j];
    if (Number.isNaN(value)) {
      continue;
    }
    const square = Math.min(value * value, MOST_RESTLESS);
    memory.restless[j] += RESTLESS_SHARE * (square - memory.restless[j]);
    const off = (Math.log(memory.restless[j] + SILENCE) - middle[j]) / spread[j];
    largest = Math.max(largest, Math.abs(off));
    weigh(out, j, RESTLESS_SAY * Math.abs(off), off < 0 ? 4 : 5);
  }
  return largest;
}

function offKind(view: number, isNow: boolean): number {
  if (view === CROSS) {
    return 0;
  }
  return view === LEVEL ? 1 : isNow ? 2 : 3;
}

function weigh(out: RowStatistics, sensor: number, weight: number, kind: number): void {
  if (weight > out.weights[sensor]) {
    out.weights[sensor] = weight;
    out.kinds[sensor] = kind;
  }
}
