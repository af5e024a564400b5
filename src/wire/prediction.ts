import { ServiceError } from './service-error';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES } from './types';
import type { FullDistribution, Label, OutputType, Task } from './types';

/** Predictions in one form, whatever shape the service answered with. */
export type Prediction =
  /** `preds`: a label per row */
  | { kind: 'labels'; values: Label[] }
  /** `probas`: [row][class] */
  | { kind: 'probas'; values: number[][] }
  /** `mean`, `median`, `mode`: a number per row */
  | { kind: 'numbers'; values: number[] }
  /** `quantiles`: values [quantile][row] */
  | { kind: 'quantiles'; quantiles: number[]; values: number[][] }
  /** `full`: a distribution per row; −Infinity where the service says null in logits */
  | { kind: 'full'; value: FullDistribution };

export interface PredictionContext {
  task: Task;
  output_type?: OutputType;
  quantiles?: readonly number[];
  /** Rows of the test set, where known. */
  rows?: number;
}

/**
 * Reads the `prediction` of a predict response (S 4.4; shapes as DESIGN section 4 settles them).
 * @throws ServiceError `response.invalid`, naming the place, for a shape that the request doesn't allow.
 */
export function readPrediction(raw: unknown, context: PredictionContext): Prediction {
  const prediction = readShape(raw, context);
  const rows = rowCount(prediction);
  if (context.rows !== undefined && rows !== context.rows) {
    throw invalid('prediction', `has ${rows} rows where the test set has ${context.rows}`);
  }
  return prediction;
}

/** Number of rows predicted. */
export function rowCount(prediction: Prediction): number {
  switch (prediction.kind) {
    case 'quantiles':
      return prediction.values[0]?.length ?? 0;
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
    case 'full': {
      const { mean, median, mode, quantiles, borders, logits } = prediction.value;
      return {
        kind: 'full',
        value: {
          mean: mean.slice(from, to),
          median: median.slice(from, to),
          mode: mode.slice(from, to),
          quantiles: quantiles.map((rows) => rows.slice(from, to)),
          borders: [...borders],
          logits: logits.slice(from, to),
        },
      };
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
      demandEqual(
        all.map((part) => part.quantiles),
        'quantiles',
      );
      return {
        kind: 'quantiles',
        quantiles: [...first.quantiles],
        values: first.quantiles.map((_, q) => all.flatMap((part) => part.values[q] ?? [])),
      };
    }
    case 'full': {
      const all = same(parts, 'full').map((part) => part.value);
      demandEqual(
        all.map((part) => part.borders),
        'borders',
      );
      demandEqual(
        all.map((part) => [part.quantiles.length]),
        'quantiles',
      );
      return {
        kind: 'full',
        value: {
          mean: all.flatMap((part) => part.mean),
          median: all.flatMap((part) => part.median),
          mode: all.flatMap((part) => part.mode),
          quantiles: first.value.quantiles.map((_, q) => all.flatMap((part) => part.quantiles[q] ?? [])),
          borders: [...first.value.borders],
          logits: all.flatMap((part) => part.logits),
        },
      };
    }
  }
}

/** The service's own shape of `prediction` again; −Infinity in logits becomes null, as JSON has none. */
export function toService(prediction: Prediction): unknown {
  if (prediction.kind !== 'full') {
    return prediction.values;
  }
  const { logits, ...rest } = prediction.value;
  return { ...rest, logits: logits.map((row) => row.map((logit) => (logit === -Infinity ? null : logit))) };
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
    case 'full':
      return { kind: 'full', value: readFull(raw) };
  }
}

