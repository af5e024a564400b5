import assert from 'node:assert/strict';

import { writeZip, zipBytes, type ZipEntry } from '../../doors/util';
import { filesOfZip } from '../../service/zip-reader';

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await Promise.resolve();
    yield Buffer.from(text);
  }
}

async function bytesOf(entries: ZipEntry[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of writeZip(entries)) {
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const entry = (name: string, ...texts: string[]): ZipEntry => ({
  name,
  bytes: Buffer.byteLength(texts.join('')),
  read: () => pieces(...texts),
});

describe('Zip archives', () => {
  it('hold files of any size and name, and say their length before', async () => {
    const entries = [entry('a/b.csv', 'x,', 'y\n'), entry('Łódź 😀.txt', 'é'), entry('empty')];
    const bytes = await bytesOf(entries);
    assert.equal(bytes.length, zipBytes(entries));
    const files = filesOfZip(bytes);
    assert.deepEqual(
      [...files].map(([name, content]) => [name, content.toString()]),
      [
        ['a/b.csv', 'x,y\n'],
        ['Łódź 😀.txt', 'é'],
        ['empty', ''],
      ],
    );
    assert.equal((await bytesOf([])).length, zipBytes([]));
  });

  it('hold more files than 16 bits count', async () => {
    const entries = Array.from({ length: 65_600 }, (_, i) => entry(`f${i}`, String(i)));
    const bytes = await bytesOf(entries);
    assert.equal(bytes.length, zipBytes(entries));
    const files = filesOfZip(bytes);
    assert.deepEqual([files.size, files.get('f65599')?.toString()], [65_600, '65599']);
  });

  it('have 64-bit sizes and offsets beyond 4 GB', async function () {
    this.timeout(60_000);
    const megabyte = new Uint8Array(1024 * 1024);
    const large: ZipEntry = {
      name: 'large',
      bytes: 4_097 * megabyte.length,
      async *read() {
        for (let i = 0; i < 4_097; i++) {
          await Promise.resolve();
          yield megabyte;
        }
      },
    };
    const entries = [large, entry('after', 'it')];
    let total = 0;
    const small: Buffer[] = [];
    for await (const part of writeZip(entries)) {
      total += part.length;
      if (part !== megabyte) {
        small.push(Buffer.from(part));
      }
    }
    assert.equal(total, zipBytes(entries));
    const [local, , , directory, end] = small as [Buffer, Buffer, Buffer, Buffer, Buffer];
    assert.deepEqual(
      [local.readUInt32LE(18), Number(local.readBigUInt64LE(30 + 5 + 4))],
      [0xffffffff, large.bytes],
    );
    const second = 46 + 5 + 28;
    assert.equal(directory.readUInt32LE(second + 42), 0xffffffff);
    const offset = Number(directory.readBigUInt64LE(second + 46 + 5 + 4 + 16));
    assert.equal(offset, local.length + large.bytes);
    assert.equal(Number(end.readBigUInt64LE(48)), total - end.length - directory.length);
  });

  it('end with an error where a file is not as long as it was', async () => {
    await assert.rejects(bytesOf([{ ...entry('x', 'abc'), bytes: 4 }]), /x has 3 bytes instead of 4/);
  });
});
