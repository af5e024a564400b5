import { comparableLabel } from '../metrics/answer-costs';
import type { AnswerRule } from '../models/threshold';
import type { Label } from '../table/cells/types';
import type { AddedColumn } from '../table/values/tables';
import { type Digits, findKind, likeliest, type Prediction, type Telling } from '../wire/prediction';

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
  const told = answered?.labelsOnly === true ? answered.labels : prediction;
  const { value, probabilities } = findKind(told).tell(told, {
    digits,
    classes,
    answered: answered?.labels.values,
  });
  return [
    { name: property, cell: value },
    ...(probabilities === undefined ? [] : [{ name: `${property}_probabilities`, cell: probabilities }]),
  ];
}

interface Flattened extends Telling {
  property: string;
  /** Of two classes the rarer one, where it is known. */
  rarer?: Label;
  /** What time each row is about, milliseconds since 1970, where it is known. */
  times?: readonly (number | undefined)[];
}

/**
 * Predictions as plain numbers, as a chart takes them: the middle and the edges of the band, the probability of the
 * rarer of two classes or of the label of several, and the time that a row is about.
 */
export function flatColumns(
  prediction: Prediction,
  { property, times, rarer, ...telling }: Flattened,
): AddedColumn[] {
  const comparable = telling.classes?.map(comparableLabel);
  const findPlace = (label: Label): number => comparable?.indexOf(comparableLabel(label)) ?? -1;
  const told = findKind(prediction).tellNumbers(prediction, {
    ...telling,
    placeOf: findPlace,
    ...(rarer !== undefined && findPlace(rarer) >= 0 && { rarer: findPlace(rarer) }),
  });
  return [
    ...Object.entries(told).map(([name, cell]) => ({ name: `${property}_${name}`, cell })),
    ...(times?.some((one) => one !== undefined)
      ? [{ name: `${property}_time`, cell: (row: number) => times[row] ?? null }]
      : []),
  ];
}

/** The label of each row, where a threshold decides. */
interface AnsweredLabels {
  labels: { kind: 'labels'; values: Label[] };
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
