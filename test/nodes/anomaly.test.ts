import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { type Machine, readingOf, ROWS_A_DAY, simulatedMachine } from '../helpers/simulated-machine';
import { waitFor } from '../helpers/wait';
import { type Bench, startBench, stopBench } from './bench';

const LEARN = 300;

describe('tabular-anomaly', () => {
  afterEach(stopBench);

  let machine: Machine;
  before(() => {
    machine = simulatedMachine({ weeks: 0.5, seed: 3 });
  });

  const start = (properties: object = {}, more: object = {}): Promise<Bench> =>
    startBench({ nodes: [{ id: 'a', type: 'tabular-anomaly', ...properties }], ...more });
  const settled = (bench: Bench, count: number) =>
    waitFor(`${count} messages done`, () =>
      bench.completed.all.length + bench.caught.all.length >= count ? true : undefined,
    );
  const changesOf = (bench: Bench) => bench.out('a', 1).all.map(({ change }) => change);
  /** Sends the first rows, and waits until they are learned. */
  const taught = async (bench: Bench, rows = LEARN, more: object = {}): Promise<void> => {
    for (let i = 0; i < rows; i++) {
      bench.send('a', { payload: readingOf(machine, i), ...more });
    }
    await waitFor('learned', () =>
      changesOf(bench).some(({ what }) => what === 'learned') ? true : undefined,
    );
  };

  it('lets every reading through at once, says how far it has learned, then what is unusual', async () => {
    const bench = await start();
    for (let i = 0; i < 140; i++) {
      bench.send('a', { payload: readingOf(machine, i), kept: i });
    }
    const first = await bench.out('a').first(140);
    assert.deepEqual(first[139]!.payload, readingOf(machine, 139));
    assert.equal(first[139]!.kept, 139);
    assert.equal(first[139]!.anomaly.unusual, false);
    assert.deepEqual(first[139]!.anomaly.learning, { rows: 140, of: LEARN });
    await waitFor('140 of 300', () => (bench.progress('a')?.rows === 140 ? true : undefined));
    await bench.shows('a', /anomaly\.learning$/);
    for (let i = 140; i < LEARN; i++) {
      bench.send('a', { payload: readingOf(machine, i) });
    }
    await waitFor('learned', () => changesOf(bench)[0]);
    const [learned] = changesOf(bench);
    assert.equal(learned.what, 'learned');
    assert.equal(learned.rows, LEARN);
    const wrong = { ...readingOf(machine, LEARN), bearing: 130 };
    bench.send('a', { payload: wrong });
    const [answer] = (await bench.out('a').first(LEARN + 1)).slice(LEARN);
    const { unusual, sensors, text, alarm, id, once_in: once } = answer!.anomaly;
    assert.equal(unusual, true);
    assert.equal(alarm, true);
    assert.equal(sensors[0].column, 'bearing');
    assert.equal(sensors[0].value, 130);
    assert.ok(sensors[0].low < sensors[0].expected && sensors[0].expected < sensors[0].high);
    assert.ok(sensors[0].high < 100, `high ${sensors[0].high}`);
    assert.match(text, /anomaly\.off/);
    assert.ok(once > 7 * 86_400);
    assert.equal(once, Number(once.toPrecision(6)), 'no digits that nobody measured');
    const change = await waitFor('alarm', () => changesOf(bench).find(({ what }) => what === 'alarm'));
    assert.equal(change.id, id);
    assert.equal(change.sensors[0].column, 'bearing');
    await bench.shows('a', /anomaly\.unusual/);
    assert.deepEqual(bench.caught.all, []);
  });

  it('is taught by a table at once', async () => {
    const bench = await start();
    bench.send('a', { payload: Array.from({ length: 2 * ROWS_A_DAY }, (_, i) => readingOf(machine, i)) });
    const learned = await waitFor('learned', () => changesOf(bench)[0]);
    assert.equal(learned.rows, 2 * ROWS_A_DAY);
    assert.equal(bench.out('a').all.length, 0);
    // No reading has come since, which would show it.
    await bench.shows('a', /anomaly\.usual/);
    bench.send('a', { payload: readingOf(machine, 2 * ROWS_A_DAY) });
    const [answer] = await bench.out('a').first(1);
    assert.equal(answer!.anomaly.learning, undefined);
    assert.equal(typeof answer!.anomaly.once_in, 'number');
  });

  it('knows each key by itself, and gathers single values into rows', async () => {
    const bench = await start({ key: 'plant/+/#', keyType: 'topic', learn: 100 });
    for (let i = 0; i < 101; i++) {
      for (const key of ['one', 'two']) {
        bench.send('a', { topic: `plant/${key}/load`, payload: (key === 'one' ? 10 : 500) + (i % 7) });
        bench.send('a', { topic: `plant/${key}/heat`, payload: (key === 'one' ? 20 : 900) + 2 * (i % 7) });
      }
    }
    await waitFor('both learned', () =>
      new Set(changesOf(bench).map(({ what, key }) => `${what} ${key}`)).size >= 2 ? true : undefined,
    );
    bench.send('a', { topic: 'plant/two/load', payload: 503 });
    bench.send('a', { topic: 'plant/two/heat', payload: 24 });
    const all = await bench.out('a').first(4 * 101 + 2);
    const last = all.at(-1)!.anomaly;
    assert.equal(last.unusual, true);
    assert.equal(last.sensors[0].column, 'heat');
    assert.match(last.id, /^two /);
  });

  it('goes on after a restart as if nothing had been', async () => {
    const bench = await start();
    await taught(bench);
    const folder = path.join(bench.userDir, 'tabular-prediction', 'anomaly', 'a');
    await bench.redeploy();
    assert.ok(fs.existsSync(path.join(folder, 'machine.state')));
    bench.send('a', { payload: { ...readingOf(machine, LEARN), flow: 9 } });
    const answer = await waitFor('answer', () => bench.out('a').all.find(({ anomaly }) => anomaly?.unusual));
    assert.equal(answer.anomaly.sensors[0].column, 'flow');
  });

  it('keeps the readings of the row under way across a restart', async () => {
    const bench = await start({ every: '5m', learn: 100 });
    const minutes = (from: number, to: number): void => {
      for (let minute = from; minute < to; minute++) {
        bench.send('a', { payload: { time: 1.77e12 + minute * 60_000, load: minute, heat: minute % 7 } });
      }
    };
    minutes(0, 8);
    await settled(bench, 8);
    await bench.redeploy();
    minutes(8, 11);
    const told = await waitFor('row', () => bench.out('a').all[10]);
    assert.deepEqual(told.anomaly.learning, { rows: 2, of: 100 });
    await bench.redeploy();
    const folder = path.join(bench.userDir, 'tabular-prediction', 'anomaly', 'a');
    const lines = fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    const rows = lines.flatMap((name) =>
      fs
        .readFileSync(path.join(folder, name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).row[1]),
    );
    // Means of the minutes 0 to 4 and 5 to 9; 1.77e12 begins a span.
    assert.deepEqual(
      rows.map(({ load }) => load),
      [2, 7],
    );
  });

  it('warns once where the readings of several machines come by topics and no key is told', async () => {
    const bench = await start();
    const mixed = () => bench.warnings().filter((text) => text.includes('warning.topics')).length;
    for (let i = 0; i < 3; i++) {
      bench.send('a', { payload: readingOf(machine, i), topic: 'motor1' });
    }
    await settled(bench, 3);
    assert.equal(mixed(), 0);
    for (let i = 3; i < 6; i++) {
      bench.send('a', { payload: readingOf(machine, i), topic: `motor${i}` });
    }
    await settled(bench, 6);
    assert.equal(mixed(), 1);
  });

  it('takes what people say of an alarm, and refuses what it cannot be of', async () => {
    const bench = await start();
    await taught(bench);
    bench.send('a', { confirm: 'real' });
    const [none] = await bench.caught.first(1);
    assert.equal(none!.error!.code, 'outcome.unknown');
    bench.send('a', { payload: { ...readingOf(machine, LEARN), bearing: 130 } });
    const { anomaly } = await waitFor('alarm', () => bench.out('a').all.find((msg) => msg.anomaly.alarm));
    bench.send('a', { confirm: 'real', anomaly: { id: anomaly.id } });
    bench.send('a', { confirm: 'perhaps' });
    bench.send('a', { odd: 'faults' });
    const [, wrong, unasked] = await bench.caught.first(3);
    assert.equal(wrong!.error!.code, 'validation.failed');
    assert.match(wrong!.error!.message, /msg\.confirm must be "real" or "usual", not "perhaps"/);
    assert.equal(unasked!.error!.code, 'outcome.unknown');
  });

  it('takes what people say of a sensor that has moved, by the id that its message has', async () => {
    const TAUGHT = 340;
    const hourly = (row: number, warmer = 0): object => {
      const cells = readingOf(machine, row);
      return { ...cells, time: 1.77e12 + row * 3_600_000, housing: Number(cells.housing) + warmer };
    };
    const bench = await start();
    bench.send('a', { payload: Array.from({ length: TAUGHT }, (_, row) => hourly(row)) });
    await waitFor('learned', () => changesOf(bench).find(({ what }) => what === 'learned'));
    for (let row = TAUGHT; row < TAUGHT + 100; row++) {
      bench.send('a', { payload: hourly(row, 40) });
    }
    const moved = await waitFor('moved', () =>
      bench.out('a', 1).all.find(({ change }) => change.what === 'moved' && change.column === 'housing'),
    );
    assert.equal(moved.anomaly.id, moved.change.id);
    await settled(bench, 101);
    bench.send('a', { confirm: 'usual', anomaly: { id: `not ${moved.change.id}` } });
    const [unknown] = await bench.caught.first(1);
    assert.equal(unknown!.error!.code, 'outcome.unknown');
    // As a message of the second output comes back by way of a button.
    bench.send('a', { confirm: 'usual', anomaly: moved.anomaly });
    await settled(bench, 103);
    assert.equal(bench.caught.all.length, 1);
  });

  it('fills in a missing sensor where the others know it', async () => {
    const bench = await start({ fill: true });
    await taught(bench);
    const { bearing, ...rest } = readingOf(machine, LEARN);
    bench.send('a', { payload: rest });
    const answer = (await bench.out('a').first(LEARN + 1)).at(-1)!;
    assert.deepEqual(answer.anomaly.filled, ['bearing']);
    assert.ok(
      Math.abs(answer.payload.bearing - Number(bearing)) < 6,
      `${answer.payload.bearing} for ${bearing}`,
    );
  });

  it('gives each reading of a message a message of its own, and ends it with the error of one that cannot be judged', async () => {
    const bench = await start({ shape: 'auto' });
    const of = (host: string, fields: object) => ({
      name: 'motor',
      tags: { host },
      fields,
      timestamp: 1795600800,
    });
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`s${i}`, i]));
    const metrics = [of('m1', { heat: 1, load: 2 }), of('m2', many), of('m3', { heat: 3, load: 4 })];
    bench.send('a', { payload: { metrics }, kept: true });
    await settled(bench, 1);
    const sent = bench.out('a').all;
    assert.deepEqual(
      sent.map(({ payload, kept }) => [payload, kept]),
      [
        [{ heat: 1, load: 2 }, true],
        [{ heat: 3, load: 4 }, true],
      ],
    );
    assert.equal(bench.caught.all[0]!.error!.code, 'limit.exceeded');
  });

  it('says what is wrong with a reading, and loses none', async () => {
    const bench = await start({ time: 'at' });
    const bad = [
      { payload: {} },
      { payload: { at: 1, only: null } },
      { payload: { heat: 1, load: 2 } },
      { payload: { at: 'yesterday', heat: 1 } },
      { payload: { at: 5, ...Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`s${i}`, i])) } },
    ];
    bad.forEach((msg) => bench.send('a', msg));
    await settled(bench, bad.length);
    const codes = bench.caught.all.map(({ error }) => error!.code);
    assert.deepEqual(codes, [
      'table.empty',
      'validation.failed',
      'time.invalid',
      'time.invalid',
      'limit.exceeded',
    ]);
    assert.match(bench.caught.all.at(-1)!.error!.message, /120 columns of numbers.*Ignore/);
    bench.send('a', { payload: { at: Date.now(), heat: 1, load: 2 } });
    await bench.out('a').first(1);
  });
});
