import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';

/** The files of an archive with stored entries, by its central directory; checks every length and checksum. */
export function filesOfZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.length - 22;
  assert.equal(bytes.toString('latin1', end, end + 4), 'PK\x05\x06');
  let count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  let size = bytes.readUInt32LE(end + 12);
  let directoryEnd = end;
  if (count === 0xffff || at === 0xffffffff || size === 0xffffffff) {
    assert.equal(bytes.toString('latin1', end - 20, end - 16), 'PK\x06\x07');
    const end64 = Number(bytes.readBigUInt64LE(end - 12));
    assert.equal(bytes.toString('latin1', end64, end64 + 4), 'PK\x06\x06');
    count = Number(bytes.readBigUInt64LE(end64 + 32));
    size = Number(bytes.readBigUInt64LE(end64 + 40));
    at = Number(bytes.readBigUInt64LE(end64 + 48));
    directoryEnd = end64;
  }
  assert.equal(at + size, directoryEnd);
  const files = new Map<string, Buffer>();
  for (let i = 0; i < count; i++) {
    assert.equal(bytes.toString('latin1', at, at + 4), 'PK\x01\x02');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = bytes.readUInt32LE(at + 42);
    const length = bytes.readUInt32LE(at + 24);
    assert.equal(bytes.toString('latin1', local, local + 4), 'PK\x03\x04');
    assert.equal(bytes.toString('utf8', local + 30, local + 30 + nameBytes), name);
    assert.deepEqual(
      bytes.subarray(local + 4, local + 28),
      bytes.subarray(at + 6, at + 30),
      'both heads agree',
    );
    const from = local + 30 + nameBytes + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(from, from + length);
    assert.equal(crc32(content), bytes.readUInt32LE(at + 16), name);
    files.set(name, content);
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30);
  }
  assert.equal(at, directoryEnd);
  return files;
}
