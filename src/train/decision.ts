import { LEVELS } from '../metrics/regression';
import type { Challenger, ChallengerScores, ModelCard, Reference, SeenRows } from '../models/cards';
import { blockError, BLOCKS } from '../models/evaluation';
import type { Context } from '../models/service';
import { UNREAD } from './report';
import { keepDigests, UNSEEN, whichSeen } from './test-rows';

/** A lower probability counts as this one, so that a single row on which a model was confident and wrong does not decide. */
const MIN_PROBABILITY = 0.001;
/** Bisection steps: an accuracy of 0.001. */
const STEPS = 24;

/**
 * Where the champion would have to take this part of the labels for chance, the labels themselves are in doubt: of 30 %
 * flipped labels, 60 % are as good as drawn, and of a champion that is too sure of itself up to 90 % look so. Beyond that
 * its probabilities say next to nothing: it is the law that has changed.
 */
const NOISE_IN_DOUBT = [0.1, 0.92] as const;
/** Numbers: both models miss a row grossly where the lower of their losses, by the champion's band, is above this many times its median. */
const GROSSLY = 6;
/** A band counts as at least the median one by this: next to none would make a gross miss of any. */
const NARROW = 4;
/** From this part of such rows on the outcomes themselves are in doubt. */
const GROSS_IN_DOUBT = 0.05;
/** Standard errors by which a challenger must be better beyond outcomes in doubt: of labels, and of numbers. */
const SURE_BEYOND_NOISE = 1.5;
const SURE_BEYOND_GROSS = 2;
/**
 * A decay still holds if the loss exceeds the promised one by this fraction, at which a watch ends it, and by this many
 * standard errors: after a bad day, a few unlucky rows would otherwise let in what was learned from it.
 */
const STILL_WORSE = 0.05;
const SURELY_WORSE = 2;

/** How much higher the losses of one model are than those of another, on the same rows. */
export interface PairedDifference {
  /** Mean of the first less the second: above 0 the second is better. */
  difference: number;
  standardError: number;
}

/**
 * The mean difference of the losses of two models and its standard error, from the means of blocks of consecutive rows
 * (see `blockError`).
 *
 * @param first losses by row, in order of time where there is one; at least two rows
 */
export function pairedDifference(first: ArrayLike<number>, second: ArrayLike<number>): PairedDifference {
  const rows = first.length;
  const blocks = Math.min(BLOCKS, rows);
  const means = Array.from({ length: blocks }, (_, block) => {
    const from = Math.floor((block * rows) / blocks);
    const to = Math.floor(((block + 1) * rows) / blocks);
    let sum = 0;
    for (let row = from; row < to; row++) {
      sum += first[row]! - second[row]!;
    }
    return sum / (to - from);
  });
  let difference = 0;
  for (let row = 0; row < rows; row++) {
    difference += (first[row]! - second[row]!) / rows;
  }
  return { difference, standardError: blockError(means, difference) };
}

/** The predictions of both models for the same rows, in order of time if there is one. */
export type Answers =
  | {
      task: 'classification';
      classes: number;
      /** The probability of the true class of each row. */
      champion: ArrayLike<number>;
      challenger: ArrayLike<number>;
    }
  | {
      task: 'regression';
      /** [level][row] for LEVELS of src/metrics. */
      champion: readonly ArrayLike<number>[];
      challenger: readonly ArrayLike<number>[];
      actual: ArrayLike<number>;
    };

export interface Decision {
  why: 'better' | 'decayed' | 'not_better' | 'label_noise' | 'unusual_rows';
  scores: ChallengerScores;
}

/** What is known of the champion. */
export interface Suspicion {
  /** It has decayed. */
  decayed?: boolean;
  /** The loss that its scores promise, where they do. */
  promised?: number;
}

