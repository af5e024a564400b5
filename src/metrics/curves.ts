import { quantileOf } from './regression';
import { MAX_POINTS, type ThresholdCurve, thresholdCurve } from './threshold-curve';

const MAX_LABELS = 20;
const BINS_OF_RESIDUALS = 30;
const BINS_OF_PROBABILITY = 10;
/** The outermost bins of residuals hold what lies beyond these quantiles, so that one odd row squeezes nothing. */
const TAIL = 0.005;
const DIGITS = 7;

/** What pictures of a model are drawn from: predictions beside the truth, of rows that the model had not seen. */
export type ModelCurves = NumberCurves | ClassCurves;

/** The curve of hits and false alarms, where there is one. */
export function findThresholdCurve(curves: ModelCurves | undefined): ThresholdCurve | undefined {
  return curves?.kind === 'classes' ? curves.by_threshold : undefined;
}

/** Of numbers, in units of the target. */
export interface NumberCurves {
  kind: 'numbers';
  /** Rows that were scored. */
  rows: number;
  /** Truth and prediction of rows spread evenly over those scored, in their order; at most 400. */
  actual: number[];
  predicted: number[];
  /** Rows by truth less prediction. The first and the last bin hold what lies beyond the edges too. */
  residuals: { edges: number[]; counts: number[] };
}

/** Of classes. */
export interface ClassCurves {
  kind: 'classes';
  rows: number;
  /** The labels of `confusion`: all, or the 19 that most rows have. */
  labels: (string | number | boolean)[];
  /** A last row and column of `confusion` stand for all other labels. */
  others: boolean;
  /** [true][most probable]: rows. */
  confusion: number[][];
  /**
   * Of two classes the probability of `positive`, else of the most probable class: its mean in ten equal parts of 0 to
   * 1, how many of their rows were of that class, and the rows. Parts without rows are left out.
   */
  calibration: { probability: number[]; share: number[]; rows: number[] };
  /** Of two classes, where both occur: what is found from which probability on. ROC is drawn of it. */
  by_threshold?: ThresholdCurve;
}

/**
 * @param actual the truth of each row, in the order of the table
 * @param predicted the mean of each row
 */
export function numberCurves(actual: ArrayLike<number>, predicted: ArrayLike<number>): NumberCurves {
  const rows = actual.length;
  const shown = evenly(rows, MAX_POINTS);
  return {
    kind: 'numbers',
    rows,
    actual: shown.map((row) => rounded(actual[row])),
    predicted: shown.map((row) => rounded(predicted[row])),
    residuals: histogram(Float64Array.from({ length: rows }, (_, row) => actual[row] - predicted[row])),
  };
}

/** Predictions of classes beside the truth. */
export interface ScoredClasses {
  labels: readonly (string | number | boolean)[];
  /** The true class of each row; −1 for one that the model does not know. */
  codes: ArrayLike<number>;
  probability: (row: number, of: number) => number;
  /** Of two classes the one that is looked for; default the rarer one, of two as rare the second. */
  positive?: number;
}

export function classCurves(scored: ScoredClasses): ClassCurves {
  const { labels, codes } = scored;
  const found = Int32Array.from({ length: codes.length }, (_, row) => mostProbable(scored, row));
  const positive = scored.positive ?? rarer(codes);
  const isBinary = labels.length === 2;
  const curves: ClassCurves = {
    kind: 'classes',
    rows: codes.length,
    ...countConfusion(labels, codes, found),
    calibration: isBinary
      ? computeCalibration(
          codes.length,
          (row) => scored.probability(row, positive),
          (row) => codes[row] === positive,
        )
      : computeCalibration(
          codes.length,
          (row) => scored.probability(row, found[row]),
          (row) => codes[row] === found[row],
        ),
  };
  const byThreshold = isBinary ? computeThresholdCurve(scored, positive) : undefined;
  return byThreshold === undefined ? curves : { ...curves, by_threshold: byThreshold };
}

/** Numbers of at most `most` of `rows`, with equal steps between, the first and the last among them. */
export function evenly(rows: number, most: number): number[] {
  const length = Math.min(rows, most);
  return Array.from({ length }, (_, i) => (length < 2 ? 0 : Math.round((i * (rows - 1)) / (length - 1))));
}

