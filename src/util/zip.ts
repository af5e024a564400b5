import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';

import { Yielder } from './concurrency';

/** A file of an archive. Its bytes are read twice: once for their checksum, once to be sent. */
export interface ZipEntry {
  /** Path in the archive, with forward slashes. */
  name: string;
  bytes: number;
  read: () => AsyncIterable<Uint8Array>;
}

/* The format is that of PKWARE's APPNOTE 6.3: stored entries, with zip64 where 32 bits do not suffice. */

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const END64_BYTES = 56 + 20;
/** Two sizes of 8 bytes behind a head of 4; in the central directory the offset too. */
const LOCAL_EXTRA = 20;
const CENTRAL_EXTRA = 28;
const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;
/** Versions of the format that a reader must know. */
const VERSION = 20;
const VERSION_64 = 45;
const UTF8_NAMES = 0x0800;
/** 1980-01-01, the first day that the format knows. */
const DATE = 0x0021;

/** Bytes of the whole archive. */
export function zipBytes(entries: readonly ZipEntry[]): number {
  let offset = 0;
  let central = 0;
  for (const entry of entries) {
    const name = Buffer.byteLength(entry.name);
    const large = isLarge(entry, offset);
    central += CENTRAL_BYTES + name + (large ? CENTRAL_EXTRA : 0);
    offset += LOCAL_BYTES + name + (large ? LOCAL_EXTRA : 0) + entry.bytes;
  }
  return offset + central + (needsEnd64(entries.length, offset, central) ? END64_BYTES : 0) + END_BYTES;
}

/**
 * The bytes of an archive of these files, without compression, a piece at a time.
 *
 * @throws Error for a file whose size is not what its entry says
 */
export async function* writeZip(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array> {
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const crc = await checksumOfEntry(entry);
    const head = localHeader(entry, crc, isLarge(entry, offset));
    central.push(centralHeader(entry, crc, offset));
    yield head;
    yield* entry.read();
    offset += head.length + entry.bytes;
  }
  const directory = Buffer.concat(central);
  yield directory;
  yield makeEnd(entries.length, offset, directory.length);
}

function isLarge({ bytes }: ZipEntry, offset: number): boolean {
  return bytes >= MAX_32 || offset >= MAX_32;
}

function needsEnd64(count: number, offset: number, central: number): boolean {
  return count >= MAX_16 || offset >= MAX_32 || central >= MAX_32;
}

async function checksumOfEntry({ name, bytes, read }: ZipEntry): Promise<number> {
  let crc = 0;
  let size = 0;
  for await (const piece of read()) {
    crc = crc32(piece, crc);
    size += piece.length;
  }
  if (size !== bytes) {
    throw new Error(`${name} has ${size} bytes instead of ${bytes}.`);
  }
  return crc;
}

/** What a local header and one of the central directory have alike, from the version needed on. */
function sharedHead({ name, bytes }: ZipEntry, crc: number, large: boolean, extraBytes: number): Buffer {
  const size = large ? MAX_32 : bytes;
  const head = Buffer.alloc(26);
  head.writeUInt16LE(large ? VERSION_64 : VERSION, 0);
  head.writeUInt16LE(UTF8_NAMES, 2);
  head.writeUInt16LE(DATE, 8);
  head.writeUInt32LE(crc, 10);
  head.writeUInt32LE(size, 14);
  head.writeUInt32LE(size, 18);
  head.writeUInt16LE(Buffer.byteLength(name), 22);
  head.writeUInt16LE(extraBytes, 24);
  return head;
}

/** The zip64 field: true sizes, and the offset where one is given. */
function extraField(numbers: number[]): Buffer {
  const field = Buffer.alloc(4 + numbers.length * 8);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(numbers.length * 8, 2);
  numbers.forEach((value, at) => field.writeBigUInt64LE(BigInt(value), 4 + at * 8));
  return field;
}

function localHeader(entry: ZipEntry, crc: number, large: boolean): Buffer {
  const extra = large ? extraField([entry.bytes, entry.bytes]) : Buffer.alloc(0);
  const head = sharedHead(entry, crc, large, extra.length);
  return Buffer.concat([Buffer.from('PK\x03\x04'), head, Buffer.from(entry.name), extra]);
}

function centralHeader(entry: ZipEntry, crc: number, offset: number): Buffer {
  const large = isLarge(entry, offset);
  const extra = large ? extraField([entry.bytes, entry.bytes, offset]) : Buffer.alloc(0);
  const versionMadeBy = Buffer.alloc(2);
  versionMadeBy.writeUInt16LE(large ? VERSION_64 : VERSION, 0);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(large ? MAX_32 : offset, 10);
  const head = sharedHead(entry, crc, large, extra.length);
  return Buffer.concat([
    Buffer.from('PK\x01\x02'),
    versionMadeBy,
    head,
    tail,
    Buffer.from(entry.name),
    extra,
  ]);
}