/** What is known of the rows, if they follow each other in time. */
export interface RowsInTime {
  /** Per row, 1 if its values are like those that the champion was fitted on. */
  usual: Uint8Array;
  /** Per row, 1 if it came after a challenger that was put off; absent if the last one was not. */
  later?: Uint8Array;
}

/** Rows since a challenger was put off on which the next one must win: on fewer, chance would decide. */
export const LEAST_LATER = 30;

/**
 * Decides whether a challenger takes over. Its loss must be lower by one standard error; if the champion has decayed, and
 * is worse than promised on these rows too, any lower loss will do.
 *
 * Labels that are partly wrong are no reason: a model that learned from them is better only because it expects more of
 * them, and is worse as soon as they are right again. So if the champion's misses look like random labels, the challenger
 * must also be better beyond that, and clearly so. The same holds in regression if both models miss many rows grossly.
 *
 * A challenger that is better only where values are far from all that the champion knows has learned from a broken sensor,
 * and is put off. The next one only needs to be better on what came since, as it will be if a sensor's scale has changed
 * for good.
 */
export function decide(answers: Answers, suspicion: Suspicion = {}, rows?: RowsInTime): Decision {
  const [champion, challenger] =
    answers.task === 'classification'
      ? [logLosses(answers.champion), logLosses(answers.challenger)]
      : [pinballLosses(answers.champion, answers.actual), pinballLosses(answers.challenger, answers.actual)];
  const { difference, standardError } = pairedDifference(champion, challenger);
  const scores: ChallengerScores = {
    loss: answers.task === 'classification' ? 'log_loss' : 'pinball',
    champion: mean(champion),
    challenger: mean(challenger),
    rows: champion.length,
    difference,
    standard_error: standardError,
  };
  const isDecayed = suspicion.decayed === true && isStillWorse(champion, suspicion.promised ?? 0);
  const wins = (own: PairedDifference): boolean => own.difference > (isDecayed ? 0 : own.standardError);
  if (!wins({ difference, standardError })) {
    return { why: 'not_better', scores };
  }
  const isBetterBeyondDoubt =
    answers.task === 'classification'
      ? isBetterBeyondNoise(answers)
      : isBetterBeyondGross(champion, challenger, answers.champion);
  if (!isBetterBeyondDoubt) {
    return { why: 'label_noise', scores };
  }
  const winsOn = (chosen: Uint8Array | undefined): boolean => {
    const isChosen = (_: number, row: number): boolean => chosen?.[row] === 1;
    const own = champion.filter(isChosen);
    return own.length >= LEAST_LATER && wins(pairedDifference(own, challenger.filter(isChosen)));
  };
  if (rows?.usual.includes(0) === true && !winsOn(rows.usual) && !winsOn(rows.later)) {
    return { why: 'unusual_rows', scores };
  }
  return { why: isDecayed ? 'decayed' : 'better', scores };
}

function isBetterBeyondNoise({
  champion,
  challenger,
  classes,
}: Extract<Answers, { task: 'classification' }>): boolean {
  const noise = labelNoise(champion, classes);
  if (noise < NOISE_IN_DOUBT[0] || noise > NOISE_IN_DOUBT[1]) {
    return true;
  }
  const without = (chances: ArrayLike<number>, part: number): Float64Array =>
    logLosses(Float64Array.from(chances, (p) => withNoise(p, part, classes)));
  const { difference, standardError } = pairedDifference(
    without(champion, noise),
    without(challenger, labelNoise(challenger, classes)),
  );
  return difference > SURE_BEYOND_NOISE * standardError;
}

/**
 * Losses are measured in widths of the champion's band: where it expects much noise, as in a flood, a large miss is no
 * sign of a wrong outcome.
 *
 * @param champion losses by row, as those of the challenger
 * @param predicted quantiles of the champion: [level][row]
 */
