import { TextDecoder } from 'node:util';

import { invalidTable } from '../cells/errors';

/**
 * `table.invalid` that names the line and the first byte that is not UTF-8.
 *
 * @param chunks the bytes from the start of the text, at least up to the wrong one
 */
export async function notUtf8(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Error> {
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
export function notUtf8In(text: Uint8Array, from: number, to: number): Error {
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
