import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { seededRandom } from '../doors/util';
import { watchLoop } from '../helpers/loop-holds';
import { waitFor } from '../helpers/wait';
import { startBench, stopBench } from '../nodes/bench';

/** ANOMALY_ROWS=1000000 for 20 million cells. */
const ROWS = Number(process.env.ANOMALY_ROWS ?? 250_000);
const SENSORS = 20;
const BEGINS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const MEGABYTE = 1024 * 1024;

const names = Array.from({ length: SENSORS }, (_, j) => `sensor ${j}`);
const random = seededRandom(3);
/** All follow one load, with a noise of their own. */
const valuesOf = (row: number): string[] => {
  const load = Math.sin(row / 300) + Math.sin(row / 41);
  return names.map((_, j) => (10 + (j + 1) * load + random()).toFixed(3));
};

describe(`a history of ${(ROWS * SENSORS) / 1e6} million cells`, function () {
  this.timeout(600_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-history-'));
  const file = path.join(folder, 'history.csv');
  const small = path.join(folder, 'small.csv');

  before(() => {
    for (const [name, rows] of [
      [small, 1000],
      [file, ROWS],
    ] as const) {
      const out = fs.openSync(name, 'w');
      fs.writeSync(out, `time,${names.join(',')}\n`);
      for (let from = 0; from < rows; from += 1000) {
        const lines = Array.from({ length: 1000 }, (_, i) => {
          const time = new Date(BEGINS + (from + i) * MINUTE_MS).toISOString();
          return `${time},${valuesOf(from + i).join(',')}\n`;
        });
        fs.writeSync(out, lines.join(''));
      }
      fs.closeSync(out);
    }
  });

  after(async () => {
    await stopBench();
    fs.rmSync(folder, { recursive: true });
  });

  it('is learned in bounded memory, shows how far it is, and holds the event loop for no more than 50 ms', async () => {
    const ofFile = { type: 'tabular-anomaly', source: 'file', tableType: 'str' };
    const bench = await startBench({
      nodes: [
        { id: 'a', ...ofFile, table: file },
        { id: 'b', ...ofFile, table: small },
      ],
    });
    const learned = (id: string): Promise<unknown> =>
      waitFor(
        `${id} has learned`,
        () => (bench.out(id, 1).all.some(({ change }) => change.what === 'learned') ? true : undefined),
        500_000,
      );
    // The code of the node is loaded by the first message.
    bench.send('b', {});
    await learned('b');
    const held = watchLoop();
    const before = process.memoryUsage.rss();
    const begun = performance.now();
    const used = process.cpuUsage();
    let most = 0;
    const shares = new Set<number>();
    const look = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
      const { phase, percent } = bench.progress('a') ?? {};
      if (phase === 'reading' && percent !== undefined) {
        shares.add(percent);
      }
    }, 25);
    try {
      bench.send('a', {});
      await learned('a');
    } finally {
      clearInterval(look);
    }
    const { user, system } = process.cpuUsage(used);
    const { longest: turn, percentile } = held();
    const more = (most - before) / MEGABYTE;
    console.log(
      `      ${((user + system) / 1e6).toFixed(0)} s of processor time, ${((performance.now() - begun) / 1000).toFixed(0)} s by the clock; at most ${more.toFixed(0)} MB more; the longest turn ${turn.toFixed(0)} ms, 99.9 % within ${percentile(99.9).toFixed(0)} ms`,
    );
    assert.deepEqual(bench.caught.all, []);
    assert.ok(turn <= 50, `${turn} ms`);
    // All readings, each as an object, would be as much again.
    assert.ok(more < 250, `${more} MB`);
    assert.ok(shares.size > 20, `shown: ${[...shares].join(', ')}`);
    assert.equal(bench.progress('a').readings, ROWS);
  });
});
