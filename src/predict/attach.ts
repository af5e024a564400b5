import { comparableLabel } from '../metrics/answer-costs';
import type { AnswerRule } from '../models/threshold';
import { type Label, setCell } from '../table/cells/types';
import type { AddedColumn } from '../table/values/tables';
import { orNull, type Prediction } from '../wire/prediction';
import type { Statistics } from '../wire/types';
import { DEFAULT_QUANTILES } from '../wire/vocabulary';

/** How predictions are written where people and charts read them. */
interface Digits {
  number: (value: number) => number;
  probability: (value: number) => number;
}

/** As they are, to the last bit. */
export const ALL_DIGITS: Digits = { number: (value) => value, probability: (value) => value };

/** A prediction keeps at least so many digits, however small it is beside the errors of others. */
const LEAST_DIGITS = 4;
/** Without an error known: more than any sensor tells, fewer than binary noise needs. */
const OF_UNKNOWN = 9;
/** Digits below the first of the usual error: what is below is some hundredth of what the model knows. */
const BELOW_ERROR = 2;

/**
 * As many decimals as tell something of the prediction of a model.
 *
 * @param error the usual error, in units of the target; undefined where it is not known
 */
export function tellingDigits(error: number | undefined): Digits {
  const isKnown = error !== undefined && Number.isFinite(error) && error > 0;
  const ofError = isKnown ? BELOW_ERROR - magnitude(error) : 0;
  const least = isKnown ? LEAST_DIGITS : OF_UNKNOWN;
  return {
    number: (value) => rounded(value, Math.max(ofError, least - 1 - magnitude(value))),
    // What is nearly all is told by what is missing to it.
    probability: (value) => rounded(value, LEAST_DIGITS - 1 - magnitude(Math.min(value, 1 - value))),
  };
}

/** The place of its first digit: 0 of 1 to 9, -1 of 0.1. */
const magnitude = (value: number): number => Math.floor(Math.log10(Math.abs(value)));

/** To so many decimals, at least none. 0, what is no number, and what is too small or large for it stay as they are. */
function rounded(value: number, decimals: number): number {
  const power = 10 ** Math.max(0, decimals);
  const result = Math.round(value * power) / power;
  return Number.isFinite(result) ? result : value;
}

/**
 * The columns that a prediction is attached as: one named by `property` and, of probabilities, `{label: p}` under
 * `<property>_probabilities`. `classes` are the labels in the order of the probabilities; without them a class is its
 * index. `answered`: the labels that a threshold answers. `digits`: how numbers are written.
 */
export function predictionColumns(
  prediction: Prediction,
  property: string,
  classes: readonly Label[] | undefined,
  { answered, digits = ALL_DIGITS }: { answered?: AnsweredLabels; digits?: Digits } = {},
): AddedColumn[] {
  switch (prediction.kind) {
    case 'labels': {
      const { values } = prediction;
      return [{ name: property, cell: (row) => values[row] }];
    }
    case 'numbers': {
      const { values } = prediction;
      return [{ name: property, cell: (row) => written(values[row]!, digits) }];
    }
    case 'probas': {
      const { values } = prediction;
      if (answered?.labelsOnly === true) {
        return predictionColumns(answered.labels, property, classes);
      }
      const own = answered?.labels.values;
      return [
        {
          name: property,
          cell: (row) => {
            const likely = own === undefined ? likeliest(values[row]!) : -1;
            return own === undefined ? (classes?.[likely] ?? likely) : own[row];
          },
        },
        { name: `${property}_probabilities`, cell: (row) => keyed(values[row]!, classes, digits) },
      ];
    }
    case 'quantiles': {
      const { quantiles, values } = prediction;
      const names = quantiles.map(String);
      return [{ name: property, cell: (row) => atRow(values, names, row, digits) }];
    }
    case 'main':
      return [
        { name: property, cell: statistics(prediction.value, prediction.quantiles.map(String), digits) },
      ];
    case 'full': {
      const { quantiles } = prediction.value;
      const names = quantiles.map((_, index) =>
        quantiles.length === DEFAULT_QUANTILES.length ? String(DEFAULT_QUANTILES[index]) : String(index),
      );
      return [{ name: property, cell: statistics(prediction.value, names, digits) }];
    }
  }
}

function statistics(
  { mean, median, mode, quantiles }: Statistics,
  names: readonly string[],
  digits: Digits,
): (row: number) => unknown {
  return (row) => ({
    mean: written(mean[row]!, digits),
    median: written(median[row]!, digits),
    mode: written(mode[row]!, digits),
    quantiles: atRow(quantiles, names, row, digits),
  });
}

function atRow(
  values: readonly number[][],
  names: readonly string[],
  row: number,
  digits: Digits,
): Record<string, number | null> {
  const result: Record<string, number | null> = {};
  for (let index = 0; index < names.length; index++) {
    result[names[index]!] = written(values[index]![row]!, digits);
  }
  return result;
}

const written = (value: number, { number }: Digits): number | null => orNull(number(value));

/** Probabilities by their labels, or by their places where those are not known. */
function keyed(
  values: readonly number[],
  classes: readonly Label[] | undefined,
  { probability }: Digits,
): Record<string, number> {
  const result: Record<string, number> = {};
  for (let index = 0; index < values.length; index++) {
    setCell(result, String(classes?.[index] ?? index), probability(values[index]!));
  }
  return result;
}

