import { isAscii } from 'node:buffer';
import { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';

import { yieldToEventLoop } from '../../util/concurrency';
import { readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/types';

/** The first character that is not a space. A table may be long, so it is not trimmed first. */
export function firstCharacter(text: string): string {
  return /[^\s\uFEFF]/.exec(text)?.[0] ?? '';
}

export type Content = 'parquet' | 'arrow' | 'json' | 'csv' | 'gzip' | 'binary';

const HEAD = 4096;

/** Files that people take for tables, by their first bytes: what they are, and what to give instead. */
const OTHERS: readonly [magic: string, what: string][] = [
  ['PARE', 'is Parquet with an encrypted footer, which is not read. Write it without encryption.'],
  ['PK\x03\x04', 'is a spreadsheet (.xlsx, .ods) or another zip file. Save the sheet as CSV (UTF-8).'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'is an old spreadsheet (.xls). Save the sheet as CSV (UTF-8).'],
  ['\x28\xb5\x2f\xfd', 'is compressed with Zstandard. Unpack it first.'],
  ['BZh', 'is compressed with bzip2. Unpack it first.'],
  ['\xfd7zXZ', 'is compressed with xz. Unpack it first.'],
  ['SQLite format 3', 'is an SQLite database. Read its rows with a node for SQLite.'],
  ['ORC', 'is an ORC file. Write it as Parquet.'],
  ['Obj\x01', 'is an Avro file. Write it as Parquet.'],
  ['\x89HDF', 'is an HDF5 file. Write its table as Parquet or CSV.'],
  ['%PDF-', 'is a PDF document. Copy its table to a spreadsheet, and save that as CSV (UTF-8).'],
];

const READ_AS_TEXT =
  'was read as text, which loses some of its bytes. Let the node that reads it send a Buffer, or choose the file in this node.';
/** Files that are read, but not where they came as text. */
const OWN: readonly [magic: string, what: string][] = [
  ['PAR1', `is Parquet that ${READ_AS_TEXT}`],
  ['ARROW1', `is Arrow that ${READ_AS_TEXT}`],
  ['\x1f\x8b', `is a gzip file that ${READ_AS_TEXT}`],
];

/** A control character but white space. */
const CONTROL = /[^\P{Cc}\s]/u;

/** `table.invalid` for a file of bytes that came as text, as a node that reads files sends it by default; undefined for text. */
export function bytesAsText(text: string): Error | undefined {
  const head = text.slice(0, HEAD);
  // No text has such signs: a byte that is none in UTF-8, or a control character.
  const isText = !CONTROL.test(head);
  if (isText && !head.includes('\uFFFD') && !head.startsWith('%PDF-')) {
    return undefined;
  }
  const what = [...OWN, ...OTHERS].find(
    ([magic]) =>
      !(isText && /^[\w ]+$/.test(magic)) &&
      (head.startsWith(magic) || head.startsWith(new TextDecoder().decode(Buffer.from(magic, 'latin1')))),
  )?.[1];
  return what === undefined ? undefined : invalidTable(`The text ${what}`);
}

/** `table.invalid` for bytes that are no table. */
export function noTable(head: Uint8Array, what: string, problem: string): Error {
  const nuls = head.findIndex((byte) => byte !== 0);
  const isEmptied = head[0] === 0 && isTextWithNuls(head.subarray(0, HEAD));
  const own = isEmptied
    ? `begins with ${nuls < 0 ? `${head.length} NUL bytes or more` : `${nuls} NUL bytes`}, as a log that was emptied while it was written, or a computer without power, leaves them. Cut them off: the first line must name the columns.`
    : undefined;
  return invalidTable(`${what} ${otherKind(head) ?? own ?? problem}`);
}

/** What bytes are that are no table; undefined where that is not known. Letters alone may begin a text: `PARENT,…`. */
function otherKind(head: Uint8Array): string | undefined {
  const magic = Buffer.from(head.subarray(0, 16)).toString('latin1');
  const isText = !head.subarray(0, HEAD).includes(0);
  return OTHERS.find(([start]) => magic.startsWith(start) && !(isText && /^[\w ]+$/.test(start)))?.[1];
}

/** The kind of a file by its first bytes. */
export function findContent(head: Uint8Array): Content {
  const magic = Buffer.from(head.subarray(0, 8)).toString('latin1');
  if (magic.startsWith('PAR1')) {
    return 'parquet';
  }
  if (magic.startsWith('ARROW1') || (magic.startsWith('\xff\xff\xff\xff') && head.length >= 8)) {
    return 'arrow';
  }
  if (magic.startsWith('\x1f\x8b')) {
    return 'gzip';
  }
  if (otherKind(head) !== undefined) {
    return 'binary';
  }
  const wide = wideEncoding(head);
  const bytes = head.subarray(0, HEAD);
  if (wide === undefined && bytes.includes(0) && !isTornLog(bytes)) {
    return 'binary';
  }
  const text = new TextDecoder(wide ?? 'utf-8').decode(bytes);
  const start = firstCharacter(text);
  return start === '{' || start === '[' ? 'json' : 'csv';
}

/**
 * Whether bytes are lines of text with NUL bytes before or between them, as a log has them that was emptied while it was
 * written, or whose computer lost its power; or behind fields, as programs with fields of fixed width write them.
 */
function isTornLog(bytes: Uint8Array): boolean {
  const lineEnd = bytes.indexOf(10);
  return lineEnd > 0 && (lineEnd < bytes.indexOf(0) || isAscii(bytes)) && isTextWithNuls(bytes);
}

function isTextWithNuls(bytes: Uint8Array): boolean {
  return !bytes.some((byte) => byte > 0 && byte < 32 && !WHITE.has(byte));
}

/** Tab, line feed, carriage return. */
const WHITE = new Set([9, 10, 13]);

/**
 * UTF-16 in either byte order, where a byte order mark says so; without one, where every other byte of most characters is
 * zero and none in between, as in a text that is mostly digits and Latin letters.
 */
export function wideEncoding(start: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) {
    return 'utf-16le';
  }
  if (start[0] === 0xfe && start[1] === 0xff) {
    return 'utf-16be';
  }
  const zeros: [even: number, odd: number] = [0, 0];
  const head = start.subarray(0, HEAD);
  for (const [at, byte] of head.entries()) {
    if (byte === 0) {
      zeros[at % 2]!++;
    }
  }
  const [even, odd] = zeros;
  if (head.length < 8 || Math.min(even, odd) > 0 || Math.max(even, odd) * 4 <= head.length) {
    return undefined;
  }
  const wide = odd > 0 ? 'utf-16le' : 'utf-16be';
  const [line = ''] = new TextDecoder(wide).decode(head).split(/[\r\n]/, 1);
  // No control character but the tab.
  return line !== '' && !/[^\P{Cc}\t]/u.test(line) ? wide : undefined;
}

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
        : invalidTable(`The gzip file is damaged or cut off: ${readReason(error)}.`);
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
    content = findContent(head);
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
