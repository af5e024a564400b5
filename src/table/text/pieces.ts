import { TextDecoder } from 'node:util';

import { invalidTable } from '../cells/errors';
import { encodingOf, firstBeyondAscii, looksWestern, type OldEncoding } from './old-encodings';
import { wideEncoding } from './sniff';
import { notUtf8 } from './utf8-error';

/** Characters of text that are parsed at a time: about a millisecond of work. */
export const PIECE = 64 * 1024;

export interface Pieces {
  (): Iterable<string> | AsyncIterable<string>;
  /** How much of the text has been given out, 0 to 1, where its size is known. */
  reached?: () => number;
  /** The encoding that the text has turned out to be in, where that is none of Unicode. */
  oldEncoding?: () => OldEncoding;
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
 * The text in bytes, decoded as a stream so that a character cut in two by a chunk stays whole: UTF-16 where a byte
 * order mark says so, else UTF-8, or Windows-1252 or Shift-JIS where already the first bytes beyond ASCII are no UTF-8.
 * Other bytes are `table.invalid`.
 *
 * @param size bytes of all chunks
 */
export function decodedPieces(
  chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
): Pieces {
  let reached = 0;
  let old: OldEncoding;
  const refuse = async (encoding: string): Promise<never> => {
    throw encoding.startsWith('utf-16')
      ? invalidTable(`The text is not the ${encoding.toUpperCase()} that its first bytes say it is.`)
      : await notUtf8(chunks());
  };
  const pieces = async function* (): AsyncIterable<string> {
    let decoder: TextDecoder | undefined;
    let done = 0;
    // While all is ASCII: the bytes beyond it that are too few to tell.
    let carry = new Uint8Array(0);
    const next = async (chunk: Uint8Array, last: boolean): Promise<string> => {
      const isStart = done === 0;
      done += chunk.length;
      reached = Math.min(1, done / size);
      const wide = isStart ? wideEncoding(chunk) : undefined;
      if (wide !== undefined) {
        decoder = new TextDecoder(wide, { fatal: true });
      }
      if (decoder !== undefined) {
        if (old === 'windows-1252' && !looksWestern(chunk)) {
          return refuse(old);
        }
        return decode(decoder, chunk, last) ?? refuse(decoder.encoding);
      }
      const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
      const at = firstBeyondAscii(bytes);
      if (at < 0) {
        return asciiText(bytes);
      }
      const start = asciiText(bytes.subarray(0, at));
      const rest = bytes.subarray(at);
      const verdict = encodingOf(rest, last);
      if (verdict === 'too few') {
        carry = Uint8Array.from(rest);
        return start;
      }
      if (verdict === 'neither') {
        return refuse('utf-8');
      }
      old = verdict === 'utf-8' ? undefined : verdict;
      // A byte order mark is one at the start of the text alone.
      decoder = new TextDecoder(verdict, { fatal: true, ignoreBOM: !isStart || at > 0 });
      return start + (decode(decoder, rest, last) ?? (await refuse(verdict)));
    };
    for await (const chunk of chunks()) {
      yield* stringChunks(await next(chunk, false));
    }
    yield await next(new Uint8Array(0), true);
  };
  return Object.assign(pieces, { reached: () => reached, oldEncoding: () => old });
}

function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function* stringChunks(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += PIECE) {
    yield text.slice(at, at + PIECE);
  }
}

/** The text of a chunk, with the rest where it is the last; undefined where it is invalid. */
function decode(decoder: TextDecoder, chunk: Uint8Array, last: boolean): string | undefined {
  try {
    return decoder.decode(chunk, { stream: !last });
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
