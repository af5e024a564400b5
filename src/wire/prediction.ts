import { ServiceError } from './service-error';
import type { FullDistribution, Statistics } from './types';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES, type Label, type OutputType, type Task } from './vocabulary';

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
function invalidPrediction(path: string, message: string): ServiceError {
  return new ServiceError('response.invalid', `The service's answer is malformed: ${path} ${message}.`);
}

export interface PredictionContext {
  task: Task;
  output_type?: OutputType;
  quantiles?: readonly number[];
  /** Rows of the test set, where known. */
  rows?: number;
  /** The deprecated route (S 4.7): a full distribution may be plain numbers, or have neither borders nor logits. */
  legacy?: boolean;
}

/**
 * Reads the `prediction` of a predict response (S 4.4; shapes as docs/architecture.md settles them).
 * @throws ServiceError `response.invalid`, naming the place, for a shape that the request doesn't allow.
 */
export function readPrediction(raw: unknown, context: PredictionContext): Prediction {
  const prediction = readShape(raw, context);
  const rows = rowCount(prediction);
  if (context.rows !== undefined && rows !== context.rows) {
    throw invalidPrediction('prediction', `has ${rows} rows where the test set has ${context.rows}`);
  }
  return prediction;
}

function readShape(raw: unknown, context: PredictionContext): Prediction {
  const output = context.output_type ?? DEFAULT_OUTPUT_TYPE[context.task];
  switch (output) {
    case 'preds':
      return { kind: 'labels', values: listOf(raw, 'prediction', isLabel, 'a label') };
    case 'probas':
      return { kind: 'probas', values: readProbas(raw) };
    case 'mean':
    case 'median':
    case 'mode':
      return { kind: 'numbers', values: numbers(raw, 'prediction') };
    case 'quantiles': {
      const quantiles = [...(context.quantiles ?? DEFAULT_QUANTILES)];
      return { kind: 'quantiles', quantiles, values: readQuantiles(raw, quantiles.length, context.rows) };
    }
    case 'main': {
      const quantiles = [...(context.quantiles ?? DEFAULT_QUANTILES)];
      return { kind: 'main', quantiles, value: readMain(raw, quantiles.length) };
    }
    case 'full':
      return context.legacy === true && Array.isArray(raw)
        ? { kind: 'numbers', values: numbers(raw, 'prediction') }
        : { kind: 'full', value: readFull(raw, context.legacy === true) };
  }
}

function readProbas(raw: unknown): number[][] {
  const values = matrix(raw, 'prediction');
  for (const [at, row] of values.entries()) {
    if (row.some(Number.isNaN)) {
      throw invalidPrediction(`prediction[${at}]`, 'has a probability that is no number');
    }
  }
  const classes = values[0]?.length ?? 0;
  for (const [at, { length }] of values.entries()) {
    if (length !== classes || length === 0) {
      throw invalidPrediction(
        `prediction[${at}]`,
        `has ${length} probabilities, expected ${classes || 'some'}`,
      );
    }
  }
  return values;
}

/**
 * The rule for quantiles: [quantile][row]; a single quantile (or a single row) may come one-dimensional; where the
 * lengths leave only the reading [row][quantile], that one is taken.
 */
function readQuantiles(raw: unknown, levels: number, rows: number | undefined): number[][] {
  const path = 'prediction';
  if (Array.isArray(raw) && raw.length > 0 && !Array.isArray(raw[0])) {
    const flat = numbers(raw, path);
    if (levels === 1) {
      return [flat];
    }
    if (flat.length === levels && (rows === undefined || rows === 1)) {
      return flat.map((value) => [value]);
    }
    throw invalidPrediction(path, `has ${flat.length} numbers in one dimension for ${levels} quantiles`);
  }
  const values = matrix(raw, path);
  const inner = values[0]?.length ?? 0;
  const odd = values.findIndex((row) => row.length !== inner);
  if (odd >= 0) {
    throw invalidPrediction(`${path}[${odd}]`, `has ${values[odd]!.length} numbers, expected ${inner}`);
  }
  if (values.length === levels && (rows === undefined || inner === rows)) {
    return values;
  }
  if (inner === levels && (rows === undefined || values.length === rows)) {
    return Array.from({ length: levels }, (_, q) => values.map((row) => row[q]!));
  }
  const shape = `${values.length} × ${inner}`;
  const wanted = rows === undefined ? `${levels} quantiles` : `${levels} quantiles of ${rows} rows`;
  throw invalidPrediction(path, `is ${shape}, expected ${wanted}`);
}

function readMain(raw: unknown, levels: number): Statistics {
  const statistics = readStatistics(objectOf(raw, 'mean, median, mode and quantiles'));
  if (statistics.quantiles.length !== levels) {
    const found = statistics.quantiles.length;
    throw invalidPrediction('prediction.quantiles', `has ${found} quantiles, expected ${levels}`);
  }
  return statistics;
}

