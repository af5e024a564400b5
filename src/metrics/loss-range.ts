import type { Scores } from './scores';

/** What a told loss rests on, and where the loss of as many later rows may lie. */
export type LossRange = Pick<Scores, 'events' | 'loss_low' | 'loss_high'>;

/** Quantiles 0.975 of Student's t for 1, 2, … degrees of freedom; beyond them that of the normal distribution, nearly. */
const STUDENT = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
  2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04,
];
const NORMAL = 2;

/**
 * The range of a mean log loss. Rows of the most frequent class and all others, the events, are apart: a few events make
 * most of the loss. To theirs one loss is added, that of an event for a model that knows only how frequent events are:
 * three events that were all expected do not show that the fourth will be.
 *
 * @param losses of each row
 * @param codes the class of each row; below 0 for one that the model does not know
 * @param unknown the loss of an event by the share of events alone
 */
export function logLossRange(
  losses: ArrayLike<number>,
  codes: ArrayLike<number>,
  classes: number,
  unknown: (share: number) => number,
): LossRange {
  const rows = losses.length;
  const counts = new Float64Array(classes);
  for (let row = 0; row < rows; row++) {
    if (codes[row] >= 0) {
      counts[codes[row]]++;
    }
  }
  const usual = counts.indexOf(Math.max(...counts));
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
  const known = momentsOf(ofEvents);
  const { mean, error } = momentsOf([...ofEvents, unknown((events + 1) / (rows + 2))]);
  const reach = student(events) * error;
  const rest = NORMAL * momentsOf(others).error * (1 - share);
  // How many of the later rows are events is by chance too.
  const frequency = (NORMAL * share * Math.max(known.mean, mean) * Math.sqrt(1 - share)) / Math.sqrt(events);
  const total = share * known.mean + (1 - share) * momentsOf(others).mean;
  const below = share * Math.max(0, known.mean - Math.max(0, mean - reach));
  const above = share * Math.max(0, mean + reach - known.mean);
  return {
    events,
    loss_low: Math.max(0, total - Math.hypot(below, rest, frequency)),
    loss_high: total + Math.hypot(above, rest, frequency),
  };
}

/** The range of a root of mean squared errors. Few large errors make it wide. */
export function rmseRange(errors: ArrayLike<number>): LossRange {
  if (errors.length < 2) {
    return {};
  }
  const { mean, error } = momentsOf(Float64Array.from(errors, (one) => one * one));
  const reach = student(errors.length - 1) * error;
  return { loss_low: Math.sqrt(Math.max(0, mean - reach)), loss_high: Math.sqrt(mean + reach) };
}

/** The mean, and its standard error: 0 of a single value. */
function momentsOf(values: ArrayLike<number>): { mean: number; error: number } {
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
