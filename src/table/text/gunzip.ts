import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { yieldToEventLoop } from '../../util/concurrency';
import { reasonOf } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/errors';
import { type Content, contentOf } from './sniff';

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

/**
 * Whether a gzip file holds CSV or JSON, by its first bytes. Errors: `table.invalid` where it holds neither.
 * @param what names it in the error
 */
export async function packedContent(what: string, chunks: Chunks): Promise<'csv' | 'json'> {
  let content: Content = 'csv';
  for await (const head of unpacked(chunks)()) {
    content = contentOf(head);
    break;
  }
  if (content !== 'csv' && content !== 'json') {
    throw invalidTable(`${what} is gzip-compressed and holds neither CSV nor JSON. Unpack it first.`);
  }
  return content;
}

/** JSON is read from memory, where it is held unpacked and once more while it is put together. */
const MAX_WHOLE = 256 * 1024 * 1024;
const COPY = 8 * 1024 * 1024;

/** All bytes in a gzip file, in turns of the event loop. Errors: `table.invalid` for more than 256 MiB. */
export async function wholeUnpacked(what: string, chunks: Chunks, signal?: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of unpacked(chunks)()) {
    signal?.throwIfAborted();
    size += part.length;
    if (size > MAX_WHOLE) {
      throw invalidTable(
        `${what} holds more than 256 MiB of JSON in gzip. Send it in parts, or write it as CSV or Parquet.`,
      );
    }
    parts.push(part);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  let copied = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
    if (at - copied >= COPY) {
      copied = at;
      await yieldToEventLoop();
    }
  }
  return whole;
}

/** Bytes that a gzip file says it holds, of 4 GiB and more the rest: enough to tell how much has been read. */
export function toldSize(tail: Uint8Array): number {
  return Math.max(1, Buffer.from(tail).readUInt32LE(tail.length - 4));
}
