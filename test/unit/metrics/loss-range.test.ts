import assert from 'node:assert/strict';

import { inBlocks, logLossRange, rmseRange } from '../../doors/metrics';

const unknown = (share: number): number => -Math.log(share);

/** Uniform numbers between 0 and 1, always the same. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** The loss of a row of two classes; the model gives a rare event a probability that differs from event to event. */
const lossOf = (isEvent: boolean, random: () => number): number =>
  isEvent ? -Math.log(random() ** 2) : -Math.log(1 - 0.05 * random());

function sample(rows: number, share: number, random: () => number): { losses: number[]; codes: number[] } {
  const codes = Array.from({ length: rows }, () => (random() < share ? 1 : 0));
  return { losses: codes.map((code) => lossOf(code === 1, random)), codes };
}

function meanLoss(rows: number, share: number, random: () => number): number {
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    sum += lossOf(random() < share, random);
  }
  return sum / rows;
}

describe('the range of a told loss', () => {
  it('holds the loss of as many later rows in about 19 of 20 cases, however rare the events are', () => {
    for (const share of [0.02, 0.05, 0.3]) {
      const random = uniform(3);
      let inside = 0;
      for (let round = 0; round < 400; round++) {
        const { losses, codes } = sample(300, share, random);
        const { loss_low: low = 0, loss_high: high = 0 } = logLossRange(losses, codes, unknown);
        const later = meanLoss(300, share, random);
        inside += later >= low && later <= high ? 1 : 0;
      }
      assert.ok(inside >= 370 && inside < 400, `${inside} of 400 for ${share}`);
    }
  });

  it('does not trust three events that were all expected', () => {
    const codes = Array.from({ length: 300 }, (_, row) => (row < 3 ? 1 : 0));
    const losses = codes.map((code) => (code === 1 ? 0.2 : 0.003));
    const range = logLossRange(losses, codes, unknown);
    assert.equal(range.events, 3);
    assert.ok(range.loss_high! > 0.04, String(range.loss_high));
    assert.ok(range.loss_low! < 0.005, String(range.loss_low));
  });

  it('counts as events the rows of all but the most frequent class, and those of a class that is unknown', () => {
    const codes = [0, 0, 0, 1, 2, -1];
    assert.equal(logLossRange([1, 1, 1, 1, 1, 1], codes, unknown).events, 3);
    assert.deepEqual(logLossRange([1, 1], [0, 0], unknown), { events: 0 });
  });

  it('of an RMSE is wide where one row makes most of the error', () => {
    const even = rmseRange(Array.from({ length: 100 }, (_, row) => (row % 2 === 0 ? 1 : -1)));
    assert.ok(even.loss_low! > 0.99 && even.loss_high! < 1.01);
    const one = rmseRange(Array.from({ length: 100 }, (_, row) => (row === 0 ? 50 : 1)));
    assert.ok(one.loss_low! < 1 && one.loss_high! > 1.4 * Math.sqrt(26));
    assert.deepEqual(rmseRange([1]), {});
  });

  it('is that of the blocks where rows of one are alike', () => {
    const random = uniform(5);
    const blocks = inBlocks(Array.from({ length: 1000 }, (_, row) => row));
    const ofBlock = Array.from({ length: 25 }, () => 0.2 + random());
    const losses = Array.from(blocks, (block) => ofBlock[block]!);
    const codes = losses.map((_, row) => row % 2);
    const apart = logLossRange(losses, codes, unknown);
    const range = logLossRange(losses, codes, unknown, blocks);
    const usual = ofBlock.reduce((sum, one) => sum + one / 25, 0);
    // Six times, as 40 rows of a block count as one.
    assert.ok((range.loss_high! - usual) / (apart.loss_high! - usual) > 4, JSON.stringify({ apart, range }));
    const errors = losses.map((loss, row) => (row % 2 === 0 ? loss : -loss));
    const [own, others] = [rmseRange(errors, blocks), rmseRange(errors)];
    assert.ok(own.loss_high! > 1.1 * others.loss_high! && own.loss_low! < 0.9 * others.loss_low!);
    assert.deepEqual(rmseRange(errors, new Int32Array(1000)), others, 'a single block tells nothing');
  });

  it('of an RMSE holds that of as many later rows in nine of ten cases, however heavy the tails of the errors', () => {
    const random = uniform(7);
    const errors = () =>
      Array.from({ length: 200 }, () => (random() < 0.5 ? -1 : 1) * (random() ** -0.25 - 0.9));
    let inside = 0;
    for (let round = 0; round < 400; round++) {
      const { loss_low: low = 0, loss_high: high = 0 } = rmseRange(errors());
      const later = Math.sqrt(errors().reduce((sum, one) => sum + (one * one) / 200, 0));
      inside += later >= low && later <= high ? 1 : 0;
    }
    assert.ok(inside >= 360, `${inside} of 400`);
  });

  it('of an RMSE allows for another row like the worst one', () => {
    const errors = Array.from({ length: 200 }, (_, row) => (row === 0 ? 30 : 1));
    const rmse = Math.sqrt((900 + 199) / 200);
    const two = Math.sqrt((2 * 900 + 198) / 200);
    assert.ok(rmseRange(errors).loss_high! > two, `${rmseRange(errors).loss_high} for ${rmse}, ${two}`);
  });
});
