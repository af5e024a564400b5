import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  areaUnderRoc,
  bucketLogits,
  cholesky,
  commonTokens,
  datePart,
  exp,
  findBin,
  findBorders,
  findLeaf,
  findMode,
  findNumber,
  findTokens,
  fitCalibration,
  gram,
  Grower,
  type GrowRules,
  GrowSpace,
  log,
  mixWithPriors,
  quantise,
  Random,
  recurringParts,
  sigmoid,
  solve,
  type SplitCandidate,
  stackWeights,
  TreeBuilder,
  writeCumulative,
  writeQuantiles,
} from '../../doors/learner';
import { noSplit, searchHistogram } from './split-search';
import { normals } from './tables';

const rules: GrowRules = {
  lambda: 0,
  minHessian: 1,
  minGain: 1e-9,
  categorySmooth: 0,
  categoryLambda: 0,
  maxLeaves: 2,
  maxDepth: 10,
  nodeColumns: 1,
};

/** Drop in squared error by splitting `left` from the rest, straight from the definition. */
function gainOf(gradients: number[], left: boolean[]): number {
  const score = (values: number[]) =>
    values.length ? values.reduce((a, b) => a + b, 0) ** 2 / values.length : 0;
  const on = (side: boolean) => gradients.filter((_, i) => left[i] === side);
  return score(on(true)) + score(on(false)) - score(gradients);
}

/** Best gain by a histogram of one column. */
function found(bins: number[], gradients: number[], count: number, category: boolean): SplitCandidate {
  const sums = new Float64Array(count * 2);
  const totals = new Float64Array(2);
  bins.forEach((bin, row) => {
    sums[bin * 2]! += gradients[row]!;
    sums[bin * 2 + 1]! += 1;
    totals[0]! += gradients[row]!;
    totals[1]! += 1;
  });
  const best = noSplit();
  searchHistogram({ sums, bins: count, category, totals, width: 1 }, 0, rules, best);
  return best;
}

const rowsOf = (bins: number) =>
  fc.array(
    fc.record({ bin: fc.integer({ min: 0, max: bins - 1 }), gradient: fc.integer({ min: -9, max: 9 }) }),
    {
      minLength: 2,
      maxLength: 14,
    },
  );

