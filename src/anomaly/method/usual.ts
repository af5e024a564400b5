import { quantileOf } from '../../metrics/regression';
import {
  beginPast,
  type Expectations,
  expected,
  inputCount,
  regressionsByView,
  takeIntoPast,
  type Width,
} from './ridge';
import {
  clamp,
  CROSS,
  emptyStatistics,
  LEVEL,
  type Memory,
  MOST_SPREADS,
  type PaceScales,
  ROW_STATISTICS,
  type RowStatistics,
  type Scale,
  shareOfNewest,
  takeRow,
  usualMemory,
  VIEWS,
} from './statistics';
import { computeRarity, type Tail } from './tail';

/** The half-lives, in rows, of the means of the past that the view `all` knows. */
export const PAST_SHARES = [1, 10].map(shareOfNewest);
/** Missing cells are filled from each other, so often. */
const FILLS = 3;
/** A view speaks of an expected value where it explains so much of the sensor's variance on held-out rows. */
export const TRUSTED_R2 = 0.5;

/**
 * What counts of how much rarer one statistic is than all others. Chosen between 0 and 1 on simulated machines (seeds 13000
 * to 13007 and 14000 to 14007) and on SKAB, ASD, SMD and turbofan; judged on other machines (docs/benchmarks/anomaly.md).
 */
export const ALONE = 1 / 3;

/** What is usual for a machine: learned from its readings alone, without labels. */
export interface UsualModel {
  width: Width;
  /** Of the sensors, in their units. */
  scale: Scale;
  expectations: Expectations;
  near: NearRows;
  /** Of what each view missed on held-out rows, in spreads. */
  missed: Scale[];
  paces: PaceScales;
  tails: Tail[];
  /** Of how unusual rows are by all eight, and the `ALONE` that they were put together by. */
  total: Tail;
  alone?: number;
  known: Known[];
}

/** How well a view knows the sensors, by held-out rows. */
export interface Known {
  /** sensors: share of the variance that it explains */
  r2: Float64Array;
  /** sensors: 5 % and 95 % quantile of what it missed, in spreads */
  low: Float64Array;
  high: Float64Array;
}

/** What the last rows of a machine leave behind. */
export interface RowMemory extends Memory {
  /** two means of the past × sensors; undefined before the first row */
  past: Float64Array | undefined;
}

export interface ScoredRow extends RowStatistics {
  /** By `combinedRarity`; `total` says how often the like comes. */
  rarity: number;
  /** views × sensors, in units of the sensors */
  expected: Float64Array;
}

/** How many rows bring the memories of a fit up to date: five half-lives of the slowest. */
export const WARM_ROWS = 150;

export function freshMemory({ paces }: UsualModel): RowMemory {
  return { ...usualMemory(paces), past: undefined };
}

/**
 * How unusual a row is.
 *
 * @param values sensors, in their units; NaN where a cell is missing
 * @param context states and calendar
 * @param memory brought up to date
 */
export function scoreRow(
  usual: UsualModel,
  values: Float64Array,
  context: Float64Array,
  memory: RowMemory,
): ScoredRow {
  const { width, scale, expectations } = usual;
  const { sensors } = width;
  const inputs = new Float64Array(inputCount(width));
  const row = inputs.subarray(0, sensors);
  for (let j = 0; j < sensors; j++) {
    row[j] = clamp((values[j] - scale.middle[j]) / scale.spread[j], -MOST_SPREADS, MOST_SPREADS);
  }
  inputs.set(context, sensors);
  const missing = fillMissing(expectations, width, inputs);
  memory.past ??= beginPast(row, PAST_SHARES);
  inputs.set(memory.past, sensors + width.context);
  takeIntoPast(memory.past, PAST_SHARES, row);
  const views = expectRow({ expectations, near: usual.near, width }, inputs, 0);
  const missed = new Float64Array(VIEWS.length * sensors);
  for (let view = 0; view < VIEWS.length; view++) {
    const { middle, spread } = usual.missed[view];
    for (let j = 0; j < sensors; j++) {
      missed[view * sensors + j] = missing[j]
        ? NaN
        : (row[j] - views.expected[view * sensors + j] - middle[j]) / spread[j];
    }
  }
  const out = emptyStatistics(sensors);
  takeRow({ missed, distance: views.distance }, usual.paces, memory, out);
  const rarity = combinedRarity(usual.tails, out.values);
  const inUnits = views.expected.map(
    (value, at) => scale.middle[at % sensors] + scale.spread[at % sensors] * value,
  );
  return { ...out, rarity, expected: inUnits };
}

