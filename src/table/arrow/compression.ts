import { arrow } from '../packages/heavy-modules';
import type { Bytes } from '../storage/blob';
import { type FlatTable, longAt } from './flat-table';
import { damagedIpc, type IpcMessage, ipcMessages, RECORD_BATCH } from './ipc-messages';
import { decodeLz4 } from './lz4';
import { decodeZstd } from './zstd';

/*
 * Compressed record batches (BodyCompression of apache/arrow's format/Message.fbs), as pandas writes Feather files. Each
 * buffer begins with the bytes that it holds, in 64 bits: -1 where it is stored as it is.
 */

const DICTIONARY_DATA = 1;
const LENGTH_BYTES = 8;
const STORED = -1;
/** Where a buffer lies and how long it is, 64 bits each. */
const BUFFER_BYTES = 16;
/** What the buffers of one message may hold together; a record batch of pandas has 65,536 rows. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** Lets the library decode what is compressed. */
export function registerCodecs(): void {
  const { compressionRegistry, CompressionType } = arrow();
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (bytes) => decodeLz4(bytes, lengthOf(bytes)),
  });
  compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decodeZstd(bytes, lengthOf(bytes)) });
}

/** The length that is told in front of what the library hands out to be decoded. */
function lengthOf({ buffer, byteOffset }: Uint8Array): number {
  return Number(new DataView(buffer, byteOffset - LENGTH_BYTES, LENGTH_BYTES).getBigInt64(0, true));
}

/**
 * Whether the first record batch or dictionary is compressed: to decode it takes time.
 * Errors: `table.invalid`, `file.unreadable`.
 */
export async function isCompressed(bytes: Bytes): Promise<boolean> {
  try {
    for await (const message of ipcMessages(bytes)) {
      if (message.kind !== 'schema') {
        return batchOf(message)?.table(RECORD_BATCH.compression) !== undefined;
      }
    }
    return false;
  } catch (error) {
    throw damagedIpc(error);
  }
}

/** Refuses a compressed message that tells of buffers beyond its bytes, or of more than is decoded at once. */
export function assertCompressed(message: IpcMessage): void {
  const { name, body } = message;
  const batch = batchOf(message);
  if (batch?.table(RECORD_BATCH.compression) === undefined) {
    return;
  }
  const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const { at, length } = batch.list(RECORD_BATCH.buffers, BUFFER_BYTES);
  let all = 0;
  for (let place = at; place < at + length * BUFFER_BYTES; place += BUFFER_BYTES) {
    const start = longAt(batch.bytes, place);
    const bytes = longAt(batch.bytes, place + 8);
    if (bytes === 0) {
      continue;
    }
    if (start < 0 || bytes < LENGTH_BYTES || start + bytes > body.length) {
      throw new Error(`${name} has a compressed buffer that is not in its bytes`);
    }
    const told = longAt(view, start);
    all += told;
    if (told < STORED || all > MAX_BYTES) {
      throw new Error(
        `${name} tells of ${all} bytes once it is decompressed; write it with fewer rows in a record batch`,
      );
    }
  }
}

function batchOf({ kind, header }: IpcMessage): FlatTable | undefined {
  return kind === 'dictionary' ? header.table(DICTIONARY_DATA) : kind === 'batch' ? header : undefined;
}