function isBetterBeyondGross(
  champion: Float64Array,
  challenger: Float64Array,
  predicted: readonly ArrayLike<number>[],
): boolean {
  const widths = champion.map((_, row) => predicted.at(-1)![row]! - predicted[0]![row]!);
  const least = median(widths) / NARROW || 1;
  const missed = champion.map(
    (loss, row) => Math.min(loss, challenger[row]!) / Math.max(least, widths[row]!),
  );
  const limit = GROSSLY * median(missed);
  const isTold = (_: number, row: number): boolean => missed[row]! <= limit;
  const beyond = champion.filter(isTold);
  if (beyond.length > (1 - GROSS_IN_DOUBT) * champion.length) {
    return true;
  }
  const { difference, standardError } = pairedDifference(beyond, challenger.filter(isTold));
  return difference > SURE_BEYOND_GROSS * standardError;
}

function median(values: Float64Array): number {
  return values.toSorted()[values.length >> 1]!;
}

function isStillWorse(losses: Float64Array, promised: number): boolean {
  const expected = new Float64Array(losses.length).fill(promised);
  const { difference, standardError } = pairedDifference(losses, expected);
  return difference > promised * STILL_WORSE && difference > SURELY_WORSE * standardError;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** What decides without a comparison. */
type Uncompared = Omit<Challenger, 'scores'>;

export const FIRST: Uncompared = { taken: true, why: 'first', text: 'It is the first model of its name.' };

export const UNCHANGED: Uncompared = {
  taken: false,
  why: 'unchanged',
  text: 'The train set and the options are the same as before: nothing was fitted.',
};

export function gone({ name }: Pick<ModelCard, 'name'>): Uncompared {
  return {
    taken: true,
    why: 'gone',
    text: `The service does not have the model "${name}" any more, which was in charge.`,
  };
}

export function otherTarget({ target, task }: Pick<ModelCard, 'target' | 'task'>): Uncompared {
  return {
    taken: true,
    why: 'other_target',
    text: `The model in charge is of another kind (${task} of "${target}"), so the two cannot be compared.`,
  };
}

export function otherColumns(problem: string): Uncompared {
  return {
    taken: true,
    why: 'other_columns',
    text: `The model in charge cannot be scored on this table: ${problem}`,
  };
}

export const LATE: Uncompared = {
  taken: false,
  why: 'late',
  text: 'Meanwhile the model was rolled back or fitted again, so the new one is kept but not in charge.',
};

export const ROWS_UNKNOWN: Uncompared = {
  taken: true,
  why: 'rows_unknown',
  text: 'It is not known which rows the model in charge was fitted on, so there are none to compare the two on.',
};

export function tooFew(problem: string): Uncompared {
  return {
    taken: false,
    why: 'too_few_rows',
    text: `The model in charge stays, since there are too few rows to compare the two on: ${problem}.`,
  };
}

export function muchGrown(problem: string): Uncompared {
  return {
    taken: true,
    why: 'grown',
    text: `There are too few rows to compare the two on (${problem}), and the train set is half as large again as that of the model in charge.`,
  };
}

export function decayedUncompared(problem: string): Uncompared {
  return {
    taken: true,
    why: 'decayed',
    text: `The model in charge has decayed, and there are too few rows to compare the two on: ${problem}.`,
  };
}

/** @param usual per row, 1 if its values are like those that the champion was fitted on */
export function compared({ why, scores }: Decision, usual?: Uint8Array): Challenger {
  const unusual = usual?.filter((one) => one === 0).length ?? 0;
  const name = scores.loss === 'log_loss' ? 'log loss' : 'pinball loss';
  const figures = `${name} ${digits(scores.challenger)} against ${digits(scores.champion)} of the model in charge, on ${scores.rows} rows that are new to both (lower is better, difference ${digits(scores.difference)}, standard error ${digits(scores.standard_error)})`;
  const text = {
    better: `The new model is better: ${figures}.`,
    decayed: `The model in charge has decayed, and the new one is better: ${figures}.`,
    not_better: `The new model is no better: ${figures}.`,
    label_noise: `${scores.loss === 'log_loss' ? 'The new model is better only in expecting wrong labels' : 'The new model is not surely better but for wrong outcomes'}, of which there seem to be many among the newest rows: ${figures}.`,
    unusual_rows: `The new model is better only on the rows (${unusual} of ${scores.rows}) whose values are far from all that the model in charge was fitted on, or stand still, as of a broken sensor: ${figures}. If the next one is better on what comes from now on, it takes over.`,
  }[why];
  return { taken: why === 'better' || why === 'decayed', why, text, scores };
}

function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/**
 * Per compared row, 1 if it came after a challenger that was put off.
 *
 * @param putOff the rows that there were then
 * @param digests of all rows of the table @param numbers those that are compared on
 */
export async function laterRows(
  putOff: SeenRows | undefined,
  digests: Float64Array,
  numbers: Int32Array,
): Promise<Uint8Array | undefined> {
  const before = putOff && (await whichSeen(putOff, digests));
  return before && Uint8Array.from(numbers, (row) => (before[row] === UNSEEN ? 1 : 0));
}

/**
 * Remembers beside the champion, over restarts, that a challenger did not take over while rows were unusual: what came later
 * decides next time. It holds for one comparison, of which at least LEAST_LATER rows came later.
 *
 * @param champion its id at the service, and what is kept of its train set @param rows left out where all rows are usual @param digests of all rows of the table
 */
export async function notePutOff(
  { cards }: Context,
  champion: { id: string; reference: Reference | undefined },
  { why }: Pick<Decision, 'why'>,
  rows: (RowsInTime & { digests: Float64Array }) | undefined,
): Promise<void> {
  const { id, reference } = champion;
  const later = rows?.later?.reduce((count, one) => count + one, 0) ?? LEAST_LATER;
  if (why === 'better' || why === 'decayed' || later < LEAST_LATER) {
    return;
  }
  // Better or not: of a new scale that began a moment ago the first challenger knows too little.
  if (rows !== undefined) {
    await cards.references.put(id, { ...(reference ?? UNREAD), putOff: await keepDigests(rows.digests) });
  } else if (reference?.putOff !== undefined) {
    const rest = { ...reference };
    delete rest.putOff;
    await cards.references.put(id, rest);
  }
}

/** −ln p(true class) of each row. @param chances the probability of each row's true class */
function logLosses(chances: ArrayLike<number>): Float64Array {
  return Float64Array.from(chances, (p) => -Math.log(Math.max(p, MIN_PROBABILITY)));
}

/** Mean pinball loss of each row over LEVELS. @param quantiles [level][row] */
export function pinballLosses(
  quantiles: readonly ArrayLike<number>[],
  actual: ArrayLike<number>,
): Float64Array {
  return Float64Array.from(actual, (value, row) => {
    let loss = 0;
    LEVELS.forEach((level, k) => {
      const above = value - quantiles[k]![row]!;
      loss += above >= 0 ? level * above : (level - 1) * above;
    });
    return loss / LEVELS.length;
  });
}

/**
 * The part of labels, 0 to 1, that one would have to take for drawn by chance so that these probabilities fit the truth
 * best: near 0 for a model that is calibrated, about twice the part of flipped labels where some are.
 */
export function labelNoise(chances: ArrayLike<number>, classes: number): number {
  // The loss is convex in the part, so its derivative has one root at most.
  const slope = (noise: number): number => {
    let sum = 0;
    for (let row = 0; row < chances.length; row++) {
      const p = chances[row]!;
      sum += (p - 1 / classes) / Math.max(MIN_PROBABILITY, withNoise(p, noise, classes));
    }
    return sum;
  };
  let [low, high] = [0, 1];
  if (slope(low) >= 0) {
    return 0;
  }
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (slope(middle) < 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

/** The probability of a class if a part of the labels is random. */
function withNoise(chance: number, noise: number, classes: number): number {
  return (1 - noise) * chance + noise / classes;
}
