import { quantileOf } from '../../metrics/regression';
import { type AnchorReference, anchorReference } from './creep';
import type { KeptHistory } from './history';
import { arrangeTrainRows, type SensorLayout } from './layout';
import {
  added,
  arrangeInputs,
  fitExpectations,
  heldOutBlocks,
  type HistoryRows,
  inputCount,
  type InputMoments,
  sumMoments,
} from './ridge';
import {
  ALL,
  clamp,
  computeReach,
  CROSS,
  emptyStatistics,
  LARGEST_OF_ALL,
  largestBy,
  largestPlace,
  missedScale,
  MOST_SPREADS,
  paceScales,
  robustScale,
  ROW_STATISTICS,
  shareOfNewest,
  sortedColumn,
  takeRow,
  usualMemory,
  VIEWS,
} from './statistics';
import { fitRarityTail, fitTail } from './tail';
import {
  ALONE,
  combinedRarity,
  expectRow,
  freshMemory,
  keepRows,
  knownBy,
  PAST_SHARES,
  scoreRow,
  type UsualModel,
  WARM_ROWS,
} from './usual';

/** What a fit takes and gives: it may be made in another thread. */
export interface LearnTask {
  history: KeptHistory;
  layout: SensorLayout;
  /** The number of the first row of the train set, and of rows in all. */
  first: number;
  taken: number;
  /** So many rows of before are one of it. */
  thinnedBy: number;
  /** Whether creeping is to be measured by it. */
  withAnchor: boolean;
  /** The rows from this number on are left out, and judged by what the others teach. */
  judgedFrom: number | undefined;
}

export type Learned = FittedUsual & Omit<LearnTask, 'history'> & { judged?: JudgedRows };

/** Rows that were left out of a fit, as it sees them. */
interface JudgedRows {
  rarities: Float64Array;
  /** The sensor in front of each: its place. */
  fronts: Uint16Array;
}

export function learn({ history, ...task }: LearnTask): Learned {
  const { judgedFrom, first, layout, withAnchor } = task;
  const from = judgedFrom === undefined ? undefined : Math.max(0, judgedFrom - first);
  history.marks.fill(2, from ?? history.marks.length);
  const train = arrangeTrainRows(history, layout);
  const fitted = fitUsual(train, withAnchor);
  return { ...task, ...fitted, ...(from !== undefined && { judged: judgeRows(fitted.usual, train, from) }) };
}

/** The first pass leaves out the rows that are missed most: beyond this quantile. */
const KEPT_SHARE = 0.97;
/** Odd periods: so many robust spreads off (with this half-life in rows), and so many rows after one belong to it. */
const ODD_SPREADS = 9;
const ODD_SHARE = shareOfNewest(2);
const ODD_AFTER = 10;
/** The distance to the kept rows shows modes that are rare, not faults. */
const STATISTICS_OF_FAULTS = ROW_STATISTICS - 1;

/** Rows, the last one included. */
export interface Period {
  from: number;
  to: number;
}

/** What a fit gives. */
interface FittedUsual {
  usual: UsualModel;
  /** rows: how rare each train row is */
  rarities: Float64Array;
  /** Periods that look odd. */
  odd: Period[];
  anchor: AnchorReference | undefined;
}

/** How unusual rows are that the fit has left out. @param from the first of them */
function judgeRows(
  usual: UsualModel,
  { width, values, context, starts }: HistoryRows,
  from: number,
): JudgedRows {
  const rows = starts.length;
  const judged = { rarities: new Float64Array(rows - from), fronts: new Uint16Array(rows - from) };
  let memory = freshMemory(usual);
  for (let row = Math.max(0, from - WARM_ROWS); row < rows; row++) {
    memory = starts[row] === 1 ? freshMemory(usual) : memory;
    const { rarity, weights } = scoreRow(
      usual,
      values.subarray(row * width.sensors, (row + 1) * width.sensors),
      context.subarray(row * width.context, (row + 1) * width.context),
      memory,
    );
    if (row >= from) {
      judged.rarities[row - from] = rarity;
      judged.fronts[row - from] = largestPlace(weights);
    }
  }
  return judged;
}

