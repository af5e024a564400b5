import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { anomalies } from '../../../dist/src';
import { type Anomalies, type AnomalyAnswer, type AnomalyChange } from '../../doors/anomaly';
import { type Machine, readingOf, ROWS_A_DAY, simulatedMachine } from '../../helpers/simulated-machine';
import { waitFor } from '../../helpers/wait';

const LEARN = 300;

/** A verdict without what differs by the last digits of a sum. */
function rounded({ state, rows, alarm, sensors, changes }: AnomalyAnswer): object {
  return {
    state,
    rows,
    alarm,
    sensors: sensors.map(({ column }) => column),
    changes: changes.map(({ kind }) => kind),
  };
}

describe('anomalies in a program', function () {
  this.timeout(60_000);

  let machine: Machine;
  let folder: string;
  const open: Anomalies[] = [];

  before(() => {
    machine = simulatedMachine({ weeks: 0.4, seed: 8 });
  });

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-anomalies-'));
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = async (options: Parameters<typeof anomalies>[0] = {}): Promise<Anomalies> => {
    const one = await anomalies(options);
    open.push(one);
    return one;
  };
  /** Takes rows of the machine, each when what it is judged by is learned. */
  const take = async (
    one: Anomalies,
    from: number,
    to: number,
    more: object = {},
  ): Promise<AnomalyAnswer[]> => {
    const answers: AnomalyAnswer[] = [];
    for (let row = from; row < to; row++) {
      answers.push(await one.take({ ...readingOf(machine, row), ...more }));
      await one.settled();
    }
    return answers;
  };

  it('go on after a kill as if nothing had been, and send no alarm twice', async () => {
    const whole = await start();
    const wrong = { bearing: 130 };
    const wanted = [
      ...(await take(whole, 0, LEARN + 20)),
      ...(await take(whole, LEARN + 20, LEARN + 24, wrong)),
      ...(await take(whole, LEARN + 24, LEARN + 40, wrong)),
    ];
    const before = await start({ folder });
    const found = [
      ...(await take(before, 0, LEARN + 20)),
      ...(await take(before, LEARN + 20, LEARN + 24, wrong)),
    ];
    // What a kill leaves is what was written by then: the files as they are, while the one before goes on.
    const copy = `${folder}-copy`;
    fs.cpSync(folder, copy, { recursive: true });
    try {
      const after = await start({ folder: copy });
      const known = (await take(after, LEARN + 24, LEARN + 40, wrong)).map(rounded);
      assert.ok(known.every((answer) => (answer as AnomalyAnswer).alarm !== undefined));
      const changes = (answers: object[]): string[] =>
        answers.flatMap((answer) => (answer as { changes: string[] }).changes);
      assert.deepEqual(changes(known), []);
      assert.deepEqual(changes(found.map(rounded)), changes(wanted.map(rounded)));
      assert.ok(changes(wanted.map(rounded)).includes('alarm'));
    } finally {
      await Promise.all(open.splice(0).map((one) => one.close()));
      fs.rmSync(copy, { recursive: true, force: true });
    }
  });

  it('send no second alarm of an event that goes on for longer than a kill and a start', async () => {
    const wrong = { bearing: 130 };
    const before = await start({ folder });
    await take(before, 0, LEARN);
    const first = await take(before, LEARN, LEARN + 60, wrong);
    await before.close();
    const after = await start({ folder });
    const later = await take(after, LEARN + 60, LEARN + 80, wrong);
    const alarms = (answers: AnomalyAnswer[]): number =>
      answers.filter(({ changes }) => changes.some(({ kind }) => kind === 'alarm')).length;
    assert.deepEqual([alarms(first), alarms(later)], [1, 0]);
    assert.equal(later.at(-1)!.alarm, first.at(-1)!.alarm);
  });

  it('learn anew where what was kept is damaged, and leave alone what a newer version wrote', async () => {
    const first = await start({ folder });
    await take(first, 0, LEARN + 5);
    await first.close();
    const file = path.join(folder, 'machine.state');
    const bytes = fs.readFileSync(file);
    bytes[bytes.length - 100]! ^= 0xff;
    fs.writeFileSync(file, bytes);
    const notes: { kind: string; text: string }[] = [];
    const second = await start({ folder, onNote: (note) => notes.push(note) });
    assert.match(notes[0]!.text, /machine\.state is damaged and was set aside/);
    assert.ok(fs.existsSync(`${file}.damaged`));
    const [answer] = await take(second, LEARN + 5, LEARN + 6);
    assert.notEqual(answer!.state, 'late');
    await second.close();

    fs.writeFileSync(file, '{"version":99,"bytes":1,"crc":2}\nx');
    await assert.rejects(anomalies({ folder }), { code: 'storage.failed' });
    assert.match(fs.readFileSync(file, 'utf8'), /"version":99/);
  });

  it('forget one key or all, for good', async () => {
    const one = await start({ folder, key: 'pump' });
    await take(one, 0, LEARN, { pump: 'a' });
    await take(one, 0, 50, { pump: 'b' });
    await one.reset('a');
    assert.deepEqual([one.progress.keys, one.progress.known], [2, 0]);
    await one.close();
    const again = await start({ folder, key: 'pump' });
    const [a] = await take(again, 0, 1, { pump: 'a' });
    const [b] = await take(again, 50, 51, { pump: 'b' });
    assert.deepEqual([a!.state, a!.rows, b!.rows], ['learning', 1, 51]);
  });

  it('learn what people call usual, and say so between readings', async () => {
    const changes: AnomalyChange[] = [];
    const one = await start({ onChange: (change) => changes.push(change) });
    await take(one, 0, 2 * ROWS_A_DAY);
    const high = await take(one, 2 * ROWS_A_DAY, 2 * ROWS_A_DAY + 60, { voltage: 460 });
    assert.ok(high.some(({ changes: told }) => told.some(({ kind }) => kind === 'alarm')));
    const learned = changes.length;
    await one.confirm('usual');
    await one.settled();
    assert.equal(changes.length, learned + 1);
    assert.equal(changes.at(-1)!.kind, 'learned');
    const [after] = await take(one, 2 * ROWS_A_DAY + 60, 2 * ROWS_A_DAY + 61, { voltage: 460 });
    assert.equal(after!.state, 'usual');
  });

  it('take an answer of a sensor that has moved, by its id or as the last told, and keep it after a restart', async () => {
    const TAUGHT = 340;
    const hourly = (row: number, warmer = 0): object => {
      const cells = readingOf(machine, row % 500);
      return { ...cells, time: 1.77e12 + row * 3_600_000, housing: Number(cells.housing) + warmer };
    };
    const one = await start({ folder });
    await one.teach(
      Readable.from(Array.from({ length: TAUGHT }, (_, row) => ({ reading: { ...hourly(row) } }))),
    );
    await one.settled();
    const goOn = async (
      of: Anomalies,
      from: number,
      to: number,
      warmer: number,
    ): Promise<AnomalyChange[]> => {
      const told = [];
      for (let row = from; row < to; row++) {
        const { changes, key } = await of.take({ ...hourly(row, warmer) });
        told.push(...changes.filter(({ kind }) => kind === 'moved').map((change) => ({ ...change, key })));
      }
      return told;
    };
    const [moved] = await goOn(one, TAUGHT, TAUGHT + 100, 40);
    assert.ok(moved?.kind === 'moved' && moved.column === 'housing', JSON.stringify(moved));
    await assert.rejects(one.confirm('real', `${moved.id}s`), {
      code: 'outcome.unknown',
      message: /no sensor that has moved has the id/,
    });
    await one.confirm('real', moved.id);
    assert.deepEqual(
      one.known.get(null)!.movements.map(({ id, isReal }) => [id, isReal]),
      [[moved.id, true]],
    );
    await one.confirm('usual', moved.id);
    await one.close();
    const after = await start({ folder });
    assert.deepEqual(after.known.get(null)!.movements, []);
    assert.deepEqual(await goOn(after, TAUGHT + 100, TAUGHT + 800, 40), []);
  });

  it('go on in memory while the disk takes nothing, and say so once', async () => {
    const notes: { kind: string; text: string }[] = [];
    const place = path.join(folder, 'file');
    fs.writeFileSync(place, '');
    const one = await start({ folder: path.join(place, 'kept'), onNote: (note) => notes.push(note) });
    await take(one, 0, 20);
    await one.close();
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['storage.failed'],
    );
    assert.equal(one.progress.storage, 'failed');
  });

  it('write all that they know into a folder that was removed meanwhile', async () => {
    const notes: string[] = [];
    const kept = path.join(folder, 'all', 'kept');
    const one = await start({ folder: kept, onNote: ({ text }) => notes.push(text) });
    await take(one, 0, LEARN + 20);
    fs.rmSync(path.join(folder, 'all'), { recursive: true });
    await take(one, LEARN + 20, LEARN + 30);
    await one.close();
    assert.deepEqual(notes, []);
    const after = await start({ folder: kept });
    assert.equal(after.progress.rows, LEARN + 30);
    assert.equal((await take(after, LEARN + 30, LEARN + 31))[0]!.state, 'usual');
  });

  it('refuse keys beyond the memory that is set aside, and take those that they know', async () => {
    const one = await start({ key: 'pump' });
    const columns = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, i]));
    let refused: unknown;
    for (let key = 0; refused === undefined; key++) {
      await one.take({ pump: `p${key}`, ...columns }).catch((error: unknown) => (refused = error));
    }
    assert.equal((refused as { code: string }).code, 'limit.exceeded');
    assert.match((refused as Error).message, /fill the memory.*is refused/);
    assert.equal((await one.take({ pump: 'p0', ...columns })).rows, 2);
  });

  it('refuse a table with a key for each row before its rows are read, and keep nothing of it', async () => {
    const one = await start({ key: 'pump' });
    let read = 0;
    function* rows() {
      for (; read < 5000; read++) {
        yield { reading: { pump: `p${read}`, time: 1.77e12 + read * 60_000, heat: read % 7 } };
      }
    }
    await assert.rejects(one.teach(Readable.from(rows(), { highWaterMark: 1 })), {
      code: 'limit.exceeded',
      message: /"p1000" would be machine number 1001: .* Key names the wrong column/,
    });
    assert.ok(read < 1010, `${read} rows`);
    assert.deepEqual([one.progress.keys, one.known.size], [0, 0]);
    await one.take({ pump: 'another', time: 1.77e12, heat: 1 });
    assert.equal(one.progress.keys, 1);
  });

  /** A table of three machines, whose rows come in an order of their own each. */
  async function taughtInAnyOrder(rows: number, minutes: number) {
    const one = await start({ key: 'pump', learn: 6000 });
    function* table() {
      for (let row = 0; row < rows; row++) {
        const places = { newest: rows - 1 - row, oldest: row, mixed: (row * 7919) % rows };
        for (const [pump, place] of Object.entries(places)) {
          yield { reading: { pump, time: 1.77e12 + place * minutes * 60_000, place, state: 'on' } };
        }
      }
    }
    assert.deepEqual(await one.teach(Readable.from(table())), { rows: 3 * rows, keys: 3 });
    return ['newest', 'oldest', 'mixed'].map((of) => one.known.get(of)!.keep().history.columns.place!);
  }

  it('keep the newest rows of each machine of a large table, in any order, in little memory', async () => {
    for (const { numbers, words, known } of await taughtInAnyOrder(20_000, 5)) {
      assert.deepEqual([numbers.length, words.length, known.length], [6000, 6000, 0]);
      assert.deepEqual([numbers[0], numbers[5999]], [14_000, 19_999]);
    }
  });

  it('keep rows of all weeks of a table with a reading each minute, in any order', async () => {
    const [newest, oldest, mixed] = await taughtInAnyOrder(20_000, 1);
    for (const { numbers } of [newest!, oldest!, mixed!]) {
      // Rows in no order are further apart as they come: the pace is a little slower.
      assert.ok(numbers.length > 3000 && numbers.length < 4010, `${numbers.length} rows`);
      assert.ok(numbers[0]! < 10 && numbers.at(-1)! > 19_990, `from ${numbers[0]} to ${numbers.at(-1)}`);
    }
    for (const { numbers } of [newest!, oldest!]) {
      const fives = numbers.subarray(1).filter((place, i) => place - numbers[i]! === 5).length;
      assert.ok(fives > 0.98 * numbers.length, `${fives} of ${numbers.length}`);
    }
  });

  it('are taught by a table with the newest rows first, and leave rows without values out', async () => {
    const table = (order: number[]) =>
      Readable.from(
        order.flatMap((row) => [
          { reading: readingOf(machine, row) },
          { reading: { time: readingOf(machine, row).time, note: '' } },
        ]),
      );
    const rows = Array.from({ length: LEARN }, (_, i) => i);
    const [forth, back] = [await start(), await start()];
    await forth.teach(table(rows));
    await back.teach(table([...rows].reverse()));
    await Promise.all([forth.settled(), back.settled()]);
    const answers = await Promise.all([forth, back].map((one) => one.take(readingOf(machine, LEARN))));
    assert.deepEqual(answers[0], answers[1]);
    assert.equal(answers[0]!.rows, LEARN + 1);
    await assert.rejects(
      forth.teach(Readable.from([{ reading: { time: 1, a: 1 } }, { reading: { time: 'soon', a: 1 } }])),
      {
        code: 'time.invalid',
        message: /^Column "time", row 2: "soon" is not a date/,
      },
    );
  });

  it('take a table that is older than their first readings, and take the same table once', async () => {
    const notes: { kind: string; text: string }[] = [];
    const table = () =>
      Readable.from(Array.from({ length: LEARN }, (_, row) => ({ reading: readingOf(machine, row) })));
    const one = await start({ folder, onNote: (note) => notes.push(note) });
    await take(one, LEARN, LEARN + 2);
    await one.teach(table());
    await one.settled();
    const [answer] = await take(one, LEARN + 2, LEARN + 3);
    assert.deepEqual([answer!.rows, answer!.state], [LEARN + 3, 'usual']);
    assert.equal(answer!.knows, (LEARN + 2) * 300_000);
    await one.teach(table());
    await one.settled();
    assert.equal(one.progress.rows, LEARN + 3);
    assert.match(notes.at(-1)!.text, /^300 rows of the table are not newer/);
    await one.close();
    const again = await start({ folder });
    assert.deepEqual([again.progress.rows, again.progress.known], [LEARN + 3, 1]);
  });

  it('need the times of past readings, and keep what they know where a line of the journal is damaged', async () => {
    const one = await start({ folder });
    await assert.rejects(one.teach(Readable.from([{ reading: { a: 1 } }])), {
      code: 'time.invalid',
      message: /^Row 1 has no time, which a row of a table of past readings needs/,
    });
    await take(one, 0, LEARN + 20);
    await one.close();
    for (const name of fs.readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
      const lines = fs.readFileSync(path.join(folder, name), 'utf8').split('\n');
      const place = lines.findIndex((line) => line.includes(`"taken":${LEARN + 10},`));
      lines[place] = '{"of":nu';
      fs.writeFileSync(path.join(folder, name), lines.join('\n'));
    }
    const again = await start({ folder });
    const [answer] = await take(again, LEARN + 20, LEARN + 21);
    assert.equal(answer!.state, 'usual');
  });

  it('leave the rows of an alarm out of what they learn after a restart too', async () => {
    const one = await start({ folder });
    await take(one, 0, LEARN);
    await take(one, LEARN, LEARN + 40, { bearing: 130 });
    await take(one, LEARN + 40, LEARN + 80);
    await one.close();
    const again = await start({ folder });
    const { marks } = again.known.get(null)!.keep().history;
    assert.equal(marks.slice(LEARN, LEARN + 40).filter((mark) => mark === 1).length, 40);
  });

  it('count nothing before the first reading, and give memory back with a reset', async () => {
    const one = await start({ key: 'pump' });
    assert.deepEqual([one.progress.rows, one.progress.keys], [0, 0]);
    const columns = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, i]));
    await one.take({ pump: 'a', ...columns });
    await assert.rejects(one.take({ pump: 'a', other: 1 }), { code: 'limit.exceeded' });
    await one.reset('a');
    assert.equal((await one.take({ pump: 'a', other: 1 })).rows, 1);
  });

  it('go on where one reading tells no time', async () => {
    const one = await start();
    await take(one, 0, 20);
    const { time, ...without } = readingOf(machine, 20);
    const answer = await one.take(without);
    assert.ok(answer.time < Number(time));
    assert.deepEqual(
      (await take(one, 21, 30)).map(({ state }) => state),
      new Array(9).fill('learning'),
    );
  });

  it('refuse settings that mean nothing', async () => {
    for (const wrong of [{ alarms: 0 }, { per: 'year' as 'week' }, { learn: 10 }, { learn: 3.5 }]) {
      await assert.rejects(anomalies(wrong), { code: 'config.invalid' });
    }
  });

  it('let the event loop go on while thousands of readings wait', async () => {
    const one = await start();
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns++;
      if (!isDone) {
        setImmediate(turn);
      }
    };
    setImmediate(turn);
    await Promise.all(Array.from({ length: 3000 }, (_, row) => one.take(readingOf(machine, row % 700))));
    isDone = true;
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('lose no reading and no key while fits are made', async () => {
    const one = await start({ key: 'pump', learn: 100 });
    const answers: Promise<AnomalyAnswer>[] = [];
    for (let row = 0; row < 150; row++) {
      for (const pump of ['a', 'b', 'c', 'd']) {
        answers.push(one.take({ ...readingOf(machine, row), pump }));
      }
    }
    assert.equal((await Promise.all(answers)).length, 600);
    await waitFor('all keys learned', () => (one.progress.known === 4 ? true : undefined));
  });
});
