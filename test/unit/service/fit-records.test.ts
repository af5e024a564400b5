import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { type FitRecord, FitRecords } from '../../doors/service';

describe('Records of submitted fits', () => {
  let folder: string;
  let records: FitRecords;
  const open = async (): Promise<FitRecords> => {
    const opened = new FitRecords(folder, () => undefined);
    await opened.load();
    return opened;
  };
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'tabular-fits-'));
    records = await open();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const record = (at: number, failed: boolean): FitRecord => ({
    version: 1,
    id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    request: { train_set_upload_id: 'some upload', task: 'regression' },
    submittedAt: at,
    starts: 1,
    ...(failed && { failure: { message: 'no', errorCode: 'NO' } }),
  });

  it('are read again as they were written', async () => {
    await records.put(record(2, false));
    await records.put(record(1, false));
    await records.put(record(3, true));
    const again = await open();
    assert.deepEqual(again.all().length, 3);
    assert.deepEqual(
      again.pending().map(({ submittedAt }) => submittedAt),
      [1, 2],
      'the oldest first, without the one that failed',
    );
    assert.deepEqual(again.get(record(3, true).id), record(3, true));
    await again.remove(record(1, false).id);
    assert.equal((await readdir(folder)).length, 2);
    await again.remove(record(1, false).id);
  });

  it('keep the 200 newest failures and every fit that is still to come', async () => {
    await records.put(record(0, false));
    for (let at = 1; at <= 203; at++) {
      await records.put(record(at, true));
    }
    const kept = records.all().map(({ submittedAt }) => submittedAt);
    assert.equal(kept.length, 201);
    assert.ok(kept.includes(0) && !kept.includes(3) && kept.includes(4) && kept.includes(203));
    assert.equal((await readdir(folder)).length, 201);
  });
});
