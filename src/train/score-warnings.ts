import { type Scores, timesFactor } from '../metrics/scores';
import type { FittedModel, ModelScores } from '../models/cards';
import type { Suspects } from './doubts';
import type { NowScores } from './holdout';

/** A score from which what brings it may be the answer itself. */
const NEAR_PERFECT = 0.99;
/** Part of the errors of the best answer without a model that a nearly perfect model does not make. */
const NEAR_ALL = 0.9;
/** Part of what a model rests on from which it rests on nothing else. */
const WHOLE = 0.95;
/** More columns than these together are no leak, but a rule that was learned. */
const MAX_TOGETHER = 5;
/** Part of what a model rests on from which a column that is named like the target is doubted. */
const MUCH = 0.5;
/** Part of what a model rests on below which a column that counts the rows is taken for their number. */
const LITTLE = 0.1;
/** Letters of a target that other names can be compared with. */
const MIN_LETTERS = 4;
/** Words of a column that holds what the target was before. */
const EARLIER =
  /^(?:ago|avg|average|before|change|current|delta|diff|earlier|first|forecast|lag\w*|last|max|mean|median|min|moving|now|past|planned|prev\w*|prior|rolling|std|today|trend|yesterday|\d+[a-z]*)$/;
/** On fewer rows chance decides which is better. */
const MIN_ROWS = 30;
/** Fewer rows of the rarer classes than these say little about how well they are found. */
const FEW_EVENTS = 30;
/**
 * An RMSE that may be so many times the told one is a doubt. Chosen on 250 public tables of 100 to 800 rows, three splits
 * each: the 11 whose later RMSE was above 1.4 times the told one are all doubted, and 21 % of the fits of the other 132 with
 * numbers for a target. With ranges of two and a half standard errors it is 28 % in place of 22 % of the fits of 70 tables
 * (docs/benchmarks/told.md, "How often the range holds").
 */
const UNSURE = 1.5;

/** Why a model is not to be trusted, and the columns that it would be better without, where it is for them. */
interface Doubt {
  text: string;
  columns: readonly string[];
}

/** Columns that may be the target itself, be known only after it, or hold nothing for new rows. */
export function leakDoubts(card: FittedModel, suspects: Suspects | undefined): Doubt[] {
  const { copies = [], identifiers = [], counters = [] } = suspects ?? {};
  const rests = shares(card);
  const isPerfect = isNearPerfect(card.scores);
  const together = isPerfect && copies.length === 0 ? toldTogether(card, rests) : undefined;
  const named = rests.length > 0 || isPerfect ? namedLikeTarget(card, rests) : undefined;
  const told = copies.length > 0 ? copyDoubt(copies) : (together ?? named);
  const findShare = (column: string): number | undefined => rests.find((one) => one.column === column)?.share;
  const isUntold = (column: string): boolean => !told?.columns.includes(column);
  const used = identifiers.filter((column) => isUntold(column) && (findShare(column) ?? 0) >= LITTLE);
  // What counts the rows in small tables may be what the target rests on.
  const idle = counters.filter((column) => (findShare(column) ?? 1) < LITTLE);
  const others = [...identifiers, ...idle].filter((column) => isUntold(column) && !used.includes(column));
  return [
    ...(told === undefined ? [] : [told]),
    ...(used.length > 0 ? [usedIdentifierDoubt(used)] : []),
    ...(others.length > 0 ? [identifierDoubt(others)] : []),
  ];
}

/** Whether nearly no error is left of those that are made without a model. */
function isNearPerfect(scores: ModelScores | undefined): boolean {
  const { accuracy = 0, r2 = 0, rmse, baseline = { rows: 0 }, baseline_now: now } = scores ?? {};
  if (r2 >= NEAR_PERFECT) {
    return rmse === undefined || now?.rmse === undefined || rmse ** 2 <= (1 - NEAR_ALL) * now.rmse ** 2;
  }
  const without = Math.max(baseline?.accuracy ?? 0, now?.accuracy ?? 0);
  return accuracy >= NEAR_PERFECT && 1 - accuracy <= (1 - NEAR_ALL) * (1 - without);
}

interface Share {
  column: string;
  /** Part of what the model rests on, 0 to 1. */
  share: number;
}

/** Of each column, by what shuffling it costs; the largest first. */
function shares({ importance = [], relative_to: relative }: FittedModel): Share[] {
  let sum = 0;
  for (const { permutation } of importance) {
    sum += Math.max(0, permutation);
  }
  const result: Share[] = [];
  for (const { column, permutation } of importance) {
    if (column !== relative) {
      result.push({ column, share: sum > 0 ? Math.max(0, permutation) / sum : 0 });
    }
  }
  return result.sort((a, b) => b.share - a.share);
}

/** The few columns that bring nearly all of a nearly perfect score, where there are others that bring nothing. */
function toldTogether(card: FittedModel, rests: readonly Share[]): Doubt | undefined {
  const { scores, importance = [], columns, order, relative_to: relative } = card;
  if (importance.length < 2) {
    return undefined;
  }
  const byGain = importance.find(({ gain, column }) => gain >= WHOLE && column !== relative);
  const few: string[] = [];
  let sum = 0;
  for (const { column, share } of rests) {
    if (sum >= WHOLE || few.length > MAX_TOGETHER) {
      break;
    }
    few.push(column);
    sum += share;
  }
  // What the target was before is no part of what it will be.
  if (few.some((column) => isEarlier(column, relative))) {
    return undefined;
  }
  const isWhole = sum >= WHOLE && few.length <= MAX_TOGETHER && few.length < columns.length;
  if (isWhole && few.length === 1) {
    return toldBy(few);
  }
  if (byGain !== undefined) {
    return toldBy([byGain.column]);
  }
  // What a sensor was a moment ago tells nearly all of what it will be, in several windows.
  const isSlow = order === 'time' && scores?.baseline_now === undefined;
  return isWhole && !isSlow && few.length * 2 <= columns.length ? toldBy(few) : undefined;
}

