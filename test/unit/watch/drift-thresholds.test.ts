import assert from 'node:assert/strict';

import { driftOfNumbers } from '../../doors/scoring';
import { Watch } from '../../doors/watch';
import { MINUTE, noise, NUMBERS, START } from './support';

const COLUMNS = 60;
const TRAINED = 4000;
const WINDOW = 200;
const WINDOWS = 10;

/** Of windows of many columns that wander for long, the share in which one is beyond its own threshold. */
function shareBeyond(likeness: number, shift: number): { beyond: number; usualRule: number } {
  const series = Array.from({ length: COLUMNS }, (_, column) => noise(column * 97 + 5, likeness));
  const drift = series.map((next, column) => {
    const values = Float64Array.from({ length: TRAINED }, next);
    const { threshold, ...reference } = driftOfNumbers(values, values.slice().sort(), 'whole');
    return { column: `sensor ${column}`, reference: { ...reference, threshold }, threshold: threshold! };
  });
  const watch = new Watch({ ...NUMBERS, drift });
  let [beyond, usualRule] = [0, 0];
  for (let i = 1; i <= WINDOW * WINDOWS; i++) {
    const row = Object.fromEntries(series.map((next, column) => [`sensor ${column}`, next() + shift]));
    watch.predicted({ series: { time: START + i * MINUTE }, prediction: 0, row });
    if (i % WINDOW === 0) {
      const told = watch.report().drift;
      beyond += told.filter(({ psi, threshold }) => psi > threshold).length;
      usualRule += told.filter(({ psi }) => psi > 0.25).length;
    }
  }
  return { beyond: beyond / (COLUMNS * WINDOWS), usualRule: usualRule / (COLUMNS * WINDOWS) };
}

describe('the drift threshold that a column has from its own train set', () => {
  for (const likeness of [0, 0.8, 0.95]) {
    it(`is seldom passed without drift, and by nearly every shift, where neighbours are alike by ${likeness}`, () => {
      const calm = shareBeyond(likeness, 0);
      assert.ok(calm.beyond <= 0.02, `${calm.beyond}`);
      // That is not because nothing moves: the usual bound is passed all the time where neighbours are alike.
      assert.ok(likeness < 0.95 || calm.usualRule > 0.4, `${calm.usualRule}`);
      const shifted = shareBeyond(likeness, 2);
      assert.ok(shifted.beyond >= 0.95, `${shifted.beyond}`);
    });
  }
});
