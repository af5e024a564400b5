import type { FittedModel, ModelScores } from '../../types';
import type { Suspects } from '../train-set/suspects';

/** Why a model is not to be trusted, and the columns that it would be better without, where it is for them. */
export interface Doubt {
  text: string;
  columns: readonly string[];
}

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

/** Columns that may be the target itself, be known only after it, or hold nothing for new rows. */
export function leakDoubts(card: FittedModel, suspects: Suspects | undefined): Doubt[] {
  const { copies = [], identifiers = [], counters = [] } = suspects ?? {};
  const told = copies.length > 0 ? copyDoubt(copies) : (toldTogether(card) ?? namedLikeTarget(card));
  // What counts the rows in small tables may be what the target rests on.
  const little = new Set(shares(card).flatMap(({ column, share }) => (share < LITTLE ? [column] : [])));
  const ids = [...identifiers, ...counters.filter((column) => little.has(column))].filter(
    (column) => !told?.columns.includes(column),
  );
  return [...(told === undefined ? [] : [told]), ...(ids.length > 0 ? [identifierDoubt(ids)] : [])];
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
  const sum = importance.reduce((total, { permutation }) => total + Math.max(0, permutation), 0);
  return importance
    .filter(({ column }) => column !== relative)
    .map(({ column, permutation }) => ({ column, share: sum > 0 ? Math.max(0, permutation) / sum : 0 }))
    .sort((a, b) => b.share - a.share);
}

/** The few columns that bring nearly all of a nearly perfect score, where there are others that bring nothing. */
function toldTogether(card: FittedModel): Doubt | undefined {
  const { scores, importance = [], columns, order, relative_to: relative } = card;
  if (!isNearPerfect(scores) || importance.length < 2) {
    return undefined;
  }
  const byGain = importance.find(({ gain, column }) => gain >= WHOLE && column !== relative);
  const few: string[] = [];
  let sum = 0;
  for (const { column, share } of shares(card)) {
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
  const words = wordsOf(column);
  return (
    sensor !== undefined &&
    wordsOf(sensor).every((word) => words.includes(word)) &&
    words.some((word) => EARLIER.test(word))
  );
}

function toldBy(columns: readonly string[]): Doubt {
  const [first] = columns;
  const text =
    columns.length === 1
      ? `The column "${first}" alone tells the target almost wholly: it may be the outcome itself, or be known only afterwards. If it is not there when you predict, leave it out by Ignore.`
      : `The columns ${quoted(columns)} together tell the target almost wholly: they may be parts of the outcome, or be known only afterwards. If they are not there when you predict, leave them out by Ignore.`;
  return { text, columns };
}

/** A column that is named like the target and brings much of the score. */
function namedLikeTarget(card: FittedModel): Doubt | undefined {
  const target = wordsOf(card.target);
  if (target.join('').length < MIN_LETTERS) {
    return undefined;
  }
  const isLike = (name: string): boolean => {
    const words = wordsOf(name);
    return target.every((word) => words.includes(word)) && !words.some((word) => EARLIER.test(word));
  };
  const rests = shares(card);
  const named =
    rests.length > 0
      ? rests.find(({ column, share }) => share >= MUCH && isLike(column))?.column
      : isNearPerfect(card.scores)
        ? card.columns.find(({ name }) => name !== card.relative_to && isLike(name))?.name
        : undefined;
  return named === undefined
    ? undefined
    : {
        text: `The column "${named}" is named like the target "${card.target}", and the model rests on it: it may be the outcome in other words, or be known only afterwards. If it is not there when you predict, leave it out by Ignore.`,
        columns: [named],
      };
}

/** The words of a column's name in small letters: `Machine_failureType` has three. */
function wordsOf(name: string): string[] {
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
    text: `${named} the target in other words, row by row, so the score says nothing. Leave ${them} out by Ignore.`,
    columns,
  };
}

function identifierDoubt(columns: readonly string[]): Doubt {
  const isOne = columns.length === 1;
  return {
    text: `The ${isOne ? 'column' : 'columns'} ${quoted(columns)} ${isOne ? 'numbers or names' : 'number or name'} the rows: ${isOne ? 'its values' : 'their values'} do not come again, so nothing in ${isOne ? 'it' : 'them'} holds for new rows. Leave ${isOne ? 'it' : 'them'} out by Ignore.`,
    columns,
  };
}

function quoted(columns: readonly string[]): string {
  const names = columns.map((name) => `"${name}"`);
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
