import assert from 'node:assert/strict';

import fc from 'fast-check';

import { trainModel } from '../../../dist/src/learner';
import {
  fitCalibration,
  gram,
  logistic,
  makeDesign,
  makeTerms,
  PenalisedGram,
  prepare,
  quantise,
  Random,
  sigmoid,
  softmax,
  sparse,
  SparseSlopes,
} from '../../doors/learner';
import { noSplit, searchHistogram, searchRows } from './split-search';
import { classify, normals, numbers } from './tables';

const rules = { lambda: 1, minHessian: 0.5, minGain: 1e-9, categorySmooth: 5, categoryLambda: 5 };

/** Adds rows to histograms of columns, each of `bins`. `gathered`: rows × 2. */
function addToHistograms(columns: Uint8Array[], bins: number, rows: Int32Array, gathered: Float64Array) {
  const sums = new Float64Array(columns.length * bins * 2);
  columns.forEach((column, c) =>
    rows.forEach((row, i) => {
      sums[(c * bins + column[row]!) * 2]! += gathered[i * 2]!;
      sums[(c * bins + column[row]!) * 2 + 1]! += gathered[i * 2 + 1]!;
    }),
  );
  return sums;
}

/** A node of `count` rows with four columns, ordered ones and categories in turn; the last repeats the first. */
function someNode(count: number, bins: number, seed: number) {
  const random = new Random(seed);
  const draw = () => Uint8Array.from({ length: count }, () => random.below(bins));
  const columns = [draw(), draw(), draw()];
  columns.push(columns[0]!.slice());
  const gradHess = Float64Array.from({ length: count * 2 }, (_, i) =>
    i % 2 === 0 ? random.uniform() - 0.5 : 0.05 + 0.2 * random.uniform(),
  );
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  quantise(gradHess, rows, 2);
  const totals = new Float64Array(2);
  gradHess.forEach((value, i) => (totals[i % 2]! += value));
  const specs = columns.map((_, source) => ({ source, bins, category: source === 1 }));
  return { columns, specs, rows, gradHess, totals };
}

