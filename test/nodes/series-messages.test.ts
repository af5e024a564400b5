import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { waitFor } from '../helpers/wait';
import { type Anything, type Bench, startBench, stopBench } from './bench';

/** A message as a source documents it, and what a row of its first reading must hold. */
interface Documented {
  name: string;
  settings: Record<string, string>;
  messages: Record<string, Anything>[];
  plan?: true;
  key: string;
  time: string | null;
  values: Record<string, unknown>;
  not?: string[];
}

const FILE = path.join(__dirname, '..', 'fixtures', 'messages', 'documented.json');
const DOCUMENTED = JSON.parse(fs.readFileSync(FILE, 'utf8')) as Documented[];
/** Single values: the key is that of the topic, though nothing is told of it. */
const KEYS: Record<string, string> = { 'sensor-errors-and-units': 'pump1' };

describe('messages as their sources send them', () => {
  /* As they come: a reading without a time is one of now only where those before it are. */
  const realNow = Date.now;
  before(() => {
    const behind = realNow() - Date.parse('2026-11-25T10:05:00Z');
    Date.now = () => realNow() - behind;
  });
  after(() => {
    Date.now = realNow;
  });
  afterEach(stopBench);

  const start = (properties: object): Promise<Bench> =>
    startBench({
      nodes: [{ id: 's', type: 'tabular-series', shape: 'auto', outcome: 'none', ...properties }],
    });

  const settled = (bench: Bench, count: number) =>
    waitFor(`${count} messages done`, () =>
      bench.completed.all.length + bench.caught.all.length >= count ? true : undefined,
    );

  for (const { name, settings, messages, plan, key, time, values, not = [] } of DOCUMENTED) {
    it(`${name}: ${plan ? 'a plan' : 'a row of its first reading'}`, async () => {
      const about = plan
        ? { outcome: 'column', column: 'load', ahead: '1h', train: 'never' }
        : { send: 'all' };
      const bench = await start({ ...about, ...settings });
      for (const message of messages) {
        bench.send('s', message);
      }
      await settled(bench, messages.length);
      assert.deepEqual(
        bench.caught.all.map(({ error }) => error),
        [],
      );
      if (plan) {
        await waitFor('4 rows of a plan', () =>
          (bench.progress('s') as { planned?: number } | undefined)?.planned === 4 ? true : undefined,
        );
        return;
      }
      const [first] = bench.out('s', 0).all;
      const row = [first!.payload].flat()[0] as Record<string, unknown>;
      const address = [first!.series].flat()[0] as { key: string | null; time: number };
      assert.equal(address.key ?? '', KEYS[name] ?? key);
      if (time !== null) {
        const wanted = time.endsWith('in local time') ? new Date(time.slice(0, 19)) : new Date(time);
        assert.equal(new Date(address.time).toISOString(), wanted.toISOString());
      }
      for (const [column, value] of Object.entries(values)) {
        assert.equal(row[column], value, column);
      }
      for (const column of not) {
        assert.equal(column in row, false, column);
      }
    });
  }

  const T = Date.UTC(2026, 10, 25, 10);
  const plug = (i: number, power: unknown): Anything => ({
    topic: 'tele/plug1/SENSOR',
    payload: { Time: `2026-11-25T10:0${i}:00`, ENERGY: { Power: power, Voltage: 230, Phases: [1, 2] } },
  });

  it('are shown in the status and to the dialog as they were read; what is left out is told once', async () => {
    const bench = await start({ send: 'all' });
    for (let i = 0; i < 3; i++) {
      bench.send('s', plug(i, 5 + i));
    }
    await settled(bench, 3);
    // The helper has no catalogue of texts.
    await bench.shows('s', /status\.series\.asKey$/);
    const { body } = await bench.request().get('/tabular-prediction/s/last-reading');
    assert.deepEqual(body, {
      ...{ shape: 'Tasmota', key: 'plug1', time: '2026-11-25T10:02:00' },
      ...{ values: { 'ENERGY.Power': 7, 'ENERGY.Voltage': 230 }, readings: 1 },
    });
    const told = bench.warnings().filter((text) => text.includes('ENERGY.Phases'));
    assert.equal(told.length, 1);
    assert.match(told[0]!, /has 2 values without a name/);
  });

  it('are shown as one value where there is one', async () => {
    const bench = await start({ send: 'all' });
    const payload = { Time: '2026-11-25T10:00:00', ENERGY: { Power: 7 } };
    bench.send('s', { topic: 'tele/plug1/SENSOR', payload });
    await settled(bench, 1);
    await bench.shows('s', /status\.series\.asKeyValue$/);
  });

  it('that nobody has decoded show their device, and say so once', async () => {
    const bench = await start({ send: 'all' });
    const uplink = (i: number): Anything => ({
      end_device_ids: { device_id: 'dev1' },
      ...{ received_at: `2026-11-25T10:0${i}:00Z`, uplink_message: { f_port: 1, frm_payload: 'gkHe' } },
    });
    for (let i = 0; i < 3; i++) {
      bench.send('s', { payload: uplink(i) });
    }
    await settled(bench, 3);
    assert.equal(bench.out('s', 0).all.length, 0);
    const { body } = await bench.request().get('/tabular-prediction/s/last-reading');
    const time = '2026-11-25T10:02:00Z';
    assert.deepEqual(body, { shape: 'The Things Stack', key: 'dev1', time, values: {}, readings: 1 });
    const told = bench.warnings().filter((text) => text.includes('not decoded'));
    assert.equal(told.length, 1);
    assert.match(told[0]!, /^The Things Stack, device "dev1": its payload is not decoded/);
  });

  it('of a table with a column for each day are its readings, a column for each row', async () => {
    const bench = await start({ send: 'all' });
    const days = ['2026-11-22', '2026-11-23', '2026-11-24'];
    const text = `sensor,${days.join(',')}\nt1,21.5,21.6,21.7\nt2,3,4,5\n`;
    bench.send('s', { payload: text });
    bench.send('s', { payload: text.replaceAll('\n', ',x\n').replace(',x', ',unit') });
    await settled(bench, 2);
    const [{ payload, series }] = bench.out('s', 0).all as [Anything];
    assert.deepEqual(
      payload.map(({ t1, t2 }: Anything) => [t1, t2]),
      [
        [21.5, 3],
        [21.6, 4],
        [21.7, 5],
      ],
    );
    assert.deepEqual(
      series.map(({ time }: Anything) => time - series[0].time),
      [0, 1, 2].map((day) => day * 86_400_000),
    );
    assert.match(bench.caught.all[0]!.error!.message, /names of 3 columns are dates/);
  });

  it('of two topics that fill one column are told once', async () => {
    const bench = await start({ send: 'all' });
    for (let i = 0; i < 4; i++) {
      const payload = { value: 20 + i, timestamp: T + i * 1000 };
      bench.send('s', { topic: `plant/pump${i % 2}/temperature`, payload: { temperature: payload } });
    }
    await settled(bench, 4);
    assert.equal(bench.warnings().filter((text) => text.includes('warning.topics')).length, 1);
  });

  it('have the words for missing of the node, as its tables have them', async () => {
    const settings = { send: 'all', missingWords: 'no signal, -999', shape: 'auto' };
    const cells: Record<string, unknown[]> = {};
    for (const form of ['live', 'table'] as const) {
      const bench = await start(settings);
      const rows = [21, 'no signal', ' No Signal ', 'unavailable', -999, 22].map((t, i) => ({
        time: T + i * 60_000,
        t,
      }));
      const sent = form === 'live' ? rows : [rows];
      sent.forEach((payload) => bench.send('s', { payload }));
      await settled(bench, sent.length);
      assert.deepEqual(
        bench.caught.all.map(({ error }) => error),
        [],
      );
      cells[form] = bench
        .out('s', 0)
        .all.flatMap(({ payload }) => [payload].flat().map((row: Anything) => row.t));
      await stopBench();
    }
    // A row has the value of before where its own is missing.
    assert.deepEqual(cells.live, [21, 21, 21, 21, 21, 22]);
    assert.deepEqual(cells.table, cells.live);
  });
});
