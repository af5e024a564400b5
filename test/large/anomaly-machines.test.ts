import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { Anomalies, AnomalyStore, Detector, learn } from '../doors/anomaly';
import { garbageCollector } from '../helpers/garbage';
import { watchLoop } from '../helpers/loop-holds';
import { BEGINS, simulatedMachine, STEP_MS } from '../helpers/simulated-machine';

const KEYS = 1000;
/** So many of them have readings: what each takes by them is reckoned for all. */
const READ = 200;
/** As many as a machine keeps. */
const ROWS = 6000;
const SENSORS = 5;
const MEGABYTE = 1024 * 1024;

const collectGarbage = garbageCollector();
const memory = (): number => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

describe('anomalies of a thousand machines', function () {
  this.timeout(300_000);

  it('take 700 MB at most once each is full, and refuse one more', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-machines-'));
    const { values } = simulatedMachine({ weeks: 3.2, seed: 9 });
    const cells = (row: number): [string, number][] =>
      Array.from({ length: SENSORS }, (_, j) => [`sensor ${j}`, values[row]![j]!]);
    const settings = { perWeek: 1, learn: 300, key: undefined, ignored: new Set<string>() };
    const machine = new Detector(settings);
    for (let row = 0; row < ROWS; row++) {
      machine.teach(BEGINS + row * STEP_MS, new Map(cells(row)));
    }
    machine.learned(learn(machine.task()!));
    const kept = machine.keep();
    const keys = Array.from({ length: KEYS }, (_, i) => `machine ${i}`);
    const noRows = { joined: [], rounds: [], at: 0, isClosed: false };
    const machines = { names: () => keys, whole: () => kept, waitingRows: () => noRows };
    const store = new AnomalyStore(folder, () => undefined, machines);
    for (const key of keys) {
      await store.writeWhole(key);
    }
    const before = memory();
    const started = performance.now();
    const all = await Anomalies.open({ key: 'key' }, { folder });
    try {
      const opened = performance.now() - started;
      const atOpen = (memory() - before) / MEGABYTE;
      const round = async (row: number): Promise<number> => {
        const begun = process.cpuUsage();
        for (const key of keys.slice(0, READ)) {
          const reading = { key, time: BEGINS + row * STEP_MS, ...Object.fromEntries(cells(row)) };
          const { state } = await all.take(reading);
          assert.notEqual(state, 'learning');
          // As messages come: each in a turn of its own.
          await nextTurn();
        }
        const { user, system } = process.cpuUsage(begun);
        return (user + system) / 1000 / READ;
      };
      const longest = watchLoop();
      const [first, later] = [await round(ROWS), await round(ROWS + 1)];
      const { longest: turn } = longest();
      const held = atOpen + (KEYS / READ) * ((memory() - before) / MEGABYTE - atOpen);
      console.log(
        `      opened in ${(opened / 1000).toFixed(1)} s; ${first.toFixed(2)} ms of processor time for the first reading of a machine, ${later.toFixed(2)} ms for a later one, the longest turn ${turn.toFixed(0)} ms; ${atOpen.toFixed(0)}, then ${held.toFixed(0)} MB`,
      );
      assert.equal(all.progress.known, KEYS);
      assert.ok(held < 700, `${held} MB`);
      const reading = (key: number) => ({
        key: `more ${key}`,
        time: BEGINS,
        ...Object.fromEntries(cells(0)),
      });
      let more = 0;
      await assert.rejects(
        async () => {
          for (; more < KEYS; more++) {
            await all.take(reading(more));
          }
        },
        { code: 'limit.exceeded' },
      );
      assert.ok(all.progress.keys >= KEYS && all.progress.keys < 1.5 * KEYS, `${all.progress.keys} keys`);
    } finally {
      await all.close();
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
