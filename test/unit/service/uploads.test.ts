import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUploadEntry, type UploadEntry } from '../../../dist/src/service/store/entries';
import { Shelf } from '../../../dist/src/service/store/shelf';
import { Uploads } from '../../../dist/src/service/store/uploads';

describe('Uploads', () => {
  let root: string;
  let shelf: Shelf<UploadEntry>;
  let uploads: Uploads;
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-uploads-'));
    shelf = new Shelf<UploadEntry>({
      root,
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: (entry) => [{ name: 'x.csv', bytes: entry.x.arrived!.bytes }],
      log: () => undefined,
    });
    await shelf.load();
    uploads = new Uploads(shelf, 1000);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const prepare = (hash?: string, fittedId = 'model') =>
    uploads.prepare(
      { set: 'test', fittedId, x: { format: 'csv', chunks: 1, ...(hash && { announcedHash: hash }) } },
      Date.now() + 1000,
    );

  it('removes what nobody sent in time, and nothing that is being sent', async () => {
    const late = prepare();
    const busy = prepare();
    const body = new PassThrough();
    body.write('a\n');
    const sending = uploads.receive(busy.id, 'x', 0, body);
    await sleep(20);
    uploads.sweep(Date.now() + 5000);
    await sleep(50);
    assert.deepEqual(await readdir(root), [busy.id]);
    await assert.rejects(uploads.receive(late.id, 'x', 0, Readable.from([Buffer.from('a')])), {
      status: 403,
    });
    body.end('1\n');
    assert.equal((await sending)?.entry.id, busy.id);
    uploads.sweep(Date.now() + 5000);
    assert.equal(uploads.get(busy.id, 'test').entry.id, busy.id, 'complete ones have no such end');
  });

  it('lets a newer PUT of the same file take over from one that hangs', async () => {
    const entry = prepare();
    const hanging = new PassThrough();
    hanging.write('old');
    const first = uploads.receive(entry.id, 'x', 0, hanging).catch((error: unknown) => error);
    await sleep(20);
    const done = await uploads.receive(entry.id, 'x', 0, Readable.from([Buffer.from('new\n1\n')]));
    assert.equal(done?.entry.x.arrived?.bytes, 6);
    assert.equal(((await first) as { status: number }).status, 400);
  });

  it('knows only the newest test sets as duplicates, since their hash has 32 bits', async () => {
    const send = async (i: number) => {
      const hash = `opaque:${i}`;
      const entry = prepare(hash);
      await uploads.receive(entry.id, 'x', 0, Readable.from([Buffer.from(`a\n${i}\n`)]));
      return entry.id;
    };
    const known = (i: number) =>
      uploads.findDuplicate({
        set: 'test',
        fittedId: 'model',
        x: { format: 'csv', chunks: 1, announcedHash: `opaque:${i}` },
      });
    const first = await send(0);
    assert.equal(known(0), first);
    for (let i = 1; i <= 150; i++) await send(i);
    assert.equal(known(0), undefined);
    assert.notEqual(known(150), undefined);
    assert.equal(uploads.get(first, 'test').entry.id, first, 'it can still be used by its id');
  });

  it('takes another announced size as another file', async () => {
    const entry = prepare('opaque:1');
    await uploads.receive(entry.id, 'x', 0, Readable.from([Buffer.from('a\n1\n')]));
    const ask = (announcedBytes: number) =>
      uploads.findDuplicate({
        set: 'test',
        fittedId: 'model',
        x: { format: 'csv', chunks: 1, announcedHash: 'opaque:1', announcedBytes },
      });
    assert.equal(ask(4), entry.id);
    assert.equal(ask(5), undefined);
  });
});