describe('learner parts', () => {
  it('exp, log and sigmoid agree with the engine to the last digits', () => {
    for (const x of [0, 1, -1, 0.3, 20.5, -700, 709.7, -744.9, 1e-9, ...normals(200, 3)]) {
      assert.ok(Math.abs(exp(x) - Math.exp(x)) <= 1e-15 * Math.exp(x) + 5e-324, `exp ${x}`);
      assert.ok(Math.abs(sigmoid(x) - 1 / (1 + Math.exp(-x))) < 1e-15);
    }
    for (const x of [1, 2, 1e-300, 5e-324, 1e300, 0.9999999, 1.0000001, ...normals(200, 4).map(Math.abs)]) {
      assert.ok(Math.abs(log(x) - Math.log(x)) <= 1e-15 * Math.abs(Math.log(x)) + 1e-18, `log ${x}`);
    }
    assert.deepEqual([exp(1000), exp(-1000), log(0), log(-1)], [Infinity, 0, -Infinity, NaN]);
  });

  it('bins keep the order of values, and depend on nothing else', () => {
    const value = fc.oneof(fc.double({ noNaN: true, min: -50, max: 50 }), fc.integer({ min: -5, max: 5 }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 400 }), (list) => {
        const values = Float64Array.from(list);
        const stretched = values.map((v) => v * 1024 + 4096);
        const borders = findBorders(values, new Random(1));
        const outOfSample = findBorders(stretched, new Random(1));
        const bins = Array.from(values, (v) => findBin(v, borders));
        const sorted = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
        for (let i = 1; i < sorted.length; i++) {
          assert.ok(bins[sorted[i]!]! >= bins[sorted[i - 1]!]!);
        }
        assert.ok(borders.length <= 253 && bins.every((bin) => bin >= 1 && bin <= 254));
        const distinct = new Set(stretched).size === new Set(values).size;
        if (distinct) {
          assert.deepEqual(
            Array.from(stretched, (v) => findBin(v, outOfSample)),
            bins,
          );
        }
      }),
      { numRuns: 200, seed: 1 },
    );
    assert.equal(findBin(NaN, Float64Array.of(1)), 0);
    assert.deepEqual([findBin(-Infinity, Float64Array.of(1)), findBin(Infinity, Float64Array.of(1))], [1, 2]);
  });

  it('finds the best ordered split, missing values on either side, as brute force does', () => {
    fc.assert(
      fc.property(rowsOf(6), (rows) => {
        const bins = rows.map((row) => row.bin);
        const gradients = rows.map((row) => row.gradient);
        let best = 0;
        for (let border = 0; border < 6; border++) {
          for (const missingLeft of [true, false]) {
            const left = bins.map((bin) => (bin === 0 ? missingLeft : bin <= border));
            best = Math.max(best, gainOf(gradients, left));
          }
        }
        const split = found(bins, gradients, 6, false);
        assert.ok(Math.abs(split.gain - best) < 1e-9, `${split.gain} against ${best}`);
        if (best > 1e-6) {
          const own = bins.map((bin) => (bin === 0 ? split.missingLeft : bin <= split.bin));
          assert.ok(
            Math.abs(gainOf(gradients, own) - best) < 1e-9,
            'the split named is the one of that gain',
          );
        }
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  it('finds the best of all partitions of categories, as brute force does', () => {
    fc.assert(
      fc.property(rowsOf(6), (rows) => {
        const bins = rows.map((row) => row.bin);
        const gradients = rows.map((row) => row.gradient);
        let best = 0;
        for (let set = 1; set < 63; set++) {
          best = Math.max(
            best,
            gainOf(
              gradients,
              bins.map((bin) => ((set >> bin) & 1) === 1),
            ),
          );
        }
        const split = found(bins, gradients, 6, true);
        assert.ok(Math.abs(split.gain - best) < 1e-9, `${split.gain} against ${best}`);
        if (best > 1e-6) {
          const own = bins.map((bin) => ((split.set![0]! >>> bin) & 1) === 1);
          assert.ok(Math.abs(gainOf(gradients, own) - best) < 1e-9, 'the set named is the one of that gain');
        }
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  it('subtracts histograms without a trace: every leaf has exactly the sums of its rows', () => {
    const random = new Random(5);
    const rows = 3000;
    const columns = Array.from({ length: 6 }, () =>
      Uint8Array.from({ length: rows }, () => random.below(200)),
    );
    const specs = columns.map((_, i) => ({ source: i, bins: 200, category: i > 3 }));
    const picked = Int32Array.from(columns.keys());
    const none = new Int32Array(0);
    const size = {
      columns,
      specs,
      tableRows: rows,
      outputs: 1,
      rows: 2000,
      outOfSample: 1000,
      all: none,
      picked: 6,
    };
    for (const width of [1, 3]) {
      const stride = width + 1;
      const space = new GrowSpace({ ...size, width });
      const { gradHess, sample: order, outOfSample } = space;
      gradHess.set(normals(rows * stride, 6));
      for (let row = 0; row < rows; row++) {
        gradHess[row * stride + width] = Math.abs(gradHess[row]!) + 0.01;
      }
      const all = Int32Array.from({ length: rows }, (_, row) => row);
      quantise(gradHess, all, stride);
      const grower = new Grower(specs, width, space);
      const builder = new TreeBuilder(1);
      // A third of the rows is only sorted into the leaves.
      order.set(all.filter((row) => row % 3 > 0));
      outOfSample.set(all.filter((row) => row % 3 === 0));
      const growth = {
        rows: order,
        outOfSample,
        picked,
        rules: { ...rules, maxLeaves: 40 },
        random,
      };
      const grown = grower.grow(growth, builder, new Float64Array(6));
      assert.equal(grown.length, 40);
      const leaves = new Map(grown.map((leaf) => [builder.setLeaf(leaf.node, [0]), leaf]));
      for (const leaf of grown) {
        for (let d = 0; d < stride; d++) {
          let sum = 0;
          for (let i = leaf.start; i < leaf.end; i++) {
            sum += gradHess[order[i]! * stride + d]!;
          }
          assert.equal(leaf.sums[d], sum);
        }
      }
      const leafOfRow = (row: number) => leaves.get(findLeaf(builder.trees, 0, columns, row))!;
      order.forEach((row, i) => {
        const { start, end } = leafOfRow(row);
        assert.ok(i >= start && i < end, 'walking the tree ends in the leaf that holds the row');
      });
      outOfSample.forEach((row, i) => {
        const { outOfSampleStart, outOfSampleEnd } = leafOfRow(row);
        assert.ok(
          i >= outOfSampleStart && i < outOfSampleEnd,
          'and so it does for rows that it was not grown by',
        );
      });
      space.close();
    }
  });

  it('quantiles and cumulative probabilities are each other’s inverse, and never cross', () => {
    const atoms = Float64Array.of(1, 2, 4, 8);
    const weights = Float64Array.of(1, 1, 1, 1);
    const out = new Float64Array(5);
    writeQuantiles({ atoms, weights }, [0.01, 0.375, 0.5, 0.625, 0.99], out);
    assert.deepEqual([...out], [1, 2, 3, 4, 8]);
    const back = new Float64Array(3);
    writeCumulative({ atoms, weights }, [2, 3, 4], back);
    assert.deepEqual([...back], [0.375, 0.5, 0.625]);
    assert.equal(
      findMode({ atoms: Float64Array.of(0, 5, 5.1, 5.2, 9), weights: Float64Array.of(1, 2, 2, 2, 1) }) > 4.9,
      true,
    );
    const list = fc.array(
      fc.tuple(fc.double({ noNaN: true, min: -9, max: 9 }), fc.double({ noNaN: true, min: 0, max: 3 })),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(list, (pairs) => {
        const sorted = Float64Array.from(pairs, ([atom]) => atom).sort();
        const mass = Float64Array.from(pairs, ([, weight]) => weight);
        mass[0]! += 0.1;
        const levels = Float64Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
        const quantiles = new Float64Array(99);
        writeQuantiles({ atoms: sorted, weights: mass }, levels, quantiles);
        for (let q = 1; q < 99; q++) {
          assert.ok(quantiles[q]! >= quantiles[q - 1]!);
        }
        assert.ok(quantiles[0]! >= sorted[0]! && quantiles[98]! <= sorted[sorted.length - 1]!);
        const logits = new Float64Array(7);
        bucketLogits(
          { atoms: sorted, weights: mass },
          Float64Array.of(-10, -5, -1, 0, 1, 2, 5, 10),
          logits,
          0,
        );
        assert.ok(Math.abs(logits.reduce((sum, l) => sum + Math.exp(l), 0) - 1) < 1e-12);
      }),
      { numRuns: 200, seed: 4 },
    );
  });

  it('finds the temperature that scores were heated by', () => {
    const random = new Random(9);
    const truth = normals(4000, 8).map((z) => 2 * z);
    const codes = Int32Array.from(truth, (z) => (random.uniform() < sigmoid(z) ? 1 : 0));
    const halves = Float64Array.of(0.5, 0.5);
    const heated = fitCalibration(
      truth.map((z) => z * 2),
      codes,
      1,
      halves,
    );
    assert.ok(heated.temperature > 1.8 && heated.temperature < 2.2, String(heated.temperature));
    assert.ok(heated.noise < 0.02, String(heated.noise));
  });

  it('finds how many labels were drawn by chance, and gives them back to the class frequencies', () => {
    const random = new Random(10);
    const scores = normals(4000, 11).map((z) => 6 * z);
    const byChance = (z: number) => (random.uniform() < 0.2 ? random.below(2) : z > 0 ? 1 : 0);
    const codes = Int32Array.from(scores, byChance);
    const priors = Float64Array.of(0.5, 0.5);
    const { temperature, noise } = fitCalibration(scores, codes, 1, priors);
    assert.ok(noise > 0.16 && noise < 0.24, String(noise));
    assert.ok(temperature < 1, String(temperature));
    const probas = Float64Array.of(0, 1, 1, 0);
    mixWithPriors(probas, {
      temperature,
      noise: 0.2,
      priors: Float64Array.of(0.75, 0.25),
      averageScores: false,
      softmaxTemperature: 1,
      balance: false,
    });
    [0.15, 0.85, 0.95, 0.05].forEach((p, i) => assert.ok(Math.abs(probas[i]! - p) < 1e-12));
  });

  it('gives all weight to the candidate that is right', () => {
    const target = normals(300, 1);
    const scores = [normals(300, 2), target.slice(), normals(300, 3)];
    const weights = stackWeights({ scores, width: 1, target, regression: true });
    assert.ok(weights[1]! > 0.95 && Math.abs(weights.reduce((a, b) => a + b) - 1) < 1e-12);
  });

  it('does not let one wild row choose between the candidates', () => {
    const target = normals(300, 1);
    const [near, far] = [0.3, 0.6].map((by) =>
      target.map((value, i) => value + by * normals(300, 4 + by)[i]!),
    );
    target[7] = 100;
    far![7] = 60;
    const weights = stackWeights({ scores: [near!, far!], width: 1, target, regression: true });
    assert.ok(weights[0]! > 0.6, `${weights[0]}`);
  });

  it('solves a positive definite system', () => {
    const design = normals(60, 7);
    const matrix = gram(design, 12, 5);
    const wanted = Float64Array.of(1, -2, 3, 0, 0.5);
    const right = new Float64Array(5);
    for (let i = 0; i < 5; i++) {
      for (let j = 0; j < 5; j++) {
        right[i]! += matrix[i * 5 + j]! * wanted[j]!;
      }
    }
    solve(cholesky(matrix, 5), 5, right);
    right.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]!) < 1e-9));
  });

  it('reads tokens, numbers and times', () => {
    assert.deepEqual(
      [...findTokens('Ford Pinto 1974')],
      ['ford', 'pinto', 'ford pinto', '1974', 'pinto 1974', '^f', '^fo', '^for'],
    );
    assert.deepEqual([...findTokens('Été')], [...findTokens('e\u0301te\u0301'.toUpperCase())]);
    assert.deepEqual([findNumber('from -12.5 kg'), findNumber('none')], [-12.5, NaN]);
    const at = Date.UTC(2023, 1, 3, 4, 5, 6);
    assert.deepEqual(
      (['secondOfDay', 'weekday', 'dayOfMonth', 'month', 'dayOfYear'] as const).map((part) =>
        datePart(at, part),
      ),
      [14706, 5, 3, 2, 34],
    );
    assert.equal(datePart(-1, 'secondOfDay'), 86399);
  });

  it('finds the same common tokens whether it counts all of them or only those that may be common', () => {
    const words = fc.array(
      fc.integer({ min: 0, max: 40 }).map((i) => `w${Math.floor(i * i * 3)}`),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    const entry = fc.record({
      text: words.map((list) => list.join(' ')),
      count: fc.integer({ min: 1, max: 4 }),
    });
    let found = 0;
    fc.assert(
      fc.property(fc.array(entry, { minLength: 5, maxLength: 60 }), (entries) => {
        const known = entries.reduce((sum, { count }) => sum + count, 0);
        const all = commonTokens(entries, known, Infinity);
        found += all.length;
        assert.deepEqual(commonTokens(entries, known, 3), all);
      }),
    );
    assert.ok(found > 100, 'there were common tokens at all');
  });

  it('takes a token that stands where another one does, or in a level alone, once', () => {
    const entries = Array.from({ length: 40 }, (_, i) => ({
      text: `v${i % 20} ${i < 20 ? 'old' : 'new'}`,
      count: 10,
      isNamed: true,
    }));
    const found = commonTokens(entries, 400);
    const places = found.map((token) => entries.filter(({ text }) => findTokens(text).has(token)));
    assert.equal(new Set(places.map((own) => own.map(({ text }) => text).join())).size, found.length);
    assert.ok(places.every((own) => own.length > 1));
    assert.ok(['old', '0', '19'].every((token) => found.includes(token)));
    // What has no level is told by its token alone; and few rows are learned from all of them.
    const unnamed = entries.map((entry) => ({ ...entry, isNamed: false }));
    assert.ok(commonTokens(unnamed, 400).includes('0 new'));
    const few = entries.map((entry) => ({ ...entry, count: 3 }));
    assert.ok(commonTokens(few, 120).includes('v 0'));
  });

  it('counts ties as half in the area under the ROC curve', () => {
    const probas = Float64Array.of(0, 0.1, 0, 0.4, 0, 0.4, 0, 0.8);
    assert.equal(areaUnderRoc(probas, Int32Array.of(0, 0, 1, 1), 2, 1), 0.875);
    assert.equal(areaUnderRoc(probas, Int32Array.of(1, 1, 1, 1), 2, 1), undefined);
  });
});

describe('recurringParts', () => {
  const DAY = 86_400_000;
  const daily = (days: number): Float64Array => Float64Array.from({ length: days }, (_, day) => day * DAY);

  it('takes of the time of rows in order only what came round at least twice', () => {
    assert.deepEqual(recurringParts(daily(11)), ['secondOfDay']);
    assert.deepEqual(recurringParts(daily(20).reverse()), ['secondOfDay', 'weekday']);
    assert.deepEqual(recurringParts(daily(100)), ['secondOfDay', 'weekday', 'dayOfMonth']);
    assert.deepEqual(recurringParts(daily(800)).slice(3), ['month', 'dayOfYear']);
    assert.ok(!recurringParts(daily(800)).includes('epoch'));
  });

  it('all of a date that says something else than when the row was', () => {
    const born = Float64Array.from({ length: 50 }, (_, row) => ((row * 17) % 50) * DAY);
    assert.equal(recurringParts(born).length, 6);
  });
});
