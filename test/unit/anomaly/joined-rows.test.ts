import assert from 'node:assert/strict';

import { Anomalies, Detector, JoinedRows } from '../../doors/anomaly';

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
});
