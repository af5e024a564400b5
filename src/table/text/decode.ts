import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { invalidTable } from '../cells/types';
import { wideEncoding } from './sniff';

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
      const verdict = findEncoding(rest, last);
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

/** The part of a string's interface that scanners of long text need. Positions are in its own units. */
export type LongText = Pick<string, 'length' | 'charCodeAt' | 'indexOf' | 'slice'>;

/**
 * UTF-8 bytes as text whose units are bytes. JSON's syntax characters are single bytes in UTF-8, so scanners can work
 * on the bytes directly. The whole text is never decoded into one string: that would block the event loop.
 */
export class Utf8Text implements LongText {
  readonly length: number;
  private readonly bytes: Buffer;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const own = marked ? bytes.subarray(3) : bytes;
    this.bytes = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
    this.length = own.length;
  }

  charCodeAt(at: number): number {
    return this.bytes[at] ?? NaN;
  }

  indexOf(sign: string, from = 0): number {
    return this.bytes.indexOf(sign, from, 'latin1');
  }

  slice(from = 0, to = this.length): string {
    try {
      return this.decoder.decode(this.bytes.subarray(from, to));
    } catch {
      throw notUtf8In(this.bytes, from, to);
    }
  }
}

/**
 * `table.invalid` that names the line and the first byte that is not UTF-8.
 *
 * @param chunks the bytes from the start of the text, at least up to the wrong one
 */
async function notUtf8(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Error> {
  let base = 0;
  let lines = 1;
  let carry = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([carry, chunk]);
    const wrong = firstWrong(bytes, base > 0);
    if (wrong >= 0) {
      return wrongByte(lines + count(bytes.subarray(0, wrong)), bytes[wrong]!, base + wrong);
    }
    // The last character may go on in the next chunk.
    const done = Math.max(0, bytes.length - 3);
    lines += count(bytes.subarray(0, done));
    base += done;
    carry = bytes.subarray(done);
  }
  const cut = carry.findLastIndex((byte) => byte >= 0xc0);
  return wrongByte(lines + count(carry), carry[cut] ?? 0, base + Math.max(0, cut));
}

/** The same for text in memory. */
function notUtf8In(text: Uint8Array, from: number, to: number): Error {
  const wrong = firstWrong(text.subarray(from, to), false);
  const at = wrong >= 0 ? from + wrong : text.subarray(from, to).findLastIndex((byte) => byte >= 0xc0) + from;
  return wrongByte(1 + count(text.subarray(0, at)), text[at]!, at);
}

function wrongByte(line: number, byte: number, at: number): Error {
  return invalidTable(
    `Line ${line} of the text is not UTF-8 (byte 0x${byte.toString(16)} at position ${at}). Save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), or decode it before this node, such as with msg.payload.toString("latin1").`,
  );
}

/** Position of the first invalid byte, or -1. The last character may be cut off. */
function firstWrong(bytes: Uint8Array, within: boolean): number {
  let start = 0;
  // Continuation bytes at the start belong to a character before.
  while (within && start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) {
    start++;
  }
  if (isValid(bytes.subarray(start))) {
    return -1;
  }
  let good = start;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isValid(bytes.subarray(start, middle))) {
      good = middle;
    } else {
      bad = middle;
    }
  }
  // An incomplete character is wrong from its first byte on.
  let at = bad - 1;
  if (bytes[at]! < 0x80) {
    do {
      at--;
    } while ((bytes[at]! & 0xc0) === 0x80);
  }
  return at;
}

function isValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function count(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    lines++;
  }
  return lines;
}

/*
 * What spreadsheets save as "CSV": text in Windows-1252 (of which Latin-1 is nearly all) in Western Europe, in Shift-JIS
 * in Japan. Nothing in the file says so. Its bytes distinguish it from other text that is not UTF-8.
 */

/** Bytes that stand for nothing in Windows-1252; other encodings are full of them. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Whether bytes can be Windows-1252: none of those that stand for nothing, and accented letters mostly alone between
 * plain ones. Of Cyrillic, Greek, Chinese, Japanese and Korean text most bytes beyond ASCII have neighbours of their
 * kind.
 */
function looksWestern(bytes: Uint8Array): boolean {
  let high = 0;
  let paired = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80) {
      continue;
    }
    if (UNUSED.has(byte)) {
      return false;
    }
    high++;
    paired += isPair(bytes[at - 1], byte) || isPair(byte, bytes[at + 1]) ? 1 : 0;
  }
  return paired * 2 <= high;
}

/** Letters that stand side by side in words of German and French: `Größe`, `mäßig`, `Füße`, `créée`. */
const SIDE_BY_SIDE = new Set([0xf6_df, 0xe4_df, 0xfc_df, 0xe9_e9]);

function isPair(left = 0, right = 0): boolean {
  return left >= 0x80 && right >= 0x80 && !SIDE_BY_SIDE.has((left << 8) | right);
}

/**
 * Whether bytes can be Shift-JIS, as spreadsheets of Japan save it: characters of two bytes, nearly all of them kana,
 * signs and the common kanji. Other encodings read as Shift-JIS have rare kanji, or half-width kana alone.
 */
function looksJapanese(bytes: Uint8Array): boolean {
  let wide = 0;
  let common = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80 || (byte > 0xa0 && byte < 0xe0)) {
      continue;
    }
    const next = bytes[++at];
    if (next === undefined) {
      break;
    }
    if (byte === 0x80 || byte === 0xa0 || byte > 0xfc || next < 0x40 || next === 0x7f || next > 0xfc) {
      return false;
    }
    wide++;
    common += byte <= LAST_COMMON ? 1 : 0;
  }
  return wide > 0 && common >= COMMON_PART * wide;
}

/** The first byte of the last kanji of level 1. */
const LAST_COMMON = 0x98;
const COMMON_PART = 0.8;

/** What the first bytes beyond ASCII say: of a text that was ASCII up to them. */
type Told = Exclude<OldEncoding, undefined> | 'utf-8' | 'neither' | 'too few';

/** An encoding of before Unicode that a text was read in. */
type OldEncoding = 'windows-1252' | 'shift_jis' | undefined;

/** @param bytes from the first byte beyond ASCII on */
function findEncoding(bytes: Uint8Array, last: boolean): Told {
  const lead = bytes[0]!;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (bytes.length < length) {
    // At the end of the text: cut off, or an accented letter. Nobody can tell.
    return last ? 'neither' : 'too few';
  }
  if (isUtf8(bytes.subarray(0, length))) {
    return 'utf-8';
  }
  return looksWestern(bytes) ? 'windows-1252' : looksJapanese(bytes) ? 'shift_jis' : 'neither';
}

/** Position of the first byte beyond ASCII, or -1. */
function firstBeyondAscii(bytes: Uint8Array): number {
  return isAscii(bytes) ? -1 : bytes.findIndex((byte) => byte >= 0x80);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
