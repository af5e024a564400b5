import { strict as assert } from 'node:assert';

import type { PredictSettings } from '../../../dist/src/connection';
import { ask, benchWithModel } from './predict-bench';
import { type Bench, row } from './stand-in';

const STREAM = 20;

describe('Predictor, a stream of single rows', () => {
  let at: Bench;
  afterEach(async () => {
    await at.close();
    assert.deepEqual(at.service.breaches, []);
  });

  /** Predicts messages of so many rows, each after the one before; answers the warnings, and the first as a promise. */
  async function stream(sizes: number[], settings: PredictSettings = {}) {
    const warnings: string[] = [];
    let heard: (text: string) => void = () => undefined;
    const first = new Promise<string>((resolve) => (heard = resolve));
    const onWarning = (text: string) => {
      warnings.push(text);
      heard(text);
    };
    const predictor = at.connection.predictor({ ...settings, onWarning });
    for (const size of sizes) {
      await predictor.predict(ask(Array.from({ length: size }, (_, id) => row(id))));
    }
    return { warnings, first, predictor };
  }

  it('is warned about once on a service with a least charge, with the charge and what batches save', async () => {
    at = await benchWithModel({ leastCost: 10_000 });
    const { warnings, first, predictor } = await stream(Array<number>(STREAM).fill(1));
    assert.equal(
      await first,
      'The rows of this stream are predicted one by one, and each predict is estimated to cost 10000 tokens. ' +
        '500 rows in one predict are estimated to cost 10000 instead of 5000000: ' +
        'set Batch rows above 1 and a Batch wait, so that rows are gathered.',
    );
    for (let i = 0; i < 2 * STREAM; i++) {
      await predictor.predict(ask([row(i)]));
    }
    assert.equal(warnings.length, 1);
    assert.equal(at.service.seen('estimate_cost').length, 2);
  });

  it('is compared with a batch of its own size, or of 100 rows where none are gathered', async () => {
    at = await benchWithModel({ leastCost: 10_000 });
    const single = Array<number>(STREAM).fill(1);
    assert.match(await (await stream(single, { batchRows: 1 })).first, /100 rows in one predict/);
    assert.match(await (await stream(single, { batchRows: 40 })).first, /40 rows in one predict/);
  });

  it('is none where larger messages come between', async () => {
    at = await benchWithModel({ leastCost: 10_000 });
    const single = Array<number>(STREAM - 1).fill(1);
    const { warnings } = await stream([...single, 2, ...single]);
    assert.deepEqual(warnings, []);
    assert.equal(at.service.seen('estimate_cost').length, 0);
  });

  it('is not warned about where a predict is free, or the service does not tell its cost', async () => {
    for (const fault of [{ patch: { estimated_cost: 0 } }, { status: 404, body: { detail: 'Not Found' } }]) {
      at = await benchWithModel();
      let asked: () => void = () => undefined;
      const estimated = new Promise<void>((resolve) => (asked = resolve));
      at.service.fault('estimate_cost', () => {
        asked();
        return fault;
      });
      const { warnings, predictor } = await stream(Array<number>(STREAM).fill(1));
      await estimated;
      for (let i = 0; i < STREAM; i++) {
        await predictor.predict(ask([row(i)]));
      }
      assert.deepEqual(warnings, []);
      await at.close();
    }
    at = await benchWithModel();
  });
});
