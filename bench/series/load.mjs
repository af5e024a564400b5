/*
 * 5,000 readings a second from 1,000 keys, kept on disk: how long the event loop is blocked, how far memory grows, and how
 * often the disk is written. npm run bench -- load; BENCH_SECONDS (30) and BENCH_KEYS (1000) say how long and how many.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(import.meta.url);
const { openSeries, parseSeriesSettings } = require('../../dist/src/series');

const seconds = Number(process.env.BENCH_SECONDS ?? 30);
const keys = Number(process.env.BENCH_KEYS ?? 1000);
const PER_SECOND = 5000;
/** Readings come in as many messages as arrive in so many milliseconds. */
const EVERY_MS = 10;
const STEP = 1000;

const folder = mkdtempSync(path.join(tmpdir(), 'bench-load-'));
const settings = { key: 'k', column: 'a', ahead: '1m', windows: '1m, 5m', timezone: 'UTC' };
const series = await openSeries(parseSeriesSettings(settings), { folder });
const start = Date.now() - 86_400_000;
const loop = monitorEventLoopDelay({ resolution: 1 });
const writes = new Set();
let [sent, rows, outcomes, trainSets, heap, lost] = [0, 0, 0, 0, 0, 0];

function reading(i) {
  const step = Math.floor(i / keys);
  const time = start + step * STEP;
  return {
    k: `machine ${i % keys}`,
    time,
    a: Math.sin(i) + step / 100,
    b: i % 13,
    mode: i % 7 > 3 ? 'on' : 'off',
  };
}

async function push() {
  try {
    const step = await series.push(reading(sent++));
    rows += step.rows.length;
    outcomes += step.outcomes.length;
    if (step.trainSet !== undefined) {
      trainSets++;
      await step.trainSet.rows();
    }
  } catch {
    lost++;
  }
}

/** Processor time from one turn of the event loop to the next, at most: other work of the machine is not in it. */
let longestTurn = 0;
let before = process.cpuUsage();
const turns = setInterval(() => {
  const now = process.cpuUsage();
  longestTurn = Math.max(longestTurn, now.user - before.user + now.system - before.system);
  before = now;
}, 1);

loop.enable();
const cpu = process.cpuUsage();
const began = performance.now();
const open = [];
while (performance.now() - began < seconds * 1000) {
  const due = ((performance.now() - began) / 1000) * PER_SECOND;
  while (sent < due) {
    open.push(push());
  }
  const file = readdirSync(folder).find((name) => !name.endsWith('.tmp'));
  writes.add(file === undefined ? '' : `${file} ${statSync(path.join(folder, file)).size}`);
  heap = Math.max(heap, process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
  await sleep(EVERY_MS);
}
await Promise.all(open);
loop.disable();
clearInterval(turns);
const { user, system } = process.cpuUsage(cpu);
const took = (performance.now() - began) / 1000;
await series.close();
const disk = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
rmSync(folder, { recursive: true, force: true });

const ms = (nanoseconds) => (nanoseconds / 1e6).toFixed(1);
console.log(
  '| readings | keys | lost | rows | outcomes | train sets | took s | processor s | loop p50 ms | p99 | p99.9 | longest | longest, processor | heap MB | writes | on disk MB |',
);
console.log(`|${'---|'.repeat(16)}`);
const cells = [
  sent,
  series.progress.keys,
  lost,
  rows,
  outcomes,
  trainSets,
  took.toFixed(1),
  ((user + system) / 1e6).toFixed(1),
  ...[50, 99, 99.9].map((percent) => ms(loop.percentile(percent))),
  ms(loop.max),
  (longestTurn / 1000).toFixed(1),
  (heap / 1e6).toFixed(0),
  writes.size - 1,
  (disk / 1e6).toFixed(0),
];
console.log(`| ${cells.join(' | ')} |`);
