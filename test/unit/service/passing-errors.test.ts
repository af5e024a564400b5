import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import {
  EntryStore,
  isUploadEntry,
  ModelCache,
  openStore,
  openUpload,
  Refusal,
  resolveOptions,
  type UploadEntry,
} from '../../doors/service';
import { crc32c, crc32cToBase64 } from '../../doors/table';
import { failing } from '../../helpers/failing-files';

describe('What cannot be read now', () => {
  let root: string;
  let log: string[];
  let mend: () => void = () => undefined;
  const ids = Array.from({ length: 23 }, (_, i) => `00000000-0000-4000-8000-0000000000${10 + i}`);
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-passing-'));
    log = [];
  });
  afterEach(async () => {
    mend();
    mend = () => undefined;
    await rm(root, { recursive: true, force: true });
  });

  const storeOf = (): EntryStore<UploadEntry> =>
    new EntryStore<UploadEntry>({
      what: 'upload',
      root,
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: (entry) => [{ name: 'x.csv', bytes: entry.x.arrived!.bytes }],
      log: (_level, text) => void log.push(text),
    });

  async function fill(): Promise<void> {
    for (const id of ids) {
      const x = { format: 'csv', chunks: 1, arrived: { bytes: 4, crc: 'AAAAAA==' } };
      await mkdir(path.join(root, id));
      await writeFile(path.join(root, id, 'x.csv'), 'a\n1\n');
      const entry = { version: 1, id, set: 'test', createdAt: 1, fittedId: ids[0], x };
      await writeFile(path.join(root, id, 'upload.json'), JSON.stringify(entry));
    }
  }

  const busy = (error: unknown): boolean => {
    assert.ok(error instanceof Refusal, String(error));
    assert.deepEqual(
      [error.status, error.body.errorCode, error.body.retryable],
      [503, 'STORAGE_FAILED', true],
      error.message,
    );
    return true;
  };

  for (const code of ['EACCES', 'EMFILE', 'EIO']) {
    for (const [what, call, file] of [
      ['index', 'readFile', /upload\.json$/],
      ['data', 'stat', /x\.csv$/],
    ] as const) {
      it(`stays in the store and is found again after ${code} of its ${what}`, async () => {
        await fill();
        mend = failing([call, 'rename'], code, file);
        const entries = storeOf();
        await entries.load();
        assert.equal(entries.items.size, 0);
        assert.deepEqual((await readdir(root)).sort(), ids);
        assert.match(log.join('\n'), new RegExp(`Of uploads in .*, 23 cannot be read now \\(${code}\\)`));
        assert.throws(() => entries.use(ids[3]!), busy);
        await entries.reload();
        assert.equal(entries.items.size, 0);
        mend();
        await entries.reload();
        assert.equal(entries.use(ids[3]!)?.entry.id, ids[3]);
        assert.equal(entries.items.size, 23);
      });
    }

    it(`is no reason to give up a model after ${code}`, async () => {
      const file = path.join(root, ids[0]!, 'model.bin');
      await mkdir(path.dirname(file));
      await writeFile(file, 'bytes');
      mend = failing(['readFile'], code, /model\.bin$/);
      const cache = new ModelCache(1e6);
      await assert.rejects(cache.get({ id: ids[0]!, file, bytes: 5, crc: 'x' }), busy);
      mend();
      await assert.rejects(cache.get({ id: ids[0]!, file, bytes: 5, crc: 'x' }), /checksum is wrong/);
    });

    it(`is no reason to give up an upload after ${code}`, async () => {
      const file = path.join(root, ids[0]!, 'x.csv');
      const content = 'a\n1\n';
      await mkdir(path.dirname(file));
      await writeFile(file, content);
      const ref = { file, format: 'csv', bytes: content.length } as const;
      mend = failing(['open'], code, /x\.csv$/);
      await assert.rejects(openUpload(ref), busy);
      mend();
      const crc = crc32cToBase64(crc32c(Buffer.from(content)));
      assert.equal((await openUpload({ ...ref, crc })).rows, 1);
      await assert.rejects(openUpload({ ...ref, crc: 'AAAAAA==' }), /checksum is wrong/);
    });
  }

  it('counts as passing while the whole folder is away, and as gone once that is back without it', async () => {
    const folder = path.join(root, 'models');
    const file = path.join(folder, ids[0]!, 'model.bin');
    const get = (): Promise<unknown> => new ModelCache(1e6).get({ id: ids[0]!, file, bytes: 5, crc: 'x' });
    await assert.rejects(get(), busy);
    await mkdir(folder);
    await assert.rejects(
      get(),
      ({ body }: Refusal) => body.errorCode === 'MODEL_DAMAGED' && body.status === 404,
    );
  });

  it('is left where it is when it is damaged and cannot be moved', async () => {
    await fill();
    await writeFile(path.join(root, ids[5]!, 'upload.json'), '{');
    mend = failing(['rename'], 'EROFS', /./);
    const entries = storeOf();
    await entries.load();
    mend();
    assert.deepEqual((await readdir(root)).sort(), ids);
    assert.match(log.join('\n'), /Damaged, and left where it is \(EROFS\): .*15/);
    assert.equal(entries.items.size, 22);
  });

  it('keeps the secret, and the store does not open without it', async () => {
    const open = () => {
      const quiet = (): void => undefined;
      return openStore(resolveOptions({ dataDir: root }, 'token'), () => 1e6, quiet, quiet);
    };
    const first = await open();
    await first.close();
    mend = failing(['readFile'], 'EIO', /secret\.json$/);
    await assert.rejects(open(), { code: 'storage.failed', message: /EIO/ });
    mend();
    const second = await open();
    await second.close();
    assert.deepEqual(second.secret, first.secret);
  });

  it('is a file behind a link that leads nowhere useful', async () => {
    await fill();
    const index = path.join(root, ids[0]!, 'upload.json');
    await rm(index);
    await symlink('upload.json', index);
    const entries = storeOf();
    await entries.load();
    assert.throws(() => entries.use(ids[0]!), /cannot be read now \(ELOOP\)/);
    assert.equal(entries.items.size, 22);
  });
});