/** Learns what is usual. @param withAnchor whether creeping is to be measured by this fit */
function fitUsual(train: HistoryRows, withAnchor: boolean): FittedUsual {
  const { width, values, leftOut } = train;
  const { sensors } = width;
  const scale = robustScale(onlyKept(values, sensors, leftOut), sensors);
  const standard = values.map((value, at) => {
    const j = at % sensors;
    return clamp((value - scale.middle[j]) / scale.spread[j], -MOST_SPREADS, MOST_SPREADS);
  });
  const weights = Float64Array.from(leftOut, (left) => (left === 0 ? 1 : 0));
  const first = heldOut(arrangeInputs(train, standard, PAST_SHARES), train, { weights, standard }, false);
  leaveOutMissed(weights, first.scaled, sensors);
  // What is missing is now what the other sensors let expect.
  const filled = standard.map((value, at) =>
    Number.isNaN(value) ? clamp(first.expected[CROSS][at], -MOST_SPREADS, MOST_SPREADS) : value,
  );
  const inputs = arrangeInputs(train, filled, PAST_SHARES);
  const second = heldOut(inputs, train, { weights, standard }, true);
  const expectations = fitExpectations(added(second.moments), width);
  const near = keepRows(expectations, width, inputs, weightedRows(weights));
  const own = paceScales(second.scaled, sensors);
  const { statistics, far } = rowStatistics(second.scaled, second.distances, own, train);
  const paces = { ...own, reach: computeReach(far, sensors) };
  statistics[LARGEST_OF_ALL] = statistics[LARGEST_OF_ALL].map((largest, row) =>
    Number.isNaN(largest) ? NaN : largestBy(paces.reach, far.subarray(row * sensors, (row + 1) * sensors)),
  );
  const tails = statistics.map((statistic) => fitTail(statistic));
  const ofRow = new Float64Array(ROW_STATISTICS);
  const rarities = Float64Array.from(leftOut, (_, row) => {
    statistics.forEach((statistic, s) => (ofRow[s] = statistic[row]));
    return combinedRarity(tails, ofRow);
  });
  const usual = {
    width,
    scale,
    expectations,
    near,
    missed: second.scales,
    paces,
    tails,
    total: fitRarityTail(rarities.map((rarity, row) => (leftOut[row] === 2 ? NaN : rarity))),
    alone: ALONE,
    known: second.missed.map((missed) => knownBy(missed, standard, sensors)),
  };
  return {
    usual,
    rarities,
    odd: oddPeriods(second.scaled, statistics, sensors),
    anchor: withAnchor ? anchorReference(train, filled, weights, scale) : undefined,
  };
}

function onlyKept(values: Float64Array, columns: number, leftOut: Uint8Array): Float64Array {
  return leftOut.includes(1) || leftOut.includes(2)
    ? values.map((value, at) => (leftOut[Math.floor(at / columns)] === 0 ? value : NaN))
    : values;
}

interface HeldOut {
  moments: InputMoments[];
  /**
   * views × (rows × sensors): what is expected, missed, and missed in its scale. The latter two are NaN where a cell is
   * missing, and in rows of faults.
   */
  expected: Float64Array[];
  missed: Float64Array[];
  scaled: Float64Array[];
  scales: ReturnType<typeof missedScale>[];
  distances: Float64Array;
}

/** Each block of time by what the other blocks teach. */
function heldOut(
  inputs: Float64Array,
  { width, leftOut }: HistoryRows,
  { weights, standard }: { weights: Float64Array; standard: Float64Array },
  withNear: boolean,
): HeldOut {
  const { sensors } = width;
  const columns = inputCount(width);
  const rows = weights.length;
  const blocks = heldOutBlocks(rows);
  const moments = blocks.map((block) => sumMoments(inputs, columns, block, weights));
  const expected = VIEWS.map(() => new Float64Array(rows * sensors));
  const distances = new Float64Array(rows);
  blocks.forEach(({ from, to }, block) => {
    const expectations = fitExpectations(added(moments, moments[block]), width);
    const others = weightedRows(weights).filter((row) => row < from || row >= to);
    const near = withNear ? keepRows(expectations, width, inputs, others) : undefined;
    for (let row = from; row < to; row++) {
      const answer = expectRow({ expectations, near, width }, inputs, row * columns);
      distances[row] = answer.distance;
      expected.forEach((view, v) =>
        view.set(answer.expected.subarray(v * sensors, (v + 1) * sensors), row * sensors),
      );
    }
  });
  // Rows of faults shape no scale either: else a fault that people confirmed would become as usual as one that nobody
  // answered.
  const missed = expected.map((view) =>
    view.map((value, at) => (leftOut[Math.floor(at / sensors)] === 2 ? NaN : standard[at] - value)),
  );
  const scales = missed.map((view, v) => missedScale(view, standard, sensors, v));
  const scaled = missed.map((view, v) =>
    view.map((value, at) => (value - scales[v].middle[at % sensors]) / scales[v].spread[at % sensors]),
  );
  return { moments, expected, missed, scaled, scales, distances };
}

