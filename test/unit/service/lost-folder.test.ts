import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { resolveOptions, runService } from '../../doors/service';

const BEAT_MS = 1_000;

describe('A folder that is lost while the service starts', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'tabular-lost-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('ends the start with an error, and no server is left', async () => {
    // Each is reported while it is loaded, which gives this test a time to act: the lock is held by then.
    for (let i = 10; i < 22; i++) {
      const entry = path.join(root, 'uploads', `00000000-0000-4000-8000-0000000000${i}`);
      mkdirSync(entry, { recursive: true });
      writeFileSync(path.join(entry, 'upload.json'), 'not JSON');
    }
    let reports = 0;
    const log = (): void => {
      reports += 1;
      if (reports === 1) {
        rmSync(path.join(root, 'lock'), { recursive: true });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BEAT_MS + 100);
      }
    };
    const lost: string[] = [];
    const starting = runService(resolveOptions({ dataDir: root, port: 0 }, 'token'), log, (reason) => {
      lost.push(reason);
    });
    await assert.rejects(starting, (error: Error & { code: string }) => {
      assert.equal(error.code, 'storage.failed');
      assert.match(error.message, /was lost while starting: its lock was removed/);
      return true;
    });
    assert.deepEqual(lost, []);
  });
});
