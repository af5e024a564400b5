import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES, type OutputType, type Task } from '../../wire/types';

/** Bytes for the metadata around the prediction. */
const FLOOR = 1024 * 1024;
/** A JavaScript string cannot hold much more. */
const CEILING = 500 * 1024 * 1024;
/** For a test set with an unknown number of rows: enough for 1.5 million numbers. */
const UNKNOWN = 64 * 1024 * 1024;

/** A number as JSON has at most 25 characters; indented, some spaces and a line break more. */
const NUMBER_BYTES = 48;
/** A label may be any text. */
const LABEL_BYTES = 2048;
/** More classes and bars than any known service has. */
const MAX_CLASSES = 1000;
const MAX_BARS = 10_000;

export interface AskedSize {
  task: Task;
  output_type?: OutputType;
  quantiles?: readonly number[];
  /** Rows of the test set and classes of the model, if known. */
  rows?: number;
  classes?: number;
  /** Most causes per row. */
  causes?: number;
}

/** Upper bound of the size of an answer to a predict, in bytes: more than it can need, and small enough to parse safely. */
export function maxPredictBytes(asked: AskedSize): number {
  const { rows, quantiles = DEFAULT_QUANTILES } = asked;
  if (rows === undefined) {
    return UNKNOWN;
  }
  const output = asked.output_type ?? DEFAULT_OUTPUT_TYPE[asked.task];
  const bytesPerRow: Record<OutputType, number> = {
    probas: NUMBER_BYTES * (asked.classes ?? MAX_CLASSES),
    preds: LABEL_BYTES,
    mean: NUMBER_BYTES,
    median: NUMBER_BYTES,
    mode: NUMBER_BYTES,
    quantiles: NUMBER_BYTES * quantiles.length,
    main: NUMBER_BYTES * (3 + quantiles.length),
    full: NUMBER_BYTES * (3 + DEFAULT_QUANTILES.length + MAX_BARS),
  };
  const explained = asked.causes === undefined ? 0 : NUMBER_BYTES * (asked.causes + 4);
  return Math.min(CEILING, FLOOR + rows * (bytesPerRow[output] + explained));
}