function weightedRows(weights: Float64Array): number[] {
  const places: number[] = [];
  weights.forEach((weight, row) => {
    if (weight > 0) {
      places.push(row);
    }
  });
  return places;
}

/** Takes the weight of the rows that are missed most. */
function leaveOutMissed(weights: Float64Array, scaled: readonly Float64Array[], sensors: number): void {
  const most = weights.map((_, row) => {
    let largest = 0;
    for (const view of scaled) {
      for (let j = 0; j < sensors; j++) {
        const size = Math.abs(view[row * sensors + j]);
        largest = size > largest ? size : largest;
      }
    }
    return largest;
  });
  const bound = quantileOf(most.slice().sort(), KEPT_SHARE);
  most.forEach((size, row) => {
    if (size > bound) {
      weights[row] = 0;
    }
  });
}

/**
 * The eight statistics of every row, one series each, and how far off its sensors are, rows × sensors; NaN where the row
 * takes no part in them.
 */
function rowStatistics(
  scaled: readonly Float64Array[],
  distances: Float64Array,
  paces: UsualModel['paces'],
  { width, starts, leftOut }: HistoryRows,
): { statistics: Float64Array[]; far: Float64Array } {
  const { sensors } = width;
  const far = new Float64Array(starts.length * sensors).fill(NaN);
  const out = Array.from({ length: ROW_STATISTICS }, () => new Float64Array(starts.length));
  const row = emptyStatistics(sensors);
  const missed = new Float64Array(VIEWS.length * sensors);
  let memory = usualMemory(paces);
  for (let at = 0; at < starts.length; at++) {
    if (starts[at] === 1) {
      memory = usualMemory(paces);
    }
    scaled.forEach((view, v) => missed.set(view.subarray(at * sensors, (at + 1) * sensors), v * sensors));
    takeRow({ missed, distance: distances[at] }, paces, memory, row);
    out.forEach((statistic, s) => (statistic[at] = leftOut[at] === 2 ? NaN : row.values[s]));
    if (leftOut[at] !== 2) {
      far.set(row.far, at * sensors);
    }
  }
  return { statistics: out, far };
}

/**
 * Periods in which the history looks odd: a sensor far from what the others or the past let expect, or a statistic far
 * beyond its bulk. Whether they are usual or faults is a question to people.
 */
function oddPeriods(
  scaled: readonly Float64Array[],
  statistics: readonly Float64Array[],
  sensors: number,
): Period[] {
  const rows = statistics[0].length;
  const odd = new Uint8Array(rows);
  for (const view of [CROSS, ALL]) {
    const { middle, spread } = robustScale(scaled[view], sensors);
    for (let j = 0; j < sensors; j++) {
      let mean = 0;
      for (let row = 0; row < rows; row++) {
        const value = scaled[view][row * sensors + j];
        mean += Number.isNaN(value) ? 0 : ODD_SHARE * (value - middle[j] - mean);
        odd[row] |= Number(Math.abs(mean) / spread[j] > ODD_SPREADS);
      }
    }
  }
  for (const statistic of statistics.slice(0, STATISTICS_OF_FAULTS)) {
    const sorted = sortedColumn(statistic, 1, 0);
    const [half, most] = [quantileOf(sorted, 0.5), quantileOf(sorted, 0.8)];
    const bound = most + 1.5 * ODD_SPREADS * (most - half);
    statistic.forEach((value, row) => (odd[row] |= Number(value > bound)));
  }
  const periods: Period[] = [];
  odd.forEach((is, row) => {
    const last = periods.at(-1);
    if (is === 1) {
      const to = Math.min(rows - 1, row + ODD_AFTER);
      if (last !== undefined && row <= last.to + 1) {
        last.to = to;
      } else {
        periods.push({ from: row, to });
      }
    }
  });
  return periods;
}
