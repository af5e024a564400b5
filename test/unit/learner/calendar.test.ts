import assert from 'node:assert/strict';

import { trainModel } from '../../../dist/src/learner';
import { Random } from '../../doors/learner';
import { dates, numbers, regress } from './tables';

const DAY = 86_400_000;
const FIRST = Date.UTC(2024, 0, 1);

/** The parts of a date that a model of two hundred days, drawn from two years, is made of. */
function partsOf(rows: number, effect: (day: number) => number, seed: number): string[] {
  const random = new Random(seed, 5);
  const days = Array.from({ length: rows }, () => Math.floor(random.uniform() * 700));
  const x = days.map(() => random.uniform());
  const y = days.map((day, row) => x[row]! + effect(day) + 0.3 * (random.uniform() + random.uniform() - 1));
  const at = dates(
    'at',
    days.map((day) => FIRST + day * DAY),
  );
  const { encoders } = trainModel(regress([at, numbers('x', x)], y, { n_estimators: 2 }));
  return encoders.flatMap((encoder) => (encoder.type === 'date' ? [encoder.part] : []));
}

describe('learner: the calendar of a date', () => {
  it('is learned from where held-out rows are predicted better by it', () => {
    for (const seed of [1, 2, 3]) {
      const parts = partsOf(200, (day) => (day % 7 < 2 ? 1 : 0), seed);
      assert.ok(parts.includes('weekday'), parts.join());
    }
  });

  it('is left out of some tables of which only the trend tells, and noise hides much', () => {
    const left = [1, 2, 3, 4, 5, 6].map((seed) => partsOf(200, (day) => day / 700, seed).join());
    assert.ok(left.includes('epoch'), left.join(' '));
  });
});
