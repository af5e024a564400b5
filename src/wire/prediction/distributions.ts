import type { FullDistribution, Statistics } from '../types';
import { DEFAULT_QUANTILES } from '../vocabulary';
import {
  assertEqual,
  type Digits,
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
  type ToldRows,
  written,
} from './kind';

/** What is known of the whole range of a number. */
export type DistributionPrediction =
  /** `main`: statistics per row */
  | { kind: 'main'; quantiles: number[]; value: Statistics }
  /** `full`: a distribution per row */
  | { kind: 'full'; value: FullDistribution };

type Of<Kind extends DistributionPrediction['kind']> = Extract<DistributionPrediction, { kind: Kind }>;

/** `main`: mean, median, mode and quantiles. */
const main: PredictionKind<Of<'main'>> = {
  read: (raw, asked) => {
    const quantiles = [...(asked.quantiles ?? DEFAULT_QUANTILES)];
    return { kind: 'main', quantiles, value: readMain(raw, quantiles.length) };
  },
  rows: ({ value }) => value.mean.length,
  pickRows: ({ kind, quantiles, value }, pick) => ({ kind, quantiles, value: mapLists(value, pick) }),
  join: (parts) => {
    assertEqual(
      parts.map((part) => part.quantiles),
      'quantiles',
    );
    const value = joinStatistics(parts.map((part) => part.value));
    return { kind: 'main', quantiles: parts[0]!.quantiles, value };
  },
  toService: ({ value }) => mapLists(value, (list) => list.map(orNull)),
  add: ({ kind, quantiles, value }, offsets) => ({
    kind,
    quantiles,
    value: mapLists(value, (list) => plusOffsets(list, offsets)),
  }),
  width: ({ quantiles }) => 3 + quantiles,
  rowBytes: ({ quantiles }) => NUMBER_BYTES * (3 + quantiles.length),
  tell: ({ quantiles, value }, { digits }) => tellStatistics(value, quantiles.map(String), digits),
  tellNumbers: ({ quantiles, value }, { digits }) =>
    tellBand({ levels: quantiles, values: value.quantiles }, digits, value.median),
  means: ({ value }) => value.mean,
  quantiles: ({ quantiles, value }) => ({ levels: quantiles, values: value.quantiles }),
};

/** `full`: the same, and a distribution of bars. */
const full: PredictionKind<Of<'full'>> = {
  read: (raw, { legacy = false }) => ({ kind: 'full', value: readFull(raw, legacy) }),
  rows: ({ value }) => value.mean.length,
  pickRows: ({ kind, value }, pick) => ({
    kind,
    value: { ...mapLists(value, pick), borders: value.borders, logits: pick(value.logits) },
  }),
  join: (parts) => {
    const all = parts.map((part) => part.value);
    assertEqual(
      all.map((part) => part.borders),
      'borders',
    );
    assertEqual(
      all.map((part) => [part.quantiles.length]),
      'quantiles',
    );
    const { borders } = all[0]!;
    return {
      kind: 'full',
      value: { ...joinStatistics(all), borders, logits: all.flatMap((part) => part.logits) },
    };
  },
  // The borders of a relative model differ from row to row: [row][border].
  toService: ({ value }, offsets) => ({
    ...mapLists(value, (list) => list.map(orNull)),
    borders:
      offsets === undefined
        ? value.borders.map(orNull)
        : offsets.map((offset) => value.borders.map((border) => border + offset)),
    logits: value.logits.map((row) => row.map(orNull)),
  }),
  add: ({ kind, value }, offsets) => ({
    kind,
    value: { ...value, ...mapLists(value, (list) => plusOffsets(list, offsets)) },
  }),
  width: ({ bars }) => 3 + DEFAULT_QUANTILES.length + bars,
  rowBytes: ({ value }) => 8 * value.borders.length,
  tell: ({ value }, { digits }) => {
    const { quantiles } = value;
    const isDefault = quantiles.length === DEFAULT_QUANTILES.length;
    const names = quantiles.map((_, index) => String(isDefault ? DEFAULT_QUANTILES[index] : index));
    return tellStatistics(value, names, digits);
  },
  tellNumbers: ({ value: { quantiles, median } }, { digits }) =>
    tellBand({ levels: quantiles.map((_, at) => at), values: quantiles }, digits, median),
  means: ({ value }) => value.mean,
  quantiles: ({ value }) => ({ levels: DEFAULT_QUANTILES, values: value.quantiles }),
};

export const DISTRIBUTIONS: { readonly [Kind in DistributionPrediction['kind']]: PredictionKind<Of<Kind>> } =
  {
    main,
    full,
  };

function mapLists<Item>(
  { mean, median, mode, quantiles }: Statistics,
  change: (list: readonly number[]) => Item[],
): Record<'mean' | 'median' | 'mode', Item[]> & { quantiles: Item[][] } {
  return {
    mean: change(mean),
    median: change(median),
    mode: change(mode),
    quantiles: quantiles.map((rows) => change(rows)),
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

function tellStatistics(
  { mean, median, mode, quantiles }: Statistics,
  names: readonly string[],
  digits: Digits,
): ToldRows {
  return {
    value: (row) => ({
      mean: written(mean[row]!, digits),
      median: written(median[row]!, digits),
      mode: written(mode[row]!, digits),
      quantiles: quantilesOfRow(quantiles, names, row, digits),
    }),
  };
}

function readMain(raw: unknown, levels: number): Statistics {
  const statistics = readStatistics(readObject(raw, 'mean, median, mode and quantiles'));
  if (statistics.quantiles.length !== levels) {
    const found = statistics.quantiles.length;
    throw invalidPrediction('prediction.quantiles', `has ${found} quantiles, expected ${levels}`);
  }
  return statistics;
}

function readObject(raw: unknown, names: string): Record<string, unknown> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalidPrediction('prediction', `must be an object with ${names}`);
  }
  return raw as Record<string, unknown>;
}

function readStatistics(body: Record<string, unknown>): Statistics {
  const mean = readNumbers(body.mean, 'prediction.mean');
  const rows = mean.length;
  const column = (name: string) => {
    const values = readNumbers(body[name], `prediction.${name}`);
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
  const body = readObject(raw, 'mean, median, mode, quantiles, borders and logits');
  const statistics = readStatistics(body);
  const rows = statistics.mean.length;
  if (withoutBars && body.borders === undefined) {
    return { ...statistics, borders: [], logits: statistics.mean.map(() => []) };
  }
  const borders = readBorders(body.borders);
  const logits = readList(body.logits, 'prediction.logits', Array.isArray, 'an array').map((row, r) =>
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
  const borders = readNumbers(raw, 'prediction.borders');
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
  const values = readMatrix(raw, 'prediction.quantiles');
  if (values.every((row) => row.length === rows)) {
    return values;
  }
  const levels = values[0]?.length ?? 0;
  if (values.length === rows && values.every((row) => row.length === levels)) {
    return Array.from({ length: levels }, (_, q) => values.map((row) => row[q]!));
  }
  throw invalidPrediction('prediction.quantiles', `is not [quantile][row] for ${rows} rows`);
}
