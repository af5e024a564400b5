import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { Anomalies, Detector, type HistoryRow, JoinedRows } from '../../doors/anomaly';
import { stoppedClock } from '../../helpers/clock';

const MINUTE = 60_000;
const T = Date.UTC(2026, 10, 25, 10);

describe('readings that are joined to rows', () => {
  const cells = (speed: number, mode: string) =>
    new Map<string, number | string>(Object.entries({ speed, mode }));

  it('are the means of numbers and the last words, whole with the first reading of the next span', () => {
    const joined = new JoinedRows(5 * MINUTE);
    for (let i = 0; i < 5; i++) {
      assert.equal(joined.add('a', T + i * MINUTE, cells(i, i < 4 ? 'on' : 'off')), undefined);
    }
    assert.equal(joined.add('b', T, cells(9, 'on')), undefined);
    const { time, cells: row } = joined.add('a', T + 5 * MINUTE, cells(7, 'on'))!;
    assert.deepEqual([time, Object.fromEntries(row)], [T + 4 * MINUTE, { mode: 'off', speed: 2 }]);
    assert.equal(joined.take('a')!.cells.get('speed'), 7);
    joined.clear('b');
    assert.equal(joined.take('b'), undefined);
  });

  it('have a duration, or none', () => {
    assert.equal(JoinedRows.parse(' '), undefined);
    assert.throws(
      () => JoinedRows.parse('often'),
      /One row every must be a duration such as 30s or 5m, not "often"/,
    );
  });

  it('teach and are judged as rows: of one machine, of a table and live', async () => {
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({
        time: T + (from + i) * MINUTE,
        a: Math.sin((from + i) / 40) + Math.cos((from + i) * 7) / 50,
        b: Math.sin((from + i) / 40) * 3,
      }));
    const machines = await Anomalies.open({ every: '5m', learn: 100 });
    const taught = await machines.teach(
      (async function* () {
        for (const reading of rows(0, 1000)) {
          yield await Promise.resolve({ reading });
        }
      })(),
    );
    assert.deepEqual(taught, { rows: 1000, keys: 1 });
    await machines.settled();
    const answers = [];
    for (const reading of rows(1000, 1012)) {
      answers.push(await machines.takePart(reading));
    }
    assert.deepEqual(
      answers.map(({ length }) => length),
      [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
    );
    const [{ state, rows: known, time }] = answers[10]! as [Awaited<ReturnType<Anomalies['take']>>];
    assert.deepEqual([state === 'learning', known, time], [false, 202, T + 1009 * MINUTE]);
    const machine: Detector = machines.known.get(null)!;
    assert.equal(machine.taken, 202);
    await machines.close();
  });

  it('that come late leave the row that waits as it is', async () => {
    const machines = await Anomalies.open({ every: '5m' });
    const push = (minutes: number, speed: number) =>
      machines.takePart({ time: T + minutes * MINUTE, speed, load: 1 });
    await push(0, 1);
    assert.equal((await push(5, 10))[0]!.time, T);
    assert.deepEqual(
      (await push(-1, 50)).map(({ state }) => state),
      ['late'],
    );
    await push(6, 20);
    const [row] = await push(10, 0);
    assert.equal(row!.time, T + 6 * MINUTE);
    assert.equal(machines.known.get(null)!.taken, 2);
    await machines.close();
  });

  it('without a time are of the row that waits, where others had one', async () => {
    const machines = await Anomalies.open({ every: '5m' });
    await machines.takePart({ time: T, a: 1, b: 2 });
    assert.deepEqual(await machines.takePart({ a: 3, b: 4 }), []);
    const [row] = await machines.takePart({ time: T + 5 * MINUTE, a: 3, b: 4 });
    assert.equal(row!.time, T);
    await machines.close();
  });

  it('without a time go by their arrival, row after row', async () => {
    const realNow = Date.now;
    let minutes = 0;
    Date.now = () => T + minutes * MINUTE;
    try {
      const machines = await Anomalies.open({ every: '5m' });
      const rows = [];
      for (; minutes <= 15; minutes++) {
        rows.push(...(await machines.takePart({ a: minutes, b: 2 })));
      }
      assert.deepEqual(
        rows.map(({ time }) => (time - T) / MINUTE),
        [4, 9, 14],
      );
      await machines.close();
    } finally {
      Date.now = realNow;
    }
  });

  describe('across a restart', () => {
    let folder: string;
    beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-joined-'))));
    afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

    const open = (every?: string): Promise<Anomalies> => Anomalies.open({ every }, { folder });
    const push = (one: Anomalies, minutes: number, a: number, mode = 'on') =>
      one.takePart({ time: T + minutes * MINUTE, a, mode });

    it('keep the row under way, of several lives too', async () => {
      for (const [minute, speed] of [10, 20, 60].entries()) {
        const one = await open('5m');
        await push(one, minute, speed, minute === 2 ? 'off' : 'on');
        await one.close();
      }
      const last = await open('5m');
      const [row] = await push(last, 5, 1);
      assert.equal(row!.time, T + 2 * MINUTE);
      const [{ time, cells }] = last.known.get(null)!.allRows as [HistoryRow];
      assert.deepEqual([time, Object.fromEntries(cells())], [T + 2 * MINUTE, { a: 30, mode: 'off' }]);
      await last.close();
    });

    it('keep single values of the round under way', async () => {
      const one = await open();
      for (const column of ['a', 'b', 'a', 'b', 'a']) {
        await one.takePart({ [column]: 1 });
      }
      assert.equal(one.progress.readings, 2);
      await one.close();
      const two = await open();
      assert.equal((await two.takePart({ b: 5 })).length, 1);
      const last = two.known.get(null)!.allRows.at(-1)!;
      assert.deepEqual(Object.fromEntries(last.cells()), { a: 1, b: 5 });
      await two.close();
    });

    it('take the row that waited where each reading is a row now, and join it by another span', async () => {
      const one = await open('5m');
      await push(one, 1, 10);
      await one.close();
      const two = await open('2m');
      assert.equal((await push(two, 2, 30))[0]!.time, T + MINUTE);
      await two.close();
      const three = await open();
      assert.deepEqual(
        three.known.get(null)!.allRows.map(({ time, cells }) => [time, cells().get('a')]),
        [
          [T + MINUTE, 10],
          [T + 2 * MINUTE, 30],
        ],
      );
      await three.close();
    });

    it('take nothing twice after a kill, and what was reset not again', async () => {
      const one = await open('5m');
      await push(one, 1, 10);
      await one.close();
      // As it is on disk when the next life is killed after the row: its journal is newer than the row that waited.
      const waiting = path.join(folder, 'waiting-rows.json');
      const before = fs.readFileSync(waiting);
      const two = await open('5m');
      await push(two, 5, 20);
      await two.close();
      fs.writeFileSync(waiting, before);
      const three = await open('5m');
      await push(three, 10, 30);
      await push(three, 15, 40);
      assert.deepEqual(
        three.known.get(null)!.allRows.map(({ time }) => (time - T) / MINUTE),
        [1, 10],
      );
      await three.reset();
      const copy = fs.readFileSync(waiting, 'utf8');
      assert.deepEqual((JSON.parse(copy) as { joined: unknown[] }).joined, []);
      await three.close();
    });

    it('set aside what is damaged, and leave what a newer version wrote', async () => {
      const waiting = path.join(folder, 'waiting-rows.json');
      fs.writeFileSync(waiting, '{"version":1,"joi');
      const notes: string[] = [];
      const one = await Anomalies.open({}, { folder, notify: ({ text }) => notes.push(text) });
      assert.match(notes.join(), /waiting-rows\.json is damaged and was set aside/);
      await one.close();
      fs.writeFileSync(waiting, '{"version":99}');
      await assert.rejects(open(), /a newer version of this package wrote it/);
      assert.equal(fs.readFileSync(waiting, 'utf8'), '{"version":99}');
    });
  });
});

