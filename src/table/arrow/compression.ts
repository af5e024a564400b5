import type { Bytes } from '../storage/blob';
import { arrow, zstdModule } from './heavy-modules';
import {
  damagedIpc,
  type FlatTable,
  type IpcMessage,
  ipcMessages,
  longAt,
  RECORD_BATCH,
} from './ipc-messages';

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
    decode: (bytes) => decodeLz4(bytes, readLength(bytes)),
  });
  compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decodeZstd(bytes, readLength(bytes)) });
}

/** The length that is told in front of what the library hands out to be decoded. */
function readLength({ buffer, byteOffset }: Uint8Array): number {
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
        return readBatchHeader(message)?.table(RECORD_BATCH.compression) !== undefined;
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
  const batch = readBatchHeader(message);
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

function readBatchHeader({ kind, header }: IpcMessage): FlatTable | undefined {
  return kind === 'dictionary' ? header.table(DICTIONARY_DATA) : kind === 'batch' ? header : undefined;
}

/*
 * LZ4 as files have it: the frame format (lz4_Frame_format.md of lz4/lz4) around blocks (lz4_Block_format.md). Checksums
 * are not looked at: what is decoded has to have the length that is told beside it.
 */

const LZ4_MAGIC = 0x184d2204;
const LZ4_FLAG = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 };
/** Of the length of a block: it is stored as it is. */
const LZ4_STORED = 0x80000000;
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
  if (frame.length < 7 || view.getUint32(0, true) !== LZ4_MAGIC) {
    throw new Error('its LZ4 frame does not begin as one');
  }
  const flags = frame[4]!;
  if ((flags & LZ4_FLAG.dictionary) !== 0) {
    throw new Error('its LZ4 frame needs a dictionary');
  }
  const out = new Uint8Array(length);
  let at = 7 + ((flags & LZ4_FLAG.contentSize) !== 0 ? 8 : 0);
  let written = 0;
  for (;;) {
    // What lies beyond the frame throws a RangeError.
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) {
      break;
    }
    const bytes = size % LZ4_STORED;
    const block = frame.subarray(at, at + bytes);
    if (block.length < bytes) {
      throw new Error('its LZ4 frame is cut off');
    }
    if (size >= LZ4_STORED) {
      // More than there is room for throws a RangeError.
      out.set(block, written);
      written += bytes;
    } else {
      written = decodeBlock(block, out, written);
    }
    at += bytes + ((flags & LZ4_FLAG.blockChecksum) !== 0 ? 4 : 0);
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

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_FLAG = { isSingle: 0x20, dictionary: 0x03 };
/** What a frame may refer back to has to be held: so much at most, or all of it. */
const MAX_WINDOW = 128 * 1024 * 1024;

/**
 * Decodes a Zstandard frame (RFC 8878).
 * @param length bytes that it holds
 * @throws Error for bytes that are none, or hold more or fewer
 */
export function decodeZstd(frame: Uint8Array, length: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (
    frame.length < 6 ||
    view.getUint32(0, true) !== ZSTD_MAGIC ||
    readWindow(view) > Math.max(length, MAX_WINDOW)
  ) {
    throw new Error('its Zstandard frame does not begin as one that can be read');
  }
  const out = new Uint8Array(length);
  let written = 0;
  const { Decompress } = zstdModule();
  new Decompress((part) => {
    // More than there is room for throws a RangeError.
    out.set(part, written);
    written += part.length;
  }).push(frame, true);
  if (written !== length) {
    throw new Error(`its Zstandard frame holds ${written} bytes instead of ${length}`);
  }
  return out;
}

/** The window that a frame asks for: all that it holds, where it is of a single segment. */
function readWindow(view: DataView): number {
  const flags = view.getUint8(4);
  if ((flags & ZSTD_FLAG.isSingle) === 0) {
    const window = view.getUint8(5);
    return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  const at = 5 + [0, 1, 2, 4][flags & ZSTD_FLAG.dictionary]!;
  switch (flags >> 6) {
    case 0:
      return view.getUint8(at);
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}
