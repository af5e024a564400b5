import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/errors';
import { dropParquet, isWasmLimited, maxWasmBytes, NeedsMemory, wasmBytes } from '../packages/heavy-modules';

/** A trap comes as near to the bound as this where it is memory that it wants. */
const NEAR_BOUND = 3 / 4;

/** Why a Parquet file cannot be read. After a trap the next file finds a new instance of the decoder. */
export function readError(error: unknown): Error {
  if (error instanceof ServiceError || error instanceof NeedsMemory || isAbort(error)) {
    return error;
  }
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
    return trapError(error);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return invalidTable(`The Parquet file is damaged or of a kind that cannot be read: ${reason}.`);
}

function trapError(error: Error): Error {
  if (isWasmLimited()) {
    dropParquet();
    return new NeedsMemory('Reading the Parquet file takes more memory than this thread may take.');
  }
  const bound = maxWasmBytes();
  const isFull = wasmBytes() > bound * NEAR_BOUND;
  dropParquet();
  return isFull || error instanceof RangeError
    ? new ServiceError(
        'limit.exceeded',
        `Reading the Parquet file takes more than the ${Math.floor(bound / 2 ** 20)} MiB of memory that there are for it here. Write it with smaller row groups and pages, or give the table in parts.`,
      )
    : invalidTable('The Parquet file is damaged or of a kind that cannot be read.');
}

function isAbort(error: unknown): error is Error {
  return error instanceof Error && error.name === 'AbortError';
}
