import { TextDecoder } from 'node:util';

import { invalidTable } from '../cells/errors';
import { wideEncoding } from './sniff';
import { notUtf8 } from './utf8-error';

/** Characters of text that are parsed at a time: about a millisecond of work. */
export const PIECE = 64 * 1024;

export interface Pieces {
  (): Iterable<string> | AsyncIterable<string>;
  /** How much of the text has been given out, 0 to 1, where its size is known. */
  reached?: () => number;
}

/** The pieces of a string; a byte order mark at its start is dropped. */
export function stringPieces(text: string): Pieces {
  let reached = 0;
  const pieces = function* (): Iterable<string> {
    for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at += PIECE) {
      reached = Math.min(1, (at + PIECE) / text.length);
      yield text.slice(at, at + PIECE);
    }
  };
  return Object.assign(pieces, { reached: () => reached });
}

/**
 * The text in bytes, decoded as a stream so that a character cut in two by a chunk stays whole: UTF-8, or
 * UTF-16 where a byte order mark says so. Other bytes are `table.invalid`.
 *
 * @param size bytes of all chunks
 */
export function decodedPieces(
  chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
): Pieces {
  let reached = 0;
  const refuse = async ({ encoding }: TextDecoder): Promise<never> => {
    throw encoding === 'utf-8'
      ? await notUtf8(chunks())
      : invalidTable(`The text is not the ${encoding.toUpperCase()} that its first bytes say it is.`);
  };
  const pieces = async function* (): AsyncIterable<string> {
    let decoder: TextDecoder | undefined;
    let done = 0;
    for await (const chunk of chunks()) {
      decoder ??= decoderFor(chunk);
      const text = decode(decoder, chunk) ?? (await refuse(decoder));
      done += chunk.length;
      reached = Math.min(1, done / size);
      yield* stringChunks(text);
    }
    if (decoder !== undefined) {
      yield decode(decoder) ?? (await refuse(decoder));
    }
  };
  return Object.assign(pieces, { reached: () => reached });
}

function* stringChunks(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += PIECE) {
    yield text.slice(at, at + PIECE);
  }
}

function decoderFor(start: Uint8Array): TextDecoder {
  return new TextDecoder(wideEncoding(start) ?? 'utf-8', { fatal: true });
}

/** The text of a chunk, or of the rest at the end; undefined where it is invalid. */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string | undefined {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    return undefined;
  }
}

/** A buffer in chunks of a piece each. */
export function bufferChunks(bytes: Uint8Array): () => Iterable<Uint8Array> {
  return function* () {
    for (let at = 0; at < bytes.length; at += PIECE) {
      yield bytes.subarray(at, at + PIECE);
    }
  };
}
