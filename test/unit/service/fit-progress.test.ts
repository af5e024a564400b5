import assert from 'node:assert/strict';

import { FoldProgress, trainWithHelpers } from '../../doors/service';
import { fitHelper } from '../../helpers/fit-helper';
import { normals, numbers, regress } from '../learner/tables';

describe('how far the folds of a fit are', () => {
  const board = (folds: number) => new FoldProgress(FoldProgress.cells(folds));

  it('adds up the folds, and takes one under way to end where the others did', () => {
    const progress = board(4);
    progress.reach(0, 0.2);
    assert.equal(progress.fraction(), 0.05);
    progress.end(0);
    assert.equal(progress.fraction(), 0.25);
    progress.reach(1, 0.1);
    assert.equal(progress.fraction(), 0.375);
    progress.reach(1, 0.9);
    assert.ok(progress.fraction() < 0.5, 'it has not ended');
    for (const fold of [1, 2, 3]) {
      progress.end(fold);
    }
    assert.equal(progress.fraction(), 1);
  });

  it('never goes back', () => {
    const progress = board(2);
    progress.reach(0, 0.1);
    progress.end(0);
    progress.reach(1, 0.09);
    const before = progress.fraction();
    progress.reach(1, 0.01);
    assert.equal(progress.fraction(), before);
  });

  it('is shared: another thread reads what this one wrote', () => {
    const progress = board(2);
    progress.reach(1, 0.5);
    assert.equal(new FoldProgress(progress.cells).fraction(), 0.25);
  });
});

describe('the progress of a fit, in its own thread', function () {
  this.timeout(60_000);

  for (const helpers of [0, 1]) {
    it(`comes close to the end before the end, with ${helpers} helper threads`, async () => {
      const workers = Array.from({ length: helpers }, fitHelper);
      try {
        const columns = [1, 2, 3, 4].map((seed) => normals(500, seed));
        const target = columns[0]!.map((value, i) => Math.sin(2 * value) + columns[1]![i]!);
        const told: number[] = [];
        await trainWithHelpers(
          regress(
            columns.map((values, i) => numbers(`c${i}`, values)),
            target,
          ),
          workers.map(({ assist }) => assist()),
          (fraction) => told.push(fraction),
        );
        assert.deepEqual(
          told,
          [...told].sort((a, b) => a - b),
        );
        assert.equal(told.at(-1), 1);
        const last = told.filter((fraction) => fraction < 1).at(-1)!;
        // Combining the folds takes a tenth. The last fold of a helper may end before it is looked at again.
        assert.ok(last >= (helpers === 0 ? 0.9 : 0.51), `the last before the end: ${last}`);
      } finally {
        await Promise.all(workers.map(({ worker }) => worker.terminate()));
      }
    });
  }
});