function histogram(residuals: Float64Array): NumberCurves['residuals'] {
  if (residuals.length === 0) {
    return { edges: [], counts: [] };
  }
  residuals.sort();
  const low = quantileOf(residuals, TAIL);
  const high = quantileOf(residuals, 1 - TAIL);
  const bins = high > low ? BINS_OF_RESIDUALS : 1;
  const counts = Array.from({ length: bins }, () => 0);
  for (const one of residuals) {
    const bin = bins === 1 ? 0 : Math.floor(((one - low) / (high - low)) * bins);
    counts[Math.min(Math.max(bin, 0), bins - 1)]++;
  }
  const edges = Array.from({ length: bins + 1 }, (_, i) => rounded(low + ((high - low) * i) / bins));
  return { edges, counts };
}

/** The first of equal ones. */
function mostProbable({ labels, probability }: ScoredClasses, row: number): number {
  let best = 0;
  let highest = -Infinity;
  for (let k = 0; k < labels.length; k++) {
    const p = probability(row, k);
    if (p > highest) {
      best = k;
      highest = p;
    }
  }
  return best;
}

function rarer(codes: ArrayLike<number>): number {
  let second = 0;
  let known = 0;
  for (let row = 0; row < codes.length; row++) {
    second += codes[row] === 1 ? 1 : 0;
    known += codes[row] >= 0 ? 1 : 0;
  }
  return 2 * second <= known ? 1 : 0;
}

function countConfusion(
  labels: ScoredClasses['labels'],
  codes: ArrayLike<number>,
  found: Int32Array,
): Pick<ClassCurves, 'labels' | 'others' | 'confusion'> {
  const rowsOf = labels.map(() => 0);
  let unknown = 0;
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] >= 0) {
      rowsOf[codes[row]]++;
    } else {
      unknown++;
    }
  }
  const others = labels.length > MAX_LABELS || unknown > 0;
  const shown = labels
    .map((_, k) => k)
    .sort((a, b) => rowsOf[b] - rowsOf[a] || a - b)
    .slice(0, others ? MAX_LABELS - 1 : MAX_LABELS)
    .sort((a, b) => a - b);
  const placeOf = new Map(shown.map((k, place) => [k, place]));
  const size = shown.length + (others ? 1 : 0);
  const confusion = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  for (let row = 0; row < codes.length; row++) {
    confusion[placeOf.get(codes[row]) ?? size - 1][placeOf.get(found[row]) ?? size - 1]++;
  }
  return { labels: shown.map((k) => labels[k]), others, confusion };
}

function computeCalibration(
  rows: number,
  probability: (row: number) => number,
  isOf: (row: number) => boolean,
): ClassCurves['calibration'] {
  const bins = Array.from({ length: BINS_OF_PROBABILITY }, () => ({ sum: 0, of: 0, rows: 0 }));
  for (let row = 0; row < rows; row++) {
    const p = probability(row);
    const bin = bins[Math.max(0, Math.min(Math.floor(p * BINS_OF_PROBABILITY), BINS_OF_PROBABILITY - 1))];
    bin.sum += p;
    bin.of += isOf(row) ? 1 : 0;
    bin.rows++;
  }
  const filled = bins.filter((bin) => bin.rows > 0);
  return {
    probability: filled.map((bin) => rounded(bin.sum / bin.rows)),
    share: filled.map((bin) => rounded(bin.of / bin.rows)),
    rows: filled.map((bin) => bin.rows),
  };
}

/** Undefined where one of the two classes has no rows. */
function computeThresholdCurve(
  { labels, codes, probability }: ScoredClasses,
  of: number,
): ThresholdCurve | undefined {
  const rows = Array.from({ length: codes.length }, (_, row) => row);
  const scoresOf = (wanted: boolean): Float64Array =>
    Float64Array.from(
      rows.filter((row) => (codes[row] === of) === wanted),
      (row) => Math.max(0, probability(row, of)),
    ).sort();
  return thresholdCurve(labels[of], scoresOf(true), scoresOf(false));
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
