import type { ChallengerScores } from '../types';
import { type PairedDifference, pairedDifference } from './paired-difference';
import { labelNoise, logLosses, pinballLosses, withNoise } from './row-losses';

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
 * A decay still holds if the loss exceeds the promised one by this fraction, at which a watch ends it, and by this many
 * standard errors: after a bad day, a few unlucky rows would otherwise let in what was learned from it.
 */
const STILL_WORSE = 0.05;
const SURELY_WORSE = 2;

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
