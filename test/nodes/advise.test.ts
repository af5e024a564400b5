import assert from 'node:assert/strict';

import type { Advice } from '../../dist/src';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, startBench, stopBench } from './bench';

/** What the service predicts. Its quantiles lie about this. */
const yieldOf = ({ speed, heat }: Record<string, unknown>): number => 2 * Number(speed) + Number(heat);

const past = Array.from({ length: 300 }, (_, i) => {
  const row = {
    speed: 10 + ((i * 37) % 101) / 10,
    heat: 50 + ((i * 53) % 97) / 4,
    crew: i % 3 === 0 ? 'a' : 'b',
  };
  return { ...row, out: yieldOf(row) };
});
const ROW = { speed: 11, heat: 60, crew: 'a' };
const VARY = [{ column: 'speed', from: '10', to: '20', step: '0.5', cost: '3' }];

describe('tabular-advise', () => {
  let service: StrictService;
  let bench: Bench;

  const start = async (nodes: object[]): Promise<void> => {
    service = await startStrictService({ rowValue: yieldOf });
    bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'out', model: 'm', task: 'regression' },
        ...(nodes as { id: string; type: string }[]),
      ],
    });
    bench.send('fit', { payload: past });
    await bench.out('fit').first(1, 20_000);
  };

  afterEach(async () => {
    await stopBench();
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  const advise = {
    id: 'advise',
    type: 'tabular-advise',
    model: 'm',
    vary: VARY,
    goal: 'at least',
    value: '90',
  };

  it('says what to set, with one predict a round, and tells the cost before the first question', async () => {
    await start([{ ...advise, candidates: 400 }]);
    bench.send('advise', { payload: ROW });
    const [msg] = await bench.out('advise').first();
    const { advice, payload } = msg as unknown as { advice: Advice; payload: unknown };
    assert.deepEqual(payload, ROW, 'the row goes on as it is');
    assert.deepEqual(Object.keys(advice.set!), ['speed']);
    const { speed } = advice.set as { speed: number };
    assert.ok(speed > 14 && speed < 17 && (2 * speed) % 1 === 0);
    assert.deepEqual(advice.changes, [{ column: 'speed', from: 11, to: speed, by: speed - 11 }]);
    assert.equal(advice.cost, 3 * (speed - 11));
    assert.ok(advice.then!.low! >= 90 && advice.then!.holds && !advice.now.holds && advice.unlike! <= 0.95);
    assert.match(
      advice.text,
      /^Set speed to [\d.]+ \(\+[\d.]+\): out [\d.]+ \(.* to .*\), now .*It costs [\d.]+\.$/,
    );
    const asked = service.seen('predict').length;
    assert.ok(asked >= 1 && asked <= 5);
    assert.match(
      bench.warnings().join(),
      /Each question asks the service for \d+ predictions in 5 predicts, estimated to cost \d+\./,
    );
    bench.send('advise', { payload: { ...ROW, speed: 19 } });
    const [, again] = await bench.out('advise').first(2);
    assert.deepEqual((again as unknown as { advice: { set: object } }).advice.set, {});
    assert.equal(service.seen('predict').length, asked + 1, 'nothing to change is known after one round');
    assert.equal(bench.warnings().filter((text) => text.includes('Each question')).length, 1);
  });

  it('tells the sidebar what a question costs, and asks once a person has agreed', async () => {
    await start([]);
    const ask = async (more: object): Promise<{ price?: object; set?: object }> => {
      const question = {
        model: 'm',
        row: ROW,
        vary: [{ column: 'speed', from: 10, to: 20 }],
        candidates: 400,
      };
      const asked = bench.request().post('/tabular-prediction/sidebar/c/advise');
      const { body } = await asked.send({ ...question, goal: 'at least', value: '90', ...more }).expect(200);
      return body as object;
    };
    const { price } = await ask({});
    const { rows, predicts, cost } = price as Record<string, number>;
    assert.deepEqual([rows, predicts], [401, 5]);
    assert.ok(cost! > 0);
    assert.equal(service.seen('predict').length, 0);
    assert.deepEqual(Object.keys((await ask({ agreed: true })).set!), ['speed']);
    assert.ok(service.seen('predict').length > 0);
  });

  it('sends nothing where a question may cost more than is allowed', async () => {
    await start([{ ...advise, candidates: 400, maxCost: '50' }]);
    bench.send('advise', { payload: ROW });
    const error = (await bench.caught.first(1))[0]!.error as { code: string; message: string };
    assert.equal(error.code, 'cost.exceeded');
    assert.match(error.message, /401 predictions.*more than the 50 allowed: nothing was sent/);
    assert.equal(service.seen('predict').length, 0);
  });

  it('lets a watch node score an advice by its id, where it is to be verified', async () => {
    await start([
      { ...advise, candidates: 200, verify: true, wires: [['watch']] },
      { id: 'watch', type: 'tabular-watch', honest: false },
    ]);
    bench.send('advise', { payload: ROW });
    const [told] = await bench.out('watch').first();
    const { advice, payload, series } = told as unknown as {
      advice: { id: string; set: { speed: number } };
      payload: Record<string, unknown>;
      series: unknown;
    };
    assert.deepEqual(series, { id: advice.id });
    assert.equal(payload.speed, advice.set.speed);
    assert.ok(payload.prediction !== undefined);
    bench.send('watch', { advice, truth: 91 });
    bench.send('advise', { payload: ROW });
    const [, next] = await bench.out('watch').first(2);
    assert.equal((next as unknown as { watch: { live: { rows: number } } }).watch.live.rows, 1);
  });

  it('takes columns and a value from the message, and says what is wrong with them', async () => {
    await start([
      { id: 'advise', type: 'tabular-advise', model: 'm', candidates: 200 },
      { id: 'bare', type: 'tabular-advise' },
    ]);
    bench.send('advise', { payload: ROW, vary: [{ column: 'speed', from: 10, to: 20 }], goal_value: 90 });
    const [msg] = await bench.out('advise').first();
    assert.ok((msg as unknown as { advice: { set: { speed: number } } }).advice.set.speed > 14);
    const wrong: [object, string, RegExp][] = [
      [{ goal_value: 90 }, 'config.invalid', /at least one in the node, or in msg\.vary/],
      [{ vary: 'speed' }, 'validation.failed', /msg\.vary must be an array of \{column/],
      [
        { vary: [{ column: 'speed', to: 'far' }] },
        'validation.failed',
        /must have a number as "to" of "speed"/,
      ],
      [{ vary: [{ from: 1 }] }, 'validation.failed', /an entry that names no column/],
      [
        { vary: [{ column: 'speed' }] },
        'config.invalid',
        /"at least" needs one .* beside the goal in the node, or as msg\.goal_value/,
      ],
      [
        { vary: [{ column: 'speed' }], goal_value: 90, payload: { ...ROW, speed: null } },
        'validation.failed',
        /no value in "speed"/,
      ],
      [{ vary: [{ column: 'speed' }], goal_value: 90, payload: [ROW, ROW] }, 'validation.failed', /one row/],
      [
        { vary: [{ column: 'speed' }], goal_value: 90, payload: 'speed' },
        'validation.failed',
        /one row, .* has none: send an object/,
      ],
    ];
    for (const [index, [msgOf, code, message]] of wrong.entries()) {
      bench.send('advise', { payload: ROW, ...msgOf });
      const error = (await bench.caught.first(index + 1))[index]!.error as { code: string; message: string };
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
    }
    for (const [index, id] of [undefined, 'x'].entries()) {
      bench.send('bare', { payload: ROW, fitted_train_set_id: id });
      const error = (await bench.caught.first(wrong.length + index + 1))[wrong.length + index]!.error;
      assert.match(error!.message, /an id is not enough: choose one in the node, or set msg\.model\.$/);
    }
  });
});
