import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, startBench, stopBench, trainRows } from './bench';

/** Node-RED's own split, csv and file in nodes before a collecting node, as they really send their sequences. */
describe('message sequences of the core nodes', () => {
  let service: StrictService;
  let bench: Bench;

  const core = (id: string, type: string, more: object) => ({ id, type, z: 'flow', x: 50, y: 50, ...more });
  const split = (id: string, to: string[]) =>
    core(id, 'split', {
      splt: '\\n',
      spltType: 'str',
      arraySplt: 1,
      arraySpltType: 'len',
      stream: false,
      addname: '',
      property: 'payload',
      wires: [to],
    });
  const csv = (id: string) =>
    core(id, 'csv', {
      spec: 'rfc',
      sep: ',',
      hdrin: true,
      hdrout: 'none',
      multi: 'one',
      ret: '\\n',
      temp: '',
      skip: '0',
      strings: true,
      wires: [['fit']],
    });
  const fileIn = (id: string, format: string, to: string) =>
    core(id, 'file in', {
      filename: 'file',
      filenameType: 'msg',
      format,
      chunk: true,
      encoding: 'none',
      wires: [[to]],
    });

  beforeEach(async () => {
    service = await startStrictService();
    bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', collect: true, collectTimeout: '15' },
        { id: 'fitEach', type: 'tabular-fit', target: 'y' },
        { id: 'predictEach', type: 'tabular-predict', model: 'm' },
      ],
      extra: [
        split('split', ['fit']),
        split('splitEach', ['fitEach', 'predictEach']),
        csv('csv'),
        fileIn('lines', 'lines', 'fit'),
        fileIn('bytes', 'stream', 'fit'),
        fileIn('linesToCsv', 'lines', 'csv'),
      ],
    });
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  const text = (end: string, count = 30): string =>
    `id,x,y\n${trainRows(count)
      .map(({ id, x, y }) => `${String(id)},${String(x)},${String(y)}`)
      .join('\n')}${end}`;
  const file = (content: string): string => {
    const name = path.join(bench.userDir, 'train.csv');
    fs.writeFileSync(name, content);
    return name;
  };
  const rowsFitted = async (n = 1): Promise<number[]> => {
    const all = await bench.out('fit').first(n, 8_000);
    assert.deepEqual(bench.caught.all, []);
    for (const msg of all) {
      assert.ok(!('parts' in msg));
    }
    return all.map(({ model }) => model.rows as number);
  };

  it('split: rows of an array, two arrays at once', async () => {
    // Each under a name of its own: of two fits of one name the one that began last is in charge.
    bench.send('split', { payload: trainRows(30), model_name: 'long' });
    bench.send('split', { payload: trainRows(20), model_name: 'short' });
    assert.deepEqual((await rowsFitted(2)).sort(), [20, 30]);
    await bench.completed.first(50);
    assert.equal(bench.completed.all.length, 50);
  });

  it('split: lines of a CSV text', async () => {
    bench.send('split', { payload: text('') });
    assert.deepEqual(await rowsFitted(), [30]);
  });

  it('split: lines of a CSV text that are not collected are told of once by each node, objects in lines are not', async () => {
    const told = (): string[] =>
      bench.warnings().filter((line) => /warning\.(?:oneLine|lineAlone)$/.test(line));
    bench.send('splitEach', { payload: '{"x":1}\n{"x":2}' });
    await bench.caught.first(4);
    assert.deepEqual(told(), []);
    bench.send('splitEach', { payload: 'id,x\n1,2\n3,4' });
    await bench.caught.first(10);
    assert.equal(told().length, 2);
    assert.notEqual(told()[0], told()[1]);
  });

  it('csv: a row each', async () => {
    bench.send('csv', { payload: text('\n') });
    assert.deepEqual(await rowsFitted(), [30]);
  });

  for (const [name, end] of [
    ['with a line end at its end', '\n'],
    ['without one', ''],
  ] as const) {
    it(`file in by lines, a file ${name}`, async () => {
      bench.send('lines', { file: file(text(end)) });
      assert.deepEqual(await rowsFitted(), [30]);
    });

    it(`file in by lines through csv, a file ${name}`, async () => {
      bench.send('linesToCsv', { file: file(text(end)) });
      assert.deepEqual(await rowsFitted(), [30]);
    });
  }

  it('file in by pieces, one of them empty at the end', async () => {
    const long = text('\n', 9000);
    const exact = long.slice(0, long.lastIndexOf('\n', 65_535) + 1);
    const padded = `${exact.slice(0, -1)}${' '.repeat(65_536 - exact.length)}\n`;
    assert.equal(padded.length, 65_536);
    bench.send('bytes', { file: file(padded) });
    const [rows] = await rowsFitted();
    assert.equal(rows, exact.split('\n').length - 2);
  });

  it('file in by pieces of a larger file', async () => {
    bench.send('bytes', { file: file(text('\n', 20_000)) });
    assert.deepEqual(await rowsFitted(), [20_000]);
  });

  it('two files at once, by pieces and by lines, are kept apart', async () => {
    bench.send('bytes', { file: file(text('\n', 20_000)) });
    const other = path.join(bench.userDir, 'other.csv');
    fs.writeFileSync(other, text('\n', 3000));
    bench.send('lines', { file: other });
    await rowsFitted(2);
    // The core node hands on no name of a model. Of two fits of one name both messages may tell of the one in charge.
    const bodies = service.seen('fit').map(({ body }) => body as { train_set_upload_id: string });
    const arrived = await Promise.all(bodies.map((body) => service.rowsOf(body.train_set_upload_id)));
    assert.deepEqual(arrived.map((rows) => rows.length).sort(), [20_000, 3000]);
  });

  it('sequences that come interleaved, with the count in the last part alone', async () => {
    // Each under a name of its own, as above.
    const rows = trainRows(40);
    for (const index of rows.keys()) {
      for (const [id, count] of [
        ['a', 40],
        ['b', 25],
      ] as const) {
        if (index < count) {
          const parts = { id, index, ...(index === count - 1 && { count }) };
          bench.send('fit', { payload: { ...rows[index], from: id }, parts, model_name: id });
        }
      }
    }
    assert.deepEqual((await rowsFitted(2)).sort(), [25, 40]);
    for (const { model } of bench.out('fit').all) {
      const arrived = await service.rowsOf(model.train_set_upload_id as string);
      assert.deepEqual(
        arrived.map(({ id }) => id),
        rows.slice(0, arrived.length).map(({ id }) => id),
      );
      assert.equal(new Set(arrived.map(({ from }) => from)).size, 1);
    }
    await bench.completed.first(65);
    assert.equal(bench.completed.all.length, 65);
  });
});
