import { createReadStream } from 'node:fs';
import { crc32c, crc32cToBase64 } from './crc32c';
import { openPath, unreadable } from './local-file';
import type { AsIsBounds } from './encoder-protocol';
import { ParquetSource } from './parquet-source';
import { storedAs } from './stored-as';
import type { Column } from './types';

/** What is known of a file that goes up byte for byte. */
export interface AsIs {
  bytes: number;
  hash: string;
  rows: number;
}

/**
 * Checks whether a file is Parquet whose columns are these, in this order, and takes its CRC32C as a stream;
 * undefined where the file must be encoded anew, or is beyond the bounds. Must run in a worker thread.
 */
export async function fileAsIs(
  path: string,
  columns: readonly Column[],
  most: AsIsBounds = {},
  signal?: AbortSignal,
): Promise<AsIs | undefined> {
  const { source, close } = await openPath(path);
  try {
    if (!(source instanceof ParquetSource) || !fits(source, columns)) {
      return undefined;
    }
    if (source.rowCount > (most.rows ?? Infinity) || source.bytes > (most.bytes ?? Infinity)) {
      return undefined;
    }
    return { ...(await checksum(path, signal)), rows: source.rowCount };
  } finally {
    await close();
  }
}

function fits({ names, fields }: ParquetSource, columns: readonly Column[]): boolean {
  return storedAs(
    columns,
    names,
    fields.map(({ type }) => type.typeId),
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
