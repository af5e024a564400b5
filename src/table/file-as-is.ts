import { createReadStream } from 'node:fs';
import { crc32c, crc32cToBase64 } from './crc32c';
import { openPath, unreadable } from './local-file';
import { ParquetSource } from './parquet-source';
import type { Column, ColumnType } from './types';

/** What is known of a file that goes up byte for byte. */
export interface AsIs {
  bytes: number;
  hash: string;
  rows: number;
}

/** Numbers of Arrow's type enumeration that a column of each type may be stored as. */
const STORED_AS: Record<ColumnType, number[]> = {
  number: [2, 3],
  integer: [2, 3],
  bigint: [2],
  boolean: [6],
  text: [5, 20, 24],
  date: [8, 10],
};

/**
 * Checks whether a file is Parquet whose columns are these, in this order, and takes its CRC32C as a stream;
 * undefined where the file must be encoded anew. Must run in a worker thread.
 */
export async function fileAsIs(
  path: string,
  columns: readonly Column[],
  signal?: AbortSignal,
): Promise<AsIs | undefined> {
  const { source, close } = await openPath(path);
  try {
    if (!(source instanceof ParquetSource) || !fits(source, columns)) {
      return undefined;
    }
    return { ...(await checksum(path, signal)), rows: source.rowCount };
  } finally {
    await close();
  }
}

function fits({ fields }: ParquetSource, columns: readonly Column[]): boolean {
  return (
    fields.length === columns.length &&
    columns.every(({ name, type }, index) => {
      const field = fields[index]!;
      return field.name === name && STORED_AS[type].includes(field.type.typeId);
    })
  );
}

async function checksum(path: string, signal?: AbortSignal): Promise<{ bytes: number; hash: string }> {
  let value = 0;
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024, signal })) {
      value = crc32c(chunk as Uint8Array, value);
      bytes += (chunk as Uint8Array).length;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw unreadable(path, error);
  }
  return { bytes, hash: crc32cToBase64(value) };
}
