import assert from 'node:assert/strict';

import { waitFor } from '../helpers/wait';
import { type Anything, type Bench, type Msg, startBench, stopBench } from './bench';

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 2);

const motors = (from: number, to: number): Record<string, Anything>[] =>
  Array.from({ length: to - from }, (_, i) => ({
    time: START + (from + i) * MINUTE,
    temperature: Number((60 + 10 * Math.sin((from + i) / 12)).toFixed(2)),
    load: (from + i) % 7,
  }));

const IN_FIVE = { column: 'temperature', ahead: '5m', windows: '5m, 20m' };
const CELLS = 20_000;
const cellsOf = ({ payload }: Msg): number =>
  payload.reduce((sum: number, row: object) => sum + Object.keys(row).length, 0);
const allRows = (messages: Msg[]): Anything[] => messages.flatMap(({ payload }) => payload);

describe('tabular-series, a table of past readings', function () {
  this.timeout(120_000);
  afterEach(stopBench);

  const start = (properties: object = {}, more: Partial<Parameters<typeof startBench>[0]> = {}) =>
    startBench({ nodes: [{ id: 's', type: 'tabular-series', ...IN_FIVE, ...properties }], ...more });
  const warnings = (bench: Bench): string[] =>
    bench.warnings().filter((text) => text.endsWith('warning.pastRows'));

  it('sends the newest row where that is chosen, the train set before it, and no outcome of another', async () => {
    const bench = await start({ send: 'newest' });
    bench.send('s', { payload: motors(0, 1500), topic: 'past', kept: 1 });
    await bench.completed.first();
    const [row] = bench.out('s', 0).all as [Msg];
    assert.deepEqual([row.payload.length, row.series.length, row.kept, row.parts], [1, 1, 1, undefined]);
    assert.equal(row.series[0].time, START + 1499 * MINUTE);
    assert.equal(bench.out('s', 2).all[0]!.payload.length, 1495);
    assert.equal(bench.out('s', 1).all.length, 0);
    for (const payload of motors(1500, 1505)) {
      bench.send('s', { payload });
    }
    await bench.completed.first(6);
    const [outcome, ...others] = bench.out('s', 1).all;
    assert.deepEqual([outcome!.series.id, others.length], [row.series[0].id, 0]);
    assert.deepEqual(warnings(bench), []);
  });

  it('finds the time of a German export by its name and reads its dates', async () => {
    const bench = await start({ shape: 'auto', send: 'newest', column: 'Verbrauch (kWh)', timezone: 'UTC' });
    const lines = motors(0, 300).map(({ time, temperature }) => {
      const [day, clock] = new Date(time).toISOString().split('T') as [string, string];
      return `${day.split('-').reverse().join('.')} ${clock.slice(0, 5)};${String(temperature).replace('.', ',')}`;
    });
    bench.send('s', { payload: ['Zeitpunkt;Verbrauch (kWh)', ...lines].join('\r\n') });
    await bench.completed.first();
    assert.equal(bench.out('s', 0).all[0]!.series[0].time, START + 299 * MINUTE);
  });

  it('sends all in a flow that does not say, in one message of at most 20,000 cells', async () => {
    const bench = await start();
    bench.send('s', { payload: motors(0, 600) });
    await bench.completed.first();
    assert.deepEqual(
      [0, 1].map((output) => bench.out('s', output).all.map(({ payload, parts }) => [payload.length, parts])),
      [[[600, undefined]], [[595, undefined]]],
    );
    assert.deepEqual(warnings(bench), []);
  });

  it('sends more than that in messages one after the other, says so first, and is done once', async () => {
    const bench = await start();
    const table = motors(0, 1500);
    const order: string[] = [];
    for (const [output, name] of ['row', 'outcome', 'train set'].entries()) {
      const inbox = bench.out('s', output);
      const take = inbox.take.bind(inbox);
      inbox.take = (msg) => {
        order.push(...(order.at(-1) === name ? [] : [name]));
        take(msg);
      };
    }
    const outer = { id: 'outer', index: 2, count: 3 };
    const nested = { data: { readings: table }, other: 1 };
    await bench.change('s', { table: 'payload.data.readings' }, 'nodes');
    bench.send('s', { payload: nested, topic: 'past', parts: outer, kept: { deep: 1 } });
    await bench.completed.first();
    const rows = bench.out('s', 0).all;
    const outcomes = bench.out('s', 1).all;
    const inside = rows.map((msg) => ({ ...msg, payload: msg.payload.data.readings }));
    assert.deepEqual(order, ['train set', 'row', 'outcome']);
    assert.ok(rows.length > 2 && inside.every((msg) => cellsOf(msg) <= CELLS));
    assert.deepEqual([allRows(inside).length, outcomes.flatMap(({ truth }) => truth).length], [1500, 1495]);
    assert.deepEqual(
      rows.flatMap(({ series }) => series.map(({ time }: { time: number }) => time)),
      table.map(({ time }) => time),
    );
    const { id } = rows[0]!.parts;
    rows.forEach(({ parts, topic, kept, payload }, index) => {
      const { len, ...others } = parts;
      const property = 'payload.data.readings';
      assert.deepEqual(others, { id, type: 'array', index, count: rows.length, property, parts: outer });
      assert.equal(len, inside[0]!.payload.length);
      assert.deepEqual([topic, kept, payload.other], ['past', { deep: 1 }, 1]);
    });
    assert.notEqual(rows[0]!.kept, rows[1]!.kept, 'each has its own');
    outcomes.forEach(({ parts }, index) => assert.deepEqual([parts.index, parts.parts], [index, undefined]));
    assert.equal(bench.completed.all.length, 1);
    assert.equal(warnings(bench).length, 1);
    bench.send('s', { payload: { data: { readings: table } } });
    await bench.completed.first(2);
    assert.equal(warnings(bench).length, 1, 'said once');
    assert.deepEqual(bench.caught.all, []);
  });

  it('makes messages that a Join node puts together again', async () => {
    const bench = await start(
      { wires: [['join'], [], []] },
      {
        extra: [
          { id: 'join', type: 'join', z: 'flow', x: 1, y: 1, mode: 'auto', wires: [['joined']] },
          { id: 'joined', type: 'helper', z: 'flow', x: 1, y: 1 },
        ],
      },
    );
    const joined: Msg[] = [];
    bench.node('joined').on('input', (msg: Msg) => joined.push(msg));
    bench.send('s', { payload: motors(0, 1500) });
    const [whole] = await waitFor('the joined table', () => (joined.length > 0 ? joined : undefined));
    assert.equal(whole!.payload.length, 1500);
    assert.equal(whole!.parts, undefined);
    assert.equal(whole!.payload[1499].load, 1499 % 7);
  });

  it('has few rows under way, so that the queue of a predict node holds them, and takes readings meanwhile', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, wires: [['between'], ['outcomes'], []] },
        {
          ...{ id: 'p', type: 'tabular-predict', model: 'motor', noModel: 'wait', property: 'forecast' },
          ...{ queue: 150 },
        },
        { id: 'f', type: 'tabular-fit', model: 'motor', options: '{"n_estimators":1}' },
      ],
      extra: [
        { id: 'between', type: 'helper', z: 'flow', x: 1, y: 1, wires: [['p']] },
        { id: 'outcomes', type: 'helper', z: 'flow', x: 1, y: 1 },
      ],
    });
    let [sent, answered, most] = [0, 0, 0];
    const between = bench.node('between') as Anything;
    between.on('input', (msg: Msg) => {
      sent += Array.isArray(msg.payload) ? msg.payload.length : 1;
      most = Math.max(most, sent - answered);
      between.send(msg);
    });
    const predicted = bench.out('p');
    const take = predicted.take.bind(predicted);
    predicted.take = (msg) => {
      answered += Array.isArray(msg.payload) ? msg.payload.length : 1;
      take(msg);
    };
    bench.send('s', { payload: motors(0, 3000) });
    await waitFor('the rows wait for the model', () => bench.progress('p')?.waiting || undefined);
    bench.send('s', { payload: motors(3000, 3001)[0], topic: 'live' });
    await waitFor('the live reading', () =>
      bench.completed.all.some(({ topic }) => topic === 'live') ? true : undefined,
    );
    assert.ok(sent <= 101, `${sent} rows are under way`);
    bench.send('f', {
      payload: motors(0, 60).map(({ temperature, load }) => ({ temperature, load })),
      target: 'load',
    });
    await waitFor('all rows', () => (answered === 3001 ? true : undefined), 100_000);
    assert.ok(most <= 101, `${most} rows at most were under way`);
    assert.deepEqual(bench.caught.all, []);
    await bench.completed.first(3 + predicted.all.length);
    const own = bench.completed.all.filter(({ payload, topic }) => payload === null && topic === undefined);
    assert.equal(own.length, 1, 'done once, with the table left out');
  });

  it('ends with the error closed where it is redeployed midway', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, wires: [['p'], [], []] },
        { id: 'p', type: 'tabular-predict', model: 'motor', noModel: 'wait' },
      ],
    });
    bench.send('s', { payload: motors(0, 3000) });
    await waitFor('the rows wait for the model', () => bench.progress('p')?.waiting || undefined);
    await bench.redeploy();
    assert.ok(bench.warnings().some((text) => text.endsWith('warning.closed')));
  });

  it('refuses more tables than may wait, though it takes their readings and sends their train sets', async () => {
    const bench = await startBench({
      nodes: [
        { id: 's', type: 'tabular-series', ...IN_FIVE, wires: [['p'], [], ['sets']] },
        { id: 'p', type: 'tabular-predict', model: 'motor', noModel: 'wait' },
      ],
      extra: [{ id: 'sets', type: 'helper', z: 'flow', x: 1, y: 1 }],
    });
    const sets: Msg[] = [];
    bench.node('sets').on('input', (msg: Msg) => sets.push(msg));
    for (let i = 0; i < 5; i++) {
      bench.send('s', { payload: motors(i * 1500, (i + 1) * 1500) });
    }
    const [refused] = await bench.caught.first();
    assert.equal(refused!.error!.code, 'queue.full');
    assert.match(refused!.error!.message, /those of 4 earlier tables still wait/);
    await waitFor('the train sets', () => (sets.length === 5 ? true : undefined));
  });

  describe('of one value in each row, as Home Assistant exports it', () => {
    const HISTORY = ['entity_id,state,last_changed'].concat(
      Array.from(
        { length: 30 },
        (_, i) => `sensor.energy,${i % 7},${new Date(START + i * 60 * MINUTE).toISOString()}`,
      ),
      `sensor.outside,4,${new Date(START).toISOString()}`,
    );
    const ENTITIES = HISTORY.slice(1).map((line) => {
      const [entity_id, state, last_changed] = line.split(',');
      return { entity_id, state, last_changed };
    });
    const csv = HISTORY.join('\n');
    // What a node has received is kept by its id, so that each test has a node of its own.
    let tests = 0;
    const startNode = async (properties: object): Promise<Bench & { id: string }> => {
      const id = `history${tests++}`;
      const node = { id, type: 'tabular-series', ...IN_FIVE, shape: 'auto', ...properties };
      return Object.assign(await startBench({ nodes: [node] }), { id });
    };
    const offered = async (bench: Bench & { id: string }): Promise<string[]> =>
      (await bench.request().get(`/tabular-prediction/${bench.id}/columns`)).body as string[];
    const unseen = (bench: Bench): string[] =>
      bench.warnings().filter((text) => text.endsWith('warning.unseenOutcome'));

    for (const [name, payload] of Object.entries({ csv, list: ENTITIES, bytes: Buffer.from(csv) })) {
      it(`offers the columns of its readings before one is chosen: ${name}`, async () => {
        const bench = await startNode({ column: '' });
        bench.send(bench.id, { payload });
        const [row] = await bench.out(bench.id).first();
        assert.equal((row!.payload as Msg[])[0]!['sensor.energy'], 0);
        assert.deepEqual((await offered(bench)).sort(), ['sensor.energy', 'sensor.outside']);
      });
    }

    it('sends rows and offers their columns before one is chosen, and says so once', async () => {
      const bench = await startNode({ column: '' });
      bench.send(bench.id, { payload: { temperature: 21, load: 3 } });
      bench.send(bench.id, { payload: { temperature: 22, load: 3 } });
      const rows = await bench.out(bench.id).first(2);
      assert.deepEqual(
        rows.map(({ payload }) => (payload as Msg).temperature),
        [21, 22],
      );
      assert.deepEqual(await offered(bench), ['temperature', 'load']);
      await bench.shows(bench.id, /noColumn/);
      assert.equal(bench.warnings().filter((text) => text.endsWith('warning.noColumn')).length, 1);
    });

    it('refuses a reading without one in a node of an earlier version', async () => {
      const bench = await startNode({ column: '', shape: undefined });
      bench.send(bench.id, { payload: { temperature: 21 } });
      const [refused] = await bench.caught.first();
      assert.equal(refused!.error!.code, 'config.invalid');
    });

    it('says once that no reading has the column of the outcome, and which they have', async () => {
      const bench = await startNode({ column: 'state', ahead: '1h' });
      bench.send(bench.id, { payload: csv });
      bench.send(bench.id, { payload: csv });
      await bench.completed.first(2);
      await bench.shows(bench.id, /unseenOutcome/);
      assert.equal(unseen(bench).length, 1);
      assert.deepEqual((await offered(bench)).sort(), ['sensor.energy', 'sensor.outside']);
    });

    it('takes such a column', async () => {
      const bench = await startNode({ column: 'sensor.energy', ahead: '1h' });
      bench.send(bench.id, { payload: csv });
      await bench.completed.first();
      await bench.shows(bench.id, /asValue|collecting/);
      assert.deepEqual(unseen(bench), []);
    });
  });
});
