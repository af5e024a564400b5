import type { Scores } from './scores';

/** What a told loss rests on, and where the loss of as many later rows may lie. */
export type LossRange = Pick<Scores, 'events' | 'loss_low' | 'loss_high'>;

/** Quantiles 0.975 of Student's t for 1, 2, … degrees of freedom; beyond them that of the normal distribution, nearly. */
const STUDENT = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
  2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04,
];
const NORMAL = 2;
/** The mean of as many later rows is as uncertain as that of the rows themselves: so much more is their difference. */
const OF_LATER_ROWS = Math.SQRT2;
/**
 * Times as many standard errors for squared errors, whose tails are heavy: the worst later row is often several times worse
 * than the worst that was held out. So the later RMSE is in the range in nine of ten cases (docs/benchmarks/told.md, "How
 * often the range holds").
 */
const OF_SQUARES = 1.25;
/** Consecutive rows that are alike are compared in so many blocks, as blocks of time are by default. */
const BLOCKS = 25;

/** Rows that are alike: per row the number of its block or group. */
type Together = ArrayLike<number>;

/**
 * The range of a mean log loss. Rows of the most frequent class and all others, the events, are apart: a few events make
 * most of the loss. To theirs one loss is added, that of an event for a model that knows only how frequent events are:
 * three events that were all expected do not show that the fourth will be.
 *
 * @param losses of each row
 * @param codes the class of each row; below 0 for one that the model does not know
 * @param unknown the loss of an event by the share of events alone
 * @param together where rows are not drawn one by one
 */
export function logLossRange(
  losses: ArrayLike<number>,
  codes: ArrayLike<number>,
  unknown: (share: number) => number,
  together?: Together,
): LossRange {
  const rows = losses.length;
  const usual = mostFrequent(codes);
  const ofEvents: number[] = [];
  const others: number[] = [];
  for (let row = 0; row < rows; row++) {
    (codes[row] === usual ? others : ofEvents).push(losses[row]);
  }
  const events = ofEvents.length;
  if (events === 0 || others.length === 0) {
    return { events };
  }
  const share = events / rows;
  const known = computeMoments(ofEvents);
  const { mean, error } = computeMoments([...ofEvents, unknown((events + 1) / (rows + 2))]);
  const reach = student(events) * error;
  const rest = NORMAL * computeMoments(others).error * (1 - share);
  // How many of the later rows are events is by chance too.
  const frequency = (NORMAL * share * Math.max(known.mean, mean) * Math.sqrt(1 - share)) / Math.sqrt(events);
  const total = share * known.mean + (1 - share) * computeMoments(others).mean;
  const below = share * Math.max(0, known.mean - Math.max(0, mean - reach));
  const above = share * Math.max(0, mean + reach - known.mean);
  const apart = reachTogether(losses, together);
  return {
    events,
    loss_low: Math.max(0, total - OF_LATER_ROWS * Math.max(Math.hypot(below, rest, frequency), apart)),
    loss_high: total + OF_LATER_ROWS * Math.max(Math.hypot(above, rest, frequency), apart),
  };
}

/** The class of most rows, the lower one of two. */
function mostFrequent(codes: ArrayLike<number>): number {
  const counts: number[] = [];
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    while (counts.length <= code) {
      counts.push(0);
    }
    if (code >= 0) {
      counts[code]++;
    }
  }
  return counts.indexOf(Math.max(...counts));
}

/**
 * The range of a root of mean squared errors. Few large errors make it wide, and the largest counts once more: among as
 * many later rows there may well be another like it.
 *
 * @param together where rows are not drawn one by one
 */
export function rmseRange(errors: ArrayLike<number>, together?: Together): LossRange {
  if (errors.length < 2) {
    return {};
  }
  const squares = Array.from(errors, (one) => one * one);
  const { mean } = computeMoments(squares);
  const largest = squares.reduce((most, one) => Math.max(most, one), 0);
  const { error } = computeMoments([...squares, largest]);
  const reach =
    OF_LATER_ROWS *
    Math.max(OF_SQUARES * student(errors.length - 1) * error, reachTogether(squares, together));
  return { loss_low: Math.sqrt(Math.max(0, mean - reach)), loss_high: Math.sqrt(mean + reach) };
}

/** Consecutive rows as blocks, for `together`. @param rows numbers of rows, from 0 to `count` - 1 */
export function inBlocks(rows: ArrayLike<number>, count = rows.length): Int32Array {
  return Int32Array.from(rows, (row) => Math.floor((row * BLOCKS) / count));
}

/** How far the mean may be off, block by block; 0 where there are none. */
function reachTogether(values: ArrayLike<number>, together: Together | undefined): number {
  if (together === undefined) {
    return 0;
  }
  const { mean } = computeMoments(values);
  const sums = new Map<number, number>();
  for (let row = 0; row < values.length; row++) {
    sums.set(together[row], (sums.get(together[row]) ?? 0) + values[row] - mean);
  }
  const blocks = sums.size;
  let squares = 0;
  for (const sum of sums.values()) {
    squares += sum * sum;
  }
  return blocks < 2
    ? 0
    : (student(blocks - 1) * Math.sqrt((squares * blocks) / (blocks - 1))) / values.length;
}

/** The mean, and its standard error: 0 of a single value. */
function computeMoments(values: ArrayLike<number>): { mean: number; error: number } {
  const count = values.length;
  let mean = 0;
  for (let i = 0; i < count; i++) {
    mean += values[i] / count;
  }
  let squares = 0;
  for (let i = 0; i < count; i++) {
    squares += (values[i] - mean) * (values[i] - mean);
  }
  return { mean, error: count < 2 ? 0 : Math.sqrt(squares / (count - 1) / count) };
}

function student(freedom: number): number {
  return STUDENT[freedom - 1] ?? NORMAL;
}
