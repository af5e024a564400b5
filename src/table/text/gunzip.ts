import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { reasonOf } from '../../util/reason';
import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/errors';
import { contentOf } from './sniff';

type Chunks = () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The bytes in a gzip file, unpacked as they are asked for, in chunks of 64 KiB at most. Errors: `table.invalid`. */
export function unpacked(chunks: Chunks): () => AsyncIterable<Uint8Array> {
  return async function* () {
    const packed = Readable.from(chunks(), { objectMode: false });
    const gunzip = createGunzip({ chunkSize: 64 * 1024 });
    packed.on('error', (error) => gunzip.destroy(error));
    try {
      yield* packed.pipe(gunzip) as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw error instanceof ServiceError
        ? error
        : invalidTable(`The gzip file is damaged or cut off: ${reasonOf(error)}.`);
    } finally {
      packed.destroy();
      gunzip.destroy();
    }
  };
}

/** Refuses a gzip file that does not hold CSV, by its first bytes. @param what names it in the error */
export async function assertPackedCsv(what: string, chunks: Chunks): Promise<void> {
  for await (const head of unpacked(chunks)()) {
    if (contentOf(head) !== 'csv') {
      throw invalidTable(`${what} is gzip-compressed and does not hold CSV. Unpack it first.`);
    }
    return;
  }
}

/** Bytes that a gzip file says it holds, of 4 GiB and more the rest: enough to tell how much has been read. */
export function toldSize(tail: Uint8Array): number {
  return Math.max(1, Buffer.from(tail).readUInt32LE(tail.length - 4));
}
