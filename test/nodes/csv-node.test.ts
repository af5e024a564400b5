import assert from 'node:assert/strict';

import { type Bench, startBench, stopBench } from './bench';

/** Node-RED's own csv node before our nodes and behind them, with the files that programs write. */
describe('the csv node of Node-RED around our nodes', () => {
  let bench: Bench;

  const csv = (id: string, to: string, more: object = {}) => ({
    ...{ id, type: 'csv', z: 'flow', x: 50, y: 50, spec: 'rfc', sep: ',', hdrin: true, hdrout: 'all' },
    ...{ multi: 'mult', ret: '\\n', temp: '', skip: '0', strings: true, wires: [[to]], ...more },
  });

  const fruits = Array.from({ length: 90 }, (_, i) => {
    const firmness = 1.5 + ((i * 37) % 90) / 10;
    return [i % 3 === 0 ? 'green' : 'red', firmness, i % 7, firmness > 6 ? 'yes' : 'no'];
  });
  const fruitText = (header: string) => [header, ...fruits.map((row) => row.join(','))].join('\n');
  const minutes = Array.from({ length: 400 }, (_, i) =>
    [new Date(1.7e12 + i * 600_000).toISOString(), 20 + 5 * Math.sin(i / 20), 60 + (i % 7)].join(','),
  );
  const minuteText = (header: string) => [header, ...minutes].join('\n');

  before(async () => {
    bench = await startBench({
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'ripe', model: 'ripe' },
        { id: 'fitFirst', type: 'tabular-fit', target: 'colour', model: 'colour' },
        { id: 'fitRows', type: 'tabular-fit', target: 'ripe', model: 'rows' },
        { id: 'predict', type: 'tabular-predict', model: 'ripe', flat: 'on', wires: [['write']] },
        { id: 'score', type: 'tabular-predict', model: 'ripe', explain: 'on' },
        {
          ...{ id: 'series', type: 'tabular-series', shape: 'auto', send: 'newest', column: 'temp' },
          ...{ ahead: '30m', train: 'auto', keepAs: 'csv' },
        },
        {
          ...{ id: 'unsplit', type: 'tabular-series', shape: 'auto', send: 'newest', column: 'temp' },
          ...{ ahead: '30m', train: 'auto', keepAs: 'unsplit' },
        },
      ],
      extra: [
        csv('toFit', 'fit'),
        csv('toFitFirst', 'fitFirst'),
        csv('toFitRows', 'fitRows', { multi: 'one' }),
        csv('toPredict', 'predict'),
        csv('toSeries', 'series'),
        csv('toUnsplit', 'unsplit'),
        csv('write', 'written'),
        { id: 'written', type: 'helper', z: 'flow', x: 50, y: 50 },
      ],
    });
  });

  after(stopBench);

  afterEach(() => {
    assert.deepEqual(
      bench.caught.all.map(({ error }) => error?.message),
      [],
    );
  });

  it('a model is fitted of a file with a byte order mark, or with spaces in its header, by the names in it', async () => {
    bench.send('toFit', { payload: fruitText('\uFEFFcolour, firmness, days, ripe') });
    const [msg] = await bench.out('fit').first();
    assert.deepEqual(
      msg!.model.columns.map(({ name }: { name: string }) => name),
      ['colour', 'firmness', 'days'],
    );
    bench.send('toFitFirst', { payload: fruitText('\uFEFFcolour,firmness,days,ripe') });
    await bench.out('fitFirst').first();
  });

  it('rows with such names are predicted, and stay as they came', async () => {
    const row = { '\uFEFFcolour': 'red', ' firmness': 9.5, days: 2 };
    bench.send('score', { payload: [row, { ...row, ' firmness': 2 }] });
    const [{ payload } = { payload: [] }] = await bench.out('score').first();
    assert.deepEqual(
      payload.map(({ prediction }: { prediction: string }) => prediction),
      ['yes', 'no'],
    );
    assert.deepEqual(Object.keys(payload[0]).slice(0, 3), Object.keys(row));
    assert.ok(payload[0].prediction_why[0].text.includes('9.5'), payload[0].prediction_why[0].text);
  });

  it('a csv node behind writes the predictions beside what it read', async () => {
    const written = new Promise<string>((resolve) => {
      bench.node('written').on('input', ({ payload }: { payload: string }) => resolve(payload));
    });
    bench.send('toPredict', { payload: 'colour,firmness,days\nred,9.5,2\n"green, dark",2,1\n' });
    const [header, first, second] = (await written).split('\n');
    assert.equal(header, 'colour,firmness,days,prediction,prediction_probability');
    assert.match(first!, /^red,9\.5,2,yes,[\d.]+$/);
    assert.match(second!, /^"green, dark",2,1,no,[\d.e-]+$/);
  });

  it('rows that come one by one without being collected are no train sets: nothing is fitted, and each says what to tick', async () => {
    bench.send('toFitRows', {
      payload: fruitText('colour,firmness,days,ripe').split('\n').slice(0, 4).join('\n'),
    });
    const caught = await bench.caught.first(3);
    for (const { error } of caught) {
      assert.equal(error?.code, 'table.invalid');
      assert.match(error.message, /one row of a sequence of 3, .*To fit one model of all of them, tick /);
    }
    assert.equal(bench.out('fitRows').all.length, 0);
    bench.caught.all.length = 0;
  });

  for (const [name, payload] of [
    ['lists by column', { colour: ['red', 'green'], firmness: [9.5, 2], ripe: ['yes', 'no'] }],
    ['typed columns', { firmness: Float64Array.of(9.5, 2), ripe: Float64Array.of(1, 0) }],
    ['bytes', Buffer.from('colour,firmness,ripe\nred,9.5,yes\ngreen,2,no\n')],
  ] as const) {
    it(`${name} are a whole train set, in a message of a sequence as well`, async () => {
      const before = bench.out('fitRows').all.length;
      bench.send('fitRows', { payload, parts: { id: 'sets', index: 0, count: 2 } });
      const fitted = await bench.out('fitRows').first(before + 1);
      assert.equal(fitted.at(-1)!.model.rows, 2);
    });
  }

  for (const [name, header] of [
    ['with a byte order mark', '\uFEFFtime,temp,hum'],
    ['with spaces in its header', 'time, temp, hum'],
  ] as const) {
    it(`a file of readings ${name} has its times and columns`, async () => {
      bench.send('series', { reset: true });
      const before = bench.out('series', 2).all.length;
      bench.send('toSeries', { payload: minuteText(header) });
      const sets = await bench.out('series', 2).first(before + 1);
      const { target, train } = sets.at(-1)!;
      assert.equal(target, 'temp in 30m');
      assert.equal(train.from, 1.7e12);
      assert.deepEqual(
        bench.warnings().filter((text) => /no time|no column|has the column/i.test(text)),
        [],
      );
    });
  }

  it('a file of readings that the csv node has not split is told of', async () => {
    const unsplit = (text: string): boolean => text.endsWith('warning.unseenOutcome');
    assert.equal(bench.warnings().filter(unsplit).length, 0);
    bench.send('toUnsplit', { payload: minuteText('time,temp,hum').replaceAll(',', ';') });
    await bench.shows('unsplit', /collecting/);
    assert.equal(bench.warnings().filter(unsplit).length, 1);
  });
});
