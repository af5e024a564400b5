import assert from 'node:assert/strict';

import { drawPermutations, processAlongPermutations, Random } from '../../doors/learner';
import { normals } from './tables';

describe('the scores of a Gaussian process along permutations', () => {
  const rows = 9;
  const groups = 5;
  const columns = Array.from({ length: groups }, (_, column) => normals(rows, column + 1));
  const background = {
    rows,
    columns: columns.map(() => new Uint8Array(rows)),
    numbers: columns,
    low: new Float64Array(groups),
    high: new Float64Array(groups),
    mean: new Float64Array(groups),
  };
  const foreground = {
    bins: new Uint8Array(groups),
    numbers: normals(groups, 20),
    background,
    groupOf: Int32Array.from(columns, (_, column) => column),
    groups,
  };
  const common = Array.from(columns.keys());
  const permutations = drawPermutations(
    rows,
    { perRow: 2, reversed: false },
    { common, groups },
    new Random(1),
  );
  const most = 8;
  const kernelOf = (points: number) => ({
    columns: Uint16Array.from(common),
    kinds: new Uint8Array(groups),
    means: new Float64Array(groups),
    scales: new Float64Array(groups).fill(1),
    rates: new Float64Array(groups).fill(0.7),
    points: Float32Array.from(normals(points * groups, 30)),
  });
  /** Of the first outputs. */
  const follow = (kernel: ReturnType<typeof kernelOf>, weights: Float64Array, outputs: number) => {
    const points = kernel.points.length / groups;
    const gaussian = { kernel, weights: weights.slice(0, outputs * points) };
    const base = Float64Array.from({ length: outputs }, (_, k) => k);
    return processAlongPermutations({ gaussian, base }, foreground, [permutations]);
  };

  for (const points of [8, 11]) {
    it(`are the same for however many outputs they are found at once: ${points} points`, () => {
      const weights = normals(most * points, 40);
      const all = follow(kernelOf(points), weights, most);
      for (let outputs = 2; outputs < most; outputs++) {
        const some = follow(kernelOf(points), weights, outputs);
        const ofSome = all.changes[0]!.filter((_, i) => i % most < outputs);
        assert.deepEqual(some.changes[0], ofSome, `${outputs} outputs`);
        assert.deepEqual(some.effects, all.effects.slice(0, outputs * groups));
      }
      assert.ok(new Set(all.changes[0]).size > 200);
    });

    it(`change as much along an order as the effects add up to: ${points} points`, () => {
      const { changes, effects } = follow(kernelOf(points), normals(most * points, 40), 3);
      for (let k = 0; k < 3; k++) {
        // Two permutations of each row of the background, whose first mixture has the score itself.
        const along = changes[0]!.reduce(
          (sum, change, i) =>
            sum + (i % 3 === k && Math.floor(i / 3) % permutations.steps > 0 ? change / 2 : 0),
          0,
        );
        const sum = effects.slice(k * groups, (k + 1) * groups).reduce((total, effect) => total + effect, 0);
        assert.ok(Math.abs(along - sum) < 1e-9, `${along} and ${sum}`);
        assert.ok(Math.abs(sum) > 0.01);
      }
    });
  }
});