function readProbas(raw: unknown): number[][] {
  const values = matrix(raw, 'prediction');
  const classes = values[0]?.length ?? 0;
  const odd = values.findIndex((row) => row.length !== classes || row.length === 0);
  if (odd >= 0) {
    throw invalid(
      `prediction[${odd}]`,
      `has ${values[odd]!.length} probabilities where ${classes || 'some'} are due`,
    );
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
    throw invalid(path, `has ${flat.length} numbers in one dimension for ${levels} quantiles`);
  }
  const values = matrix(raw, path);
  const inner = values[0]?.length ?? 0;
  const odd = values.findIndex((row) => row.length !== inner);
  if (odd >= 0) {
    throw invalid(`${path}[${odd}]`, `has ${values[odd]!.length} numbers where ${inner} are due`);
  }
  if (values.length === levels && (rows === undefined || inner === rows)) {
    return values;
  }
  if (inner === levels && (rows === undefined || values.length === rows)) {
    return Array.from({ length: levels }, (_, q) => values.map((row) => row[q]!));
  }
  const shape = `${values.length} × ${inner}`;
  const wanted = rows === undefined ? `${levels} quantiles` : `${levels} quantiles of ${rows} rows`;
  throw invalid(path, `is ${shape} where ${wanted} are due`);
}

function readFull(raw: unknown): FullDistribution {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalid('prediction', 'must be an object with mean, median, mode, quantiles, borders and logits');
  }
  const body = raw as Record<string, unknown>;
  const mean = numbers(body.mean, 'prediction.mean');
  const rows = mean.length;
  const column = (name: string) => {
    const values = numbers(body[name], `prediction.${name}`);
    if (values.length !== rows) {
      throw invalid(`prediction.${name}`, `has ${values.length} rows where mean has ${rows}`);
    }
    return values;
  };
  const median = column('median');
  const mode = column('mode');
  const borders = numbers(body.borders, 'prediction.borders');
  const logits = listOf(body.logits, 'prediction.logits', Array.isArray, 'an array').map((row, r) =>
    readLogits(row as unknown[], r, borders.length - 1),
  );
  if (logits.length !== rows) {
    throw invalid('prediction.logits', `has ${logits.length} rows where mean has ${rows}`);
  }
  const quantiles = readFullQuantiles(body.quantiles, rows);
  return { mean, median, mode, quantiles, borders, logits };
}

function readLogits(row: unknown[], r: number, bars: number): number[] {
  if (row.length !== bars) {
    throw invalid(`prediction.logits[${r}]`, `has ${row.length} logits for ${bars} bars`);
  }
  return row.map((logit, b) => {
    if (logit === null) {
      return -Infinity;
    }
    if (typeof logit !== 'number') {
      throw invalid(`prediction.logits[${r}][${b}]`, 'must be a number or null');
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
  throw invalid('prediction.quantiles', `is not [quantile][row] for ${rows} rows`);
}

function matrix(raw: unknown, path: string): number[][] {
  return listOf(raw, path, Array.isArray, 'an array of numbers').map((row, i) =>
    numbers(row, `${path}[${i}]`),
  );
}

function numbers(raw: unknown, path: string): number[] {
  return listOf(raw, path, isNumber, 'a number');
}

function listOf<T>(raw: unknown, path: string, is: (value: unknown) => value is T, what: string): T[] {
  if (!Array.isArray(raw)) {
    throw invalid(path, raw === undefined ? 'is missing' : 'must be an array');
  }
  const odd = raw.findIndex((value) => !is(value));
  if (odd >= 0) {
    throw invalid(`${path}[${odd}]`, `must be ${what}`);
  }
  return raw as T[];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isLabel(value: unknown): value is Label {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function same<K extends Prediction['kind']>(
  parts: readonly Prediction[],
  kind: K,
): Extract<Prediction, { kind: K }>[] {
  const odd = parts.find((part) => part.kind !== kind);
  if (odd !== undefined) {
    throw invalid('prediction', `is ${odd.kind} in one part and ${kind} in another`);
  }
  return parts as Extract<Prediction, { kind: K }>[];
}

function demandEqual(lists: number[][], what: string): void {
  const [first, ...others] = lists;
  for (const other of others) {
    if (other.length !== first!.length || other.some((value, i) => value !== first![i])) {
      throw invalid('prediction', `has different ${what} in two parts of one table`);
    }
  }
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError('response.invalid', `The service's answer is malformed: ${path} ${message}.`);
}
