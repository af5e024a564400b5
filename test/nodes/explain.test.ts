import assert from 'node:assert/strict';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, type Setup, startBench, stopBench } from './bench';

interface Row {
  vibration: number;
  'vibration mean 1h': number;
  heat: number;
  shift: string;
}

/** A fault where it shakes; heat matters a little, the shift not at all. */
const readings: Row[] = Array.from({ length: 300 }, (_, i) => {
  const vibration = 2 + ((i * 37) % 100) / 15;
  const shift = ['early', 'late', 'night'][i % 3]!;
  return { vibration, 'vibration mean 1h': vibration - 0.2, heat: 40 + ((i * 53) % 30), shift };
});

interface Told {
  column: string;
  value: unknown;
  usual?: [number, number];
  effect: number;
  text: string;
}

describe('tabular-predict says why', () => {
  afterEach(() => stopBench());

  describe('on the embedded service', () => {
    let bench: Bench;
    beforeEach(async function () {
      this.timeout(60_000);
      bench = await startBench({
        config: { service: 'embedded' },
        nodes: [
          { id: 'fit', type: 'tabular-fit', target: 'fault', model: 'm', options: '{"n_estimators": 3}' },
          { id: 'why', type: 'tabular-predict', model: 'm', explain: 'on', outputType: 'preds' },
          { id: 'above', type: 'tabular-predict', model: 'm', explain: 'on', explainAbove: '0.5' },
          { id: 'plain', type: 'tabular-predict', model: 'm' },
        ],
      });
      const payload = readings.map((row) => ({ ...row, fault: row.vibration > 6.5 ? 'yes' : 'no' }));
      bench.send('fit', { payload });
      await bench.out('fit').first(1, 50_000);
    });

    it('by sensor, in every form of table, for the rows asked for', async () => {
      const alarm = { vibration: 8.1, 'vibration mean 1h': 7.9, heat: 50, shift: 'late' };
      const calm = { vibration: 3, 'vibration mean 1h': 2.9, heat: 50, shift: 'late' };
      bench.send('why', { payload: alarm });
      const [msg] = await bench.out('why').first();
      const causes = msg?.payload.prediction_why as Told[];
      assert.equal(msg?.payload.prediction, 'yes');
      assert.equal(causes[0]?.column, 'vibration');
      assert.equal(causes[0]?.value, 8.1);
      assert.ok(causes[0].effect > 0.4 && causes[0].usual![0] < 3.5 && causes[0].usual![1] < 8.1);
      assert.match(causes[0].text, /^vibration 8\.1 \(usually 2\.7 to 7\.9\) raised "yes" by \d\d points$/);
      assert.equal(msg?.metadata.explanation, undefined);

      bench.send('above', { payload: [calm, alarm] });
      bench.send('above', {
        payload: {
          vibration: [3, 8.1],
          'vibration mean 1h': [3, 8],
          heat: [50, 50],
          shift: ['late', 'late'],
        },
      });
      bench.send('above', { payload: [Object.keys(alarm), Object.values(calm), Object.values(alarm)] });
      const [rows, columns, matrix] = await bench.out('above').first(3);
      assert.equal(rows?.payload[0].prediction_why, null);
      assert.equal(rows?.payload[1].prediction_why[0].column, 'vibration');
      assert.deepEqual(columns?.payload.prediction_why[0], null);
      assert.equal(columns?.payload.prediction_why[1][0].value, 8.1);
      assert.equal(matrix?.payload[0].at(-1), 'prediction_why');
      assert.equal(matrix?.payload[2].at(-1)[0].value, 8.1);

      bench.send('plain', { payload: calm });
      bench.send('plain', { payload: calm, explain: true });
      const [silent, asked] = await bench.out('plain').first(2);
      assert.equal('prediction_why' in silent!.payload, false);
      assert.match(asked?.payload.prediction_why[0].text, /^vibration 3(\.0)? .* lowered "yes" by/);
    });
  });

  describe('on a hosted service', () => {
    let service: StrictService;
    const value = ({ vibration, 'vibration mean 1h': mean, heat }: Record<string, unknown>): number =>
      10 * Number(vibration) + 5 * Number(mean) + Number(vibration) * Number(heat);

    beforeEach(async () => {
      service = await startStrictService({ rowValue: (row) => value(row) });
    });
    afterEach(async () => {
      await stopBench();
      await service.close();
      assert.deepEqual(service.breaches, []);
    });

    const fitted = async (...nodes: Setup['nodes']): Promise<Bench> => {
      const bench = await startBench({
        config: { service: 'hosted', baseUrl: service.url },
        token: service.token,
        nodes: [{ id: 'fit', type: 'tabular-fit', target: 'load', model: 'm', task: 'regression' }, ...nodes],
      });
      bench.send('fit', { payload: readings.map((row) => ({ ...row, load: value({ ...row }) })) });
      await bench.out('fit').first(1, 20_000);
      return bench;
    };

    it('by rows, whose cost it tells', async () => {
      const bench = await fitted({ id: 'why', type: 'tabular-predict', model: 'm', explain: 'on' });
      const payload = { vibration: 9, 'vibration mean 1h': 8, heat: 60, shift: 'night' };
      bench.send('why', { payload });
      const [msg] = await bench.out('why').first();
      const causes = msg?.payload.prediction_why as Told[];
      assert.deepEqual(
        causes.map(({ column }) => column),
        ['vibration', 'heat'],
      );
      assert.match(causes[0]!.text, /^vibration 9 \(usually 2\.7 to 7\.9\) raised the prediction by \d+$/);
      const total = causes.reduce((sum, { effect }) => sum + effect, 0);
      const mean = msg!.payload.prediction - total;
      assert.ok(mean > 150 && mean < 600, `the base is ${mean}`);
      assert.match(
        bench.warnings().join(),
        /Explaining these predictions asks the service for \d+ more rows, estimated to cost \d+\./,
      );
    });

    it('never beyond the highest cost: the prediction is there, the causes are not', async () => {
      const bench = await fitted({
        id: 'why',
        type: 'tabular-predict',
        model: 'm',
        explain: 'on',
        maxCost: '310',
      });
      bench.send('why', { payload: readings[0] });
      const [msg] = await bench.out('why').first();
      assert.equal(msg?.payload.prediction, value({ ...readings[0]! }));
      assert.equal(msg?.payload.prediction_why, null);
      assert.equal(service.seen('predict').length, 1);
      assert.ok(/could not be explained: Predicting \d+ rows/.test(bench.warnings().join()));
    });
  });
});
