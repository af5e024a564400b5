import assert from 'node:assert/strict';

import { BandCorrection } from '../../doors/watch';

/** A truth so far from the middle of a band of ±0.2, which had been shifted so far when it left. */
const truth = (error: number, shift = 0) => ({
  error,
  below: -0.2 - error,
  above: error - 0.2,
  missed: false,
  shift,
});

describe('the correction of a band', () => {
  it('follows newer truths once they weigh as much as older ones, which fade to 1/e after 200', () => {
    const correction = new BandCorrection(0.2);
    for (let i = 0; i < 400; i++) {
      correction.add(truth(-1));
    }
    const signs: number[] = [];
    for (let i = 0; i < 200; i++) {
      correction.add(truth(1));
      signs.push(Math.sign(correction.shift));
    }
    // 1 - x = x (1 - e^-2) for x = e^(-n / 200) holds at n = 125; every ten truths it is corrected.
    assert.equal(signs.indexOf(1) + 1, 130);
    assert.ok(signs.slice(0, 129).every((sign) => sign === -1));
  });

  for (const side of [1, -1]) {
    it(`that a new model starts with counts from where its predecessor had shifted ${side > 0 ? 'up' : 'down'}`, () => {
      const former = new BandCorrection(0.2);
      for (let i = 0; i < 100; i++) {
        former.add(truth(0.4 * side, 0.3 * side));
      }
      const next = BandCorrection.after(former);
      assert.equal(next.shift, 0);
      // As they left, the truths were 0.1 within the end.
      assert.ok(next.widen < -0.07 && next.widen > -0.1, `${next.widen}`);
      for (let i = 0; i < 20; i++) {
        next.add(truth(0.1 * side));
      }
      assert.ok(next.shift * side > 0 && next.shift * side < 0.101, `${next.shift}`);
    });
  }
});
