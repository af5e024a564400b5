import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { columnsSeen } from '../doors/runtime';
import { waitFor } from '../helpers/wait';
import { type Anything, type Bench, startBench, stopBench } from './bench';

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 2);

/** A motor: its temperature is a wave, its load steps. */
function motor(i: number, more: object = {}): Record<string, Anything> {
  return {
    time: START + i * MINUTE,
    temperature: Number((60 + 10 * Math.sin(i / 12)).toFixed(2)),
    load: i % 7,
    mode: i % 40 < 20 ? 'eco' : 'full',
    ...more,
  };
}

const motors = (from: number, to: number, more: object = {}) =>
  Array.from({ length: to - from }, (_, i) => motor(from + i, more));

const IN_FIVE = { column: 'temperature', ahead: '5m', windows: '5m, 20m' };

describe('tabular-series', () => {
  afterEach(stopBench);

  const start = (properties: object = {}, more: object = {}): Promise<Bench> =>
    startBench({ nodes: [{ id: 's', type: 'tabular-series', ...IN_FIVE, ...properties }], ...more });
  const rowsOf = (bench: Bench) => bench.out('s', 0);
  const outcomesOf = (bench: Bench) => bench.out('s', 1);
  const trainSetsOf = (bench: Bench) => bench.out('s', 2);
  /** All that was sent so far is worked off. */
  const settled = (bench: Bench, count: number) =>
    waitFor(`${count} messages done`, () =>
      bench.completed.all.length + bench.caught.all.length >= count ? true : undefined,
    );

  /** The status tells how many outcomes of 30 are there. */
  const collecting = (bench: Bench, rows: number) =>
    waitFor(`${rows} outcomes`, () => {
      const { phase, rows: have, total_rows: total } = bench.progress('s') ?? {};
      return phase === 'collecting' && have === rows && total === 30 ? true : undefined;
    });

  it('is silent until the first train set, which leaves before its row; then a row for each reading', async () => {
    const bench = await start({ train: '30 rows' });
    const came: string[] = [];
    for (const [output, name] of ['row', 'outcome', 'train set'].entries()) {
      const inbox = bench.out('s', output);
      const take = inbox.take.bind(inbox);
      inbox.take = (msg) => {
        came.push(name);
        take(msg);
      };
    }
    for (let i = 0; i < 30; i++) {
      bench.send('s', { payload: motor(i), topic: 'm', kept: { i } });
    }
    await settled(bench, 30);
    assert.equal(rowsOf(bench).all.length, 0);
    assert.equal(outcomesOf(bench).all.length, 25);
    await collecting(bench, 25);
    for (let i = 30; i < 40; i++) {
      bench.send('s', { payload: motor(i), topic: 'm', kept: { i } });
    }
    await settled(bench, 40);
    assert.equal(trainSetsOf(bench).all.length, 1);
    const first = came.indexOf('row');
    assert.equal(came.slice(0, first).filter((name) => name === 'train set').length, 1);
    assert.equal(came.filter((name) => name === 'row').length, 6);
    const [row] = rowsOf(bench).all;
    assert.equal(row!.topic, 'm');
    assert.deepEqual(row!.kept, { i: 34 });
    assert.equal(row!.payload.temperature, motor(34).temperature);
    assert.equal(row!.payload.mode, 'full' in row!.payload ? 'full' : motor(34).mode);
    const { id, ...address } = row!.series;
    assert.equal(typeof id, 'string');
    assert.deepEqual(address, { key: null, time: START + 34 * MINUTE, ahead: 5 * MINUTE });
    const outcome = outcomesOf(bench).all.find(({ series }) => series.id === id);
    assert.equal(outcome!.truth, motor(39).temperature);
    const [set] = trainSetsOf(bench).all;
    assert.equal(set!.payload.length, 30);
    assert.ok(set!.target in set!.payload[0]);
    assert.deepEqual([set!.order, set!.replace, set!.relative_to], ['time', 'better', 'temperature']);
    assert.equal(set!.train.reason, 'first');
    assert.ok(set!.embargo > 0 && Array.isArray(set!.ignore));
    assert.ok(!('kept' in set!), 'what else a reading has stays with it');
    assert.deepEqual(bench.caught.all, []);
    assert.equal(bench.completed.all.length, 40);
    const status = await waitFor('the numbers', () =>
      bench.progress('s').readings === 40 ? bench.progress('s') : undefined,
    );
    assert.equal(status.phase, 'live');
  });

  it('drives fit and predict with nothing between: a table of the past, then readings', async function () {
    this.timeout(90_000);
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, wires: [['p'], ['learned'], ['f']] },
        { id: 'f', type: 'tabular-fit', model: 'motor', options: '{"n_estimators":1}', wires: [['fitted']] },
        {
          id: 'p',
          type: 'tabular-predict',
          model: 'motor',
          noModel: 'wait',
          outputType: 'quantiles',
          property: 'forecast',
        },
      ],
      extra: [
        { id: 'learned', type: 'helper', z: 'flow', x: 1, y: 1 },
        { id: 'fitted', type: 'helper', z: 'flow', x: 1, y: 1 },
      ],
    });
    const fitted: Anything[] = [];
    bench.node('fitted').on('input', (msg: Anything) => fitted.push(msg));
    const past = motors(0, 150).map(({ time, ...cells }) => ({
      ...cells,
      time: new Date(time as number).toISOString(),
    }));
    const header = Object.keys(past[0]!).join(',');
    bench.send('s', {
      payload: `${header}\n${past.map((row) => Object.values(row).join(',')).join('\n')}\n`,
    });
    bench.send('s', { payload: motor(150), topic: 'live' });
    const [table, live] = await bench.out('p').first(2, 60_000);
    assert.equal(table!.payload.length, 150);
    assert.equal(table!.series.length, 150);
    const { forecast } = live!.payload;
    const truth = motor(155).temperature as number;
    assert.ok(Math.abs(forecast['0.5'] - truth) < 3, `${forecast['0.5']} where ${truth} comes`);
    assert.equal(live!.topic, 'live');
    assert.equal(live!.series.time, START + 150 * MINUTE);
    const [{ model }] = fitted as [{ model: Anything }];
    assert.equal(model.order, 'time');
    assert.equal(model.relative_to, 'temperature');
    assert.ok(model.embargo > 0);
    assert.equal(model.trained_until, new Date(START + 144 * MINUTE).toISOString());
    assert.deepEqual(bench.caught.all, []);
  });

  it('tells fit that the machines of a fleet go on: blocks of time are held out, and the card says so', async () => {
    const bench = await startBench({
      nodes: [
        {
          ...{ id: 's', type: 'tabular-series', wires: [[], [], ['f']] },
          ...{ column: 'temperature', ahead: '5m', key: 'machine' },
        },
        {
          id: 'f',
          type: 'tabular-fit',
          config: 'c',
          target: '',
          model: 'fleet',
          options: '{"n_estimators":1}',
          wires: [['fitted']],
        },
      ],
      extra: [{ id: 'fitted', type: 'helper', z: 'flow', x: 1, y: 1 }],
    });
    const fitted: Anything[] = [];
    bench.node('fitted').on('input', (msg: Anything) => fitted.push(msg));
    bench.send('s', {
      payload: ['a', 'b', 'c', 'd', 'e'].flatMap((machine) =>
        motors(0, 60).map((cells) => ({ ...cells, machine })),
      ),
    });
    const model = await waitFor('the model', () => fitted[0]?.model);
    assert.deepEqual([model.group, model.folds, model.order], ['machine', 'blocks', 'time']);
    assert.deepEqual(bench.caught.all, []);
  });

  it('gives the same rows of a table as of the same readings one by one', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, train: '1 rows' },
        { id: 't', type: 'tabular-series', ...IN_FIVE },
      ],
    });
    const readings = motors(0, 120);
    for (const payload of readings) {
      bench.send('s', { payload });
    }
    bench.send('t', { payload: readings });
    const live = await bench.out('s', 0).first(115);
    const [table] = await bench.out('t', 0).first();
    assert.deepEqual(
      live.map(({ payload }) => payload as object),
      table!.payload.slice(-live.length),
    );
    assert.deepEqual(
      live.map(({ series }) => series as object),
      table!.series.slice(-live.length),
    );
    const [set] = await bench.out('t', 2).first();
    assert.equal(set!.payload.length, 115);
    const [learned] = await bench.out('t', 1).first();
    assert.deepEqual(
      learned!.truth,
      readings.slice(5).map(({ temperature }) => temperature),
    );
  });

  it('puts values that come one by one together, machine by machine, by their topics', async () => {
    const bench = await start({ train: '4 rows', ahead: '1m', windows: '2m' });
    const now = Date.now();
    // The values of a minute ago are needed for an outcome: they come as a table, with the time in a column.
    bench.send('s', {
      payload: ['a', 'b'].flatMap((key) =>
        Array.from({ length: 6 }, (_, i) => ({
          key,
          time: now - (7 - i) * MINUTE,
          temperature: 20 + i,
          load: 1,
        })),
      ),
    });
    await settled(bench, 1);
    bench.send('s', { payload: '61.5', topic: 'plant/pump1/temperature' });
    // Values of the same millisecond are one reading, with one row.
    await settled(bench, 2);
    await new Promise((resolve) => setTimeout(resolve, 10));
    bench.send('s', { payload: Buffer.from('3'), topic: 'plant/pump1/load' });
    bench.send('s', { payload: 55, topic: 'plant/pump2/temperature' });
    bench.send('s', { payload: '{"temperature": 62, "load": 4}', topic: 'plant/pump1/reading' });
    await settled(bench, 5);
    const rows = rowsOf(bench).all.slice(1);
    assert.deepEqual(
      rows.map(({ series, payload }) => [series.key, payload.temperature, payload.load]),
      [
        ['pump1', 61.5, null],
        ['pump1', 61.5, 3],
        ['pump2', 55, null],
        [null, 62, 4],
      ],
    );
    assert.deepEqual(bench.caught.all, []);
  });

  it('takes the key from a property of the message where the dialog says so, or from a column', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, key: 'topic', keyType: 'msg', outcome: 'none' },
        { id: 'c', type: 'tabular-series', ...IN_FIVE, key: 'machine', outcome: 'none' },
      ],
    });
    bench.send('s', { payload: motor(1), topic: 'pump/7' });
    bench.send('c', { payload: motor(1, { machine: 7 }) });
    assert.equal((await bench.out('s').first())[0]!.series.key, 'pump/7');
    assert.equal((await bench.out('c').first())[0]!.series.key, '7');
    bench.send('s', { payload: motor(2) });
    const [missing] = await bench.caught.first();
    assert.equal(missing!.error!.code, 'validation.failed');
    assert.match(missing!.error!.message, /msg.topic.* is not set/);
  });

  it('takes the key from a part of the topic, whatever the topics of one machine are called', async () => {
    const event = { column: 'event', operator: '=', value: 'failure', outcome: 'event', ahead: '5m' };
    const bench = await start({ ...event, key: 'plant/+/#', keyType: 'topic', train: 'never' });
    for (let i = 0; i < 12; i++) {
      bench.send('s', { payload: motor(i), topic: 'plant/m1/readings' });
      bench.send('s', { payload: motor(i).load, topic: 'plant/m2/load' });
      if (i === 6) {
        bench.send('s', {
          payload: { time: START + 6.5 * MINUTE, event: 'failure' },
          topic: 'plant/m1/event',
        });
      }
    }
    bench.send('s', { payload: motor(13), topic: 'plant/m1/readings' });
    bench.send('s', { payload: motor(14), topic: 'works/m1/readings' });
    await settled(bench, 27);
    const outcomes = outcomesOf(bench).all;
    assert.deepEqual([...new Set(outcomes.map(({ series }) => series.key))], ['m1']);
    const yes = outcomes.filter(({ truth }) => truth === 'yes');
    assert.deepEqual(
      yes.map(({ series }) => (series.time - START) / MINUTE),
      [2, 3, 4, 5, 6],
    );
    const [other] = bench.caught.all;
    assert.equal(other!.error!.code, 'validation.failed');
    assert.match(other!.error!.message, /works\/m1\/readings/);
    assert.ok(!bench.warnings().some((text) => text.includes('warning.topics')));
  });

  it('warns once where the objects of several machines come by topics and no key is told', async () => {
    const bench = await start({ outcome: 'none' });
    for (let i = 0; i < 3; i++) {
      bench.send('s', { payload: motor(i), topic: 'plant/m1/readings' });
      bench.send('s', { payload: { time: motor(i).time, flow: i }, topic: 'plant/m1/flow' });
    }
    await settled(bench, 6);
    const mixed = () => bench.warnings().filter((text) => text.includes('warning.topics')).length;
    assert.equal(mixed(), 0);
    for (let i = 3; i < 6; i++) {
      bench.send('s', { payload: motor(i), topic: `plant/m${i}/readings` });
    }
    await settled(bench, 9);
    assert.equal(mixed(), 1);
  });

  it('takes the property that the dialog names before the topic of a single value', async () => {
    const bench = await start({ key: 'machine', keyType: 'msg', outcome: 'none' });
    bench.send('s', { payload: 3, topic: 'site/hall/temperature', machine: 'm7' });
    const [row] = await rowsOf(bench).first();
    assert.equal(row!.series.key, 'm7');
  });

  it('takes the part before the column where the whole topic is the key of a single value', async () => {
    const bench = await start({ key: 'topic', keyType: 'msg', outcome: 'none' });
    bench.send('s', { payload: 3, topic: 'site/hall/temperature' });
    const [row] = await rowsOf(bench).first();
    assert.equal(row!.series.key, 'hall');
  });

  it('makes a row for each time ahead, 24 at once, and tells their outcomes apart', async () => {
    const bench = await start({ ahead: '1m..24m', windows: '5m', train: '24 rows' });
    for (let i = 0; i < 40; i++) {
      bench.send('s', { payload: motor(i) });
    }
    await settled(bench, 40);
    const row = rowsOf(bench).all.at(-1)!;
    assert.equal(row.payload.length, 24);
    assert.deepEqual(
      row.series.map(({ ahead }: { ahead: number }) => ahead / MINUTE),
      Array.from({ length: 24 }, (_, i) => i + 1),
    );
    assert.deepEqual(
      row.payload.map(({ ahead }: { ahead: number }) => ahead),
      row.series.map(({ ahead }: { ahead: number }) => ahead),
    );
    const { truth, series } = outcomesOf(bench).all.at(-1)!;
    const { time, ahead } = series as { time: number; ahead: number };
    assert.equal(truth, motor((time - START + ahead) / MINUTE).temperature);
  });

  it('takes plans of what is known ahead, which make no row, and tells once where one is missing', async () => {
    const bench = await start({
      ahead: '1m..3m',
      knownAhead: 'shift, outside',
      windows: '5m',
      train: 'never',
    });
    const shift = (i: number) => (i < 6 ? 'early' : 'late');
    const plan = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({
        time: START + (from + i) * MINUTE,
        shift: shift(from + i),
        outside: from + i,
      }));
    bench.send('s', { payload: plan(0, 9) });
    motors(0, 6).forEach((payload) => bench.send('s', { payload }));
    bench.send('s', { payload: plan(9, 10)[0] });
    await settled(bench, 8);
    assert.deepEqual(
      rowsOf(bench).all.map(({ payload }: Anything) =>
        payload.map((row: Anything) => [row['shift then'], row['outside then']]),
      ),
      Array.from({ length: 6 }, (_, i) => [1, 2, 3].map((k) => [shift(i + k), i + k])),
    );
    const unknown = () => bench.warnings().filter((text) => text.includes('No plan says what "shift"'));
    assert.deepEqual(unknown(), []);
    motors(6, 9).forEach((payload) => bench.send('s', { payload }));
    await settled(bench, 11);
    assert.equal(rowsOf(bench).all.length, 9);
    const told = () => {
      const { planned, unknown_ahead: missing } = bench.progress('s') ?? {};
      return planned === 10 && missing === 3 ? true : undefined;
    };
    await waitFor('the counts', told);
    assert.equal(unknown().length, 1);
    assert.match(unknown()[0]!, /will be at 2026-03-02T00:10:00.000Z/);
  });

  it('sends the train set when asked, and when a watch node found decay; passes over what else that one tells', async () => {
    const bench = await start({ train: 'never' });
    bench.send('s', { payload: motors(0, 60) });
    await settled(bench, 1);
    const before = trainSetsOf(bench).all.length;
    bench.send('s', { train: true });
    await settled(bench, 2);
    assert.equal(trainSetsOf(bench).all.length, before + 1);
    assert.equal(trainSetsOf(bench).all.at(-1)!.train.reason, 'asked');
    bench.send('s', { payload: 'anything', change: { what: 'drift' } });
    bench.send('s', { payload: 'anything', change: { what: 'decay' }, train: { reason: 'decay' } });
    await settled(bench, 4);
    // Within an hour of the last train set nothing is retrained, and it says that this follows.
    assert.equal(trainSetsOf(bench).all.length, before + 1);
    await waitFor('the word', () => (/decayWaits$/.test(bench.status('s')) ? true : undefined));
    assert.deepEqual(bench.caught.all, []);
    assert.equal(bench.completed.all.length, 4);
  });

  it('takes outcomes that messages bring, by the id or by key and time; an unknown one is an error', async () => {
    const bench = await start({ outcome: 'message', column: '', train: '2 rows' });
    bench.send('s', { payload: motors(0, 3) });
    const [table] = await rowsOf(bench).first();
    const [first] = table!.series as { id: string }[];
    bench.send('s', { outcome: 'good', series: first });
    bench.send('s', { outcome: 'bad', time: START + MINUTE });
    const [good, bad] = await outcomesOf(bench).first(2);
    assert.deepEqual([good!.truth, good!.series.id], ['good', first!.id]);
    assert.deepEqual([bad!.truth, bad!.series.time], ['bad', START + MINUTE]);
    bench.send('s', { outcome: 'bad', series: { id: 'none such' } });
    bench.send('s', { outcome: 'bad' });
    const [unknown, nowhere] = await bench.caught.first(2);
    assert.equal(unknown!.error!.code, 'outcome.unknown');
    assert.equal(nowhere!.error!.code, 'validation.failed');
  });

  it('shows how many events are there, where it waits for them', async () => {
    const bench = await start({
      outcome: 'event',
      column: 'hot',
      operator: '=',
      value: 'true',
      windows: '5m',
    });
    const isHot = (i: number) => i === 100 || (i >= 200 && i < 240);
    Array.from({ length: 260 }, (_, i) => bench.send('s', { payload: motor(i, { hot: isHot(i) }) }));
    await settled(bench, 260);
    await waitFor('two events', () => (/collectingEvents$/.test(bench.status('s')) ? true : undefined));
    const { rows, total_rows, percent } = bench.progress('s')!;
    assert.deepEqual([rows, total_rows, percent], [2, 3, 66]);
    assert.deepEqual([rowsOf(bench).all.length, trainSetsOf(bench).all.length], [0, 0]);
  });

  it('keeps its state over a redeploy and a restart, until it is reset', async () => {
    const userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-series-'));
    try {
      let bench = await start({ train: '30 rows', keepAs: 'hall 1' }, { userDir });
      motors(0, 20).forEach((payload) => bench.send('s', { payload }));
      await settled(bench, 20);
      await bench.redeploy();
      await collecting(bench, 15);
      motors(20, 25).forEach((payload) => bench.send('s', { payload }));
      await settled(bench, 25);
      await bench.stop();
      assert.ok(fs.existsSync(path.join(userDir, 'tabular-prediction', 'series', 'hall 1')));
      bench = await start({ train: '30 rows', keepAs: 'hall 1' }, { userDir });
      motors(25, 36).forEach((payload) => bench.send('s', { payload }));
      await settled(bench, 11);
      const [set] = trainSetsOf(bench).all;
      assert.equal(set!.payload.length, 30);
      assert.deepEqual(
        rowsOf(bench).all.map(({ payload }) => payload.temperature as number),
        [motor(34).temperature, motor(35).temperature],
      );
      bench.send('s', { reset: true });
      bench.send('s', { payload: motor(36) });
      await settled(bench, 13);
      await collecting(bench, 0);
      assert.deepEqual(bench.caught.all, []);
    } finally {
      await stopBench();
      fs.rmSync(userDir, { recursive: true, force: true });
    }
  });

  it('goes on in memory where nothing can be kept on disk, and its status says so until it can', async () => {
    const userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-series-'));
    try {
      const kept = path.join(userDir, 'tabular-prediction', 'series');
      fs.mkdirSync(path.dirname(kept));
      fs.writeFileSync(kept, 'a file where the folder would be');
      const bench = await start({ train: '30 rows', keepAs: 'hall' }, { userDir });
      motors(0, 36).forEach((payload) => bench.send('s', { payload }));
      await settled(bench, 36);
      assert.equal(rowsOf(bench).all.length, 2);
      await waitFor('the status', () => (/notOnDisk$/.test(bench.status('s')) ? true : undefined));
      assert.equal(bench.warnings().filter((text) => /cannot be kept/.test(text)).length, 1);
      fs.rmSync(kept);
      await waitFor('room', () => (/series\.rows$/.test(bench.status('s')) ? true : undefined));
      assert.ok(fs.existsSync(path.join(kept, 'hall')));
      assert.deepEqual(bench.caught.all, []);
    } finally {
      await stopBench();
      fs.rmSync(userDir, { recursive: true, force: true });
    }
  });

  it('refuses what it cannot read, each with its code and one end, and goes on', async () => {
    const bench = await start({ outcome: 'none' });
    const refused: [object, string, RegExp][] = [
      [{ payload: motor(0, { time: 'half past ten' }) }, 'time.invalid', /half past ten/],
      [{ payload: 21.5 }, 'validation.failed', /msg.topic does not say/],
      [{ payload: {} }, 'table.empty', /./],
      [{ payload: '', topic: 'plant/m1/load' }, 'table.empty', /msg.payload is empty: neither a reading/],
      [{ payload: Buffer.alloc(0), topic: 'plant/m1/load' }, 'table.empty', /neither a reading/],
      [{ payload: [] }, 'table.empty', /./],
      [{}, 'table.empty', /payload/],
      [{ payload: motor(1, { temperature: { value: 3 } }) }, 'table.invalid', /temperature/],
      [{ payload: 'a,b\n1,2,3\n' }, 'table.invalid', /./],
    ];
    for (const [msg, code, what] of refused) {
      const before = bench.caught.all.length;
      bench.send('s', msg);
      const caught = (await bench.caught.first(before + 1)).at(-1)!;
      assert.equal(caught.error!.code, code, JSON.stringify(msg));
      assert.match(caught.error!.message, what);
    }
    bench.send('s', Object.freeze({ _msgid: 'frozen', payload: motor(2) }));
    const [row] = await rowsOf(bench).first();
    assert.equal(row!.payload.temperature, motor(2).temperature);
    await settled(bench, refused.length + 1);
    assert.equal(bench.completed.all.length, 1);
    assert.equal(bench.caught.all.length, refused.length);
  });

  it('names the field that is wrong, and a name that another node keeps its readings under', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, keepAs: 'motors' },
        { id: 't', type: 'tabular-series', ...IN_FIVE, keepAs: 'motors' },
        { id: 'ahead', type: 'tabular-series', ...IN_FIVE, ahead: 'soon' },
        { id: 'column', type: 'tabular-series', ahead: '5m' },
        { id: 'folder', type: 'tabular-series', ...IN_FIVE, keepAs: '../elsewhere' },
      ],
    });
    bench.send('s', { payload: motor(0) });
    await bench.completed.first();
    for (const [id, what] of [
      ['t', /Keep as .*"motors"/],
      ['ahead', /Ahead.*soon/],
      ['column', /Column/],
      ['folder', /Keep as/],
    ] as const) {
      const before = bench.caught.all.length;
      bench.send(id, { payload: motor(0) });
      const caught = (await bench.caught.first(before + 1)).at(-1)!;
      assert.equal(caught.error!.code, 'config.invalid');
      assert.match(caught.error!.message, what);
    }
  });

  it('warns once of a reading from the future, and reads a burst of readings as if they had come in time', async () => {
    const bench = await start({ train: '100 rows' });
    const begin = Date.now() - 700 * MINUTE;
    for (let i = 0; i < 600; i++) {
      bench.send('s', { payload: motor(i, { time: begin + i * MINUTE }) });
    }
    await settled(bench, 600);
    assert.equal(outcomesOf(bench).all.length, 595);
    assert.equal(rowsOf(bench).all.length, 600 - 104);
    bench.send('s', { payload: motor(600, { time: Date.UTC(2099, 0, 1) }) });
    bench.send('s', { payload: motor(601, { time: Date.UTC(2099, 0, 1) + MINUTE }) });
    await settled(bench, 602);
    assert.equal(bench.caught.all.length, 0);
    await waitFor('the count', () => (bench.progress('s').future === 2 ? true : undefined));
    await bench.stop();
    assert.equal(bench.warnings().filter((text) => /future|2099/.test(text)).length, 1);
  });

  it('offers the columns of readings to its dialog, also before it can be used', async () => {
    const bench = await startBench({ nodes: [{ id: 'fresh', type: 'tabular-series' }] });
    bench.send('fresh', { payload: 21, topic: 'hall/motor/temperature' });
    bench.send('fresh', { payload: 3, topic: 'hall/motor/load' });
    await bench.caught.first(2);
    assert.deepEqual(columnsSeen('fresh'), ['temperature', 'load']);
  });
});
