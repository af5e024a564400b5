import assert from 'node:assert/strict';
import { crc32, deflateRawSync } from 'node:zlib';

import { unzip, type ZipEntry, zipOf } from '../../doors/util';

const MAX = 1024 * 1024;
const files = {
  'a.json': Buffer.from('{"a":1}'),
  'b/ü.bin': Buffer.from(Uint8Array.from({ length: 999 }, (_, i) => i)),
};

async function archiveOf(given: Record<string, Buffer>): Promise<Buffer> {
  const entries: ZipEntry[] = Object.entries(given).map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    read: async function* () {
      yield await Promise.resolve(bytes);
    },
  }));
  const pieces: Uint8Array[] = [];
  for await (const piece of zipOf(entries)) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

describe('unzip', () => {
  it('reads what zipOf writes, and an archive with a comment behind it', async () => {
    const archive = await archiveOf(files);
    assert.deepEqual(Object.fromEntries(await unzip(archive, MAX)), files);
    const comment = Buffer.from(archive);
    comment.writeUInt16LE(2, comment.length - 2);
    assert.deepEqual(
      Object.fromEntries(await unzip(Buffer.concat([comment, Buffer.from('hi')]), MAX)),
      files,
    );
    assert.equal((await unzip(await archiveOf({}), MAX)).size, 0);
  });

  it('reads deflated files as other programs write them, no further than their size', async () => {
    const bytes = Buffer.alloc(5000, 'model');
    const packed = deflateRawSync(bytes);
    const archive = await archiveOf({ m: packed });
    const central = archive.indexOf('PK\x01\x02');
    for (const at of [8, central + 10]) {
      archive.writeUInt16LE(8, at);
    }
    archive.writeUInt32LE(crc32(bytes), central + 16);
    archive.writeUInt32LE(bytes.length, central + 24);
    assert.deepEqual((await unzip(archive, MAX)).get('m'), bytes);
    archive.writeUInt32LE(100, central + 24);
    await assert.rejects(unzip(archive, MAX));
  });

  it('refuses more than it may hold', async () => {
    await assert.rejects(unzip(await archiveOf(files), 500), /more than 500/);
  });

  it('refuses an archive that is cut or changed anywhere: no file is ever another', async () => {
    const archive = await archiveOf(files);
    for (let length = 0; length < archive.length; length += 7) {
      await assert.rejects(unzip(archive.subarray(0, length), MAX), Error, `${length} bytes`);
    }
    for (let at = 0; at < archive.length; at++) {
      const changed = Buffer.from(archive);
      changed[at]! ^= 0x55;
      const read = await unzip(changed, MAX).catch(() => undefined);
      for (const bytes of read?.values() ?? []) {
        assert.ok(
          Object.values(files).some((file) => file.equals(bytes)),
          `byte ${at}`,
        );
      }
    }
  });
});