/** Whether a column tells what a sensor was before, by its name. */
function isEarlier(column: string, sensor: string | undefined): boolean {
  const words = splitWords(column);
  return (
    sensor !== undefined &&
    splitWords(sensor).every((word) => words.includes(word)) &&
    words.some((word) => EARLIER.test(word))
  );
}

function toldBy(columns: readonly string[]): Doubt {
  const [first] = columns;
  const text =
    columns.length === 1
      ? `The column "${first}" alone predicts the target almost perfectly: it may be the outcome itself, or be known only afterwards. If you do not have it when you predict, add it to Ignore.`
      : `The columns ${quoted(columns)} together predict the target almost perfectly: they may be parts of the outcome, or be known only afterwards. If you do not have them when you predict, add them to Ignore.`;
  return { text, columns };
}

/** A column that is named like the target and brings much of the score, or any where nobody tells what brings it. */
function namedLikeTarget(card: FittedModel, rests: readonly Share[]): Doubt | undefined {
  const target = splitWords(card.target);
  if (target.join('').length < MIN_LETTERS) {
    return undefined;
  }
  const isLike = (name: string): boolean => {
    const words = splitWords(name);
    return target.every((word) => words.includes(word)) && !words.some((word) => EARLIER.test(word));
  };
  const named =
    rests.length > 0
      ? rests.find(({ column, share }) => share >= MUCH && isLike(column))?.column
      : card.columns.find(({ name }) => name !== card.relative_to && isLike(name))?.name;
  return named === undefined
    ? undefined
    : {
        text: `The column "${named}" is named like the target "${card.target}", and the model rests on it: it may be the outcome in other words, or be known only afterwards. If you do not have it when you predict, add it to Ignore.`,
        columns: [named],
      };
}

/** The words of a column's name in small letters: `Machine_failureType` has three. */
function splitWords(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function copyDoubt(columns: readonly string[]): Doubt {
  const named =
    columns.length === 1 ? `The column ${quoted(columns)} holds` : `The columns ${quoted(columns)} hold`;
  const them = columns.length === 1 ? 'it' : 'them';
  return {
    text: `${named} the target in other words, row by row, so the score says nothing. Add ${them} to Ignore.`,
    columns,
  };
}

function identifierDoubt(columns: readonly string[]): Doubt {
  const isOne = columns.length === 1;
  return {
    text: `The ${isOne ? 'column' : 'columns'} ${quoted(columns)} ${isOne ? 'numbers or names' : 'number or name'} the rows: ${isOne ? 'its values' : 'their values'} do not recur, so nothing in ${isOne ? 'it' : 'them'} holds for new rows. Add ${isOne ? 'it' : 'them'} to Ignore.`,
    columns,
  };
}

/** A number of a row may tell when it was written, or where: that is for a person to know. */
function usedIdentifierDoubt(columns: readonly string[]): Doubt {
  const isOne = columns.length === 1;
  return {
    text: `The ${isOne ? 'column' : 'columns'} ${quoted(columns)} ${isOne ? 'numbers or names' : 'number or name'} the rows, and the model rests on ${isOne ? 'it' : 'them'}: that holds for new rows only if ${isOne ? 'its' : 'their'} values tell the same there, as numbers given in order of time do. Otherwise add ${isOne ? 'it' : 'them'} to Ignore.`,
    columns,
  };
}

function quoted(columns: readonly string[]): string {
  const names = columns.map((name) => `"${name}"`);
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

/** Where rows were held out by chance, and the errors of neighbours are alike all the same. */
export const NEIGHBOURS_ALIKE =
  'The errors of rows next to each other are alike, so the rows seem to follow each other in time, and the scores ' +
  'promise too much for rows to come. Set Order of rows to "in order of time", or name the Group that they belong to.';

/** Where rows were held out in blocks because of it. */
export const HELD_OUT_IN_BLOCKS =
  'Rows next to each other are alike in more than their columns tell, so the rows seem to follow each other in time. ' +
  'They were learned and scored in blocks, as for rows to come. If the rows to predict lie between these, set Order of ' +
  'rows to "No order".';

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
  const warnings: string[] = [];
  const worse = worseThanTrivial(card);
  if (worse !== undefined) {
    warnings.push(worse);
  }
  if (card.repeated_rows !== undefined) {
    warnings.push(
      `${card.repeated_rows} rows of the train set of "${card.name}" are copies of other rows and were left out, because a row whose copy was learned from would be predicted from memory. If they are not copies, add a column that tells them apart, such as a time; a reading that is repeated row after row, as by a machine that stands still, counts once even so.`,
    );
  }
  return warnings;
}

/**
 * What the told loss rests on, where that is little; undefined where it is enough. The range of the loss is told with the
 * scores of each model: this is for what makes them worth little.
 *
 * @param areTogether rows of a period or a group are alike, as those to come will be: then the range alone tells
 */
export function littleEvidence(
  { rows, events, loss_low: low, loss_high: high, ...scores }: Scores,
  areTogether = false,
): string | undefined {
  const [what, told] = scores.log_loss !== undefined ? ['log loss', scores.log_loss] : ['RMSE', scores.rmse];
  if (told === undefined) {
    return undefined;
  }
  if (events === undefined && !areTogether && high !== undefined && high > UNSURE * told) {
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
  if (other.mae === 0 || other.log_loss === 0) {
    // A target of one value has a doubt of its own: nothing is better than to predict it.
    return false;
  }
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
