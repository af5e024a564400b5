import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, row, startBench, stopBench, trainRows } from './bench';

/** Kills the encoder thread at every so many messages to it, so many times: before it can answer. */
function killing(times: number, every = 1): { left: () => number; end: () => void } {
  let left = times;
  let sent = 0;
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message) {
    if (left > 0 && ++sent % every === 0) {
      left -= 1;
      void this.terminate();
    }
    postMessage.apply(this, message);
  };
  return {
    left: () => left,
    end: () => {
      Worker.prototype.postMessage = postMessage;
    },
  };
}

describe('an encoder thread that dies under a predict node', function () {
  this.timeout(60_000);
  let service: StrictService;
  let bench: Bench;
  let folder: string;

  beforeEach(async () => {
    service = await startStrictService();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'encoder-death-'));
    bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
        { id: 'predict', type: 'tabular-predict', model: 'm', outputType: 'preds' },
        { id: 'file', type: 'tabular-predict', model: 'm', source: 'file', outputType: 'preds' },
      ],
    });
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
  });

  afterEach(async () => {
    await stopBench();
    assert.deepEqual(service.breaches, []);
    await service.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const table = (from: number, rows: number) => Array.from({ length: rows }, (_, i) => row(from + i));
  const csv = (rows: number): string => {
    const file = path.join(folder, 'rows.csv');
    fs.writeFileSync(
      file,
      `id,x,colour\n${table(0, rows)
        .map(({ id }) => `${String(id)},1,red\n`)
        .join('')}`,
    );
    return file;
  };
  /** Predictions by id, as the service makes them. */
  const right = (rows: { id: number; prediction: string }[]): void =>
    assert.ok(rows.every(({ id, prediction }) => prediction === (id % 2 === 0 ? 'no' : 'yes')));

  it('once: tables of all sizes that were in it are encoded anew, each with its own predictions', async () => {
    const kills = killing(1, 4);
    const sizes = [100, 3_000, 700, 1_500, 90, 12_000];
    let from = 0;
    try {
      for (const size of sizes) {
        bench.send('predict', { size, payload: table(from, size) });
        from += size;
      }
      const all = await bench.out('predict').first(sizes.length, 40_000);
      assert.deepEqual(
        all.map(({ payload }) => payload.length),
        sizes,
      );
      for (const { payload } of all) {
        right(payload);
      }
    } finally {
      kills.end();
    }
    assert.equal(kills.left(), 0, 'the thread was killed');
    assert.equal(bench.caught.all.length, 0);
  });

  it('again and again: one clear error for each message, none hangs, and the next works', async () => {
    const kills = killing(1_000);
    try {
      for (let i = 0; i < 5; i++) {
        bench.send('predict', { payload: table(200 * i, 200) });
      }
      bench.send('file', { payload: csv(50_000) });
      const caught = await bench.caught.first(6, 40_000);
      for (const { error } of caught) {
        assert.equal(error?.code, 'internal', error?.message);
        assert.match(error?.message ?? '', /thread that encodes tables ended while it worked on this table/);
      }
    } finally {
      kills.end();
    }
    bench.send('predict', { payload: table(0, 300) });
    right((await bench.out('predict').first())[0]!.payload);
    bench.send('file', { payload: csv(50_000) });
    const [read] = await bench.out('file').first(1, 40_000);
    assert.equal(read?.payload.length, 50_000);
    right(read?.payload);
    assert.equal(bench.caught.all.length, 6);
    assert.equal(service.seen('predict').length > 0, true);
  });
});
