import type { Field } from 'apache-arrow';

import { ServiceError } from '../../wire/service-error';
import {
  arrow,
  dropParquet,
  isWasmLimited,
  maxWasmBytes,
  NeedsMemory,
  wasmBytes,
} from '../arrow/heavy-modules';
import type { ArrowBatch } from '../arrow/source';
import { invalidTable } from '../cells/types';

export interface ParquetField {
  name: string;
  type: { typeId: number };
}

/** A record batch with the names of its columns. */
export interface NamedBatch {
  names: string[];
  batch: ArrowBatch;
}

/** Decodes a Parquet file, some rows at a time. */
export interface ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;
  /** Record batches of these columns (all where undefined), each with its own schema. */
  batches(columns?: string[], signal?: AbortSignal): AsyncIterable<NamedBatch>;
  close(): void;
}

/** The columns of a schema in Arrow's IPC format. */
export function listFields(schema: Uint8Array): readonly Field[] {
  return arrow().tableFromIPC(schema).schema.fields;
}

/** The record batches of a stream in Arrow's IPC format. */
export function* arrowBatches(ipc: Uint8Array): Iterable<NamedBatch> {
  const { schema, batches } = arrow().tableFromIPC(ipc);
  const names = schema.fields.map(({ name }) => name);
  for (const batch of batches) {
    yield { names, batch: batch as unknown as ArrowBatch };
  }
}

/** The same rows of several bands as one batch. Each block holds one record batch. */
export function* joinedBatches(blocks: readonly Uint8Array[]): Iterable<NamedBatch> {
  if (blocks.length === 1) {
    yield* arrowBatches(blocks[0]!);
    return;
  }
  const parts = blocks.flatMap((block) => [...arrowBatches(block)]);
  const { numRows } = parts[0]!.batch;
  if (parts.some(({ batch }) => batch.numRows !== numRows)) {
    throw invalidTable('The Parquet file is damaged: its columns have different numbers of rows.');
  }
  const vectors = parts.flatMap(({ names, batch }) => names.map((_, index) => batch.getChildAt(index)));
  yield {
    names: parts.flatMap(({ names }) => names),
    batch: { numRows, getChildAt: (index) => vectors[index] ?? null },
  };
}

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
