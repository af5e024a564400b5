import type { Field } from 'apache-arrow';

import type { ArrowBatch } from '../arrow/source';
import { invalidTable } from '../cells/errors';
import { arrow } from '../packages/heavy-modules';

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
export function fieldsOf(schema: Uint8Array): readonly Field[] {
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
