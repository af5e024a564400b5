import type { ChallengerScores } from '../types';
import { pairedDifference } from './paired-difference';
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
  why: 'better' | 'decayed' | 'not_better' | 'label_noise';
  scores: ChallengerScores;
}

/**
 * Where the champion would have to take this part of the labels for chance, the labels themselves are in doubt: of 30 %
 * flipped labels, 60 % are as good as drawn. Beyond that its probabilities say next to nothing: it is the law that has
 * changed.
 */
const NOISE_IN_DOUBT = [0.1, 0.85] as const;

/** What was said of the champion before. */
export interface Suspicion {
  /** It has decayed. */
  decayed?: boolean;
  /** The loss that its scores promise, where they do. */
  promised?: number;
}

/** Part by which a loss is above the one promised where a decay still holds: a watch calls it over at the same. */
const STILL_WORSE = 0.05;

/**
 * Whether a challenger takes over. Its loss must be lower by one standard error; where the champion has decayed, and is
 * worse than promised on these rows too, lower at all. Labels that are partly wrong are no reason: a model that has learned from such labels is better only in
 * expecting more of them, and is worse as soon as they are right again. So where the champion's misses look like labels
 * drawn by chance, the challenger must be better beyond that too.
 */
export function decide(answers: Answers, suspicion: Suspicion = {}): Decision {
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
  const { decayed = false, promised = 0 } = suspicion;
  const isDecayed = decayed && scores.champion > promised * (1 + STILL_WORSE);
  if (!(difference > (isDecayed ? 0 : standardError))) {
    return { why: 'not_better', scores };
  }
  if (answers.task === 'classification' && !isBetterBeyondNoise(answers)) {
    return { why: 'label_noise', scores };
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
  return difference > standardError;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}