/**
 * How unusual a row is by its eight statistics: as rare as the second rarest, and by a part of what the rarest is beyond it.
 * One statistic alone may have a tail that the train rows show badly, such as the restlessness of servers; two rarely have.
 */
export function combinedRarity(tails: readonly Tail[], statistics: Float64Array): number {
  let [first, second] = [0, 0];
  for (let statistic = 0; statistic < ROW_STATISTICS; statistic++) {
    const rarity = computeRarity(tails[statistic], statistics[statistic]);
    second = Math.max(second, Math.min(first, rarity));
    first = Math.max(first, rarity);
  }
  return second + ALONE * (first - second);
}

/** Fills missing cells of a row with what the other sensors let expect. Answers which were missing. */
function fillMissing(expectations: Expectations, width: Width, inputs: Float64Array): boolean[] {
  const missing = Array.from(inputs.subarray(0, width.sensors), Number.isNaN);
  const places = missing.flatMap((is, j) => (is ? [j] : []));
  if (places.length === 0) {
    return missing;
  }
  const regressions = regressionsByView(expectations, width);
  for (const j of places) {
    inputs[j] = expected(regressions[LEVEL], j, inputs, 0);
  }
  for (let fill = 0; fill < (places.length > 1 ? FILLS : 1); fill++) {
    for (const j of places) {
      inputs[j] = clamp(expected(regressions[CROSS], j, inputs, 0), -MOST_SPREADS, MOST_SPREADS);
    }
  }
  return missing;
}

/** What the three views expect of each sensor, standardised: views × sensors, and the distance to the kept rows. */
export function expectRow(
  { expectations, near, width }: { expectations: Expectations; near: NearRows | undefined; width: Width },
  inputs: Float64Array,
  at: number,
): { expected: Float64Array; distance: number } {
  const { sensors } = width;
  const out = new Float64Array(VIEWS.length * sensors);
  regressionsByView(expectations, width).forEach((regressions, view) => {
    for (let j = 0; j < sensors; j++) {
      out[view * sensors + j] = expected(regressions, j, inputs, at);
    }
  });
  const distance =
    near === undefined
      ? 0
      : correctByNearRows(
          near,
          inputs.subarray(at, at + sensors),
          out.subarray(CROSS * sensors, (CROSS + 1) * sensors),
        );
  return { expected: out, distance };
}

/**
 * The kept rows with what the ridge of each sensor from the others missed there.
 *
 * @param places rows to choose from
 */
export function keepRows(
  expectations: Expectations,
  width: Width,
  inputs: Float64Array,
  places: readonly number[],
): NearRows {
  const { sensors } = width;
  const columns = inputCount(width);
  const regressions = regressionsByView(expectations, width)[CROSS];
  const kept = keptPlaces(places.length).map((i) => places[i]);
  const rows = new Float64Array(kept.length * sensors);
  const missed = new Float64Array(kept.length * sensors);
  kept.forEach((row, k) => {
    for (let j = 0; j < sensors; j++) {
      const value = inputs[row * columns + j];
      rows[k * sensors + j] = value;
      missed[k * sensors + j] = value - expected(regressions, j, inputs, row * columns);
    }
  });
  return { rows, missed };
}

/** How well a view knows the sensors. @param missed rows × sensors, in spreads; @param values the same, standardised */
export function knownBy(missed: Float64Array, values: Float64Array, sensors: number): Known {
  const known = {
    r2: new Float64Array(sensors),
    low: new Float64Array(sensors),
    high: new Float64Array(sensors),
  };
  for (let j = 0; j < sensors; j++) {
    const left: number[] = [];
    const all: number[] = [];
    for (let at = j; at < missed.length; at += sensors) {
      if (!Number.isNaN(missed[at])) {
        left.push(missed[at]);
        all.push(values[at]);
      }
    }
    const total = variance(all);
    known.r2[j] = total > 0 ? 1 - meanSquare(left) / total : 0;
    const sorted = Float64Array.from(left).sort();
    known.low[j] = quantileOf(sorted, 0.05) || 0;
    known.high[j] = quantileOf(sorted, 0.95) || 0;
  }
  return known;
}

function meanSquare(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length);
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return meanSquare(values) - mean * mean;
}