function makeEnd(count: number, offset: number, central: number): Buffer {
  const end = Buffer.alloc(END_BYTES);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Math.min(count, MAX_16), 8);
  end.writeUInt16LE(Math.min(count, MAX_16), 10);
  end.writeUInt32LE(Math.min(central, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  if (!needsEnd64(count, offset, central)) {
    return end;
  }
  const large = Buffer.alloc(END64_BYTES);
  large.write('PK\x06\x06', 'latin1');
  large.writeBigUInt64LE(44n, 4);
  large.writeUInt16LE(VERSION_64, 12);
  large.writeUInt16LE(VERSION_64, 14);
  large.writeBigUInt64LE(BigInt(count), 24);
  large.writeBigUInt64LE(BigInt(count), 32);
  large.writeBigUInt64LE(BigInt(central), 40);
  large.writeBigUInt64LE(BigInt(offset), 48);
  large.write('PK\x06\x07', 56, 'latin1');
  large.writeBigUInt64LE(BigInt(offset + central), 64);
  large.writeUInt32LE(1, 72);
  return Buffer.concat([large, end]);
}

/* The format is that of PKWARE's APPNOTE 6.3: stored and deflated entries, without zip64 and encryption. */

const MAX_COMMENT = 0xffff;
const MAX_ENTRIES = 1_000;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
/** Bytes whose checksum is made at a time. */
const SLICE = 4 * 1024 * 1024;

const inflate = promisify(inflateRaw);

interface Listed {
  name: string;
  method: number;
  crc: number;
  packed: number;
  size: number;
  offset: number;
}

/**
 * The files of an archive that is in memory, by their names; each length and checksum is checked.
 *
 * @param maxBytes what the files may have together, unpacked
 * @param only the name of the one file to read; left out: all
 * @throws Error that says what is wrong with the archive
 */
export async function unzip(archive: Buffer, maxBytes: number, only?: string): Promise<Map<string, Buffer>> {
  const listed = readDirectory(archive).filter(({ name }) => only === undefined || name === only);
  const total = listed.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes) {
    throw new Error(`it holds ${total} bytes, more than ${maxBytes}`);
  }
  const files = new Map<string, Buffer>();
  for (const entry of listed) {
    files.set(entry.name, await extractFile(archive, entry));
  }
  return files;
}

function readDirectory(archive: Buffer): Listed[] {
  const end = archive.lastIndexOf('PK\x05\x06', archive.length - END_BYTES, 'latin1');
  if (end < 0 || end < archive.length - END_BYTES - MAX_COMMENT) {
    throw new Error('it is no zip archive, or its end is missing');
  }
  const count = archive.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) {
    throw new Error(`it holds ${count} files`);
  }
  const listed: Listed[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_BYTES > end || archive.toString('latin1', at, at + 4) !== 'PK\x01\x02') {
      throw new Error('its directory is damaged');
    }
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((from) => archive.readUInt16LE(at + from));
    const nameAt = at + CENTRAL_BYTES;
    listed.push({
      name: archive.toString('utf8', nameAt, nameAt + nameBytes!),
      method: archive.readUInt16LE(at + 8) & ENCRYPTED ? -1 : archive.readUInt16LE(at + 10),
      crc: archive.readUInt32LE(at + 16),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      offset: archive.readUInt32LE(at + 42),
    });
    at = nameAt + nameBytes! + extraBytes! + commentBytes!;
  }
  return listed;
}

async function extractFile(
  archive: Buffer,
  { name, method, crc, packed, size, offset }: Listed,
): Promise<Buffer> {
  const isLocal =
    offset + LOCAL_BYTES <= archive.length && archive.toString('latin1', offset, offset + 4) === 'PK\x03\x04';
  if (!isLocal) {
    throw new Error(`${name} is not where its directory says`);
  }
  const start = offset + LOCAL_BYTES + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  const bytes = archive.subarray(start, start + packed);
  if (method !== STORED && method !== DEFLATED) {
    throw new Error(`${name} is encrypted or compressed in a way that is not known here`);
  }
  const file = method === STORED ? bytes : await inflate(bytes, { maxOutputLength: Math.max(1, size) });
  if (bytes.length !== packed || file.length !== size || (await checksumOfBytes(file)) !== crc) {
    throw new Error(`${name} is damaged: its length or checksum is wrong`);
  }
  return file;
}

async function checksumOfBytes(bytes: Buffer): Promise<number> {
  const yielder = new Yielder();
  let crc = 0;
  for (let at = 0; at < bytes.length; at += SLICE) {
    crc = crc32(bytes.subarray(at, at + SLICE), crc);
    await yielder.due();
  }
  return crc;
}
