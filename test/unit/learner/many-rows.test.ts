import assert from 'node:assert/strict';

import { predict, type RegressionResult, trainModel } from '../../../dist/src/learner';
import {
  boost,
  type BoostRules,
  chooseEncoders,
  prepare,
  Random,
  squaredError,
  trainFold,
  wantsSingleRowsOfMany,
} from '../../doors/learner';
import { normals, numbers, regress } from './tables';

const DAY_MS = 86_400_000;

describe('learner: tables of many rows', () => {
  const days = 500;
  const rows = days * 20;
  const day = Float64Array.from({ length: rows }, (_, row) => row % days);
  const rules = { asCategory: false, maxBins: 254, random: new Random(1) };

  it('have borders between all values that so many rows share, in further columns', () => {
    for (const [of, more] of [
      [day, 1],
      [day.map((value) => value % 200), 0],
      [day.subarray(0, rows - 1), 0],
      [day.map((value, row) => (row === 0 ? NaN : value)), 0],
      [Float64Array.from(day, (_, row) => row), 0],
    ] as const) {
      const encoders = chooseEncoders(numbers('day', of), 0, rules);
      const borders = encoders.flatMap((one) => ('borders' in one ? Array.from(one.borders) : []));
      assert.deepEqual(
        encoders.map(({ type }) => type),
        ['number', ...Array.from({ length: more }, () => 'between')],
      );
      assert.equal(new Set(borders).size, borders.length);
      if (more > 0) {
        assert.deepEqual(
          borders.sort((a, b) => a - b),
          Array.from({ length: days - 1 }, (_, i) => i + 0.5),
        );
      }
    }
  });

  it('have them between days of dates too', () => {
    const dates = { name: 'day', kind: 'date' as const, values: day.map((value) => value * DAY_MS) };
    const [first, second] = chooseEncoders(dates, 0, rules);
    assert.ok(first?.type === 'date' && first.part === 'epoch');
    assert.ok(second?.type === 'between' && second.part === 'epoch');
    assert.equal(first.borders.length + second.borders.length, days - 1);
  });

  it('tell what each of 500 days was like', function () {
    this.timeout(60_000);
    const level = normals(days, 3);
    const noise = normals(rows, 4);
    const y = day.map((value, row) => level[value]! + noise[row]! / 10);
    const own = [numbers('day', day)];
    const model = trainModel(regress(own, y, { n_estimators: 2 }));
    const asked = [
      numbers(
        'day',
        Float64Array.from(level, (_, i) => i),
      ),
    ];
    const means = (predict(model, asked, days) as RegressionResult).mean();
    const error = Math.sqrt(means.reduce((sum, mean, i) => sum + (mean - level[i]!) ** 2 / days, 0));
    assert.ok(error < 0.2, `${error}`);
  });

  it('have single rows in the leaves of randomised trees where rows come in pairs, and not where they are noise', () => {
    const count = 4000;
    const draw = new Random(8);
    const ofPairs = Array.from({ length: 4 }, () =>
      Uint8Array.from({ length: count / 2 }, () => 1 + draw.below(200)),
    );
    const table = {
      columns: ofPairs.map((bins) => Uint8Array.from({ length: count }, (_, row) => bins[row >> 1]!)),
      numbers: ofPairs.map(() => undefined),
      specs: ofPairs.map((_, source) => ({ source, bins: 202, category: false })),
      centers: ofPairs.map(() => Float64Array.from({ length: 202 }, (_, bin) => bin)),
      part: Uint8Array.from({ length: count }, () => draw.below(5)),
    };
    const noise = normals(count, 4);
    const pairs = noise.map((_, row) => noise[row >> 1]!);
    const own = { trees: 30, minLeaf: 5, nodeColumns: 4 };
    const isWanted = (target: ArrayLike<number>, classes = 0, minLeaf = 5) =>
      wantsSingleRowsOfMany(
        { ...table, target, classes },
        [
          { ...own, minLeaf },
          { ...own, minLeaf: 1 },
        ],
        new Random(3),
      );
    assert.equal(isWanted(pairs), true);
    assert.equal(isWanted(noise), false);
    assert.equal(isWanted(pairs, 0, 1), false);
    for (const classes of [2, 3]) {
      const codes = (of: Float64Array) =>
        Int32Array.from(of, (value) => Math.floor(Math.abs(value) * 9) % classes);
      assert.equal(isWanted(codes(pairs), classes), true);
      assert.equal(isWanted(codes(noise), classes), false);
    }
  });

  it('leave candidates fewer rows the more there are, and hold out fewer where rows nearby tell', function () {
    this.timeout(60_000);
    const planOf = (count: number, pairs: boolean) => {
      const draw = new Random(8);
      const own = Array.from({ length: 4 }, (_, c) => {
        const values = Float64Array.from({ length: count / 2 }, () => draw.below(200));
        return numbers(
          `column ${c}`,
          Float64Array.from({ length: count }, (__, row) => values[row >> 1]!),
        );
      });
      const noise = normals(count, 5);
      // Not quite equal: copies would be left out.
      const alike = noise.map((_, row) => noise[row >> 1]! + (row % 2) / 1e6);
      return prepare(regress(own, pairs ? alike : noise)).plan;
    };
    const usual = planOf(22_000, false);
    assert.ok(usual.linear && usual.lowNoise && usual.randomised);
    assert.deepEqual([usual.parts, usual.folds, usual.boosts[0]?.maxIterations], [5, 3, 1500]);
    assert.ok(usual.randomised.minLeaf > 1);
    const near = planOf(22_000, true);
    assert.deepEqual([near.parts, near.folds, near.randomised?.minLeaf], [10, 3, 1]);
    // No step at the size from which on they learn from fewer: fold by fold a table of 60,000 has 40,000 to 54,000.
    const [all, some, most] = [60_000, 60_002, 120_000].map((count) => planOf(count, false));
    assert.equal(all!.otherRows, 60_000);
    assert.equal(some!.otherRows, 59_999);
    assert.equal(most!.otherRows, 42_426);
    for (const plan of [some!, most!]) {
      assert.ok(plan.linear && plan.lowNoise && plan.randomised);
    }
    assert.deepEqual(
      [all, some, most].map((plan) => plan!.boosts[0]?.maxIterations),
      [1500, 1499, 750],
    );
    const large = planOf(300_000, false);
    assert.deepEqual([large.linear, large.lowNoise, large.randomised], [false, undefined, undefined]);
    assert.equal(large.boosts[0]?.maxIterations, 500);
  });

  it('train the candidates beside the first one on as many as the plan says', () => {
    const values = normals(900, 3);
    const noise = normals(900, 4);
    const target = values.map((value, row) => Math.sin(3 * value) + 0.1 * noise[row]!);
    const prepared = prepare(regress([numbers('value', values), numbers('other', noise)], target));
    const [all, some] = [900, 90].map((otherRows) =>
      trainFold({ ...prepared, plan: { ...prepared.plan, otherRows } }, 0),
    );
    const { lineFirst } = prepared.plan;
    // Those that begin with the line follow it.
    assert.deepEqual(
      some!.boosted.filter((_, run) => run !== lineFirst),
      all!.boosted.filter((_, run) => run !== lineFirst),
    );
    assert.notDeepEqual(some!.linear, all!.linear);
    const leaves = [all, some].map((fold) => fold!.randomised!.trees.values.length);
    assert.ok(leaves[1]! < leaves[0]! / 5, leaves.join());
    assert.notDeepEqual(some!.lowNoise, all!.lowNoise);
  });

  it('are boosted beyond the usual iterations only as long as the loss falls clearly', () => {
    const values = normals(200, 7);
    const columns = [Uint8Array.from(values, (_, row) => 1 + row)];
    const specs = [{ source: 0, bins: 202, category: false }];
    const all = Int32Array.from(values, (_, row) => row);
    const iterations = (learningRate: number, longAfter: number) => {
      const own: BoostRules = {
        learningRate,
        maxIterations: 60,
        longAfter,
        patience: 5,
        minImprovement: 0,
        rowSample: 1,
        columnSample: 1,
        lambda: 1,
        minHessian: 1,
        minGain: 1e-9,
        categorySmooth: 5,
        categoryLambda: 5,
        maxLeaves: 4,
        maxDepth: 4,
        nodeColumns: 1,
        sketch: 0,
        workBudget: 1e9,
      };
      const input = {
        columns,
        specs,
        objective: squaredError(values),
        rows: all,
        heldOut: all,
        tableRows: 200,
      };
      return boost(input, own, new Random(1)).iterations;
    };
    assert.equal(iterations(0.0002, 60), 60);
    assert.equal(iterations(0.0002, 20), 25);
    assert.equal(iterations(0.05, 20), 60);
  });
});
