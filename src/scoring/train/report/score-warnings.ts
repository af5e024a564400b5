import { timesFactor } from '../../../metrics/scores';
import type { FittedModel, ModelScores, Scores } from '../../types';
import type { NowScores } from '../holdout/now-scores';

/** Where rows were held out by chance, and the errors of neighbours are alike all the same. */
export const NEIGHBOURS_ALIKE =
  'The errors of rows next to each other are alike, so the rows seem to follow each other in time, and the scores ' +
  'promise too much for rows to come. Set Order of rows to "in order of time", or name the Group that they belong to.';

/** Where rows were held out in blocks because of it. */
export const HELD_OUT_IN_BLOCKS =
  'Rows next to each other are alike in more than their columns tell, so the rows seem to follow each other in time. ' +
  'They were learned and scored in blocks, as for rows to come. If the rows to predict lie between these, set Order of ' +
  'rows to "No order".';

/** On fewer rows chance decides which is better. */
const MIN_ROWS = 30;

/**
 * Out-of-fold scores of a model that learned a change, as scores of the level: errors, bands and pinball loss are the
 * same, but the part explained and the trivial baseline are not.
 *
 * @param factor what errors at the level of the newest rows are of those of all rows
 */
export function scoresOfLevel(scores: ModelScores, now: NowScores, factor = 1): ModelScores {
  const { rmse } = scores;
  const { variance, baseline } = now;
  const isTold = rmse !== undefined && variance !== undefined && variance > 0;
  return {
    ...scores,
    ...(isTold && { r2: 1 - (rmse / factor) ** 2 / variance }),
    ...(baseline !== undefined && { baseline: timesFactor(baseline, factor) }),
    baseline_now: timesFactor(now.kept, factor),
  };
}

/** What a card's scores should make its reader doubt, a sentence each. */
export function scoreWarnings(card: FittedModel): string[] {
  const warnings = [worseThanTrivial(card), toldRepeated(card)];
  return warnings.filter((warning) => warning !== undefined);
}

/** Fewer rows of the rarer classes than these say little about how well they are found. */
const FEW_EVENTS = 30;
/** A loss that may be higher than told by more than this is told with its range. */
const UNSURE = 1.4;

/** What the told loss rests on, where that is little; undefined where it is enough. */
export function littleEvidence({
  rows,
  events,
  loss_low: low,
  loss_high: high,
  ...scores
}: Scores): string | undefined {
  const [what, told] = scores.log_loss !== undefined ? ['log loss', scores.log_loss] : ['RMSE', scores.rmse];
  if (told === undefined) {
    return undefined;
  }
  if (events === undefined && high !== undefined && high > UNSURE * told) {
    return `A few rows make most of the error: the ${what} of ${rows} rows is ${digits(told)}, and that of as many rows to come may be anywhere from ${digits(low)} to ${digits(high)}.`;
  }
  // A target of one label has a doubt of its own.
  if (events === undefined || events === 0 || events >= FEW_EVENTS || events * 3 > rows) {
    return undefined;
  }
  const range =
    high === undefined
      ? ''
      : `, and that of rows to come may be anywhere from ${digits(low)} to ${digits(high)}`;
  return `The scores rest on few rows of the rarer labels: ${events} of ${rows}. The ${what} is ${digits(told)}${range}.`;
}

function toldRepeated({ repeated_rows: repeated, name }: FittedModel): string | undefined {
  return repeated === undefined
    ? undefined
    : `${repeated} rows of the train set of "${name}" are copies of other rows, and were left out: a row that is scored beside its copy is known by heart. Where they are not copies, a column that tells them apart, such as a time, keeps them.`;
}

function worseThanTrivial({ scores, name }: FittedModel): string | undefined {
  if (scores === undefined || scores.rows < MIN_ROWS) {
    return undefined;
  }
  const { baseline, baseline_now: now } = scores;
  if (now !== undefined && isNoBetter(scores, now)) {
    return `The model "${name}" is no better than assuming that the target stays as it is: ${against(scores, now)}.`;
  }
  return isNoBetter(scores, baseline)
    ? `The model "${name}" is no better than always predicting the usual: ${against(scores, baseline)}.`
    : undefined;
}

/** By the mean absolute error of numbers; by the log loss of labels, where both have one, else by the accuracy. */
function isNoBetter(scores: Scores, other: Scores): boolean {
  const { mae, rmse, log_loss: loss, accuracy } = scores;
  if (mae !== undefined && other.mae !== undefined) {
    // The trivial mean may have a lower absolute error than a good model of the mean where values are skewed.
    return mae >= other.mae && (rmse ?? 0) >= (other.rmse ?? 0);
  }
  if (loss !== undefined && other.log_loss !== undefined) {
    return loss >= other.log_loss;
  }
  return accuracy !== undefined && other.accuracy !== undefined && accuracy < other.accuracy;
}

function against(scores: Scores, other: Scores): string {
  const [what, own, its] =
    scores.mae !== undefined
      ? ['mean absolute error', scores.mae, other.mae]
      : scores.log_loss !== undefined && other.log_loss !== undefined
        ? ['log loss', scores.log_loss, other.log_loss]
        : ['accuracy', scores.accuracy, other.accuracy];
  return `${what} ${digits(own)} against ${digits(its)} on ${scores.rows} rows`;
}

function digits(score: number | undefined): string {
  // Noise of a loss of 0 is 0.
  return score === undefined ? '-' : String(Math.abs(score) < 1e-12 ? 0 : Number(score.toPrecision(3)));
}
