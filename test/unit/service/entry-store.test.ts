import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { EntryStore } from '../../doors/service';
import { beforeChanges } from '../../helpers/before-changes';

interface Entry {
  id: string;
  createdAt: number;
}

describe('EntryStore: the index of an entry', () => {
  const id = '00000000-0000-4000-8000-000000000001';
  let root: string;
  let store: EntryStore<Entry>;
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-entries-'));
    store = new EntryStore<Entry>({
      what: 'thing',
      root,
      index: 'thing.json',
      isEntry: (value): value is Entry => (value as Entry).id === id,
      filesOf: () => [],
      log: (_, text) => assert.fail(text),
    });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  for (const durable of [true, false]) {
    // A copy of the folder can be taken at any moment, and whoever opened the former index may read it slowly.
    it(`comes to its place in one step${durable ? ', to outlast a power cut too' : ''}`, async () => {
      const folder = store.makeFolder(id);
      const index = path.join(folder, 'thing.json');
      const changes: string[] = [];
      const restore = beforeChanges(folder, (change) => changes.push(change));
      try {
        await store.put({ id, createdAt: 1 }, folder, durable);
        const former = openSync(index, 'r');
        try {
          await store.put({ id, createdAt: 22 }, folder, durable);
          assert.deepEqual(JSON.parse(readFileSync(former, 'utf8')), { id, createdAt: 1 });
        } finally {
          closeSync(former);
        }
      } finally {
        restore();
      }
      assert.deepEqual(JSON.parse(readFileSync(index, 'utf8')), { id, createdAt: 22 });
      const ofIndex = changes.filter((change) => change.endsWith('thing.json'));
      assert.equal(ofIndex.length, 2, changes.join('\n'));
      ofIndex.forEach((change) => assert.match(change, /^rename(Sync)? /));
    });
  }
});
