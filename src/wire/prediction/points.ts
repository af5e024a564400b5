import { DEFAULT_QUANTILES, type Label } from '../vocabulary';
import {
  assertEqual,
  invalidPrediction,
  NUMBER_BYTES,
  orNull,
  plusOffsets,
  type PredictionKind,
  quantilesOfRow,
  readList,
  readMatrix,
  readNumbers,
  tellBand,
  type Telling,
  written,
} from './kind';

/** Labels, or numbers. */
export type PointPrediction =
  /** `preds`: a label per row */
  | { kind: 'labels'; values: Label[] }
  /** `mean`, `median`, `mode`: a number per row, NaN where the service has none */
  | { kind: 'numbers'; values: number[] }
  /** `probas`: [row][class] */
  | { kind: 'probas'; values: number[][] }
  /** `quantiles`: values [quantile][row] */
  | { kind: 'quantiles'; quantiles: number[]; values: number[][] };

type Of<Kind extends PointPrediction['kind']> = Extract<PointPrediction, { kind: Kind }>;

/** `preds`: a label per row. */
const labels: PredictionKind<Of<'labels'>> = {
  read: (raw) => ({ kind: 'labels', values: readList(raw, 'prediction', isLabel, 'a label') }),
  rows: ({ values }) => values.length,
  pickRows: ({ kind, values }, pick) => ({ kind, values: pick(values) }),
  join: (parts) => ({ kind: 'labels', values: parts.flatMap(({ values }) => values) }),
  toService: ({ values }) => values,
  add: (prediction) => prediction,
  width: () => 1,
  rowBytes: () => NUMBER_BYTES,
  tell: ({ values }) => ({ value: (row) => values[row] }),
  tellNumbers: () => ({}),
};

/** `mean`, `median`, `mode`: a number per row. */
const numbers: PredictionKind<Of<'numbers'>> = {
  read: (raw) => ({ kind: 'numbers', values: readNumbers(raw, 'prediction') }),
  rows: ({ values }) => values.length,
  pickRows: ({ kind, values }, pick) => ({ kind, values: pick(values) }),
  join: (parts) => ({ kind: 'numbers', values: parts.flatMap(({ values }) => values) }),
  toService: ({ values }) => values.map(orNull),
  add: ({ kind, values }, offsets) => ({ kind, values: plusOffsets(values, offsets) }),
  width: () => 1,
  rowBytes: () => NUMBER_BYTES,
  tell: ({ values }, { digits }) => ({ value: (row) => written(values[row]!, digits) }),
  tellNumbers: () => ({}),
  means: ({ values }, output) => (output === 'mean' ? values : undefined),
};

/** `probas`: a probability for each class. */
const probas: PredictionKind<Of<'probas'>> = {
  read: (raw) => ({ kind: 'probas', values: readProbas(raw) }),
  rows: ({ values }) => values.length,
  pickRows: ({ kind, values }, pick) => ({ kind, values: pick(values) }),
  join: (parts) => ({ kind: 'probas', values: parts.flatMap(({ values }) => values) }),
  toService: ({ values }) => values,
  add: (prediction) => prediction,
  width: ({ classes }) => classes,
  rowBytes: ({ values }) => NUMBER_BYTES * (values[0]?.length ?? 0),
  tell: ({ values }, telling) => {
    const { answered, classes } = telling;
    return {
      value: (row) => {
        const likely = answered === undefined ? likeliest(values[row]!) : -1;
        return answered === undefined ? (classes?.[likely] ?? likely) : answered[row];
      },
      probabilities: (row) => probabilitiesOfRow(values[row]!, telling),
    };
  },
  tellNumbers: ({ values }, { answered, rarer, placeOf, digits }) => {
    const ofTwo = values[0]?.length === 2 ? (rarer ?? 1) : undefined;
    const placeIn = (row: number): number => {
      const own = answered === undefined ? -1 : placeOf(answered[row]!);
      return own < 0 ? likeliest(values[row]!) : own;
    };
    return {
      probability: (row) => orNull(digits.probability(values[row]![ofTwo ?? placeIn(row)]!)),
    };
  },
};

/** `quantiles`: [quantile][row]. */
const quantiles: PredictionKind<Of<'quantiles'>> = {
  read: (raw, asked) => {
    const levels = [...(asked.quantiles ?? DEFAULT_QUANTILES)];
    return { kind: 'quantiles', quantiles: levels, values: readQuantiles(raw, levels.length, asked.rows) };
  },
  rows: ({ values }) => values[0]?.length ?? 0,
  pickRows: (prediction, pick) => ({ ...prediction, values: prediction.values.map((rows) => pick(rows)) }),
  join: (parts) => {
    assertEqual(
      parts.map((part) => part.quantiles),
      'quantiles',
    );
    const { quantiles: levels } = parts[0]!;
    const values = levels.map((_, q) => parts.flatMap((part) => part.values[q] ?? []));
    return { kind: 'quantiles', quantiles: levels, values };
  },
  toService: ({ values }) => values.map((row) => row.map(orNull)),
  add: (prediction, offsets) => ({
    ...prediction,
    values: prediction.values.map((rows) => plusOffsets(rows, offsets)),
  }),
  width: ({ quantiles: levels }) => levels,
  rowBytes: ({ quantiles: levels }) => NUMBER_BYTES * levels.length,
  tell: ({ quantiles: levels, values }, { digits }) => {
    const names = levels.map(String);
    return { value: (row) => quantilesOfRow(values, names, row, digits) };
  },
  tellNumbers: (prediction, { digits }) => tellBand(readLevels(prediction), digits),
  quantiles: readLevels,
};

export const POINTS: { readonly [Kind in PointPrediction['kind']]: PredictionKind<Of<Kind>> } = {
  labels,
  numbers,
  probas,
  quantiles,
};

function readLevels({ quantiles: levels, values }: Of<'quantiles'>): {
  levels: number[];
  values: number[][];
} {
  return { levels, values };
}

/** The index of the largest value; the first of equal ones. */
export function likeliest(values: readonly number[]): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if (values[index]! > values[best]!) {
      best = index;
    }
  }
  return best;
}

/** Probabilities by their labels, or by their places where those are not known. A label may be `__proto__`. */
function probabilitiesOfRow(values: readonly number[], { classes, digits }: Telling): Record<string, number> {
  return Object.fromEntries(
    values.map((value, index) => [String(classes?.[index] ?? index), digits.probability(value)]),
  );
}

function readProbas(raw: unknown): number[][] {
  const values = readMatrix(raw, 'prediction');
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
    const flat = readNumbers(raw, path);
    if (levels === 1) {
      return [flat];
    }
    if (flat.length === levels && (rows === undefined || rows === 1)) {
      return flat.map((value) => [value]);
    }
    throw invalidPrediction(path, `has ${flat.length} numbers in one dimension for ${levels} quantiles`);
  }
  const values = readMatrix(raw, path);
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

function isLabel(value: unknown): value is Label {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
