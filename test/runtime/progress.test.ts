import assert from 'node:assert/strict';

import { type FlowNode, placed, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { installedPackage } from '../helpers/packed';
import { startStrictService, type StrictService } from '../helpers/strict-service';

interface Status {
  text: string;
  fill?: string;
  progress?: Record<string, number | string>;
  source: { id: string };
}

/** A function node that makes rows of random numbers, all alike at each run. */
const rows = (id: string, count: number, columns: number, to: string): FlowNode => ({
  id,
  type: 'function',
  z: 'tab',
  func: `let seed = 7;
    const next = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    msg.payload = Array.from({ length: ${count} }, (_, i) => {
      const row = { id: i, y: 0 };
      for (let c = 0; c < ${columns}; c++) row['c' + c] = next();
      row.y = Math.sin(9 * row.c0) + row.c1 * row.c2 + 0.1 * next();
      return row;
    });
    return msg;`,
  outputs: 1,
  libs: [],
  wires: [[to]],
});

const inject = (id: string, to: string): FlowNode => ({
  id,
  type: 'inject',
  z: 'tab',
  props: [],
  wires: [[to]],
});

const debug = (id: string, complete: string): FlowNode => ({
  id,
  type: 'debug',
  z: 'tab',
  active: true,
  tosidebar: true,
  complete,
  targetType: 'msg',
  wires: [],
});

describe('progress, as a Status node of Node-RED gets it', function () {
  this.timeout(180_000);

  let service: StrictService;
  let red: RealNodeRed;

  before(async () => {
    service = await startStrictService();
    // About 20 MB in pieces of 64 KiB: some seconds.
    service.fault('put', () => ({ slowReadMs: 10 }));
    red = await startNodeRed({
      flows: [],
      link: { 'node-red-contrib-tabular-prediction': installedPackage() },
    });
    await red.deploy(
      placed([
        { id: 'tab', type: 'tab', label: 'progress' },
        {
          id: 'far',
          type: 'tabular-config',
          service: 'hosted',
          baseUrl: service.url,
          credentials: { token: service.token },
        },
        { id: 'near', type: 'tabular-config', service: 'embedded' },
        inject('go-upload', 'wide'),
        rows('wide', 40_000, 60, 'upload'),
        {
          id: 'upload',
          type: 'tabular-upload',
          z: 'tab',
          config: 'far',
          set: 'train',
          target: 'y',
          wires: [['sent']],
        },
        inject('go-fit', 'long'),
        rows('long', 100_000, 16, 'fit'),
        {
          id: 'fit',
          type: 'tabular-fit',
          z: 'tab',
          config: 'near',
          target: 'y',
          ignore: 'id',
          wires: [['fitted']],
        },
        { id: 'status', type: 'status', z: 'tab', scope: ['upload', 'fit'], wires: [['statuses']] },
        debug('statuses', 'status'),
        debug('sent', 'upload'),
        debug('fitted', 'model'),
      ]),
    );
  });

  after(async () => {
    await red?.stop();
    await service?.close();
  });

  const statusesOf = (id: string): Status[] =>
    red.debug
      .filter((shown) => shown.id === 'statuses')
      .map((shown) => shown.msg as Status)
      .filter((status) => status.source.id === id);

  it('a long upload: percent, speed and time left, in words and in numbers', async () => {
    await red.inject('go-upload');
    await red.shown('sent', 1, 60_000);
    const seen = statusesOf('upload');
    const full = seen.filter((status) => status.progress?.seconds_left !== undefined);
    assert.ok(full.length >= 2, JSON.stringify(seen));
    for (const { text, progress } of full) {
      assert.match(text, /^uploading \d+%, [\d.]+ [kM]B\/s, \d+ (s|min) left$/);
      assert.equal(progress!.phase, 'uploading');
      assert.ok(Number(progress!.bytes) <= Number(progress!.total_bytes));
      assert.ok(text.startsWith(`uploading ${progress!.percent}%`), text);
      assert.ok(Number(progress!.bytes_per_second) > 0);
    }
    const percents = full.map(({ progress }) => Number(progress!.percent));
    assert.deepEqual(
      percents,
      [...percents].sort((a, b) => a - b),
    );
    assert.equal(seen.at(-1)!.progress, undefined, 'nothing is under way any more');
    assert.deepEqual(service.breaches, []);
  });

  it('a long fit on the embedded service: how long, how far, how long still', async () => {
    await red.inject('go-fit');
    await red.shown('fitted', 1, 90_000);
    const fitting = statusesOf('fit').filter((status) => status.progress?.phase === 'fitting');
    assert.match(fitting[0]!.text, /^fitting 0 s$/);
    const known = fitting.filter((status) => status.progress!.percent !== undefined);
    assert.ok(known.length >= 1, JSON.stringify(fitting));
    for (const { text, progress } of known) {
      assert.match(text, /^fitting \d+ s, \d+%(, \d+ (s|min) left)?$/);
      assert.ok(Number(progress!.percent) >= 0 && Number(progress!.percent) <= 100);
    }
    const percents = known.map(({ progress }) => Number(progress!.percent));
    assert.deepEqual(
      percents,
      [...percents].sort((a, b) => a - b),
    );
    // It is asked once a second: the last time may be that long before the end.
    assert.ok(percents.at(-1)! >= 60, String(percents));
    const reading = statusesOf('fit').filter((status) => status.progress?.phase === 'reading');
    // A table that is read within a blink has no percentage.
    assert.match(reading.at(-1)!.text, /^reading( \d+%)?$/);
  });
});
