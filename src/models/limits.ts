import { kindOfOutput } from '../wire/prediction';
import type { EstimateCostRequest, LimitSet, ModelLimits } from '../wire/types';
import { hasBars, type OutputType } from '../wire/vocabulary';
import type { LimitExceeded } from './types';

/**
 * Numbers in one answer at most. Parsing JSON holds the event loop, about 20 ms for this many.
 */
export const ANSWER_NUMBERS = 100_000;

/** Bars of a full distribution before its real width is known: 5,000 borders and logits of a kind seen. */
const FULL_BARS = 1_988;

interface TableSize {
  rows: number;
  /** Feature columns. */
  columns: number;
  /** Distinct labels of a classification target. */
  classes?: number;
}

/** The model version that a configuration asks for: the longest key of `model_limits` that its `model_path` contains. */
export function chooseVersion(limits: ModelLimits, options: Record<string, unknown>): string | undefined {
  const path = options.model_path;
  if (typeof path === 'string') {
    const named = Object.keys(limits.model_limits ?? {})
      .filter((version) => version !== '' && path.includes(version))
      .sort((a, b) => b.length - a.length);
    if (named.length > 0) {
      return named[0];
    }
  }
  return limits.default_model_version;
}

/** The model version that a user names: a key of `model_limits`, or a model path that contains one. */
export function versionNamed(limits: ModelLimits, name: string | undefined): string | undefined {
  if (name === undefined) {
    return limits.default_model_version;
  }
  const version = chooseVersion({ model_limits: limits.model_limits }, { model_path: name });
  return version ?? name;
}

/** The limits of a version; those of an unknown one are `max_model_limit`. */
export function chooseLimits(limits: ModelLimits, version: string | undefined): LimitSet {
  const known = limits.model_limits ?? {};
  if (version !== undefined && Object.hasOwn(known, version)) {
    return known[version]!;
  }
  return limits.max_model_limit ?? {};
}

/**
 * What of a train set goes beyond the limits. Where the service tells how many cells it takes, the other limit is about
 * what it gives each estimator of them.
 */
export function trainExcess(set: LimitSet, size: TableSize): LimitExceeded[] {
  const { train_set_max_upload_cells: upload = set.train_set_max_cells } = set;
  const cells = upload === set.train_set_max_cells ? 'train_set_max_cells' : 'train_set_max_upload_cells';
  return excess([
    ['train_set_max_rows', size.rows, set.train_set_max_rows],
    [cells, size.rows * size.columns, set[cells]],
    ['max_cols', size.columns, set.max_cols],
    ['max_classes', size.classes ?? 0, set.max_classes],
  ]);
}

/** What of a test set goes beyond the limits, were it sent as one. */
export function testExcess(
  set: LimitSet,
  size: TableSize,
  model: { trainRows?: number; outputType?: OutputType } = {},
): LimitExceeded[] {
  const checks: [string, number, number | undefined][] = [
    ['test_set_max_rows', size.rows, set.test_set_max_rows],
    ['test_set_max_cells', size.rows * size.columns, set.test_set_max_cells],
    ['max_cols', size.columns, set.max_cols],
  ];
  if (model.trainRows !== undefined && model.trainRows > 0) {
    checks.push(['predict_row_pairs_budget', size.rows * model.trainRows, set.predict_row_pairs_budget]);
  }
  if (hasBars(model.outputType)) {
    checks.push([
      'test_set_max_rows_w_full_regression_output',
      size.rows,
      set.test_set_max_rows_w_full_regression_output,
    ]);
  }
  return excess(checks);
}

/** What of an encoded file goes beyond the limits. */
export function sizeExcess(limits: ModelLimits, bytes: number): LimitExceeded[] {
  return excess([['dataset_max_size_bytes', bytes, limits.dataset_max_size_bytes]]);
}

/** Rows that one test set may have, at least 1 (docs/architecture.md, "limits"); Infinity where nothing binds. */
export function maxTestRows(
  set: LimitSet,
  model: { trainRows: number; columns: number; outputType: OutputType },
): number {
  const bounds = [set.test_set_max_rows ?? Infinity];
  if (model.trainRows > 0 && set.predict_row_pairs_budget !== undefined) {
    bounds.push(Math.floor(set.predict_row_pairs_budget / model.trainRows));
  }
  if (model.columns > 0 && set.test_set_max_cells !== undefined) {
    bounds.push(Math.floor(set.test_set_max_cells / model.columns));
  }
  if (hasBars(model.outputType)) {
    bounds.push(set.test_set_max_rows_w_full_regression_output ?? Infinity);
  }
  return Math.max(1, Math.min(...bounds));
}

/** Rows whose answer is parsed without holding the event loop for long. */
export function maxAnswerRows(outputType: OutputType, classes: number, quantiles: number): number {
  const width = kindOfOutput(outputType).width({
    classes: Math.max(2, classes),
    quantiles: Math.max(1, quantiles),
    bars: FULL_BARS,
  });
  return Math.max(1, Math.floor(ANSWER_NUMBERS / width));
}

function excess(checks: [string, number, number | undefined][]): LimitExceeded[] {
  return checks
    .filter(([, value, max]) => max !== undefined && value > max)
    .map(([limit, value, max]) => ({ limit, value, max: max! }));
}

/** What a limit counts, in the words of a person. */
const COUNTED: Record<string, string> = {
  train_set_max_rows: 'rows',
  train_set_max_cells: 'cells (rows times columns)',
  train_set_max_upload_cells: 'cells (rows times columns)',
  test_set_max_rows: 'rows',
  test_set_max_cells: 'cells (rows times columns)',
  test_set_max_rows_w_full_regression_output: 'rows with the output "full"',
  max_cols: 'columns',
  max_classes: 'classes',
  predict_row_pairs_budget: 'pairs of a row and a train row',
  dataset_max_size_bytes: 'bytes',
};

/** `at most 2,000 columns, and this has 2,500`, for the message of `limit.exceeded`. */
export function describeExcess(list: readonly LimitExceeded[]): string {
  return list
    .map(
      ({ limit, value, max }) =>
        `at most ${max.toLocaleString('en')} ${COUNTED[limit] ?? limit}, and this has ${value.toLocaleString('en')}`,
    )
    .join('; ');
}

/** What is asked to estimate a predict. */
export function predictToEstimate(
  limits: ModelLimits,
  { columns, options }: { columns: readonly unknown[]; options: Record<string, unknown> },
  rows: { train: number; test: number },
): EstimateCostRequest {
  const { n_estimators: estimators } = options;
  return {
    operation: 'predict',
    model_version: chooseVersion(limits, options),
    train_rows: rows.train,
    test_rows: rows.test,
    raw_columns: columns.length,
    ...(typeof estimators === 'number' && { n_estimators: estimators }),
  };
}
