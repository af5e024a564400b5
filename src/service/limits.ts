import { maxWasmBytes } from '../table/packages/heavy-modules';
import { availableMemory } from '../util/process';
import type { LimitSet, ModelLimits } from '../wire/types';
import type { ResolvedOptions } from './options';
import { MODEL_VERSION } from './version';

/**
 * Memory that a fit may take per cell, at a size where the limit binds: 36 bytes for 10 million numbers and 40 for categories
 * of two words, measured; 140 MB of that are fixed. Text columns whose values rarely repeat take more.
 */
export const BYTES_PER_CELL = 48;
/** Share of the memory that one fit may take: two may run, besides Node-RED itself. */
const MEMORY_SHARE = 1 / 4;
/** Bytes per number of an answer: as a number, as text, and as text again when the parts are joined. */
const BYTES_PER_ANSWER_CELL = 64;
/** Share of the memory that one answer may take; there is one predict per thread at a time. */
const ANSWER_SHARE = 1 / 8;

/** The service's limits, from the machine's memory and the size cap of its folder. */
export interface ServiceLimits extends Required<Omit<LimitSet, 'train_set_max_upload_cells'>> {
  dataset_max_size_bytes: number;
  /** Rows of an answer times the numbers for each: classes of `probas`, levels of quantiles. */
  prediction_max_cells: number;
  max_quantiles: number;
}

/** The limits of a machine. Options may lower them; null and undefined change nothing. */
export function machineLimits(
  options: Pick<ResolvedOptions, 'limits'> & { maxBytes: number },
  memoryBytes = availableMemory(),
): ServiceLimits {
  const cells = Math.floor((memoryBytes * MEMORY_SHARE) / BYTES_PER_CELL);
  const own: ServiceLimits = {
    train_set_max_rows: 1_000_000,
    train_set_max_cells: Math.min(100_000_000, cells),
    test_set_max_rows: 200_000,
    test_set_max_cells: Math.min(50_000_000, cells),
    max_classes: 160,
    max_cols: 2_000,
    test_set_max_rows_w_full_regression_output: 2_000,
    // Trees do not compare test rows with train rows, so this limit is the product of the others and never binds.
    predict_row_pairs_budget: 1_000_000 * 200_000,
    dataset_max_size_bytes: Math.min(5_000_000_000, Math.floor(options.maxBytes / 2)),
    prediction_max_cells: Math.min(
      10_000_000,
      Math.floor((memoryBytes * ANSWER_SHARE) / BYTES_PER_ANSWER_CELL),
    ),
    max_quantiles: 1_000,
  };
  for (const [name, value] of Object.entries(options.limits) as [keyof ServiceLimits, number | undefined][]) {
    if (typeof value === 'number' && name in own) {
      own[name] = Math.min(own[name], value);
    }
  }
  return own;
}

/** Body of S 4.5, plus the bounds of an answer. */
export function modelLimits(
  limits: ServiceLimits,
): ModelLimits & Pick<ServiceLimits, 'prediction_max_cells' | 'max_quantiles'> {
  const { dataset_max_size_bytes, prediction_max_cells, max_quantiles, ...own } = limits;
  // Clients of the hosted service require it. Each estimator takes the whole train set here.
  const set = { ...own, train_set_max_upload_cells: own.train_set_max_cells };
  return {
    default_model_version: MODEL_VERSION,
    max_model_limit: set,
    model_limits: { [MODEL_VERSION]: set },
    dataset_max_size_bytes,
    prediction_max_cells,
    max_quantiles,
  };
}

/** Part of the memory that all Parquet decoders may take together, and what one needs at least. */
const DECODER_SHARE = 1 / 4;
const MIN_DECODER_BYTES = 64 * 1024 * 1024;

/** Bytes that the Parquet decoder of each thread may take; undefined where all may take the most that one may. */
export function decoderBytes(threads: number, memoryBytes = availableMemory()): number | undefined {
  const bytes = Math.max(MIN_DECODER_BYTES, Math.floor((memoryBytes * DECODER_SHARE) / threads));
  return bytes < maxWasmBytes(memoryBytes) ? bytes : undefined;
}

/** Share of the memory for models kept for predictions, over all threads. */
const CACHE_SHARE = 1 / 8;
const MAX_CACHE_BYTES = 512e6;

/** Bytes of models that each predict thread may keep in memory. */
export function modelCacheBytes(threads: number, memoryBytes = availableMemory()): number {
  return Math.floor(Math.min(MAX_CACHE_BYTES, (memoryBytes * CACHE_SHARE) / threads));
}
