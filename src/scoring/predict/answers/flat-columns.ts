import { comparableLabel } from '../../../metrics/answer-costs';
import type { Label } from '../../../table';
import { orNull, type Prediction } from '../../../wire/prediction';
import { likeliest } from './answered-labels';

/** A column of its own beside a prediction. */
export interface FlatColumn {
  name: string;
  value: (row: number) => number | null;
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
}

/**
 * Predictions as plain numbers, as a chart takes them: the middle and the edges of the band, the probability of the
 * rarer of two classes or of the label of several, and the time that a row is about.
 */
export function flatColumns(prediction: Prediction, flattened: Flattened): FlatColumn[] {
  const { property, times } = flattened;
  const time = times?.some((one) => one !== undefined)
    ? [{ name: `${property}_time`, value: (row: number) => times[row] ?? null }]
    : [];
  return [...numbersOf(prediction, flattened), ...time];
}

function numbersOf(prediction: Prediction, flattened: Flattened): FlatColumn[] {
  const { property } = flattened;
  switch (prediction.kind) {
    case 'probas':
      return [{ name: `${property}_probability`, value: probabilityOf(prediction.values, flattened) }];
    case 'quantiles':
      return band(property, prediction.quantiles, prediction.values);
    case 'main': {
      const { quantiles, value } = prediction;
      return band(property, quantiles, value.quantiles, value.median);
    }
    case 'full':
      return band(
        property,
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
  property: string,
  levels: readonly number[],
  values: readonly (readonly number[])[],
  median?: readonly number[],
): FlatColumn[] {
  const order = levels.map((_, at) => at).sort((a, b) => levels[a]! - levels[b]!);
  const [low, high] = [order[0], order.at(-1)];
  const middle = median === undefined ? middleOf(levels, values, order) : (row: number) => median[row]!;
  const at = (place: number) => (row: number) => orNull(values[place]![row]!);
  return [
    ...(middle === undefined
      ? []
      : [{ name: `${property}_mid`, value: (row: number) => orNull(middle(row)) }]),
    ...(low === undefined || high === undefined || low === high
      ? []
      : [
          { name: `${property}_low`, value: at(low) },
          { name: `${property}_high`, value: at(high) },
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
  { classes, rarer, answered }: Flattened,
): (row: number) => number | null {
  const comparable = classes?.map(comparableLabel);
  const placeOf = (label: unknown): number => comparable?.indexOf(comparableLabel(label as Label)) ?? -1;
  if (values[0]?.length === 2) {
    const known = rarer === undefined ? -1 : placeOf(rarer);
    const at = known < 0 ? 1 : known;
    return (row) => orNull(values[row]![at]!);
  }
  return (row) => {
    const known = answered === undefined ? -1 : placeOf(answered[row]);
    return orNull(values[row]![known < 0 ? likeliest(values[row]!) : known]!);
  };
}
