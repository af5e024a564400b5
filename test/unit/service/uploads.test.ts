import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  DiskAccount,
  EntryStore,
  isUploadEntry,
  type PutBody,
  type UploadEntry,
  Uploads,
} from '../../doors/service';
import { crc32c, crc32cToBase64 } from '../../doors/table';
import { waitFor } from '../../helpers/wait';

const wide = (i: number): string => `opaque:${String(i).padStart(32, '0')}`;
const hashOf = (text: string): string => crc32cToBase64(crc32c(Buffer.from(text)));
const patience = { idleMs: 10_000, bytesPerSecond: 1 };
const x = (uploadId: string) => ({ uploadId, part: 'x' as const, chunk: 0 });
const put = (body: string | Readable): PutBody =>
  typeof body === 'string'
    ? { stream: Readable.from([Buffer.from(body)]), length: body.length, patience }
    : { stream: body, patience };

function cutOff(text: string): PassThrough {
  const body = new PassThrough();
  body.write(text);
  setTimeout(() => body.destroy(), 20);
  return body;
}

describe('Uploads', () => {
  let root: string;
  let entries: EntryStore<UploadEntry>;
  let uploads: Uploads;
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-uploads-'));
    entries = new EntryStore<UploadEntry>({
      what: 'upload',
      root,
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: (entry) => [{ name: 'x.csv', bytes: entry.x.arrived!.bytes }],
      log: () => undefined,
    });
    await entries.load();
    uploads = new Uploads(entries, 1000, new DiskAccount({ maxBytes: 60 }, () => undefined));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const prepare = (hash?: string, fittedId = 'model') =>
    uploads.prepare(
      { set: 'test', fittedId, x: { format: 'csv', chunks: 1, ...(hash && { announcedHash: hash }) } },
      Date.now() + 1000,
    );

  const begun = (id: string) =>
    waitFor('a file that is being written', async () => {
      const files = await readdir(path.join(root, id)).catch(() => []);
      return files.length > 0;
    });

  it('removes what nobody sent in time, and nothing that is being sent', async () => {
    const late = prepare();
    const busy = prepare();
    const body = new PassThrough();
    body.write('a\n');
    const sending = uploads.receive(x(busy.id), put(body));
    await begun(busy.id);
    uploads.sweep(Date.now() + 5000);
    await waitFor('the late one to go', async () => !(await readdir(root)).includes(late.id));
    assert.deepEqual(await readdir(root), [busy.id]);
    await assert.rejects(uploads.receive(x(late.id), put('a')), {
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
    const first = uploads.receive(x(entry.id), put(hanging)).catch((error: unknown) => error);
    await begun(entry.id);
    const done = await uploads.receive(x(entry.id), put('new\n1\n'));
    assert.equal(done?.entry.x.arrived?.bytes, 6);
    assert.equal(((await first) as { status: number }).status, 400);
  });

  it('knows the newest test sets as duplicates, by hashes of 128 bits', async () => {
    const send = async (i: number) => {
      const hash = wide(i);
      const entry = prepare(hash);
      await uploads.receive(x(entry.id), put(`a\n${i}\n`));
      return entry.id;
    };
    const known = (i: number) =>
      uploads.findDuplicate({
        set: 'test',
        fittedId: 'model',
        x: { format: 'csv', chunks: 1, announcedHash: wide(i) },
      });
    const first = await send(0);
    assert.equal(known(0), first);
    for (let i = 1; i <= 256; i++) {
      await send(i);
    }
    assert.equal(known(0), undefined);
    assert.notEqual(known(256), undefined);
    assert.equal(uploads.get(first, 'test').entry.id, first, 'it can still be used by its id');
  });

  it('takes no hash of 32 bits for a duplicate of a test set, whoever wrote it', async () => {
    for (const announcedHash of ['AAAAAA==', 'opaque:2864434397', undefined]) {
      const part = { format: 'csv' as const, chunks: 1, announcedBytes: 4, announcedHash };
      const entry = uploads.prepare({ set: 'test', fittedId: 'model', x: { ...part } }, Infinity);
      await uploads.receive(x(entry.id), put('a\n1\n')).catch(() => undefined);
      assert.equal(uploads.findDuplicate({ set: 'test', fittedId: 'model', x: part }), undefined);
    }
  });

  it('takes a train set for a duplicate by both hashes and both sizes only', async () => {
    const part = (announcedBytes?: number) => ({
      format: 'csv' as const,
      chunks: 1,
      announcedHash: hashOf('a\n1\n'),
      announcedBytes,
    });
    const { id } = uploads.prepare({ set: 'train', x: part(4), y: part(4) }, Infinity);
    for (const name of ['x', 'y'] as const) {
      await uploads.receive({ uploadId: id, part: name, chunk: 0 }, put('a\n1\n'));
    }
    const ask = (x?: number, y?: number) => uploads.findDuplicate({ set: 'train', x: part(x), y: part(y) });
    assert.deepEqual(
      [ask(4, 4), ask(4, 5), ask(4), ask(undefined, 4)],
      [id, undefined, undefined, undefined],
    );
  });

  describe('that are not complete', () => {
    const file = (bytes: number): PutBody => put('a'.repeat(bytes));
    const train = () => {
      const part = () => ({ format: 'csv' as const, chunks: 1 });
      return uploads.prepare({ set: 'train', x: part(), y: part() }, Infinity);
    };

    it('take room on the disk until they are complete or given up', async () => {
      const first = train();
      await assert.rejects(uploads.receive(x(first.id), put(cutOff('a'.repeat(20)))), { status: 400 });
      assert.equal(uploads.unfinishedBytes, 0);
      await uploads.receive(x(first.id), file(30));
      const second = train();
      await uploads.receive(x(second.id), file(30));
      await assert.rejects(uploads.receive(x(train().id), file(1)), {
        status: 503,
        message: /have not ended take 60 of the 60 bytes/,
      });
      assert.equal(uploads.unfinishedBytes, 60);
      assert.equal(await uploads.dropIdle(), false, 'a minute has not passed');
      assert.equal(await uploads.dropIdle(Date.now() + 61_000), true);
      assert.equal(uploads.unfinishedBytes, 30);
      await assert.rejects(uploads.receive({ ...x(first.id), part: 'y' }, file(1)), { status: 403 });
      await uploads.receive({ ...x(second.id), part: 'y' }, file(5));
      assert.equal(uploads.unfinishedBytes, 0, 'the store of entries counts it now');
    });

    it('count no bytes of a file that was refused, and each chunk once', async () => {
      const { id } = uploads.prepare(
        {
          set: 'train',
          x: { format: 'csv', chunks: 2, announcedBytes: 20 },
          y: { format: 'csv', chunks: 1, announcedBytes: 4, announcedHash: 'AAAAAA==' },
        },
        Infinity,
      );
      const cut = { ...file(4), length: 10 };
      await assert.rejects(uploads.receive(x(id), cut), { status: 400 });
      await uploads.receive(x(id), file(10));
      await uploads.receive({ ...x(id), chunk: 1 }, file(10));
      assert.equal(uploads.unfinishedBytes, 20);
      await assert.rejects(uploads.receive({ ...x(id), part: 'y' }, file(4)), /CRC32C/);
      assert.equal(uploads.unfinishedBytes, 20);
    });
  });

  it('takes another announced size as another file', async () => {
    const entry = prepare(wide(1));
    await uploads.receive(x(entry.id), put('a\n1\n'));
    const ask = (announcedBytes: number) =>
      uploads.findDuplicate({
        set: 'test',
        fittedId: 'model',
        x: { format: 'csv', chunks: 1, announcedHash: wide(1), announcedBytes },
      });
    assert.equal(ask(4), entry.id);
    assert.equal(ask(5), undefined);
  });

  describe('in memory', () => {
    const SIZE = 64 * 1024;
    beforeEach(
      () => (uploads = new Uploads(entries, SIZE, new DiskAccount({ maxBytes: Infinity }, () => undefined))),
    );
    const send = async (): Promise<string> => {
      const entry = uploads.prepare(
        { set: 'test', fittedId: 'model', x: { format: 'csv', chunks: 1, announcedBytes: SIZE } },
        Date.now() + 60_000,
      );
      await uploads.receive(x(entry.id), put('1'.repeat(SIZE)));
      return entry.id;
    };
    const read = (id: string) => uploads.reading(uploads.get(id, 'test'), () => Promise.resolve());

    it('takes 16 MiB at most: what was read longest ago goes, what nobody has read stays', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 256; i++) {
        ids.push(await send());
      }
      assert.deepEqual(await readdir(root), [], 'so far in memory');
      assert.equal(uploads.memoryBytes(), 256 * SIZE);
      const onDisk = await send();
      assert.deepEqual(await readdir(root), [onDisk], 'nobody has read any of them');
      await read(ids[3]!);
      await sleep(2);
      await read(ids[1]!);
      await send();
      assert.deepEqual(await readdir(root), [onDisk]);
      assert.throws(() => uploads.get(ids[3]!, 'test'), { status: 404 });
      assert.equal(uploads.get(ids[1]!, 'test').entry.id, ids[1]);
      assert.equal(uploads.memoryBytes(), 256 * SIZE);
    });

    it('counts what is still on its way, and what was given up no more', async () => {
      const entry = prepare();
      const body = new PassThrough();
      const sending = uploads.receive(x(entry.id), { stream: body, length: 10, patience });
      body.write('1');
      await waitFor('its room', () => uploads.memoryBytes() > 0);
      assert.equal(uploads.memoryBytes(), SIZE, 'as much as it may come to');
      body.destroy();
      await assert.rejects(sending, { status: 400 });
      assert.equal(uploads.memoryBytes(), 0, 'though its URL is good for some time yet');
      await uploads.receive(x(entry.id), put('a\n1\n'));
      assert.equal(uploads.memoryBytes(), 4);
      assert.deepEqual(await readdir(root), []);
    });

    it('does not count what was refused, and takes the right bytes after it', async () => {
      const entry = uploads.prepare(
        {
          set: 'test',
          fittedId: 'model',
          x: {
            format: 'csv',
            chunks: 1,
            announcedBytes: 4,
            announcedHash: crc32cToBase64(crc32c(Buffer.from('a\n1\n'))),
          },
        },
        Date.now() + 60_000,
      );
      for (const wrong of ['a\n', 'a\n22\n', 'a\n2\n']) {
        await assert.rejects(uploads.receive(x(entry.id), put(wrong)), { status: 400 });
        assert.equal(uploads.memoryBytes(), 0, JSON.stringify(wrong));
      }
      assert.equal((await uploads.receive(x(entry.id), put('a\n1\n')))?.entry.id, entry.id);
      assert.equal(uploads.memoryBytes(), 4);
    });

    it('keeps the room of a PUT that took over from one that hangs', async () => {
      const entry = prepare();
      const [old, young] = [new PassThrough(), new PassThrough()];
      const first = uploads.receive(x(entry.id), { stream: old, length: 4, patience });
      await waitFor('the room of the first', () => uploads.memoryBytes() > 0);
      const second = uploads.receive(x(entry.id), { stream: young, length: 4, patience });
      await assert.rejects(first, { status: 400 });
      assert.equal(uploads.memoryBytes(), SIZE);
      young.end('a\n1\n');
      await second;
      assert.equal(uploads.memoryBytes(), 4);
    });

    it('leaves one that a predict reads where it is', async () => {
      const first = uploads.get(await send(), 'test');
      await read(first.entry.id);
      first.pins = 1;
      for (let i = 0; i < 255; i++) {
        await send();
      }
      await send();
      assert.equal(entries.items.has(first.entry.id), true);
      assert.equal((await readdir(root)).length, 1);
    });
  });
});
