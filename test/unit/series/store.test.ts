import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  openSeries,
  parseSeriesSettings,
  type Series,
  type SeriesNote,
  type SeriesOptions,
  type SeriesReading,
} from '../../doors/series';
import { backfill, DAY, live, MINUTE, open, START, trainRows } from './support';

const OPTIONS: SeriesOptions = {
  key: 'k',
  column: 'x',
  ahead: '10m',
  windows: '10m, 1h',
  late: '3m',
  timezone: 'UTC',
};

function reading(i: number): SeriesReading {
  const step = Math.floor(i / 3);
  return {
    k: `m${i % 3}`,
    time: START + step * MINUTE,
    x: Math.sin(step / 7) + i,
    mode: step % 9 < 4 ? 'a' : 'b',
  };
}

const readings = (from: number, to: number): SeriesReading[] =>
  Array.from({ length: to - from }, (_, i) => reading(from + i));

describe('a series on disk', () => {
  let folder = '';
  let notes: SeriesNote[] = [];
  let other: Pushing | undefined;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'series-'));
    notes = [];
  });

  afterEach(async () => {
    await other?.kill();
    other = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  const reopen = (options = OPTIONS, writeEvery?: number): Promise<Series> =>
    openSeries(parseSeriesSettings(options), {
      folder,
      now: () => START + 1000 * DAY,
      notify: (note) => notes.push(note),
      writeEvery,
    });
  const journals = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const file = (): string => path.join(folder, journals()[0]!);

  it('goes on after a restart as if it had not been closed, whatever was written when', async () => {
    const whole = await open(OPTIONS);
    const wanted = await live(whole.series, readings(0, 1200));
    let series = await reopen();
    const got: typeof wanted = { rows: [], outcomes: [] };
    for (const [from, to] of [
      [0, 100],
      [100, 101],
      [101, 700],
      [700, 1200],
    ] as const) {
      const { rows, outcomes } = await live(series, readings(from, to));
      got.rows.push(...rows);
      got.outcomes.push(...outcomes);
      if (to === 100) {
        await series.reset('none of these');
      }
      await series.close();
      series = await reopen();
    }
    assert.deepEqual(got.rows, wanted.rows);
    assert.deepEqual(got.outcomes, wanted.outcomes);
    assert.deepEqual(await trainRows(series), await trainRows(whole.series));
    const { trainedAt, ...progress } = series.progress;
    const { trainedAt: at, ...others } = whole.series.progress;
    assert.deepEqual({ ...progress, trainSets: 0, storage: 'none' }, { ...others, trainSets: 0 });
    assert.ok(trainedAt === at);
    assert.deepEqual(notes, []);
    assert.equal(journals().length, 1);
    await series.close();
  });

  it('keeps what a table told, rows that wait for a message, and labels', async () => {
    const options = { ...OPTIONS, outcome: 'message' as const, train: 'never' };
    let series = await reopen(options);
    const { rows } = await backfill(series, readings(0, 300));
    await series.outcome({ id: rows[0]!.series.id, value: 'good' });
    await series.outcome({ id: rows[1]!.series.id, value: 'bad' });
    await series.close();
    series = await reopen(options);
    await series.outcome({ id: rows[2]!.series.id, value: 'good' });
    await assert.rejects(series.outcome({ id: rows[0]!.series.id, value: 'good' }), {
      code: 'outcome.unknown',
    });
    assert.deepEqual(
      (await trainRows(series)).map(({ outcome }) => outcome),
      ['good', 'bad', 'good'],
    );
    await series.reset();
    await series.close();
    series = await reopen(options);
    const { keys, kept } = series.progress;
    assert.deepEqual({ keys, kept }, { keys: 0, kept: 0 });
    await series.close();
  });

  it('remembers a train set that was asked for after the last reading', async () => {
    let series = await reopen();
    await live(series, readings(0, 150));
    assert.equal(series.progress.started, false);
    await series.flush();
    await series.train('asked');
    await series.close();
    series = await reopen();
    assert.deepEqual([series.progress.started, series.progress.trainSets], [true, 1]);
    await series.close();
  });

  it('is whole on disk, and says nothing, where what an earlier one left cannot be removed', async () => {
    const series = await reopen();
    mkdirSync(path.join(folder, '00000000.jsonl'));
    await live(series, readings(0, 3));
    await series.flush();
    assert.equal(series.progress.storage, 'ok');
    assert.deepEqual(notes, []);
    await series.close();
  });

  it('reads past a torn line and lines that are damaged, and says so', async () => {
    let series = await reopen();
    await live(series, readings(0, 300));
    await series.close();
    appendFileSync(file(), '["r","m1",17724');
    series = await reopen();
    assert.equal(series.progress.readings, 300);
    await live(series, readings(300, 303));
    await series.close();
    assert.equal(notes.length, 0);
    const lines = readFileSync(file(), 'utf8').split('\n');
    lines.splice(20, 1, '["r","m0"', '\u0000\u0000');
    writeFileSync(file(), lines.join('\n'));
    series = await reopen();
    assert.equal(series.progress.readings, 303);
    assert.match(notes[0]!.text, /2 lines .* cannot be read/u);
    await live(series, readings(303, 330));
    await series.close();
  });

  it('with other settings makes the rows anew of the readings it still has', async () => {
    let series = await reopen();
    await live(series, readings(0, 300));
    await series.close();
    const other = { ...OPTIONS, ahead: '5m', windows: '5m, 30m' };
    series = await reopen(other);
    const rows = await trainRows(series);
    assert.ok(rows.length > 60 && rows.every((row) => typeof row['x in 5m'] === 'number'));
    const fresh = await open({ ...other, train: 'never' });
    await live(fresh.series, readings(0, 300));
    const next = await series.push(reading(300));
    assert.deepEqual(next.rows, (await fresh.series.push(reading(300))).rows);
    await series.close();
  });

  it('is written anew when most of it is outdated', async () => {
    const series = await reopen({ ...OPTIONS, keep: 50 });
    let largest = 0;
    const names = new Set<string>();
    for (let i = 0; i < 24_000; i += 1200) {
      await live(series, readings(i, i + 1200));
      await series.flush();
      largest = Math.max(largest, statSync(file()).size);
      names.add(file());
    }
    assert.ok(largest < 6e6, `${largest} bytes`);
    assert.ok(names.size > 1 && names.size < 12, `${names.size} files in turn`);
    await series.close();
  }).timeout(60_000);

  it('is in memory while there is no room on disk, tells once, and is whole on disk afterwards', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder would be');
    let series = await reopen();
    await live(series, readings(0, 100));
    await series.flush();
    await series.flush();
    assert.equal(series.progress.storage, 'failed');
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['storage.failed'],
    );
    rmSync(folder);
    await live(series, readings(100, 200));
    await series.flush();
    assert.equal(series.progress.storage, 'ok');
    assert.equal(notes.at(-1)!.kind, 'storage.ok');
    await series.close();
    series = await reopen();
    assert.equal(series.progress.readings, 200);
    await series.close();
  });

  it('is whole on disk again where its folder, or its journal alone, was removed while it was open', async () => {
    let series = await reopen();
    await live(series, readings(0, 100));
    await series.flush();
    rmSync(folder, { recursive: true });
    await live(series, readings(100, 200));
    await series.flush();
    rmSync(file());
    await live(series, readings(200, 300));
    await series.close();
    assert.deepEqual(notes, []);
    series = await reopen();
    assert.equal(series.progress.readings, 300);
    await series.close();
  });

  it('loses no more than the last write by kill -9, and goes on with the same rows', async () => {
    other = new Pushing(folder, 150);
    await other.count(600);
    const safe = other.safe(150);
    await other.kill();
    await goesOn(safe);
  }).timeout(60_000);

  it('keeps what it told was kept where the disk fills in the middle of a write, and goes on with room', async function () {
    other = new Pushing(folder, 3_600_000, true);
    await other.take(300);
    await other.take(100);
    if (!other.allow(statSync(file()).size + 100)) {
      console.log('      prlimit is not on this machine');
      return this.skip();
    }
    await other.take(100);
    assert.ok(!readFileSync(file(), 'utf8').endsWith('\n'), 'the first part of the write is there');
    await other.take(100);
    assert.deepEqual(other.notes, ['storage.failed']);
    // Killed now, there would be what was there before.
    const copy = mkdtempSync(path.join(tmpdir(), 'series-'));
    try {
      cpSync(folder, copy, { recursive: true });
      await goesOn(400, copy);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    other.allow('unlimited');
    await other.take(100);
    assert.deepEqual(other.notes, ['storage.failed', 'storage.ok']);
    await other.kill();
    await goesOn(700);
  }).timeout(60_000);

  /** At least so many readings are on disk, and what comes after them gives the rows that a series without a break gives. */
  async function goesOn(safe: number, at = folder): Promise<void> {
    const series = await openSeries(parseSeriesSettings(OPTIONS), {
      folder: at,
      now: () => START + 1000 * DAY,
      notify: (note) => notes.push(note),
    });
    const { readings: left } = series.progress;
    assert.ok(left >= safe, `${left} readings are left of ${safe}`);
    const whole = await open(OPTIONS);
    await live(whole.series, readings(0, left));
    const next = await live(series, readings(left, left + 60));
    const wanted = await live(whole.series, readings(left, left + 60));
    assert.deepEqual(next.rows, wanted.rows);
    assert.deepEqual(next.outcomes, wanted.outcomes);
    assert.deepEqual(notes, []);
    await series.close();
  }

  it('writes at most once in its time, whatever comes', async () => {
    const series = await reopen(OPTIONS, 300);
    const sizes = new Set<number>();
    const began = Date.now();
    for (let i = 0; Date.now() - began < 1000; i++) {
      await series.push(reading(i));
      sizes.add(journals().length === 0 ? 0 : statSync(file()).size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(sizes.size >= 2 && sizes.size <= 5, `${sizes.size} sizes in a second`);
    await series.close();
  });
});

/** A process that pushes readings and says how many, until it is killed. */
class Pushing {
  /** What the series told. */
  readonly notes: string[] = [];
  private readonly child: ChildProcess;
  private taken = 0;
  private readonly came: { at: number; count: number }[] = [];

  /** @param asked readings are pushed as `take` asks for them */
  constructor(folder: string, writeEvery: number, asked = false) {
    const code = `
      const { openSeries, parseSeriesSettings } = require(${JSON.stringify(path.resolve('dist/src/series'))});
      const START = ${START};
      const say = (word) => process.stdout.write(word + '\\n');
      const reading = (i) => {
        const step = Math.floor(i / 3);
        const [k, mode] = ['m' + (i % 3), step % 9 < 4 ? 'a' : 'b'];
        return { k, time: START + step * ${MINUTE}, x: Math.sin(step / 7) + i, mode };
      };
      void (async () => {
        const series = await openSeries(parseSeriesSettings(${JSON.stringify(OPTIONS)}), {
          folder: ${JSON.stringify(folder)}, writeEvery: ${writeEvery}, now: () => START + 1000 * 86400000,
          notify: ({ kind }) => say(kind),
        });
        let count = 0;
        let asked = ${asked ? 0 : 'Infinity'};
        process.stdin.on('data', (data) => (asked += Number(data)));
        for (;;) {
          if (count < asked) {
            await series.push(reading(count++));
            if (count === asked) {
              await series.flush();
            }
            say(count);
          }
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      })();`;
    this.child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
    let rest = '';
    this.child.stdout!.on('data', (data: Buffer) => {
      const lines = (rest + data.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (/^\d+$/u.test(line)) {
          this.came.push({ at: Date.now(), count: Number(line) });
        } else {
          this.notes.push(line);
        }
      }
    });
  }

  get counted(): number {
    return this.came.at(-1)?.count ?? 0;
  }

  /** So many more readings are taken, and written if that can be done. */
  async take(n: number): Promise<void> {
    this.taken += n;
    this.child.stdin!.write(`${n}\n`);
    await this.count(this.taken);
  }

  count = (n: number): Promise<void> => this.wait(() => this.counted >= n);

  /** How many readings it had well before now: the machine is loaded, and a timer may be late by a second. */
  safe(writeEvery: number): number {
    const now = Date.now();
    return this.came.findLast(({ at }) => at < now - writeEvery - 1000)?.count ?? 1;
  }

  /** From now on no file of the process may grow beyond so many bytes. @returns false where that cannot be had */
  allow(bytes: number | 'unlimited'): boolean {
    return spawnSync('prlimit', ['--pid', String(this.child.pid), `--fsize=${bytes}:`]).status === 0;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
    }
  }

  private async wait(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      assert.equal(this.child.exitCode, null);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
