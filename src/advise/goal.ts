import { comparableLabel } from '../metrics/answer-costs';
import type { ModelCard } from '../models/cards';
import type { PredictRequest } from '../models/types';
import type { Label } from '../table';
import { isObject } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { Expected, Question } from './types';

/** A goal as a model can be asked about it. */
export interface Goal {
  /** Whether it has a limit that holds or not; else there is only better and worse. */
  readonly hasLimit: boolean;
  /** Of classes: the label that it is about. */
  readonly label?: string;
  readonly asks: Pick<PredictRequest, 'outputType' | 'quantiles'>;
  /**
   * Reads what is attached to a row under a property. `reach` is how far the row is beyond the goal, in units of the
   * target or as a probability, or how good it is; NaN where nothing is predicted.
   */
  read(row: Readonly<Record<string, unknown>>, property: string): { expected: Expected; reach: number };
}

type Model = Pick<ModelCard, 'name' | 'task' | 'classes' | 'rows' | 'columns'>;

/** @throws ServiceError `config.invalid` for a goal that this model cannot be asked about */
export function readGoal(question: Question, card: Model): Goal {
  return card.task === 'classification' ? classGoal(question, card) : numberGoal(question, card);
}

/** The largest of ten standard normal values is expected here. */
const LUCKIEST = 1.54;
/**
 * Where rows are many, models err less than that: chosen so that the goal holds as often as `sure` says in the mean of
 * seven machines (dryer to coater) with 300 rows, four train sets each, and not above it on eight with 2,000.
 * `npm run bench -- advise` measures it on further train sets of these, and on three machines that had no part in it.
 */
const MANY_ROWS = 6;
const MOST_COLUMNS = 10;
/** The logistic distribution stretched by this is close to the normal one. */
const LOGISTIC = 1.7;

/**
 * The probability that is asked for in place of `sure`. What is predicted errs, and the cheapest candidate that seems to
 * hold the goal is one of those for which it errs in our favour (the optimizer's curse: J. E. Smith and R. L. Winkler,
 * Management Science 52, 2006). A mean fitted to n rows of p columns errs by some sqrt(p / n) of the noise; the luckiest
 * of ten independent errors is 1.54 times as large. The goal must hold with so much to spare, or with 6 p / n where
 * that is less (from 90 rows on for 6 columns).
 */
export function surer(sure: number, { rows, columns }: Pick<ModelCard, 'rows' | 'columns'>): number {
  const share = Math.min(MOST_COLUMNS, columns.length) / Math.max(1, rows);
  const luck = Math.min(LUCKIEST * Math.sqrt(share), MANY_ROWS * share);
  return level(1 / (1 + ((1 - sure) / sure) * Math.exp(-LOGISTIC * luck)));
}

/** What is told of a prediction. */
const DIGITS = 6;

/** Quantiles are asked for, and found again, by their names. */
const level = (value: number): number => Math.min(0.9999, Math.max(0.0001, Number(value.toFixed(4))));

function numberGoal({ goal, value, sure = 0.9 }: Question, card: Model): Goal {
  const { name } = card;
  const hasLimit = goal === 'at least' || goal === 'at most';
  const limit = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (hasLimit && (typeof limit !== 'number' || !Number.isFinite(limit))) {
    const found = value === undefined || value === '' ? 'there is none' : `"${String(value)}" is none`;
    throw new ServiceError(
      'config.invalid',
      `The model "${name}" predicts numbers: the goal "${goal}" needs one as its value, and ${found}. Give it beside the goal in the node, or as msg.goal_value.`,
    );
  }
  const [low, high] = [level(1 - sure), level(sure)];
  const asked = surer(sure, card);
  const isUp = goal === 'highest' || goal === 'at least';
  const zero = hasLimit ? (limit as number) : 0;
  return {
    hasLimit,
    asks: {
      outputType: 'quantiles',
      quantiles: [...new Set([low, 0.5, high, isUp ? level(1 - asked) : asked])].sort((a, b) => a - b),
    },
    read: (row, property) => {
      const quantiles = row[property];
      if (!isObject(quantiles)) {
        return { expected: { value: null }, reach: Number.NaN };
      }
      const at = (one: number): number => Number(quantiles[String(one)] ?? Number.NaN);
      const told = (one: number): number => Number(at(one).toPrecision(DIGITS));
      const holds = isUp ? at(low) >= zero : at(high) <= zero;
      const expected = { value: told(0.5), low: told(low), high: told(high), ...(hasLimit && { holds }) };
      return { expected, reach: isUp ? at(level(1 - asked)) - zero : zero - at(asked) };
    },
  };
}

function classGoal({ goal, value, sure = 0.9 }: Question, card: Model): Goal {
  const { name, classes = [] } = card;
  const label = classes.find((one) => value !== undefined && comparableLabel(one) === comparableLabel(value));
  if (label === undefined) {
    const found =
      value === undefined || value === '' ? 'there is none' : `"${String(value)}" is none of them`;
    throw new ServiceError(
      'config.invalid',
      `The model "${name}" predicts classes: the goal needs one as its value, and ${found}. They are ${labels(classes)}: give one beside the goal in the node, or as msg.goal_value.`,
    );
  }
  const hasLimit = goal === 'at least' || goal === 'at most';
  const isUp = goal === 'highest' || goal === 'at least';
  const asked = surer(sure, card);
  return {
    hasLimit,
    label: String(label),
    asks: { outputType: 'probas' },
    read: (row, property) => {
      const shares = row[`${property}_probabilities`];
      const probability = isObject(shares) ? Number(shares[String(label)] ?? Number.NaN) : Number.NaN;
      const wanted = isUp ? probability : 1 - probability;
      const expected = {
        value: row[property] as Label,
        probability,
        ...(hasLimit && { holds: wanted >= sure }),
      };
      return { expected, reach: hasLimit ? wanted - asked : wanted };
    },
  };
}

function labels(classes: readonly Label[]): string {
  const first = classes.slice(0, 10).map((one) => `"${String(one)}"`);
  return `${first.join(', ')}${classes.length > 10 ? ` and ${classes.length - 10} more` : ''}`;
}
