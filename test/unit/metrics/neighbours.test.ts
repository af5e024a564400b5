import assert from 'node:assert/strict';

import { areNeighboursAlike } from '../../doors/metrics';

describe('areNeighboursAlike', () => {
  const noise = (row: number): number => ((Math.imul(row + 1, 2_654_435_761) >>> 8) % 1000) / 500 - 1;
  const wave = (i: number): number => Math.sin(i / 10);
  const rows = Array.from({ length: 400 }, (_, row) => row * 2);
  const ofNumbers = (error: (i: number) => number, chosen = rows, target = chosen.map(noise)) =>
    areNeighboursAlike({ rows: chosen, target, width: 1, error });

  it('finds errors that follow each other', () => {
    assert.equal(
      ofNumbers((i) => wave(i) + noise(i) / 4),
      true,
    );
  });

  it('lets errors without a pattern pass, a bias, and too few or too distant pairs', () => {
    assert.equal(ofNumbers(noise), false);
    assert.equal(
      ofNumbers((i) => 5 + noise(i)),
      false,
    );
    assert.equal(ofNumbers(wave, rows.slice(0, 40)), false);
    assert.equal(
      ofNumbers(
        wave,
        rows.map((row) => row * 10),
      ),
      false,
    );
    const target = rows.map((_, i) => i % 2);
    assert.equal(areNeighboursAlike({ rows, target, width: 2, error: () => 0 }), false);
  });

  it('says nothing of a table that is sorted by its target', () => {
    const rising = rows.map((_, i) => Math.floor(i / 3));
    assert.equal(ofNumbers(wave, rows, rising), false);
    assert.equal(ofNumbers(wave, rows, [...rising].reverse()), false);
    const classes = (codes: number[]) => areNeighboursAlike({ rows, target: codes, width: 3, error: wave });
    const inRuns = rows.map((_, i) => (i < 150 ? 2 : i < 200 ? 0 : 1));
    assert.equal(classes(inRuns), false);
    assert.equal(classes(inRuns.map((code, i) => (i % 100 < 5 ? 1 : code))), true);
  });
});