function objectOf(raw: unknown, names: string): Record<string, unknown> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalidPrediction('prediction', `must be an object with ${names}`);
  }
  return raw as Record<string, unknown>;
}

function readStatistics(body: Record<string, unknown>): Statistics {
  const mean = numbers(body.mean, 'prediction.mean');
  const rows = mean.length;
  const column = (name: string) => {
    const values = numbers(body[name], `prediction.${name}`);
    if (values.length !== rows) {
      throw invalidPrediction(`prediction.${name}`, `has ${values.length} rows where mean has ${rows}`);
    }
    return values;
  };
  const median = column('median');
  const mode = column('mode');
  return { mean, median, mode, quantiles: readFullQuantiles(body.quantiles, rows) };
}

function readFull(raw: unknown, withoutBars: boolean): FullDistribution {
  const body = objectOf(raw, 'mean, median, mode, quantiles, borders and logits');
  const statistics = readStatistics(body);
  const rows = statistics.mean.length;
  if (withoutBars && body.borders === undefined) {
    return { ...statistics, borders: [], logits: statistics.mean.map(() => []) };
  }
  const borders = readBorders(body.borders);
  const logits = listOf(body.logits, 'prediction.logits', Array.isArray, 'an array').map((row, r) =>
    readLogits(row as unknown[], r, borders.length - 1),
  );
  if (logits.length !== rows) {
    throw invalidPrediction('prediction.logits', `has ${logits.length} rows where mean has ${rows}`);
  }
  return { ...statistics, ...withoutMissingBorders(borders, logits) };
}

/** Where a border is missing, the two bars beside it are one, which has the probability of both. */
function withoutMissingBorders(
  borders: number[],
  logits: number[][],
): Pick<FullDistribution, 'borders' | 'logits'> {
  if (!borders.some(Number.isNaN)) {
    return { borders, logits };
  }
  const merged = logits.map((row) => {
    const bars: number[] = [];
    row.forEach((logit, b) => {
      if (Number.isNaN(borders[b])) {
        bars.push(logOfSum(bars.pop()!, logit));
      } else {
        bars.push(logit);
      }
    });
    return bars;
  });
  return { borders: borders.filter((border) => !Number.isNaN(border)), logits: merged };
}

/** log(exp(a) + exp(b)), without leaving the range of numbers in between. */
function logOfSum(a: number, b: number): number {
  const high = Math.max(a, b);
  return high === -Infinity ? high : high + Math.log1p(Math.exp(Math.min(a, b) - high));
}

/** The outermost borders may be null: the support has no end there. Others that are null are NaN. */
function readBorders(raw: unknown): number[] {
  const borders = numbers(raw, 'prediction.borders');
  return borders.map((border, i) => {
    if (!Number.isNaN(border)) {
      return border;
    }
    return i === 0 ? -Infinity : i === borders.length - 1 ? Infinity : border;
  });
}

function readLogits(row: unknown[], r: number, bars: number): number[] {
  if (row.length !== bars) {
    throw invalidPrediction(`prediction.logits[${r}]`, `has ${row.length} logits for ${bars} bars`);
  }
  return row.map((logit, b) => {
    if (logit === null) {
      return -Infinity;
    }
    if (typeof logit !== 'number') {
      throw invalidPrediction(`prediction.logits[${r}][${b}]`, 'must be a number or null');
    }
    return logit;
  });
}

/** The quantiles of a full distribution are the default ones unless their number says otherwise. */
function readFullQuantiles(raw: unknown, rows: number): number[][] {
  const values = matrix(raw, 'prediction.quantiles');
  if (values.every((row) => row.length === rows)) {
    return values;
  }
  const levels = values[0]?.length ?? 0;
  if (values.length === rows && values.every((row) => row.length === levels)) {
    return Array.from({ length: levels }, (_, q) => values.map((row) => row[q]!));
  }
  throw invalidPrediction('prediction.quantiles', `is not [quantile][row] for ${rows} rows`);
}

function matrix(raw: unknown, path: string): number[][] {
  const rows = listOf(raw, path, Array.isArray, 'an array of numbers') as unknown[][];
  return rows.map((row, r) => (row.every(isNumber) ? row : numbers(row, `${path}[${r}]`)));
}

/** Numbers; null, where the service has none, becomes NaN. */
function numbers(raw: unknown, path: string): number[] {
  const values = listOf(raw, path, isNumberOrNull, 'a number');
  return values.includes(null) ? values.map((value) => value ?? NaN) : (values as number[]);
}

function listOf<T>(raw: unknown, path: string, is: (value: unknown) => value is T, what: string): T[] {
  if (!Array.isArray(raw)) {
    throw invalidPrediction(path, raw === undefined ? 'is missing' : 'must be an array');
  }
  const odd = raw.findIndex((value) => !is(value));
  if (odd >= 0) {
    throw invalidPrediction(`${path}[${odd}]`, `must be ${what}`);
  }
  return raw as T[];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}

function isLabel(value: unknown): value is Label {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
