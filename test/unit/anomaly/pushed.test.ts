import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { anomalies, type AnomalyMachines } from '../../../dist/src';

const T = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const LEARN = 100;

/** A pump whose heat follows its load. */
const loadAt = (row: number): number => 10 + ((row * 37) % 23);
const heatAt = (row: number): number => 20 + 2 * loadAt(row) + ((row * 7) % 5) / 10;

describe('readings that a program pushes to anomalies', function () {
  this.timeout(30_000);

  const open: AnomalyMachines[] = [];
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));

  const start = async (options: Parameters<typeof anomalies>[0] = {}): Promise<AnomalyMachines> => {
    const one = await anomalies({ learn: LEARN, ...options });
    open.push(one);
    return one;
  };

  type Push = (one: AnomalyMachines, row: number, heat: number) => Promise<unknown>;
  const uplink = (row: number, heat: number): object => ({
    end_device_ids: { device_id: 'pump' },
    uplink_message: {
      decoded_payload: { load: loadAt(row), engine: { heat } },
      received_at: new Date(T + row * MINUTE).toISOString(),
    },
  });
  const FORMS: [string, Parameters<typeof anomalies>[0], string | null, string, Push][] = [
    [
      'nested objects',
      {},
      null,
      'engine.heat',
      (one, row, heat) => one.push({ time: T + row * MINUTE, load: loadAt(row), engine: { heat } }),
    ],
    [
      'a shape of a source, with its key',
      {},
      'pump',
      'engine.heat',
      (one, row, heat) => one.push(uplink(row, heat)),
    ],
    [
      'a key in a column',
      { key: 'machine' },
      'pump',
      'heat',
      (one, row, heat) => one.push({ machine: 'pump', time: T + row * MINUTE, load: loadAt(row), heat }),
    ],
    [
      'single values on topics of their own',
      { key: 'plant/+/#', keyType: 'topic' },
      'pump',
      'heat',
      async (one, row, heat) => [
        ...(await one.push(loadAt(row), { topic: 'plant/pump/load', time: T + row * MINUTE })),
        ...(await one.push(`${heat} °C`, { topic: 'plant/pump/heat', time: T + row * MINUTE })),
      ],
    ],
    [
      'a value a row, with its name',
      {},
      null,
      'heat',
      (one, row, heat) =>
        one.push([
          { n: 'load', v: loadAt(row), t: (T + row * MINUTE) / 1000 },
          { n: 'heat', v: heat, t: (T + row * MINUTE) / 1000 },
        ]),
    ],
    [
      'plain objects',
      { shape: 'plain' },
      null,
      'heat',
      (one, row, heat) => one.push({ time: T + row * MINUTE, load: loadAt(row), heat }),
    ],
  ];
  for (const [name, options, key, column, push] of FORMS) {
    it(`may be ${name}`, async () => {
      const one = await start(options);
      for (let row = 0; row < LEARN + 1; row++) {
        await push(one, row, heatAt(row));
      }
      await one.settled();
      const answers = (await push(one, LEARN + 1, heatAt(LEARN + 1) + 30)) as Awaited<
        ReturnType<typeof one.push>
      >;
      const { state, sensors, key: of, time } = answers.at(-1)!;
      assert.deepEqual([state, sensors[0]?.column, of], ['unusual', column, key]);
      assert.equal(time, T + (LEARN + 1) * MINUTE);
    });
  }

  it('may be several of a message, each answered', async () => {
    const one = await start();
    const answers = await one.push({
      'Pump A': [{ ts: T, values: { load: 1, heat: 2 } }],
      'Pump B': [{ ts: T, values: { load: 1, heat: 2 } }],
    });
    assert.deepEqual(
      answers.map(({ key, state }) => [key, state]),
      [
        ['Pump A', 'learning'],
        ['Pump B', 'learning'],
      ],
    );
  });

  it('teach as tables of past readings: rows, a file, rows of one value each', async () => {
    const rows = Array.from({ length: LEARN }, (_, row) => ({
      ...{ time: T + row * MINUTE, load: loadAt(row), engine: { heat: heatAt(row) } },
    }));
    const file = path.join(os.tmpdir(), `pushed-${process.pid}.csv`);
    const lines = rows.map(({ time, load, engine }) =>
      [new Date(time).toISOString(), load, engine.heat].join(),
    );
    fs.writeFileSync(file, ['time,load,engine.heat', ...lines].join('\n'));
    const history = rows.flatMap(({ time, load, engine }) => {
      const last_changed = new Date(time).toISOString();
      return [
        { entity_id: 'load', state: String(load), last_changed },
        { entity_id: 'engine.heat', state: String(engine.heat), last_changed },
      ];
    });
    try {
      for (const teach of [
        (one: AnomalyMachines) => one.backfill({ table: rows }),
        (one: AnomalyMachines) => one.backfill({ path: file }),
        (one: AnomalyMachines) => one.backfill({ table: history }),
        (one: AnomalyMachines) => one.push(history),
      ]) {
        const one = await start();
        await teach(one);
        await one.settled();
        const last = { load: loadAt(LEARN), engine: { heat: heatAt(LEARN) + 30 } };
        const [answer] = await one.push(last, { time: T + LEARN * MINUTE });
        assert.deepEqual([answer!.state, answer!.sensors[0]?.column], ['unusual', 'engine.heat']);
      }
      const keyed = await start();
      assert.deepEqual(await keyed.backfill({ table: rows, key: 'pump' }), { rows: LEARN, keys: 1 });
      assert.equal(
        (
          await keyed.push({ load: 1, engine: { heat: 2 } }, { key: 'pump', time: T + 2 * LEARN * MINUTE })
        )[0]!.rows,
        LEARN + 1,
      );
    } finally {
      fs.rmSync(file);
    }
  });

  it('are refused where no column is told of a value, or the pattern of topics is none', async () => {
    const one = await start();
    await assert.rejects(one.push(7), {
      code: 'validation.failed',
      message: /with the topic that it came by/,
    });
    await assert.rejects(one.push({}), { code: 'validation.failed', message: /has no values/ });
    await assert.rejects(anomalies({ keyType: 'topic', key: 'plant/#' }), { code: 'config.invalid' });
    await assert.rejects(anomalies({ shape: 'other' as 'auto' }), { code: 'config.invalid' });
  });

  it('are forgotten with their key while they wait for the others of their round', async () => {
    const one = await start();
    const push = (column: string, value: number) => one.push(value, { topic: `pump/${column}` });
    await push('load', 1);
    await push('heat', 2);
    await push('load', 3);
    await one.reset();
    await push('heat', 4);
    const [first] = await push('heat', 5);
    assert.deepEqual([first!.rows, [...one.known.get('pump')!.columns.keys()]], [1, ['heat']]);
  });
});
