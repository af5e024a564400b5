import assert from 'node:assert/strict';

import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';

interface Status {
  text: string;
  fill?: string;
  progress?: Record<string, number | string>;
  source: { id: string };
  /** When it came, in milliseconds. */
  at: number;
}

/** The body of a function node that makes rows of random numbers, all alike at each run. */
const rows = (count: number, columns: number): string => `let seed = 7;
  const next = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  msg.payload = Array.from({ length: ${count} }, (_, i) => {
    const row = { id: i, y: 0 };
    for (let c = 0; c < ${columns}; c++) row['c' + c] = next();
    row.y = Math.sin(9 * row.c0) + row.c1 * row.c2 + 0.1 * next();
    return row;
  });
  return msg;`;

function flow(service: StrictService): FlowNode[] {
  const flow = new TestFlow('progress');
  flow.hosted(service, {}, 'far');
  flow.embedded('near');
  flow.wire(
    flow.inject('go-upload'),
    flow.code('wide', rows(20_000, 60)),
    flow.tabular('upload', 'upload', { config: 'far', set: 'train', target: 'y' }),
    flow.debug('sent', 'upload'),
  );
  flow.wire(
    flow.inject('go-fit'),
    flow.code('long', rows(40_000, 16)),
    flow.tabular('fit', 'fit', { config: 'near', target: 'y', ignore: 'id' }),
    flow.debug('fitted', 'model'),
  );
  flow.wire(flow.node('status', 'status', { scope: ['upload', 'fit'] }), flow.debug('statuses', 'status'));
  return flow.nodes;
}

describe('progress, as a Status node of Node-RED gets it', function () {
  this.timeout(300_000);

  let service: StrictService;
  let red: RealNodeRed;

  before(async () => {
    service = await startStrictService();
    // About 10 MB in pieces of 64 KiB; a connection buffers half of it, the other half takes three seconds.
    service.fault('put', () => ({ slowReadMs: 40 }));
    red = await startNodeRed({ flows: [] });
    await red.deploy(flow(service));
  });

  after(async () => {
    await red?.stop();
    await service?.close();
  });

  const statusesOf = (id: string): Status[] =>
    red.debug
      .filter((shown) => shown.id === 'statuses')
      .map(({ msg, at }) => ({ ...(msg as Status), at }))
      .filter((status) => status.source.id === id);

  it('a long upload: percent and time left in words, and the speed in numbers', async () => {
    await red.inject('go-upload');
    await red.shown('sent', 1, 60_000);
    const seen = statusesOf('upload');
    const full = seen.filter((status) => status.progress?.seconds_left !== undefined);
    assert.ok(full.length >= 2, JSON.stringify(seen));
    for (const { text, progress } of full) {
      assert.match(text, /^uploading \d+%, \d+ (s|min) left$/);
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
    const [fitted] = await red.shown('fitted', 1, 240_000);
    const fitting = statusesOf('fit').filter((status) => status.progress?.phase === 'fitting');
    assert.match(fitting[0]!.text, /^fitting 0 s$/);
    const known = fitting.filter((status) => status.progress!.percent !== undefined);
    assert.ok(known.length >= 1, JSON.stringify(fitting));
    for (const { text, progress } of known) {
      assert.match(text, /^fitting (\d+%, \d+ (s|min|h) left|\d+ (s|min|h), (\d+%|finishing))$/);
      assert.ok(Number(progress!.percent) >= 0 && Number(progress!.percent) <= 100);
    }
    const percents = known.map(({ progress }) => Number(progress!.percent));
    assert.deepEqual(
      percents,
      [...percents].sort((a, b) => a - b),
    );
    // It is asked once a second: the last time may be that long before the end. So what counts is how much was over then.
    const [begin, last, end] = [fitting[0]!.at, known.at(-1)!.at, fitted!.at];
    const over = (100 * (last - begin)) / (end - begin);
    assert.ok(percents.at(-1)! >= Math.max(60, over - 30), `${String(percents)}; over was ${over}`);
    const reading = statusesOf('fit').filter((status) => status.progress?.phase === 'reading');
    // A table that is read within a blink has no percentage.
    assert.match(reading.at(-1)!.text, /^(reading( \d+%)?|read, preparing)$/);
  });
});
