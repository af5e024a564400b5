import { ServiceError } from './service-error';
import type { FullDistribution, Label, Statistics } from './types';

/** Predictions in one form, whatever shape the service answered with. */
export type Prediction =
  /** `preds`: a label per row */
  | { kind: 'labels'; values: Label[] }
  /** `probas`: [row][class] */
  | { kind: 'probas'; values: number[][] }
  /** `mean`, `median`, `mode`: a number per row, NaN where the service has none */
  | { kind: 'numbers'; values: number[] }
  /** `quantiles`: values [quantile][row] */
  | { kind: 'quantiles'; quantiles: number[]; values: number[][] }
  /** `main`: statistics per row */
  | { kind: 'main'; quantiles: number[]; value: Statistics }
  /** `full`: a distribution per row */
  | { kind: 'full'; value: FullDistribution };

/** Number of rows predicted. */
export function rowCount(prediction: Prediction): number {
  switch (prediction.kind) {
    case 'quantiles':
      return prediction.values[0]?.length ?? 0;
    case 'main':
    case 'full':
      return prediction.value.mean.length;
    default:
      return prediction.values.length;
  }
}

/** The rows from `from` to `to` (exclusive), as a prediction of their own. */
export function slicePrediction(prediction: Prediction, from: number, to: number): Prediction {
  switch (prediction.kind) {
    case 'labels':
      return { kind: 'labels', values: prediction.values.slice(from, to) };
    case 'probas':
      return { kind: 'probas', values: prediction.values.slice(from, to) };
    case 'numbers':
      return { kind: 'numbers', values: prediction.values.slice(from, to) };
    case 'quantiles':
      return {
        kind: 'quantiles',
        quantiles: [...prediction.quantiles],
        values: prediction.values.map((rows) => rows.slice(from, to)),
      };
    case 'main':
      return {
        kind: 'main',
        quantiles: [...prediction.quantiles],
        value: sliceStatistics(prediction.value, from, to),
      };
    case 'full': {
      const { borders, logits } = prediction.value;
      const value = sliceStatistics(prediction.value, from, to);
      return { kind: 'full', value: { ...value, borders: [...borders], logits: logits.slice(from, to) } };
    }
  }
}

/**
 * Predictions of consecutive parts of one test set, as one.
 * @throws ServiceError `response.invalid` where the parts are of different kinds, quantiles or borders.
 */
export function joinPredictions(parts: readonly Prediction[]): Prediction {
  const [first, ...others] = parts;
  if (first === undefined) {
    throw new ServiceError('internal', 'There are no predictions to join.');
  }
  if (others.length === 0) {
    return first;
  }
  switch (first.kind) {
    case 'labels':
      return { kind: 'labels', values: same(parts, 'labels').flatMap((part) => part.values) };
    case 'probas':
      return { kind: 'probas', values: same(parts, 'probas').flatMap((part) => part.values) };
    case 'numbers':
      return { kind: 'numbers', values: same(parts, 'numbers').flatMap((part) => part.values) };
    case 'quantiles': {
      const all = same(parts, 'quantiles');
      assertEqual(
        all.map((part) => part.quantiles),
        'quantiles',
      );
      return {
        kind: 'quantiles',
        quantiles: [...first.quantiles],
        values: first.quantiles.map((_, q) => all.flatMap((part) => part.values[q] ?? [])),
      };
    }
    case 'main': {
      const all = same(parts, 'main');
      assertEqual(
        all.map((part) => part.quantiles),
        'quantiles',
      );
      const value = joinStatistics(all.map((part) => part.value));
      return { kind: 'main', quantiles: [...first.quantiles], value };
    }
    case 'full': {
      const all = same(parts, 'full').map((part) => part.value);
      assertEqual(
        all.map((part) => part.borders),
        'borders',
      );
      assertEqual(
        all.map((part) => [part.quantiles.length]),
        'quantiles',
      );
      return {
        kind: 'full',
        value: {
          ...joinStatistics(all),
          borders: [...first.value.borders],
          logits: all.flatMap((part) => part.logits),
        },
      };
    }
  }
}

/** The service's own shape of `prediction` again: null where it is no number that JSON has. */
export function toService(prediction: Prediction): unknown {
  switch (prediction.kind) {
    case 'numbers':
      return prediction.values.map(orNull);
    case 'quantiles':
      return prediction.values.map((row) => row.map(orNull));
    case 'main':
      return statisticsToService(prediction.value);
    case 'full': {
      const { borders, logits } = prediction.value;
      return {
        ...statisticsToService(prediction.value),
        borders: borders.map(orNull),
        logits: logits.map((row) => row.map(orNull)),
      };
    }
    default:
      return prediction.values;
  }
}

/** A number, or null where it is not a finite one. */
export function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function statisticsToService({ mean, median, mode, quantiles }: Statistics): Record<string, unknown> {
  return {
    mean: mean.map(orNull),
    median: median.map(orNull),
    mode: mode.map(orNull),
    quantiles: quantiles.map((row) => row.map(orNull)),
  };
}

function sliceStatistics(
  { mean, median, mode, quantiles }: Statistics,
  from: number,
  to: number,
): Statistics {
  return {
    mean: mean.slice(from, to),
    median: median.slice(from, to),
    mode: mode.slice(from, to),
    quantiles: quantiles.map((rows) => rows.slice(from, to)),
  };
}

function joinStatistics(parts: readonly Statistics[]): Statistics {
  return {
    mean: parts.flatMap((part) => part.mean),
    median: parts.flatMap((part) => part.median),
    mode: parts.flatMap((part) => part.mode),
    quantiles: parts[0]!.quantiles.map((_, q) => parts.flatMap((part) => part.quantiles[q] ?? [])),
  };
}

function same<K extends Prediction['kind']>(
  parts: readonly Prediction[],
  kind: K,
): Extract<Prediction, { kind: K }>[] {
  const odd = parts.find((part) => part.kind !== kind);
  if (odd !== undefined) {
    throw invalidPrediction('prediction', `is ${odd.kind} in one part and ${kind} in another`);
  }
  return parts as Extract<Prediction, { kind: K }>[];
}

function assertEqual(lists: number[][], what: string): void {
  const [first, ...others] = lists;
  for (const other of others) {
    if (other.length !== first!.length || other.some((value, i) => value !== first![i])) {
      throw invalidPrediction('prediction', `has different ${what} in two parts of one table`);
    }
  }
}

/** The error of a prediction that is not what it should be. */
export function invalidPrediction(path: string, message: string): ServiceError {
  return new ServiceError('response.invalid', `The service's answer is malformed: ${path} ${message}.`);
}
