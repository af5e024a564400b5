/*
 * LZ4 as files have it: the frame format (lz4_Frame_format.md of lz4/lz4) around blocks (lz4_Block_format.md). Checksums
 * are not looked at: what is decoded has to have the length that is told beside it.
 */

const MAGIC = 0x184d2204;
const FLAG = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 };
/** Of the length of a block: it is stored as it is. */
const STORED = 0x80000000;
/** A match has four bytes at least. */
const MIN_MATCH = 4;
/** A length of four bits goes on in bytes behind it. */
const LONG = 15;

/**
 * Decodes an LZ4 frame.
 * @param length bytes that it holds
 * @throws Error for bytes that are none, or hold more or fewer
 */
export function decodeLz4(frame: Uint8Array, length: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < 7 || view.getUint32(0, true) !== MAGIC) {
    throw new Error('its LZ4 frame does not begin as one');
  }
  const flags = frame[4]!;
  if ((flags & FLAG.dictionary) !== 0) {
    throw new Error('its LZ4 frame needs a dictionary');
  }
  const out = new Uint8Array(length);
  let at = 7 + ((flags & FLAG.contentSize) !== 0 ? 8 : 0);
  let written = 0;
  for (;;) {
    // What lies beyond the frame throws a RangeError.
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) {
      break;
    }
    const bytes = size % STORED;
    const block = frame.subarray(at, at + bytes);
    if (block.length < bytes) {
      throw new Error('its LZ4 frame is cut off');
    }
    if (size >= STORED) {
      // More than there is room for throws a RangeError.
      out.set(block, written);
      written += bytes;
    } else {
      written = decodeBlock(block, out, written);
    }
    at += bytes + ((flags & FLAG.blockChecksum) !== 0 ? 4 : 0);
  }
  if (written !== length) {
    throw new Error(`its LZ4 frame holds ${written} bytes instead of ${length}`);
  }
  return out;
}

/** Appends what a block holds, which may repeat what is before it in `out`; returns where that ends. */
function decodeBlock(block: Uint8Array, out: Uint8Array, start: number): number {
  let at = 0;
  let to = start;

  function longLength(short: number): number {
    let length = short;
    for (let more = short === LONG ? 255 : 0; more === 255; length += more) {
      more = block[at++] ?? 0;
    }
    return length;
  }

  while (at < block.length) {
    const token = block[at++]!;
    const literals = longLength(token >> 4);
    if (literals > block.length - at || literals > out.length - to) {
      throw new Error('an LZ4 block holds more than there is room for');
    }
    out.set(block.subarray(at, at + literals), to);
    at += literals;
    to += literals;
    if (at === block.length) {
      // The last sequence has no match.
      return to;
    }
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    const matched = longLength(token & LONG) + MIN_MATCH;
    if (!(distance > 0 && distance <= to) || matched > out.length - to) {
      throw new Error('an LZ4 block repeats what is not there');
    }
    if (distance >= matched) {
      out.copyWithin(to, to - distance, to - distance + matched);
      to += matched;
    } else {
      for (const end = to + matched; to < end; to++) {
        out[to] = out[to - distance]!;
      }
    }
  }
  return to;
}