describe('a row that waits', () => {
  const clock = stoppedClock();
  let folders: string[];
  beforeEach(() => {
    folders = ['one', 'killed'].map((name) => fs.mkdtempSync(path.join(os.tmpdir(), `waiting-${name}-`)));
  });
  afterEach(() => folders.forEach((folder) => fs.rmSync(folder, { recursive: true })));

  /** Files are written in their real time, while the clock stands. */
  async function isWritten(file: string, within = 10_000): Promise<boolean> {
    const end = Date.now() + within;
    while (!fs.existsSync(file) && Date.now() < end) {
      await new Promise(setImmediate);
    }
    return fs.existsSync(file);
  }

  it('is on disk 45 s after its first reading, so that a kill loses what came since', async () => {
    const [folder, killed] = folders as [string, string];
    const open = (of: string) => Anomalies.open({ every: '5m' }, { folder: of });
    const waiting = path.join(folder, 'waiting-rows.json');
    const one = await open(folder);
    await one.takePart({ time: T, a: 10 });
    clock.pass(44_000);
    // Readings that follow do not put it off.
    await one.takePart({ time: T + MINUTE / 2, a: 20 });
    assert.equal(await isWritten(waiting, 100), false);
    clock.pass(1_000);
    assert.equal(await isWritten(waiting), true);
    await one.takePart({ time: T + MINUTE, a: 90 });
    fs.copyFileSync(waiting, path.join(killed, 'waiting-rows.json'));
    await one.close();

    const two = await open(killed);
    await two.takePart({ time: T + 5 * MINUTE, a: 7 });
    const rows = two.known.get(null)!.allRows;
    assert.deepEqual(
      rows.map(({ time, cells }) => [time, cells().get('a')]),
      [[T + MINUTE / 2, 15]],
    );
    await two.close();
  });
});
