import type { ThresholdCurve } from './threshold-curve';

/** A probability from which on to answer a class, and what is reached with it on rows that the model had not seen. */
export interface Threshold {
  at: number;
  value: number;
}

/** Best thresholds of two classes: by accuracy, by F1, and by the mean cost per row where costs were given. */
export interface Thresholds {
  /** The class that they are for: the rarer one. */
  label: string | number | boolean;
  accuracy: Threshold;
  f1: Threshold;
  costs?: Threshold;
}

/** Costs of answers: `costs[actual][predicted]`, in the order of the classes. */
export type Costs = [[number, number], [number, number]];

/** Right and wrong answers by a threshold, of the class that it is for and of the other. */
interface Counts {
  truePositives: number;
  falsePositives: number;
  positives: number;
  rows: number;
}

/**
 * The thresholds of two classes that are best on the probabilities of rows that the model had not seen. They are for the rarer class, the one that
 * is usually looked for: a row is answered so where its probability is at least the threshold. 0.5 stays where nothing
 * is better.
 *
 * @param probas rows × 2, row-major
 */
export function findThresholds(
  probas: Float64Array,
  codes: Int32Array,
  classes: readonly Thresholds['label'][],
  costs: Costs | undefined,
): Thresholds | undefined {
  const second = codes.reduce((sum, code) => sum + code, 0);
  const positives = Math.min(second, codes.length - second);
  if (classes.length !== 2 || positives === 0) {
    return undefined;
  }
  const of = second === positives ? 1 : 0;
  const best = (value: (counts: Counts) => number) => bestThreshold(probas, codes, of, value);
  const found: Thresholds = { label: classes[of], accuracy: best(accuracy), f1: best(f1) };
  if (costs) {
    const { at, value } = best((counts) => -meanCost(counts, of, costs));
    found.costs = { at, value: -value };
  }
  return found;
}

function accuracy({ truePositives, falsePositives, positives, rows }: Counts): number {
  return (truePositives + rows - positives - falsePositives) / rows;
}

function f1({ truePositives, falsePositives, positives }: Counts): number {
  return (2 * truePositives) / (truePositives + falsePositives + positives);
}

function meanCost(
  { truePositives, falsePositives, positives, rows }: Counts,
  of: number,
  costs: Costs,
): number {
  const other = 1 - of;
  const missed = positives - truePositives;
  const trueNegatives = rows - positives - falsePositives;
  const sum =
    truePositives * costs[of][of] +
    missed * costs[of][other] +
    falsePositives * costs[other][of] +
    trueNegatives * costs[other][other];
  return sum / rows;
}

/** Tries 0.5, and every middle between two neighbouring probabilities; of equal values that nearest to 0.5 wins. */
function bestThreshold(
  probas: Float64Array,
  codes: Int32Array,
  of: number,
  value: (counts: Counts) => number,
): Threshold {
  const own = Float64Array.from(codes, (_, row) => probas[row * 2 + of]);
  const order = Int32Array.from(codes, (_, row) => row).sort((a, b) => own[b] - own[a]);
  const positives = codes.reduce((sum, code) => sum + (code === of ? 1 : 0), 0);
  const counts = { truePositives: 0, falsePositives: 0, positives, rows: codes.length };
  let best: Threshold = { at: 0.5, value: -Infinity };
  const tryAt = (at: number) => {
    const reached = value(counts);
    const isNearer = Math.abs(at - 0.5) < Math.abs(best.at - 0.5);
    if (reached > best.value || (reached === best.value && isNearer)) {
      best = { at, value: reached };
    }
  };
  for (let i = 0; i <= order.length; i++) {
    const above = i === 0 ? 1 : own[order[i - 1]];
    const below = i === order.length ? -1 : own[order[i]];
    if (above > below) {
      tryAt(above >= 0.5 && below < 0.5 ? 0.5 : (above + Math.max(0, below)) / 2);
    }
    if (i < order.length) {
      counts[codes[order[i]] === of ? 'truePositives' : 'falsePositives']++;
    }
  }
  return best;
}

/** What a threshold answers, by the last point of the curve that is not below it. */
export function answersFrom(curve: ThresholdCurve, at: number): { hits: number; false_alarms: number } {
  const point = curve.at.findLastIndex((one) => one >= at);
  return point < 0
    ? { hits: 0, false_alarms: 0 }
    : { hits: curve.hits[point], false_alarms: curve.false_alarms[point] };
}
