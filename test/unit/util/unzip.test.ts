import assert from 'node:assert/strict';
import { crc32, deflateRawSync } from 'node:zlib';

import { unzip, writeZip, type ZipEntry } from '../../doors/util';

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
  for await (const piece of writeZip(entries)) {
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

  /** An archive of one deflated file, which says that it has so many bytes. */
  async function deflated(bytes: Buffer, size: number): Promise<Buffer> {
    const archive = await archiveOf({ m: deflateRawSync(bytes) });
    const central = archive.indexOf('PK\x01\x02');
    for (const at of [8, central + 10]) {
      archive.writeUInt16LE(8, at);
    }
    archive.writeUInt32LE(crc32(bytes), central + 16);
    archive.writeUInt32LE(size, central + 24);
    return archive;
  }

  it('reads deflated files as other programs write them', async () => {
    const bytes = Buffer.alloc(5000, 'model');
    assert.deepEqual((await unzip(await deflated(bytes, 5000), MAX)).get('m'), bytes);
    assert.equal((await unzip(await deflated(Buffer.alloc(0), 0), MAX)).get('m')!.length, 0);
  });

  it('inflates a file no further than its size, so that one cannot fill the memory', async () => {
    const bomb = Buffer.alloc(8_000_000);
    for (const size of [0, 100, MAX]) {
      await assert.rejects(unzip(await deflated(bomb, size), MAX), {
        code: 'ERR_BUFFER_TOO_LARGE',
      });
    }
    await assert.rejects(unzip(await deflated(Buffer.alloc(10), 100), MAX), /m is damaged: its length/);
  });

  it('refuses an archive of more files than a model ever has', async () => {
    const many = (count: number) =>
      archiveOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`, Buffer.alloc(0)])));
    assert.equal((await unzip(await many(1_000), MAX)).size, 1_000);
    await assert.rejects(unzip(await many(1_001), MAX), /it holds 1001 files/);
  });

  it('looks for the end no further than a comment may be long', async () => {
    const archive = await archiveOf(files);
    const behind = (bytes: number): Promise<Map<string, Buffer>> =>
      unzip(Buffer.concat([archive, Buffer.alloc(bytes)]), MAX);
    assert.equal((await behind(0xffff)).size, 2);
    await assert.rejects(behind(0x10000), /its end is missing/);
  });

  it('refuses more than it may hold', async () => {
    const bytes = Object.values(files).reduce((sum, { length }) => sum + length, 0);
    assert.equal((await unzip(await archiveOf(files), bytes)).size, 2);
    await assert.rejects(unzip(await archiveOf(files), bytes - 1), new RegExp(`more than ${bytes - 1}`));
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
