import type { ChallengerScores } from '../types';
import { type PairedDifference, pairedDifference } from './paired-difference';
import { labelNoise, logLosses, pinballLosses, withNoise } from './row-losses';

/** What both models said of the same rows, in order of time where there is one. */
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

/** What was said of the champion before. */
export interface Suspicion {
  /** It has decayed. */
  decayed?: boolean;
  /** The loss that its scores promise, where they do. */
  promised?: number;
}

/** What is known of the rows, where they follow each other in time. */
export interface RowsInTime {
  /** Of each, 1 where its values are such as the champion was fitted on. */
  usual: Uint8Array;
  /** Those that came after a challenger that was put off, 1 each; left out where the one before was not. */
  later?: Uint8Array;
}

/** Rows that came since a challenger was put off, on which the next one must win: on fewer chance decides. */
export const LEAST_LATER = 30;

/**
 * A decay still holds where the loss is above the one promised by this part, at which a watch calls it over, and by these
 * standard errors: after a bad day a few unlucky rows would let in what was learned from it.
 */
const STILL_WORSE = 0.05;
const SURELY_WORSE = 2;

/**
 * Whether a challenger takes over. Its loss must be lower by one standard error; where the champion has decayed, and is
 * worse than promised on these rows too, lower at all. Labels that are partly wrong are no reason: a model that has learned
 * from such labels is better only in expecting more of them, and is worse as soon as they are right again. So where the
 * champion's misses look like labels drawn by chance, the challenger must be better beyond that too, and surely so. Of
 * numbers the same holds where both models miss many rows grossly. A challenger that is better where values are far from all
 * that the champion knows, and on no others, has learned what a broken sensor says: it is put off. The next one need only be
 * better on what came since then, as it is where the scale of a sensor has changed for good.
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
 * Losses count by the width of the champion's band: where it expects much noise, as in a flood, a large miss says nothing
 * against the outcome.
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
