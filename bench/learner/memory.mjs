/*
 * Peak resident memory of the embedded service, in a process of its own, while it fits and predicts a mixed table of
 * 20 columns: node bench/learner/memory.mjs [rows …]. Linux only.
 *
 * "Encoded columns" are the table as the learner is given it: 8 bytes a number, 4 a category, and the target.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openResults } from '../results.mjs';
import { mixed } from './tables.mjs';

const require = createRequire(import.meta.url);
const { ServiceClient, encodeBatches, closeEncoder, startService } = require('../../dist/src');

if (process.send) {
  await serve();
} else {
  await measureAll(process.argv.slice(2).map(Number));
}

async function serve() {
  const { url, token } = await startService({ dataDir: process.argv[2] });
  process.send({ url, token });
}

async function measureAll(sizes) {
  const results = openResults(import.meta.url);
  const table = results.table('memory', [
    ...['rows', 'task', 'encoded MB', 'idle MB', 'fit: MB above idle', 'ratio', 'fit s'],
    'predict: MB above idle',
  ]);
  for (const rows of sizes.length > 0 ? sizes : [100_000, 1_000_000]) {
    for (const task of (process.env.TASKS ?? 'classification,regression').split(',')) {
      await measure(rows, task, table);
    }
  }
  await results.save();
  await closeEncoder();
}

async function measure(rows, task, table) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-memory-'));
  const child = fork(import.meta.filename, [folder], { execArgv: [] });
  try {
    const { url, token } = await new Promise((resolve) => child.once('message', resolve));
    const client = new ServiceClient({ baseUrl: url, token });
    const { x, y, test, bytes } = await files(rows, task);
    const { train_set_upload_id } = await client.uploadTrainSet({ x, y });
    await sleep(500);
    const idle = peak(child.pid, true);
    const started = performance.now();
    const svc_config = JSON.parse(process.env.OPTIONS ?? '{}');
    const fitted = await client.fit({ train_set_upload_id, task, svc_config });
    const seconds = (performance.now() - started) / 1000;
    const fit = peak(child.pid) - idle;
    const { fitted_train_set_id } = fitted;
    const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x: test });
    await sleep(500);
    const before = peak(child.pid, true);
    await client.predict({ test_set_upload_id, fitted_train_set_id, task });
    const predict = peak(child.pid) - before;
    const cells = [rows, task, mb(bytes), mb(idle), mb(fit), (fit / bytes).toFixed(2), seconds.toFixed(1)];
    table.row(...cells, mb(predict));
    for (const file of [x, y, test]) {
      await file.dispose();
    }
    await client.close();
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function mb(bytes) {
  return (bytes / 1e6).toFixed(0);
}

/** Peak memory of a process in bytes; `reset` starts again and returns the current one. */
function peak(pid, reset = false) {
  if (reset) {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  }
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

async function files(rows, task) {
  const table = mixed(rows, task === 'regression');
  const columns = table.features.map(({ name, kind }) => ({ name, type: kind }));
  const target =
    task === 'regression'
      ? { type: 'number', values: table.values }
      : { type: 'text', codes: table.codes, dictionary: table.classes };
  const data = table.features.map((feature) => ({ ...feature, type: feature.kind }));
  const bytes = [...table.features, table].reduce(
    (sum, one) => sum + (one.values ?? one.codes).byteLength,
    0,
  );
  return {
    x: await encode(columns, data, rows),
    y: await encode([{ name: 'y', type: target.type }], [target], rows),
    test: await encode(columns, data, Math.min(rows, 100_000)),
    bytes,
  };
}

function encode(columns, data, rows) {
  const batches = function* () {
    for (let from = 0; from < rows; from += 20_000) {
      const to = Math.min(rows, from + 20_000);
      yield { rows: to - from, columns: data.map((one) => slice(one, from, to)) };
    }
  };
  return encodeBatches(columns, batches(), { format: 'parquet' });
}

function slice({ type, values, codes, dictionary }, from, to) {
  if (type === 'number') {
    return { type, values: values.slice(from, to) };
  }
  const offsets = new Int32Array(to - from + 1);
  const parts = Array.from(codes.subarray(from, to), (code, i) => {
    const part = Buffer.from(dictionary[code]);
    offsets[i + 1] = offsets[i] + part.length;
    return part;
  });
  return { type, bytes: new Uint8Array(Buffer.concat(parts)), offsets };
}
