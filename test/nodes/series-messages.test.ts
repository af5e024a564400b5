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
});
