import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import {
  type Bounds,
  capFor,
  EntryStore,
  isModelEntry,
  type ModelEntry,
  openStore,
  resolveOptions,
  Retention,
  type Store,
  type StoredEntry,
  type UploadEntry,
} from '../../doors/service';

const HOUR = 3_600_000;
const WIDE = `opaque:${'0'.repeat(32)}`;

describe('Retention', () => {
  let root: string;
  let store: Store;
  const open = (maxBytes?: number): Promise<Store> =>
    openStore(
      resolveOptions({ dataDir: root, maxBytes }, 'token'),
      () => 1e6,
      () => undefined,
      () => undefined,
    );
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-retention-'));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    await rm(root, { recursive: true, force: true });
  });

  let made = 0;
  /** A complete upload of 10 bytes, last used so many milliseconds ago. */
  const put = async (set: 'train' | 'test', ago = 0): Promise<StoredEntry<UploadEntry>> => {
    const id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;
    const folder = store.uploadEntries.makeFolder(id);
    const part = {
      format: 'csv' as const,
      chunks: 1,
      announcedHash: WIDE,
      arrived: { bytes: 5, crc: 'AAAAAA==' },
    };
    await writeFile(path.join(folder, 'x.csv'), '12345');
    if (set === 'train') {
      await writeFile(path.join(folder, 'y.csv'), '12345');
    }
    const entry: UploadEntry =
      set === 'train'
        ? { version: 1, id, set, createdAt: 0, x: part, y: part }
        : { version: 1, id, set, createdAt: 0, x: part, fittedId: 'model' };
    const item = await store.uploadEntries.put(entry, folder, false);
    item.lastUsedAt -= ago;
    const then = new Date(item.lastUsedAt);
    await utimes(path.join(folder, 'upload.json'), then, then);
    return item;
  };
  const trim = (bounds: Partial<Bounds>): Promise<void> =>
    new Retention(
      { maxBytes: 1e9, ...bounds },
      { uploads: store.uploadEntries, models: store.models },
      () => undefined,
    ).trim();
  const left = async (): Promise<string[]> => (await readdir(path.join(root, 'uploads'))).sort();
  const ids = (...items: StoredEntry<UploadEntry>[]): string[] => items.map(({ entry }) => entry.id).sort();

  it('drops test sets an hour after their last use, train sets never for their age', async () => {
    const train = await put('train', 100 * HOUR);
    await put('test', HOUR + 5000);
    const young = await put('test', HOUR - 60_000);
    await trim({});
    assert.deepEqual(await left(), ids(train, young));
  });

  it('keeps the newest of more test sets than the bound, counted by their last use', async () => {
    const train = await put('train', 5 * HOUR);
    const tests = [];
    for (let i = 0; i < 11; i++) {
      tests.push(await put('test', 11_000 - i * 1000));
    }
    store.uploadEntries.use(tests[0]!.entry.id);
    await trim({ maxTests: 10 });
    // Down to nine tenths, and the one that was used again is the newest.
    assert.deepEqual(await left(), ids(train, tests[0]!, ...tests.slice(3)));
  });

  it('never drops what a predict reads, also one that began while it was at work', async () => {
    const read = await put('test', 3 * HOUR);
    const readLater = await put('test', 2 * HOUR);
    const gone = await put('test', 2.5 * HOUR);
    read.pins = 1;
    const working = trim({ maxBytes: 0 });
    readLater.pins = 1;
    await working;
    assert.deepEqual(await left(), ids(read, readLater));
    assert.equal(store.uploadEntries.items.has(gone.entry.id), false);
  });

  it('does not drop twice what is too much when asked twice at once', async () => {
    const tests = [];
    for (let i = 0; i < 20; i++) {
      tests.push(await put('test', 20_000 - i * 1000));
    }
    const retention = new Retention(
      { maxBytes: 100 },
      { uploads: store.uploadEntries, models: store.models },
      () => undefined,
    );
    await put('test');
    await Promise.all([retention.trim(), retention.trim(), retention.trim()]);
    assert.equal((await left()).length, 20, '20 × 5 bytes fit under 100');
  });

  it('clears aged test sets at a start, by the time noted on disk', async () => {
    await put('test', 2 * HOUR);
    const young = await put('test', 60_000);
    const train = await put('train', 2 * HOUR);
    await store.close();
    store = await open();
    assert.deepEqual(await left(), ids(young, train));
    assert.equal(store.uploads.get(young.entry.id, 'test').entry.id, young.entry.id);
  });

  it('counts the answer to a duplicate as a use', async () => {
    const known = await put('test', HOUR - 1000);
    await store.close();
    store = await open();
    const before = store.uploadEntries.items.get(known.entry.id)!.lastUsedAt;
    const x = { format: 'csv' as const, chunks: 1, announcedHash: WIDE };
    assert.equal(store.uploads.findDuplicate({ set: 'test', fittedId: 'model', x }), known.entry.id);
    assert.ok(store.uploadEntries.items.get(known.entry.id)!.lastUsedAt > before);
  });

  it('takes half of the free disk, up to 20 GB, and never less than what it holds', async () => {
    assert.equal(capFor(100e9, 0), 20e9);
    assert.equal(capFor(10e9, 0), 5e9);
    assert.equal(capFor(6e9, 4e9), 5e9, 'a restart with 4 GB stored has the cap it had before');
    assert.equal(capFor(0, 3e9), 3e9);
    assert.equal(capFor(1e9, 3e9), 3.3e9);
    assert.equal(capFor(1e6, 3e9), 3.001e9, 'what finds room on a full disk costs nothing');
    assert.equal(capFor(0, 0), 64 * 1024 * 1024);
    assert.ok(store.maxBytes > 0 && store.maxBytes <= 20e9);
    await store.close();
    store = await open(123);
    assert.equal(store.maxBytes, 123);
  });

  it('counts unfinished uploads, and drops idle ones after test sets and before train sets', async () => {
    const train = await put('train', HOUR);
    const test = await put('test');
    let idle = 3;
    const unfinished = {
      get unfinishedBytes() {
        return idle * 10;
      },
      dropIdle: () => Promise.resolve(idle > 0 && idle-- > 0),
    };
    const bounded = (maxBytes: number): Promise<void> =>
      new Retention(
        { maxBytes },
        { uploads: store.uploadEntries, models: store.models },
        () => undefined,
        () => unfinished,
      ).trim();
    await bounded(45);
    assert.deepEqual([idle, await left()], [3, ids(train, test)]);
    await bounded(40);
    assert.deepEqual([idle, await left()], [3, ids(train)]);
    await bounded(20);
    assert.deepEqual([idle, await left()], [1, ids(train)]);
    await bounded(5);
    assert.deepEqual([idle, await left()], [0, []]);
  });

  it('keeps what is stored where a disk that was full has room again', async () => {
    const train = await put('train', HOUR);
    const bounds = { maxBytes: 5, roomNow: () => Promise.resolve(1e9) };
    await new Retention(
      bounds,
      { uploads: store.uploadEntries, models: store.models },
      () => undefined,
    ).trim();
    assert.deepEqual([await left(), bounds.maxBytes], [ids(train), 1e9]);
    const full = { maxBytes: 1e9, roomNow: () => Promise.resolve(5) };
    await new Retention(full, { uploads: store.uploadEntries, models: store.models }, () => undefined).trim();
    assert.deepEqual([await left(), full.maxBytes], [ids(train), 1e9], 'and where others fill it later');
  });

  it('drops models last', async () => {
    const train = await put('train', HOUR);
    const models = new EntryStore<ModelEntry>({
      what: 'upload',
      root: path.join(root, 'models'),
      index: 'model.json',
      isEntry: isModelEntry,
      filesOf: (entry) => [{ name: 'model.bin', bytes: entry.bytes }],
      log: () => undefined,
    });
    const entry = { id: randomUUID(), bytes: 8, createdAt: 0 } as ModelEntry;
    await models.put(entry, models.makeFolder(entry.id), false);
    const told: string[] = [];
    const bound = (maxBytes: number): Promise<void> =>
      new Retention({ maxBytes }, { uploads: store.uploadEntries, models }, (_, text) =>
        told.push(text),
      ).trim();
    await bound(8);
    assert.deepEqual([await left(), models.items.size, told], [[], 1, []], `${train.entry.id} went first`);
    await bound(7);
    assert.equal(models.items.size, 0);
    assert.match(told.join(), new RegExp(`Dropped the fitted train set ${entry.id}`));
  });
});
