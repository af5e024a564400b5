/*
 * 5,000 nested messages a second from 200 devices of Tasmota through a series node in Node-RED's runtime, kept in memory:
 * how long the event loop is blocked, and the processor time of each reading. npm run bench -- messages; BENCH_SECONDS (20)
 * and BENCH_DEVICES (200) say how long and how many. BENCH_SHAPE=none sends the same numbers in messages of no known source.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(import.meta.url);
const RED = require('node-red');

const seconds = Number(process.env.BENCH_SECONDS ?? 20);
const devices = Number(process.env.BENCH_DEVICES ?? 200);
const isKnown = process.env.BENCH_SHAPE !== 'none';
const PER_SECOND = 5000;
/** Readings come in as many messages as arrive in so many milliseconds. */
const EVERY_MS = 10;

const userDir = mkdtempSync(path.join(tmpdir(), 'bench-messages-'));
const root = path.join(import.meta.dirname, '..', '..');
mkdirSync(path.join(userDir, 'node_modules'));
symlinkSync(root, path.join(userDir, 'node_modules', 'node-red-contrib-tabular-prediction'), 'junction');
writeFileSync(
  path.join(userDir, 'package.json'),
  '{"dependencies":{"node-red-contrib-tabular-prediction":"*"}}',
);
const settings = {
  ...{ shape: 'auto', outcome: 'column', column: 'ENERGY.Power', ahead: '1m', windows: '1m, 5m' },
  ...(!isKnown && { key: 'device' }),
};
const flow = [
  { id: 'tab', type: 'tab', label: 'bench' },
  {
    id: 's',
    type: 'tabular-series',
    z: 'tab',
    ...settings,
    x: 1,
    y: 1,
    wires: [['rows'], ['outcomes'], ['sets']],
  },
  ...['rows', 'outcomes', 'sets'].map((id) => ({ id, type: 'junction', z: 'tab', x: 2, y: 1, wires: [[]] })),
];
writeFileSync(path.join(userDir, 'flows.json'), JSON.stringify(flow));
RED.init(createServer(), {
  ...{ userDir, flowFile: 'flows.json', httpAdminRoot: false, httpNodeRoot: false },
  logging: { console: { level: 'off' } },
});
await RED.start();
await once(RED.events, 'flows:started');
const node = RED.nodes.getNode('s');
let [sent, ended, errors] = [0, 0, 0];
const left = { rows: 0, outcomes: 0, sets: 0 };
RED.hooks.add('onComplete', ({ node: { id }, error }) => {
  ended += id === 's' ? 1 : 0;
  errors += id === 's' && error ? 1 : 0;
});
RED.hooks.add('preRoute', ({ destination: { id } }) => {
  left[id]++;
});

const start = Date.now() - 86_400_000;

function message(i) {
  const step = Math.floor(i / devices);
  const local = new Date(start + step * 1000).toISOString().slice(0, 19);
  const device = `plug${i % devices}`;
  return {
    topic: isKnown ? `tele/${device}/SENSOR` : 'readings',
    payload: {
      ...(isKnown ? { Time: local } : { device, timestamp: `${local}Z` }),
      ENERGY: {
        TotalStartTime: '2026-01-01T00:00:00',
        ...{ Total: 153.3 + step / 1e4, Yesterday: 1.9, Today: 0.9, Power: 500 + 100 * Math.sin(i / 40) },
        ...{ ApparentPower: 2100, Factor: 0.98, Voltage: 230 + (i % 3), Current: 8.992 },
      },
      DHT11: { Temperature: 20 + (i % 11), Humidity: 37, DewPoint: 7.5 },
      TempUnit: 'C',
    },
  };
}

/** Processor time from one turn of the event loop to the next, at most: other work of the machine is not in it. */
let longestTurn = 0;
let before = process.cpuUsage();
const turns = setInterval(() => {
  const now = process.cpuUsage();
  longestTurn = Math.max(longestTurn, now.user - before.user + now.system - before.system);
  before = now;
}, 1);

/** Waits until the node is done with all that was sent. */
async function settled() {
  while (ended < sent) {
    await sleep(EVERY_MS);
  }
}

// What is loaded with the first messages is none of their work.
for (; sent < devices; sent++) {
  node.receive(message(sent));
}
await settled();
const loop = monitorEventLoopDelay({ resolution: 1 });
longestTurn = 0;
loop.enable();
const cpu = process.cpuUsage();
const began = performance.now();
while (performance.now() - began < seconds * 1000) {
  const due = devices + ((performance.now() - began) / 1000) * PER_SECOND;
  for (; sent < due; sent++) {
    node.receive(message(sent));
  }
  await sleep(EVERY_MS);
}
await settled();
loop.disable();
clearInterval(turns);
const { user, system } = process.cpuUsage(cpu);
const took = (performance.now() - began) / 1000;
const processor = (user + system) / 1e6;

const ms = (nanoseconds) => (nanoseconds / 1e6).toFixed(1);
console.log(
  '| readings | devices | rows | outcomes | train sets | errors | took s | a second | processor ms a reading | loop p50 ms | p99 | p99.9 | longest | longest, processor |',
);
console.log(`|${'---|'.repeat(14)}`);
const cells = [
  ...[sent, devices, left.rows, left.outcomes, left.sets, errors],
  ...[took.toFixed(1), Math.round((sent - devices) / took)],
  ((1000 * processor) / (sent - devices)).toFixed(3),
  ...[50, 99, 99.9].map((percent) => ms(loop.percentile(percent))),
  ms(loop.max),
  (longestTurn / 1000).toFixed(1),
];
console.log(`| ${cells.join(' | ')} |`);
await RED.stop();
rmSync(userDir, { recursive: true, force: true });
process.exit(0);
