import { invalidPrediction, type Prediction, rowCount } from './prediction';
import {
  DEFAULT_OUTPUT_TYPE,
  DEFAULT_QUANTILES,
  type FullDistribution,
  type Label,
  type OutputType,
  type Task,
} from './types';

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
    case 'full':
      return context.legacy === true && Array.isArray(raw)
        ? { kind: 'numbers', values: numbers(raw, 'prediction') }
        : { kind: 'full', value: readFull(raw, context.legacy === true) };
  }
}

function readProbas(raw: unknown): number[][] {
  const values = matrix(raw, 'prediction');
  const classes = values[0]?.length ?? 0;
  const odd = values.findIndex((row) => row.length !== classes || row.length === 0);
  if (odd >= 0) {
    throw invalidPrediction(
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
    throw invalidPrediction(path, `has ${flat.length} numbers in one dimension for ${levels} quantiles`);
  }
  const values = matrix(raw, path);
  const inner = values[0]?.length ?? 0;
  const odd = values.findIndex((row) => row.length !== inner);
  if (odd >= 0) {
    throw invalidPrediction(`${path}[${odd}]`, `has ${values[odd]!.length} numbers where ${inner} are due`);
  }
  if (values.length === levels && (rows === undefined || inner === rows)) {
    return values;
  }
  if (inner === levels && (rows === undefined || values.length === rows)) {
    return Array.from({ length: levels }, (_, q) => values.map((row) => row[q]!));
  }
  const shape = `${values.length} × ${inner}`;
  const wanted = rows === undefined ? `${levels} quantiles` : `${levels} quantiles of ${rows} rows`;
  throw invalidPrediction(path, `is ${shape} where ${wanted} are due`);
}

function readFull(raw: unknown, withoutBars: boolean): FullDistribution {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalidPrediction(
      'prediction',
      'must be an object with mean, median, mode, quantiles, borders and logits',
    );
  }
  const body = raw as Record<string, unknown>;
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
  const quantiles = readFullQuantiles(body.quantiles, rows);
  if (withoutBars && body.borders === undefined) {
    return { mean, median, mode, quantiles, borders: [], logits: mean.map(() => []) };
  }
  const borders = numbers(body.borders, 'prediction.borders');
  const logits = listOf(body.logits, 'prediction.logits', Array.isArray, 'an array').map((row, r) =>
    readLogits(row as unknown[], r, borders.length - 1),
  );
  if (logits.length !== rows) {
    throw invalidPrediction('prediction.logits', `has ${logits.length} rows where mean has ${rows}`);
  }
  return { mean, median, mode, quantiles, borders, logits };
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
  const odd = rows.findIndex((row) => !row.every(isNumber));
  if (odd >= 0) {
    numbers(rows[odd], `${path}[${odd}]`);
  }
  return rows as number[][];
}

function numbers(raw: unknown, path: string): number[] {
  return listOf(raw, path, isNumber, 'a number');
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

function isLabel(value: unknown): value is Label {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