/** As many rows of the train set are kept, evenly spread. */
const NEAR_ROWS = 400;
/** Of the kept rows, the nearest by the other sensors correct an expectation. */
const NEAREST = 10;
/** The squared difference of one sensor counts for as much at most. */
const MOST_APART = 9;
/** How fast a kept row loses its say with its distance, and what pulls the correction to nothing far from all. */
const REACH = 0.5;
const SHRINK = 2;
/** How unlike all rows a row is: its distance to the fifth nearest. */
const NEIGHBOUR = 5;

/** Rows of the train set with what the ridge of each sensor from the others missed there. */
export interface NearRows {
  /** kept × sensors, standardised */
  rows: Float64Array;
  /** kept × sensors */
  missed: Float64Array;
}

/** Evenly spread places among `count`: at most `NEAR_ROWS`. */
function keptPlaces(count: number): number[] {
  const kept = Math.min(NEAR_ROWS, count);
  return Array.from({ length: kept }, (_, i) =>
    kept === 1 ? 0 : Math.floor((i * (count - 1)) / (kept - 1)),
  );
}

/**
 * Corrects what each sensor is expected to be by what was missed in the nearest kept rows: a kernel regression of the
 * residuals, which bends the straight lines of the ridge and fades far from every known row. As in auto-associative
 * kernel regression, distances are those of the other sensors.
 *
 * @param row sensors, standardised
 * @param expected sensors: corrected in place
 * @returns the distance to the fifth nearest kept row
 */
function correctByNearRows(near: NearRows, row: Float64Array, expected: Float64Array): number {
  const sensors = row.length;
  const { rows, missed } = near;
  const kept = rows.length / sensors;
  if (kept === 0) {
    return 0;
  }
  makeRoom(kept, sensors);
  for (let k = 0, at = 0; k < kept; k++) {
    let sum = 0;
    for (let j = 0; j < sensors; j++, at++) {
      const difference = row[j] - rows[at];
      const square = difference * difference;
      const counted = square < MOST_APART ? square : MOST_APART;
      squares[at] = counted;
      sum += counted;
    }
    apart[k] = sum;
  }
  const count = Math.min(NEAREST, kept);
  nearest.fill(Infinity);
  for (let k = 0; k < kept; k++) {
    if (apart[k] < nearest[count - 1]) {
      insert(apart[k], k, count);
    }
  }
  const neighbour = nearest[Math.min(NEIGHBOUR, kept) - 1];
  // Without one sensor a row is nearer by `MOST_APART` at most, and so many are as near as this: no other is among them.
  const bound = nearest[count - 1];
  let candidates = 0;
  for (let k = 0; k < kept; k++) {
    if (apart[k] - MOST_APART <= bound) {
      candidate[candidates++] = k;
    }
  }
  const reach = REACH * Math.max(1, sensors - 1);
  for (let j = 0; j < sensors; j++) {
    nearest.fill(Infinity);
    let farthest = bound;
    for (let i = 0; i < candidates; i++) {
      const k = candidate[i];
      const distance = apart[k] - squares[k * sensors + j];
      if (distance <= farthest && distance < nearest[count - 1]) {
        insert(distance, k, count);
        farthest = Math.min(bound, nearest[count - 1]);
      }
    }
    let weights = SHRINK;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const weight = Math.exp(-nearest[i] / reach);
      weights += weight;
      sum += weight * missed[places[i] * sensors + j];
    }
    expected[j] += sum / weights;
  }
  return Math.sqrt(Math.max(0, neighbour));
}

/** kept rows: how far each is, and those that may be among the nearest without some sensor */
let apart = new Float64Array(NEAR_ROWS);
let candidate = new Int32Array(NEAR_ROWS);
/** kept × sensors: how much each counts of it */
let squares = new Float64Array(0);
const nearest = new Float64Array(NEAREST);
const places = new Int32Array(NEAREST);

function makeRoom(kept: number, sensors: number): void {
  if (apart.length < kept) {
    apart = new Float64Array(kept);
    candidate = new Int32Array(kept);
  }
  if (squares.length < kept * sensors) {
    squares = new Float64Array(kept * sensors);
  }
}

/** Puts a distance in its place among the `count` least. */
function insert(distance: number, place: number, count: number): void {
  let at = count - 1;
  while (at > 0 && nearest[at - 1] > distance) {
    nearest[at] = nearest[at - 1];
    places[at] = places[at - 1];
    at--;
  }
  nearest[at] = distance;
  places[at] = place;
}
