import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';

import { Yielder } from './event-loop';

/* The format is that of PKWARE's APPNOTE 6.3: stored and deflated entries, without zip64 and encryption. */

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
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
  const listed = directoryOf(archive).filter(({ name }) => only === undefined || name === only);
  const total = listed.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes) {
    throw new Error(`it holds ${total} bytes, more than ${maxBytes}`);
  }
  const files = new Map<string, Buffer>();
  for (const entry of listed) {
    files.set(entry.name, await fileOf(archive, entry));
  }
  return files;
}

function directoryOf(archive: Buffer): Listed[] {
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

async function fileOf(archive: Buffer, { name, method, crc, packed, size, offset }: Listed): Promise<Buffer> {
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
  if (bytes.length !== packed || file.length !== size || (await checksum(file)) !== crc) {
    throw new Error(`${name} is damaged: its length or checksum is wrong`);
  }
  return file;
}

async function checksum(bytes: Buffer): Promise<number> {
  const yielder = new Yielder();
  let crc = 0;
  for (let at = 0; at < bytes.length; at += SLICE) {
    crc = crc32(bytes.subarray(at, at + SLICE), crc);
    await yielder.due();
  }
  return crc;
}