interface Flattened {
  property: string;
  /** The labels in the order of the probabilities. */
  classes: readonly Label[] | undefined;
  /** Of two classes the rarer one, where it is known. */
  rarer?: Label;
  /** What each row is answered, of probabilities. */
  answered?: readonly unknown[];
  /** What time each row is about, milliseconds since 1970, where it is known. */
  times?: readonly (number | undefined)[];
  digits: Digits;
}

/**
 * Predictions as plain numbers, as a chart takes them: the middle and the edges of the band, the probability of the
 * rarer of two classes or of the label of several, and the time that a row is about.
 */
export function flatColumns(prediction: Prediction, flattened: Flattened): AddedColumn[] {
  const { property, times } = flattened;
  const time = times?.some((one) => one !== undefined)
    ? [{ name: `${property}_time`, cell: (row: number) => times[row] ?? null }]
    : [];
  return [...numbersOf(prediction, flattened), ...time];
}

function numbersOf(prediction: Prediction, flattened: Flattened): AddedColumn[] {
  const { property } = flattened;
  switch (prediction.kind) {
    case 'probas':
      return [{ name: `${property}_probability`, cell: probabilityOf(prediction.values, flattened) }];
    case 'quantiles':
      return band(flattened, prediction.quantiles, prediction.values);
    case 'main': {
      const { quantiles, value } = prediction;
      return band(flattened, quantiles, value.quantiles, value.median);
    }
    case 'full':
      return band(
        flattened,
        prediction.value.quantiles.map((_, at) => at),
        prediction.value.quantiles,
        prediction.value.median,
      );
    default:
      return [];
  }
}

/** @param median [row]; left out: between the quantiles on both sides of one half */
function band(
  { property, digits }: Flattened,
  levels: readonly number[],
  values: readonly (readonly number[])[],
  median?: readonly number[],
): AddedColumn[] {
  const order = levels.map((_, at) => at).sort((a, b) => levels[a]! - levels[b]!);
  const [low, high] = [order[0], order.at(-1)];
  const middle = median === undefined ? middleOf(levels, values, order) : (row: number) => median[row]!;
  const at = (place: number) => (row: number) => written(values[place]![row]!, digits);
  return [
    ...(middle === undefined
      ? []
      : [{ name: `${property}_mid`, cell: (row: number) => written(middle(row), digits) }]),
    ...(low === undefined || high === undefined || low === high
      ? []
      : [
          { name: `${property}_low`, cell: at(low) },
          { name: `${property}_high`, cell: at(high) },
        ]),
  ];
}

/** The median by the quantiles around it; undefined where they are all on one side of it. */
function middleOf(
  levels: readonly number[],
  values: readonly (readonly number[])[],
  order: readonly number[],
): ((row: number) => number) | undefined {
  const above = order.find((at) => levels[at]! >= 0.5);
  const below = order.findLast((at) => levels[at]! <= 0.5);
  if (above === undefined || below === undefined) {
    return undefined;
  }
  const width = levels[above]! - levels[below]!;
  const part = width > 0 ? (0.5 - levels[below]!) / width : 0;
  return (row) => values[below]![row]! + part * (values[above]![row]! - values[below]![row]!);
}

function probabilityOf(
  values: readonly (readonly number[])[],
  { classes, rarer, answered, digits }: Flattened,
): (row: number) => number | null {
  const comparable = classes?.map(comparableLabel);
  const placeOf = (label: unknown): number => comparable?.indexOf(comparableLabel(label as Label)) ?? -1;
  if (values[0]?.length === 2) {
    const known = rarer === undefined ? -1 : placeOf(rarer);
    const at = known < 0 ? 1 : known;
    return (row) => orNull(digits.probability(values[row]![at]!));
  }
  return (row) => {
    const known = answered === undefined ? -1 : placeOf(answered[row]);
    return orNull(digits.probability(values[row]![known < 0 ? likeliest(values[row]!) : known]!));
  };
}

/** The label of each row, where a threshold decides. */
interface AnsweredLabels {
  labels: Extract<Prediction, { kind: 'labels' }>;
  /** Only labels were asked for. */
  labelsOnly: boolean;
}

/**
 * The labels that a threshold decides on; undefined where there are no probabilities. If the threshold is
 * for other classes, the most probable class is answered.
 */
export function answeredBy(
  rule: AnswerRule,
  prediction: Prediction,
  classes: readonly Label[] = [],
): AnsweredLabels | undefined {
  if (prediction.kind !== 'probas') {
    return undefined;
  }
  const wanted = comparableLabel(rule.label);
  const of = classes.length === 2 ? classes.findIndex((label) => comparableLabel(label) === wanted) : -1;
  const values = prediction.values.map((row): Label => {
    const at = of < 0 ? likeliest(row) : row[of]! >= rule.at ? of : 1 - of;
    return classes[at] ?? at;
  });
  return { labels: { kind: 'labels', values }, labelsOnly: rule.labelsOnly };
}

/** The index of the largest value; the first of equal ones. */
function likeliest(values: readonly number[]): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if (values[index]! > values[best]!) {
      best = index;
    }
  }
  return best;
}
