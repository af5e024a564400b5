import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Unlike } from '../doors/scoring';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, startBench, stopBench } from './bench';

const readings = Array.from({ length: 300 }, (_, i) => {
  const speed = 1000 + ((i * 37) % 500);
  return { speed, pressure: speed / 100, fluid: i % 3 === 0 ? 'oil' : 'glycol' };
});
const USUAL = readings[150]!;
const ODD = { speed: 1450, pressure: 10.2, fluid: 'tar' };

describe('tabular-predict compares rows with the train set', () => {
  let service: StrictService;
  let bench: Bench;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'unlike-'));
    service = await startStrictService({ rowValue: ({ speed }) => Number(speed) });
    bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'load', model: 'm', task: 'regression' },
        { id: 'upload', type: 'tabular-upload', set: 'train', target: 'load' },
        { id: 'unlike', type: 'tabular-predict', model: 'm', unlike: 'on' },
        { id: 'plain', type: 'tabular-predict', model: 'm' },
        {
          id: 'file',
          type: 'tabular-predict',
          model: 'm',
          unlike: 'on',
          source: 'file',
          table: path.join(folder, 'rows.csv'),
          tableType: 'str',
        },
      ],
    });
    bench.send('fit', { payload: readings.map((row) => ({ ...row, load: row.speed })) });
    await bench.out('fit').first(1, 20_000);
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(service.breaches, []);
  });

  const check = (like: Unlike, odd: Unlike): void => {
    assert.ok(like.rank < 0.9 && odd.rank > 0.98, `${like.rank}, ${odd.rank}`);
    assert.deepEqual([like.columns, like.new, odd.new], [[], [], ['fluid: tar']]);
    assert.equal(odd.columns[0], 'fluid');
    assert.ok(odd.columns.includes('pressure'));
  };

  it('in every form of table, each message its own rows, for the messages that ask', async () => {
    const names = Object.keys(USUAL);
    bench.send('unlike', { payload: ODD });
    bench.send('unlike', { payload: [USUAL, ODD] });
    bench.send('unlike', { payload: { speed: [1050, 1450], pressure: [10.5, 10.2], fluid: ['oil', 'tar'] } });
    bench.send('unlike', { payload: [names, Object.values(USUAL), Object.values(ODD)] });
    bench.send('unlike', { payload: `speed,pressure,fluid\n1050,10.5,oil\n1450,10.2,tar\n` });
    const [one, rows, columns, matrix, csv] = (await bench.out('unlike').first(5)).map(
      ({ payload }) => payload,
    );
    check(rows[0].prediction_unlike, one.prediction_unlike);
    check(rows[0].prediction_unlike, rows[1].prediction_unlike);
    check(columns.prediction_unlike[0], columns.prediction_unlike[1]);
    assert.equal(matrix[0].at(-1), 'prediction_unlike');
    check(matrix[1].at(-1), matrix[2].at(-1));
    check(csv[0].prediction_unlike, csv[1].prediction_unlike);
    assert.equal(one.prediction, 1450);

    bench.send('plain', { payload: USUAL });
    bench.send('plain', { payload: USUAL, unlike: true });
    const [silent, asked] = await bench.out('plain').first(2);
    assert.equal('prediction_unlike' in silent!.payload, false);
    assert.deepEqual(asked!.payload.prediction_unlike, rows[0].prediction_unlike);
    assert.equal(bench.warnings().join().includes('compared'), false);
  });

  it('in a large file too', async () => {
    const lines = Array.from({ length: 25_000 }, (_, row) =>
      Object.values(row === 24_990 ? ODD : USUAL).join(),
    );
    await writeFile(path.join(folder, 'rows.csv'), ['speed,pressure,fluid', ...lines].join('\n'));
    bench.send('file', {});
    const [msg] = await bench.out('file').first(1, 20_000);
    const rows = msg!.payload as { prediction_unlike: Unlike }[];
    assert.equal(rows.length, 25_000);
    check(rows[24_989]!.prediction_unlike, rows[24_990]!.prediction_unlike);
  }).timeout(30_000);

  it('not for a model of which no rows are kept: one warning, and the prediction', async () => {
    bench.send('upload', { payload: readings.map((row) => ({ ...row, load: row.speed / 2 })) });
    const [uploaded] = await bench.out('upload').first();
    bench.send('fit', { train_set_upload_id: uploaded!.train_set_upload_id, task: 'regression' });
    await bench.out('fit').first(2, 20_000);
    bench.send('unlike', { payload: ODD });
    bench.send('unlike', { payload: USUAL });
    const [msg] = await bench.out('unlike').first(2);
    assert.equal(msg!.payload.prediction, 1450);
    assert.equal('prediction_unlike' in msg!.payload, false);
    assert.equal(bench.warnings().filter((text) => /none of it is kept here/.test(text)).length, 1);
  });
});
