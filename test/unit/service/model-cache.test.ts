import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { saveModel, trainModel } from '../../../dist/src/learner';
import { ModelCache, Refusal, WorkerPool } from '../../doors/service';
import { crc32c, crc32cToBase64 } from '../../doors/table';
import { Semaphore } from '../../doors/util';
import { numbers, regress } from '../learner/tables';

const PREDICT = path.join(__dirname, '../../../dist/src/service/work/predict-worker.js');

function arrayBytes(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    return 0;
  }
  return ArrayBuffer.isView(value)
    ? value.byteLength
    : Object.values(value).reduce((sum: number, one) => sum + arrayBytes(one), 0);
}

describe('Models in memory', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'tabular-cache-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const values = Float64Array.from({ length: 30 }, (_, i) => i);
  const bytes = saveModel(trainModel(regress([numbers('x', values)], values, { n_estimators: 1 })));
  /** A model on disk, and what damages its file: whoever reads it again is told. */
  async function model(id: string) {
    const file = path.join(folder, id);
    await writeFile(file, bytes);
    const ref = { id, file, bytes: bytes.length, crc: crc32cToBase64(crc32c(bytes)) };
    return { ref, damage: async () => writeFile(file, (await readFile(file)).fill(0)) };
  }
  const damaged = (error: unknown) => error instanceof Refusal && error.body.errorCode === 'MODEL_DAMAGED';

  it('are read once, until they are to be forgotten', async () => {
    const cache = new ModelCache(1e6);
    const [one, other] = [await model('one'), await model('other')];
    const [first] = [await cache.get(one.ref), await cache.get(other.ref)];
    await Promise.all([one.damage(), other.damage()]);
    assert.equal(await cache.get(one.ref), first);
    cache.forget([one.ref.id, 'nobody']);
    await assert.rejects(cache.get(one.ref), damaged);
    await cache.get(other.ref);
  });

  it('are not kept where they are forgotten while they are read', async () => {
    const cache = new ModelCache(1e6);
    const { ref, damage } = await model('read');
    const read = cache.get(ref);
    cache.forget([ref.id]);
    await read;
    await damage();
    await assert.rejects(cache.get(ref), damaged);
  });

  it('leave room for others when they are forgotten', async () => {
    const [one, second, third] = [await model('1st'), await model('2nd'), await model('3rd')];
    const held = 2 * arrayBytes(await new ModelCache(1e6).get(one.ref));
    const cache = new ModelCache(2.5 * held);
    await cache.get(one.ref);
    cache.forget([one.ref.id]);
    const kept = await cache.get(second.ref);
    await cache.get(third.ref);
    await second.damage();
    assert.equal(await cache.get(second.ref), kept);
  });

  it('are forgotten by the threads of a pool, which go on', async () => {
    const pool = new WorkerPool({
      name: 'predict',
      script: PREDICT,
      threads: 1,
      maxWaiting: 10,
      idleMs: 60_000,
      patienceMs: 60_000,
      workerData: { cacheBytes: 1e7 },
      largeReads: new Semaphore(1),
      log: () => undefined,
    });
    try {
      const [one, other] = [await model('a'), await model('b')];
      const load = ({ ref }: typeof one) => pool.run({ kind: 'load', model: ref }, { key: ref.id });
      await load(one);
      await load(other);
      await Promise.all([one.damage(), other.damage()]);
      await load(one);
      pool.forget([one.ref.id]);
      await assert.rejects(load(one), damaged);
      await load(other);
    } finally {
      await pool.close();
    }
  });
});
