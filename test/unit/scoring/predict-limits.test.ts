import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Connection, HostedService, type StatusEvent } from '../../../dist/src/connection';
import { ServiceClient } from '../../doors/client';
import type { ServiceError } from '../../doors/wire';
import { ask, benchWithModel, probability, sizesOf } from './predict-bench';
import { type Bench, bench, codeOf, history, row, settled } from './stand-in';

describe('Predictor, limits of a test set', () => {
  let at: Bench;
  const start = async (...options: Parameters<typeof benchWithModel>): Promise<void> => {
    at = await benchWithModel(...options);
  };
  const sizes = (): Promise<number[]> => sizesOf(at);
  afterEach(() => at.close());

  it('limits are a copy: what a flow does to them changes no check', async () => {
    at = await bench({});
    const limits = await at.connection.limits();
    limits.max_model_limit = { train_set_max_rows: 1 };
    limits.model_limits = {};
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
  });

  it('a table over the limits is split and joined again, in order', async () => {
    const values = Array.from({ length: 100 }, (_, id) => row(id));
    for (const [limits, most] of [
      [{ test_set_max_rows: 30 }, 30],
      [{ predict_row_pairs_budget: 20 * 17 }, 17],
      [{ test_set_max_cells: 4 * 45 }, 45],
      [{ test_set_max_rows_w_full_regression_output: 10 }, 100],
    ] as const) {
      await start({ limits: { max_model_limit: limits } });
      const outcome = await at.connection.predict(ask(values));
      assert.deepEqual(
        (outcome.prediction as number[][]).map(([first]) => first),
        values.map(({ id }) => probability(id)),
      );
      assert.equal(outcome.metadata.test_set_num_rows, 100);
      assert.equal((outcome.table as unknown[]).length, 100);
      assert.deepEqual(await sizes(), [
        ...Array.from({ length: Math.floor(100 / most) }, () => most),
        ...(100 % most > 0 ? [100 % most] : []),
      ]);
      assert.deepEqual(at.service.breaches, []);
      await at.close();
    }
  });

  it('a large table tells how far it is: the bytes of the first part, then the rows scored', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 10_000 } } });
    const values = Array.from({ length: 25_000 }, (_, id) => row(id));
    const seen: StatusEvent[] = [];
    await at.connection.predict(ask(values), { onStatus: (event) => seen.push(event) });
    const done = seen.flatMap((event) => (event.key === 'predicting' ? [event.done!] : []));
    assert.deepEqual(
      done,
      [...done].sort((a, b) => a - b),
    );
    assert.equal(done.at(-1), 25_000);
    assert.ok(done.includes(10_000) || done.includes(5_000), 'told after a part');
    assert.ok(
      seen.every(
        (event) => event.key !== 'predicting' || event.total === undefined || event.total === 25_000,
      ),
    );
  });

  it('the percentage of an upload in several parts never falls', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 5000 } } });
    const values = Array.from({ length: 25_000 }, (_, id) => row(id));
    const client = new ServiceClient({ baseUrl: at.service.url, token: at.service.token });
    const real = client.uploadTestSet.bind(client);
    let uploads = 0;
    let bothBegun!: () => void;
    const both = new Promise<void>((resolve) => (bothBegun = resolve));
    // The uploads of two parts tell of themselves by turns, the first being ahead.
    client.uploadTestSet = async (request, options) => {
      const nth = uploads++;
      const tell = (share: number): void => options?.onProgress?.(request.x.bytes * share, request.x.bytes);
      if (nth < 2) {
        tell(nth === 0 ? 0.9 : 0.1);
        if (nth === 1) {
          bothBegun();
        }
        await both;
        tell(nth === 0 ? 0.95 : 0.2);
      }
      return real(request, { ...options, onProgress: undefined });
    };
    const connection = new Connection({
      service: new HostedService({ key: at.service.url, open: () => Promise.resolve(client) }),
      cards: at.cards,
    });
    try {
      const seen: StatusEvent[] = [];
      await connection.predict(ask(values), { onStatus: (event) => seen.push(event) });
      const shares = seen.flatMap((event) => (event.key === 'uploading' ? [event.sent / event.total] : []));
      assert.ok(shares.length >= 3, `${shares.length} told`);
      assert.deepEqual(
        shares,
        [...shares].sort((a, b) => a - b),
      );
      // Two parts of five, not wholly sent.
      assert.ok(shares.at(-1)! < 0.4, `${shares.at(-1)}`);
    } finally {
      await connection.close();
    }
  });

  it('messages that gather stay within the limits of one test set', async () => {
    await start({ predictMs: 30, limits: { max_model_limit: { test_set_max_rows: 7 } } });
    const predictor = at.connection.predictor();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, id) => predictor.predict(ask(row(id)))),
    );
    for (const [id, { prediction }] of outcomes.entries()) {
      assert.deepEqual((prediction as number[][])[0]![0], probability(id));
    }
    assert.ok((await sizes()).every((size) => size <= 7));
  });

  it('full distributions: within their own limit, and joined', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows_w_full_regression_output: 40 } } }, 'size');
    const values = Array.from({ length: 100 }, (_, id) => ({ id, name: 'a', ok: true, species: 'cat' }));
    const outcome = await at.connection.predict(ask(values, { outputType: 'full' }));
    const full = outcome.prediction as { mean: number[]; logits: (number | null)[][]; quantiles: number[][] };
    assert.deepEqual(
      full.mean,
      values.map(({ id }) => id),
    );
    assert.deepEqual(full.logits[99], [99, null]);
    assert.deepEqual(full.quantiles[0]!.length, 100);
    assert.equal((outcome.table as { prediction: { mode: number } }[])[99]!.prediction.mode, 99.5);
    assert.ok((await sizes()).every((size) => size <= 40));
    assert.deepEqual(at.service.breaches, []);
  });

  it('a file on disk is read while it is sent', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 400 } } });
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    try {
      const file = path.join(folder, 'rows.csv');
      const lines = Array.from({ length: 1000 }, (_, id) => `${id},n${id % 3},${id % 2 === 0},${id}.5`);
      writeFileSync(file, `id,name,ok,size\n${lines.join('\n')}\n`);
      const outcome = await at.connection.predict({ table: { path: file }, model: 'pets' });
      assert.deepEqual(
        (outcome.prediction as number[][]).map(([first]) => first),
        lines.map((_, id) => probability(id)),
      );
      assert.deepEqual((outcome.table as { id: number }[])[999]!.id, 999);
      assert.deepEqual(await sizes(), [400, 400, 200]);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('files and texts that are read while the queue is full are not kept, but read when they are sent', async () => {
    await start({ predictMs: 100 });
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    const connection = at.connect({ concurrency: 1 });
    try {
      const file = path.join(folder, 'rows.csv');
      const lines = Array.from({ length: 400 }, (_, id) => `${id},n${id % 3},${id % 2 === 0},${id}.5`);
      const text = `id,name,ok,size\n${lines.join('\n')}\n`;
      writeFileSync(file, text);
      let most = 0;
      const predictor = connection.predictor({
        queueRows: 1000,
        // Results that wait for an earlier one would hold rows too.
        ordered: false,
        onLoad: ({ rows }) => (most = Math.max(most, rows)),
      });
      const all = Array.from({ length: 8 }, (_, n) =>
        predictor.predict(n % 2 === 0 ? { table: { path: file }, model: 'pets' } : ask(text)),
      );
      const timer = setInterval(() => (most = Math.max(most, predictor.load().rows)), 5);
      const outcomes = await Promise.all(all);
      clearInterval(timer);
      for (const { prediction } of outcomes) {
        assert.deepEqual(
          (prediction as number[][]).map(([first]) => first),
          lines.map((_, id) => probability(id)),
        );
      }
      assert.ok(most > 0 && most <= 1000, `${most} rows held`);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a predict that would cost too much is not sent; a batch is made smaller until it is cheap enough', async () => {
    await start({ predictMs: 20 });
    const predictor = at.connection.predictor({ maxCost: 30 });
    assert.equal(
      await codeOf(predictor.predict(ask(Array.from({ length: 11 }, (_, id) => row(id))))),
      'cost.exceeded',
    );
    assert.equal(at.service.seen('prepare_test_set_upload').length, 0);
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, id) => settled(predictor.predict(ask(row(id))))),
    );
    assert.ok(results.every((result) => typeof result !== 'string'));
    assert.ok((await sizes()).every((size) => size <= 10));
  });

  it('a test set of too many bytes is refused before anything is sent, by predict as by upload', async () => {
    await start();
    const rows = Array.from({ length: 300 }, (_, id) => ({
      ...row(id),
      name: `${Math.sin(id)} ${Math.cos(id)}`,
    }));
    const { bytes } = await at.connection.upload({ set: 'test', table: { value: rows }, model: 'pets' });
    await at.close();
    await start({ limits: { dataset_max_size_bytes: bytes - 1 } });
    const sent = at.service.requests.length;
    const table = { value: rows };
    for (const work of [
      () => at.connection.predict({ table, model: 'pets' }),
      () => at.connection.upload({ set: 'test', table, model: 'pets' }),
    ]) {
      await assert.rejects(work, (error: ServiceError) => {
        assert.equal(error.code, 'limit.exceeded');
        assert.match(error.message, /at most [\d,]+ bytes, and this has [\d,]+/);
        return true;
      });
    }
    assert.equal(at.service.requests.length, sent);
  });
});