describe('learner: the short cuts come out where the long way does', () => {
  it('a node of few rows splits as its histogram would', () => {
    const node = fc.record({
      count: fc.integer({ min: 2, max: 40 }),
      bins: fc.constantFrom(3, 8, 40, 255),
      seed: fc.nat(1e6),
      chance: fc.constantFrom(0, 0.01),
    });
    fc.assert(
      fc.property(node, ({ count, bins, seed, chance }) => {
        const { columns, specs, rows, gradHess, totals } = someNode(count, bins, seed);
        const node = { rows, gradHess, totals };
        const sums = addToHistograms(columns, bins, rows, gradHess);
        const [quick, plain] = [noSplit(), noSplit()];
        columns.forEach((column, i) => {
          searchRows(node, column, specs[i]!, i, rules, quick, chance);
          const own = sums.subarray(i * bins * 2, (i + 1) * bins * 2);
          const { category } = specs[i]!;
          searchHistogram({ sums: own, bins, category, totals, width: 1 }, i, rules, plain, chance);
          assert.deepEqual(quick, plain);
        });
      }),
      { numRuns: 400, seed: 11 },
    );
  });

  it('gradHess keep to a grid so fine that only the 30th bit is lost, so coarse that sums are exact', () => {
    for (const size of [1e-7, 1, 3e5]) {
      const values = normals(4000, 3).map((z) => z * size);
      const rounded = values.slice();
      quantise(
        rounded,
        Int32Array.from(values, (_, row) => row),
        1,
      );
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      rounded.forEach((value, i) => assert.ok(Math.abs(value - values[i]!) <= largest * 2 ** -29));
      const forth = rounded.reduce((sum, value) => sum + value, 0);
      assert.equal(
        rounded.reduceRight((sum, value) => sum + value, 0),
        forth,
      );
    }
  });

  it('a sparse design holds the numbers of the full one, categories and missing values in a fraction of the memory', () => {
    const random = new Random(8);
    const rows = Int32Array.from({ length: 300 }, (_, row) => row);
    const column = (of: () => number) => Uint8Array.from(rows, of);
    const input = {
      rows,
      columns: [
        column(() => random.below(6)),
        column(() => (random.below(9) === 0 ? 0 : 1 + random.below(20))),
        column(() => 1 + random.below(3)),
      ],
      specs: [
        { source: 0, bins: 6, category: true },
        { source: 1, bins: 21, category: false },
        { source: 2, bins: 4, category: false },
      ],
      numbers: [
        undefined,
        undefined,
        Float64Array.from(rows, () => (random.below(5) === 0 ? 10 * random.uniform() : 0)),
      ],
      centers: [undefined, Float64Array.from({ length: 21 }, (_, bin) => bin * bin), new Float64Array(4)],
    };
    const terms = makeTerms(input);
    const size = terms.length + 1;
    const design = makeDesign(terms, input);
    const { common, starts, terms: which, by } = sparse(design, size);
    for (let i = 0; i < rows.length; i++) {
      const row = common.slice();
      for (let e = starts[i]!; e < starts[i + 1]!; e++) {
        row[which[e]!]! += by[e]!;
      }
      row.forEach((value, t) => assert.ok(Math.abs(value - design[i * size + t]!) < 1e-12));
    }
    assert.equal(size, 10);
    assert.ok(by.length < rows.length * 2.4, `${by.length} numbers for ${rows.length} rows of ${size}`);
  });

  it('logistic regression ends where the penalised loss is flat', () => {
    const z = normals(400, 21);
    const random = new Random(22);
    const rows = Int32Array.from(z, (_, row) => row);
    const bins = Uint8Array.from(z, (value) => Math.max(1, Math.min(40, Math.round(20 + 6 * value))));
    const input = {
      rows,
      columns: [bins],
      specs: [{ source: 0, bins: 41, category: false }],
      numbers: [undefined],
      centers: [Float64Array.from({ length: 41 }, (_, bin) => bin)],
    };
    const terms = makeTerms(input);
    const design = makeDesign(terms, input);
    const products = gram(design, rows.length, 2);
    const codes = Int32Array.from(rows, (row) =>
      random.uniform() < sigmoid(1.5 * design[row * 2 + 1]!) ? 1 : 0,
    );
    const penalty = 3;
    const weights = new Float64Array(2);
    const own = new PenalisedGram(products, 2);
    const given = { design: sparse(design, 2), gram: own, size: 2, width: 1, codes };
    const fit = (input: typeof given, by: number, out: Float64Array) => {
      const slopes = new SparseSlopes(input);
      logistic(slopes, input, { penalty: by, steps: 200 }, out);
      slopes.close();
    };
    fit(given, penalty, weights);
    const slopes = [0, penalty * weights[1]!];
    rows.forEach((row) => {
      const error = sigmoid(weights[0]! + weights[1]! * design[row * 2 + 1]!) - codes[row]!;
      slopes[0]! += error;
      slopes[1]! += error * design[row * 2 + 1]!;
    });
    assert.ok(Math.abs(slopes[0]!) < 0.1 && Math.abs(slopes[1]!) < 0.1, String(slopes));
    // Two classes as two scores: the same model, each weight halved and once with the other sign.
    const both = new Float64Array(4);
    fit({ ...given, width: 2 }, penalty * 2, both);
    own.close();
    assert.ok(
      Math.abs(both[3]! - both[1]! - weights[1]!) < 0.05,
      `${String(both)} against ${String(weights)}`,
    );
  });

  it('logistic regression adds up several classes as softmax has them, to the bit', () => {
    const cases = fc.record({
      rows: fc.integer({ min: 1, max: 60 }),
      size: fc.integer({ min: 1, max: 9 }),
      width: fc.integer({ min: 2, max: 8 }),
      empty: fc.constantFrom(0, 0.7),
      spread: fc.constantFrom(1, 300),
      seed: fc.nat(1000),
    });
    fc.assert(
      fc.property(cases, ({ rows, size, width, empty, spread, seed }) => {
        const random = new Random(seed);
        const design = normals(rows * size, seed).map((value) => (random.uniform() < empty ? 2 : value));
        const codes = Int32Array.from({ length: rows }, () => random.below(width));
        const everywhere = normals(width, seed + 1);
        const weights = normals(size * width, seed + 2).map((value) => spread * value);
        const given = sparse(design, size);
        const slopes = new SparseSlopes({ design: given, size, width, codes });
        const out = normals(size * width, seed + 3);
        const plain = out.slice();
        const errors = slopes.addRows(everywhere, weights, out).slice(0, width);
        slopes.close();
        const sums = new Float64Array(width);
        codes.forEach((code, row) => {
          const entries = Array.from(
            { length: given.starts[row + 1]! - given.starts[row]! },
            (_, i) => given.starts[row]! + i,
          );
          const own = Float64Array.from(everywhere, (start, k) =>
            entries.reduce(
              (sum, entry) => sum + given.by[entry]! * weights[k * size + given.terms[entry]!]!,
              start,
            ),
          );
          softmax(own, 0, width, own, 0);
          own[code]! -= 1;
          own.forEach((error, k) => {
            sums[k]! += error;
            entries.forEach((entry) => (plain[k * size + given.terms[entry]!]! += given.by[entry]! * error));
          });
        });
        assert.deepEqual([errors, out], [sums, plain]);
      }),
      { numRuns: 300 },
    );
  });

  it('few rows that got lucky do not make the probabilities sure', () => {
    const codes = Int32Array.from({ length: 40 }, (_, row) => row % 2);
    const scoresOf = (told: number) =>
      Float64Array.from(codes, (code, row) => (row % 5 === 0 ? -told : told) * (code ? 1 : -1));
    const priors = Float64Array.of(0.5, 0.5);
    // Right in 32 of 40 rows, by scores that say little.
    const weak = fitCalibration(scoresOf(0.3), codes, 1, priors);
    const alone = 0.3 / Math.log(32 / 8);
    assert.ok(weak.temperature > 1.5 * alone, `${weak.temperature}, by these rows alone ${alone}`);
    // Sure, and never wrong: the ensemble knows more yet.
    const strong = fitCalibration(
      Float64Array.from(codes, (code) => (code ? 4 : -4)),
      codes,
      1,
      priors,
    );
    assert.ok(strong.temperature < 0.8, String(strong.temperature));
  });

  it('columns of noise, learned by heart or not, have no permutation importance', () => {
    const count = 120;
    let [noise, signal] = [0, 0];
    for (const table of [0, 100, 200]) {
      const columns = Array.from({ length: 6 }, (_, i) =>
        numbers(`noise ${i}`, normals(count, table + 40 + i)),
      );
      const [x, luck] = [normals(count, table + 50), normals(count, table + 51)];
      const labels = Array.from(x, (value, i) => (value + 1.5 * luck[i]! > 0 ? 'yes' : 'no'));
      const { importance } = trainModel(
        classify([numbers('x', x), ...columns], labels, { random_state: 3 }),
      ).report;
      for (const { feature, permutation } of importance) {
        if (feature === 'x') {
          signal += permutation / 3;
        } else {
          noise += permutation / 18;
        }
      }
    }
    assert.ok(signal > 0.05 && noise < 0.005, `${signal}, noise ${noise}`);
  });

  it('many rows of many text columns share the tokens, few rows or one column do not', () => {
    const words = Array.from({ length: 120 }, (_, i) => `word${i % 60} other${i % 7}`);
    const random = new Random(4);
    const tokens = (rows: number, columns: number) => {
      const features = Array.from({ length: columns }, (_, i) => {
        const codes = Int32Array.from({ length: rows }, () => random.below(words.length));
        return { name: `t${i}`, kind: 'text' as const, codes, dictionary: words };
      });
      const codes = Int32Array.from({ length: rows }, (_, row) => row % 2);
      const target = { task: 'classification' as const, classes: [0, 1], codes };
      const { encoders } = prepare({ features, target, options: {} });
      return encoders
        .map((encoder) => (encoder.type === 'tokens' ? encoder.tokens.length : 0))
        .filter(Boolean);
    };
    assert.deepEqual(tokens(20_001, 30), Array(30).fill(8));
    const [alone] = tokens(20_001, 1);
    assert.ok(alone! > 50, String(alone));
    assert.ok(tokens(2000, 30).every((count) => count === alone));
  });
});
