import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  type ClassificationResult,
  explain,
  type FeatureColumn,
  loadModel,
  type Model,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import {
  addGram,
  chooseStart,
  denseLogistic,
  descend,
  dotAt,
  exp,
  factorise,
  findQuadrature,
  gramOfSome,
  inducingRows,
  invert,
  listPairs,
  makeDimensions,
  makeEvidence,
  MaternRows,
  openScratch,
  positions,
  Random,
  Slopes,
} from '../../doors/learner';
import { classify, dates, normals, numbers, regress, rowsOf, text } from './tables';

const random = new Random(1);
const ROWS = 30;
const all = Int32Array.from({ length: ROWS }, (_, row) => row);
/** A column of numbers with gaps, one of categories and one of numbers. */
const table = {
  columns: [
    Uint8Array.from(all, (row) => (row % 7 === 0 ? 0 : 1 + row)),
    Uint8Array.from(all, () => 2 + random.below(4)),
    Uint8Array.from(all, (row) => 1 + row),
  ],
  numbers: [
    Float64Array.from(all, (row) => (row % 7 === 0 ? NaN : random.uniform() * 50)),
    undefined,
    Float64Array.from(all, () => random.uniform()),
  ],
};
const specs = [false, true, false].map((category, source) => ({ source, bins: 40, category }));
const dimensions = makeDimensions(table, specs, [0, 1, 2]);
const at = positions(dimensions, table, all);
const width = dimensions.columns.length;
const rates = Float64Array.from({ length: width }, (_, d) => 0.5 + d / 4);

/** The kernel between one position and others. */
function kernelOf(
  own: { kinds: Uint8Array },
  each: Float64Array,
  position: Float64Array,
  others: Float64Array,
): Float64Array {
  const rows = new MaternRows(own, others);
  const kernel = rows.row({ rates: each }, position).slice();
  rows.close();
  return kernel;
}

/** Kernels of all pairs of rows. */
function kernels(): Float64Array[] {
  return Array.from(all, (row) =>
    kernelOf(dimensions, rates, at.subarray(row * width, (row + 1) * width), at),
  );
}

describe('Gaussian process: its kernel', () => {
  it('is a product of Matérn kernels over numbers, whether they are missing, and categories', () => {
    assert.equal(width, 4);
    const matern = (s: number) => (1 + s + (s * s) / 3) * Math.exp(-s);
    kernels().forEach((row, i) =>
      row.forEach((value, j) => {
        const expected = rates.reduce((product, rate, d) => {
          const gap = Math.abs(at[i * width + d]! - at[j * width + d]!);
          const isCategory = dimensions.columns[d] === 1;
          return product * matern(rate * (isCategory ? Math.min(1, gap) : gap));
        }, 1);
        assert.ok(Math.abs(value - expected) < 1e-12);
      }),
    );
  });

  it('is mixed with a sum over all sets of its dimensions, each with the weights of those in it and not in it', () => {
    const additive = {
      share: 0.3,
      rates: rates.map((rate) => 2 * rate),
      weights: rates.map((rate) => rate / 2),
    };
    const matern = (s: number) => (1 + s + (s * s) / 3) * Math.exp(-s);
    const rows = new MaternRows(dimensions, at);
    const plain = kernels();
    for (const row of all) {
      const found = rows.row({ rates, additive }, at.subarray(row * width, (row + 1) * width));
      found.forEach((value, j) => {
        let sum = 0;
        for (let set = 0; set < 1 << width; set++) {
          sum += additive.weights.reduce((product, weight, d) => {
            const gap = Math.abs(at[row * width + d]! - at[j * width + d]!);
            const isCategory = dimensions.columns[d] === 1;
            const own = matern(additive.rates[d]! * (isCategory ? Math.min(1, gap) : gap));
            return product * (((set >> d) & 1) === 1 ? weight * own : 1 - weight);
          }, 1);
        }
        assert.ok(Math.abs(value - (0.7 * plain[row]![j]! + 0.3 * sum)) < 1e-12);
      });
    }
    rows.close();
  });

  it('is told by its inducing rows: by all of them wholly, by some of them as well as they can', () => {
    const wanted = kernels();
    const worst = [5, 15, ROWS].map((most) => {
      const { pivots, factor } = inducingRows(dimensions, { rates }, at, most, 1e-12);
      assert.equal(pivots.length, most);
      assert.equal(new Set(pivots).size, most);
      let sum = 0;
      for (let i = 0; i < ROWS; i++) {
        for (let j = 0; j < ROWS; j++) {
          let product = 0;
          for (let point = 0; point < most; point++) {
            product += factor[point * ROWS + i]! * factor[point * ROWS + j]!;
          }
          sum = Math.max(sum, Math.abs(product - wanted[i]![j]!));
        }
      }
      return sum;
    });
    assert.ok(worst[0]! > worst[1]! && worst[1]! > worst[2]!);
    assert.ok(worst[2]! < 1e-9);
  });

  it('has the gradient that its likelihood has by differences', () => {
    const linear = Float64Array.from(
      { length: ROWS * ROWS },
      (_, i) => at[Math.floor(i / ROWS) * width]! * at[(i % ROWS) * width]!,
    );
    const target = normals(ROWS, 3);
    const pairs = listPairs(dimensions, at);
    const scratch = openScratch();
    const f = makeEvidence({ dimensions, positions: at, pairs, linear, target, scratch });
    // Two kernels of one direction come last: their variance, and the weight of each dimension.
    const ridges = [1, 2].flatMap(() => [-1, ...dimensions.columns].fill(0.4, 1));
    const here = Float64Array.of(...chooseStart(dimensions), ...ridges).map(
      (value, i) => value + Math.sin(i) / 3,
    );
    const slope = new Float64Array(here.length);
    f(here, slope);
    here.forEach((_, i) => {
      const beside = (by: number) =>
        f(
          here.map((value, k) => value + (k === i ? by : 0)),
          new Float64Array(here.length),
        );
      const expected = (beside(1e-4) - beside(-1e-4)) / 2e-4;
      assert.ok(
        Math.abs(slope[i]! - expected) < 1e-5 * (1 + Math.abs(expected)),
        `${i}: ${slope[i]} is not ${expected}`,
      );
    });
    pairs.close();
    scratch.close();
  });
});

describe('Gaussian process: what follows without noise', () => {
  it('is told to a hundred thousandth of the range, where its variance wants to be large', () => {
    const errors = [1, 2, 3].map((seed) => {
      const chance = new Random(seed);
      const rows = Array.from({ length: 600 }, () => {
        const plays = Math.floor(150 * chance.uniform() ** 3);
        const year = chance.uniform() < 0.7 ? 1960 + chance.below(60) : NaN;
        return { plays, year, known: Number.isNaN(year) ? 0 : plays };
      });
      const [seen, later] = [rows.slice(0, 420), rows.slice(420)];
      const features = (some: typeof rows): FeatureColumn[] => [
        numbers(
          'plays',
          Float64Array.from(some, ({ plays }) => plays),
        ),
        numbers(
          'year',
          Float64Array.from(some, ({ year }) => year),
        ),
      ];
      const values = Float64Array.from(seen, ({ known }) => known);
      const model = trainModel({
        features: features(seen),
        target: { task: 'regression', values },
        options: { n_estimators: 3 },
      });
      const told = (predict(model, features(later), later.length) as RegressionResult).mean();
      return Math.sqrt(later.reduce((sum, { known }, i) => sum + (told[i]! - known) ** 2 / later.length, 0));
    });
    const mean = errors.reduce((sum, one) => sum + one / errors.length, 0);
    assert.ok(mean < 0.0015, String(errors));
  });
});

describe('Gaussian process: a kernel of numbers alone', () => {
  it('is that with a category of no weight', () => {
    const isNumber = Array.from(dimensions.columns.keys()).filter((d) => dimensions.columns[d] !== 1);
    const alone = isNumber.map((d) => dimensions.kinds[d]!);
    const weightless = rates.map((rate, d) => (isNumber.includes(d) ? rate : 0));
    const own = Float64Array.from([...all].flatMap((row) => isNumber.map((d) => at[row * width + d]!)));
    const count = isNumber.length;
    const quick = kernelOf(
      { kinds: Uint8Array.from(alone) },
      Float64Array.from(isNumber, (d) => rates[d]!),
      own.subarray(3 * count, 4 * count),
      own,
    );
    const whole = kernelOf(dimensions, weightless, at.subarray(3 * width, 4 * width), at);
    assert.deepEqual(quick, whole);
  });
});

describe('Gaussian process: its arithmetic', () => {
  it('factorises and inverts, and takes rows away from products', () => {
    const size = 13;
    const scratch = openScratch();
    const { kernels } = scratch;
    const matrix = scratch.numbers(ROWS * size);
    matrix.set(normals(ROWS * size, 5));
    const some = all.filter((row) => row % 5 > 0);
    const products = scratch.numbers(size * size).fill(0);
    addGram(matrix, all, size, 1, products, kernels);
    const others = all.filter((row) => row % 5 === 0);
    addGram(matrix, others, size, -1, products, kernels);
    for (let i = 0; i < size; i++) {
      for (let j = 0; j <= i; j++) {
        const expected = some.reduce(
          (sum, row) => sum + matrix[row * size + i]! * matrix[row * size + j]!,
          0,
        );
        assert.ok(Math.abs(products[i * size + j]! - expected) < 1e-10);
      }
    }
    const factor = scratch.numbers(size * size);
    factor.set(products);
    factorise(factor, size, kernels);
    const [columns, rows, inverse] = [1, 2, 3].map(() => scratch.numbers(size * size));
    invert(factor, size, { columns: columns!, rows: rows!, out: inverse! }, kernels);
    const both = (lower: Float64Array, i: number, j: number) =>
      lower[Math.max(i, j) * size + Math.min(i, j)]!;
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        let sum = 0;
        for (let k = 0; k < size; k++) {
          sum += both(products, i, k) * both(inverse!, k, j);
        }
        assert.ok(Math.abs(sum - (i === j ? 1 : 0)) < 1e-9);
      }
    }
    scratch.close();
  });

  it('adds up products and factorises in the order that is written here, to the bit', () => {
    const some = all.filter((row) => row % 4 !== 1);
    const few = all.filter((row) => row % 3 === 1);
    for (const size of [1, 3, 4, 7, 22, 25]) {
      const matrix = normals(ROWS * size, 8);
      const plain = new Float64Array(size * size);
      const add = (rows: Int32Array, sign: number) => {
        const at = (i: number, column: number) => matrix[rows[i]! * size + column]!;
        const together = rows.length - (rows.length % 4);
        for (let i = 0; i < size; i++) {
          for (let j = 0; j <= i; j++) {
            const product = (r: number) => sign * at(r, i) * at(r, j);
            for (let r = 0; r < together; r += 4) {
              plain[i * size + j]! += product(r) + product(r + 1) + (product(r + 2) + product(r + 3));
            }
            for (let r = together; r < rows.length; r++) {
              plain[i * size + j]! += product(r);
            }
          }
        }
      };
      const scratch = openScratch();
      const features = scratch.numbers(ROWS * size);
      features.set(matrix);
      const writeProducts = gramOfSome(features, size, scratch);
      const products = scratch.numbers(size * size);
      writeProducts(few, products);
      add(few, 1);
      assert.deepEqual(products, plain);
      plain.fill(0);
      add(all, 1);
      add(
        all.filter((row) => !some.includes(row)),
        -1,
      );
      writeProducts(some, products);
      assert.deepEqual(products, plain);
      for (let i = 0; i < size; i++) {
        for (let j = 0; j < i; j++) {
          const value = plain[i * size + j]! - dotAt(plain, i * size, plain, j * size, j);
          plain[i * size + j] = value / plain[j * size + j]!;
        }
        const whole = plain[i * size + i]!;
        const left = whole - dotAt(plain, i * size, plain, i * size, i);
        plain[i * size + i] = left > 1e-12 * Math.abs(whole) ? Math.sqrt(left) : Infinity;
      }
      factorise(products, size, scratch.kernels);
      scratch.close();
      assert.deepEqual(products, plain);
    }
  });

  it('compares positions to the bits of the plain formula, however far apart they are', () => {
    const cases = fc.record({
      kinds: fc.array(fc.constantFrom(0, 1, 2), { minLength: 1, maxLength: 13 }),
      count: fc.integer({ min: 0, max: 40 }),
      spread: fc.constantFrom(0, 1, 30, 400, 1e200, Infinity),
      seed: fc.nat(1000),
    });
    fc.assert(
      fc.property(cases, ({ kinds, count, spread, seed }) => {
        const dimensionsOf = kinds.length;
        const own = { kinds: Uint8Array.from(kinds) };
        const places = normals((count + 1) * dimensionsOf, seed).map((one, i) =>
          kinds[i % dimensionsOf] === 2 ? Math.round(one) : one * spread,
        );
        const each = normals(dimensionsOf, seed + 1).map(Math.exp);
        const others = places.subarray(dimensionsOf);
        const position = places.subarray(0, dimensionsOf);
        const plain = Array.from({ length: count }, (_, i) => {
          let [factor, sum] = [1, 0];
          each.forEach((rate, d) => {
            const gap = Math.abs(position[d]! - others[i * dimensionsOf + d]!);
            const s = rate * (kinds[d] === 2 ? (gap === 0 ? 0 : 1) : gap);
            factor *= 1 + s + (s * s) / 3;
            sum += s;
          });
          return factor * exp(-sum);
        });
        // In lists, since the sign of NaN is up to the engine.
        assert.deepEqual(Array.from(kernelOf(own, each, position, others)), plain);
        const gaps = others.map(Math.abs);
        const shares = normals(count, seed + 2);
        const distances = new MaternRows({ kinds: new Uint8Array(dimensionsOf) }, gaps);
        const slopes = Array.from(distances.slopes(each, shares));
        distances.close();
        const expected = new Float64Array(dimensionsOf);
        gaps.forEach((gap, i) => {
          const d = i % dimensionsOf;
          const s = each[d]! * gap;
          expected[d]! -= (shares[Math.floor(i / dimensionsOf)]! * s * s * (1 + s)) / (3 + 3 * s + s * s);
        });
        assert.deepEqual(slopes, Array.from(expected));
      }),
      { numRuns: 500 },
    );
  });

  it('descends to the minimum of a narrow valley', () => {
    const valley = (x: Float64Array, slope: Float64Array) => {
      const [a, b] = [1 - x[0]!, x[1]! - x[0]! * x[0]!];
      slope[0] = -2 * a - 40 * x[0]! * b;
      slope[1] = 20 * b;
      return a * a + 10 * b * b;
    };
    const begun = descend(valley, { at: Float64Array.of(-1, 1.5) }, 15);
    const { at: end } = descend(valley, begun, 60);
    assert.ok(Math.abs(end[0]! - 1) < 0.2 && Math.abs(end[1]! - 1) < 0.4, String(end));
  });

  it('goes on where a curvature found elsewhere promises too much', () => {
    const hollow = (x: Float64Array, slope: Float64Array) => {
      const square = x[0]! * x[0]!;
      slope[0] = (2 * x[0]!) / (1 + square) / (1 + square);
      return square / (1 + square);
    };
    const begun = { at: Float64Array.of(0.5), inverse: Float64Array.of(1e9) };
    assert.ok(Math.abs(descend(hollow, begun, 20).at[0]!) < 0.1);
  });

  it('finds the most probable weights of a logistic regression, of two classes and of three', () => {
    const size = 5;
    const features = normals(ROWS * size, 6).map((value, i) => (i % size === 0 ? 1 : value));
    for (const outputs of [1, 3]) {
      const codes = Int32Array.from(all, (row) => (features[row * size + 1]! > 0.3 ? outputs - 1 : row % 2));
      const slopes = new Slopes({ rows: ROWS, size, outputs });
      slopes.features.set(features);
      const products = slopes.scratch.numbers(size * size).fill(0);
      addGram(slopes.features, all, size, 1, products, slopes.scratch.kernels);
      const input = { slopes, rows: all, products, codes };
      const weights = new Float64Array(outputs * size);
      // Each call begins where the one before ended.
      for (let round = 0; round < 40; round++) {
        denseLogistic(input, 0.5, weights);
      }
      slopes.close();
      const slope = weights.map((weight, i) => (i % size === 0 ? 0 : 0.5 * weight));
      for (const row of all) {
        const own = features.subarray(row * size, (row + 1) * size);
        const scores = Array.from({ length: outputs }, (_, k) =>
          own.reduce((sum, value, i) => sum + value * weights[k * size + i]!, 0),
        );
        const logits = outputs === 1 ? [0, scores[0]!] : scores;
        const total = logits.reduce((sum, score) => sum + Math.exp(score), 0);
        for (let k = 0; k < outputs; k++) {
          const code = outputs === 1 ? 1 : k;
          const error = Math.exp(logits[code]!) / total - (codes[row] === code ? 1 : 0);
          own.forEach((value, i) => (slope[k * size + i]! += error * value));
        }
      }
      assert.ok(
        slope.every((one) => Math.abs(one) < 0.01),
        String(slope),
      );
    }
  });

  it('scores rows and adds up their errors in the order that is written here, to the bit', () => {
    const cases = fc.record({
      size: fc.integer({ min: 1, max: 23 }),
      outputs: fc.integer({ min: 1, max: 4 }),
      rows: fc.array(fc.nat(29), { maxLength: 30 }),
      seed: fc.nat(1000),
    });
    fc.assert(
      fc.property(cases, ({ size, outputs, rows, seed }) => {
        const slopes = new Slopes({ rows: 30, size, outputs });
        const { features, weights, slope, errors } = slopes;
        features.set(normals(30 * size, seed));
        weights.set(normals(outputs * size, seed + 1));
        slope.set(normals(outputs * size, seed + 2));
        const plain = slope.slice();
        slopes.score(Int32Array.from(rows));
        slopes.addErrors(Int32Array.from(rows));
        rows.forEach((row, i) => {
          for (let k = 0; k < outputs; k++) {
            const error = dotAt(features, row * size, weights, k * size, size);
            assert.equal(errors[i * outputs + k], error);
            for (let d = 0; d < size; d++) {
              plain[k * size + d]! += error * features[row * size + d]!;
            }
          }
        });
        assert.deepEqual(slope, plain);
        slopes.close();
      }),
      { numRuns: 300, seed: 26 },
    );
  });

  it('integrates polynomials of degree 2 n - 1 with n nodes', () => {
    for (let count = 1; count <= 9; count++) {
      const { nodes, weights } = findQuadrature(count);
      for (let degree = 0; degree < 2 * count; degree++) {
        const sum = nodes.reduce((total, node, i) => total + weights[i]! * node ** degree, 0);
        assert.ok(Math.abs(sum - 1 / (degree + 1)) < 1e-14);
      }
    }
  });
});

const COUNT = 260;
const [x, y, z] = [11, 12, 13].map((seed) => normals(COUNT, seed));
const words = Array.from({ length: COUNT }, () => ['red', 'blue', undefined][random.below(3)]);
const features: FeatureColumn[] = [
  numbers('x', x!),
  numbers(
    'y',
    y!.map((value, i) => (i % 13 === 0 ? NaN : value)),
  ),
  text('word', words),
  dates(
    'at',
    z!.map((value) => Date.UTC(2024, 0, 1) + Math.round(value * 1e10)),
  ),
];
const smooth = x!.map(
  (value, i) => 50 + 10 * Math.sin(2 * value) * (y![i]! + 2) + (words[i] === 'red' ? 5 : 0),
);
const fit = (options: TrainOptions = {}) =>
  trainModel(regress(features, smooth, { n_estimators: 3, ...options }));
let fitted: Model | undefined;
/** Fitted once for all that only look at it. */
const fittedOnce = () => (fitted ??= fit());
const processes = (model: Model) =>
  model.members.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'gaussian'));
const meansOf = (model: Model, rows: FeatureColumn[], count: number, estimators?: number) =>
  (predict(model, rows, count, { estimators }) as RegressionResult).mean();

describe('Gaussian process: as a candidate', () => {
  it('takes part where the target is smooth, and not where it is mostly noise', () => {
    assert.equal(processes(fittedOnce()).length, 3);
    const noise = normals(COUNT, 19);
    const target = x!.map((value, i) => value / 3 + noise[i]!);
    assert.equal(processes(trainModel(regress(features, target, { n_estimators: 3 }))).length, 0);
  });

  it('takes part beside a slip of the pen that leaves most of the variance', () => {
    const target = smooth.slice();
    target[7] = 400;
    const model = trainModel(regress(features, target, { n_estimators: 3 }));
    assert.ok(model.report.scores.rmse! > 0.7 * model.report.baseline.rmse!);
    assert.equal(processes(model).length, 3);
  });

  it('learns its length scales from all of a few hundred rows', () => {
    const rows = 300;
    const [a, b, c, noise] = [21, 22, 23, 24].map((seed) => normals(600, seed));
    const truth = a!.map((value, i) => 10 * Math.tanh(value + b![i]!) + 3 * b![i]! * c![i]!);
    const columns = [numbers('a', a!), numbers('b', b!), numbers('c', c!)];
    const target = truth.slice(0, rows).map((value, i) => value + 2 * noise![i]!);
    const model = trainModel(regress(rowsOf(columns, 0, rows), target));
    const off = meansOf(model, rowsOf(columns, rows, 600), 300).map((value, i) => value - truth[rows + i]!);
    const error = Math.sqrt(off.reduce((sum, value) => sum + value * value, 0) / off.length);
    assert.ok(error < 1.1, String(error));
  });

  it('finds the line of each subject by a column that numbers them', () => {
    const subjects = 40;
    const [starts, slopes] = [31, 32].map((seed) => normals(subjects, seed));
    const order = new Random(5).shuffle(Int32Array.from({ length: subjects * 12 }, (_, row) => row));
    const subject = Float64Array.from(order, (row) => row % subjects);
    const time = Float64Array.from(order, (row) => Math.floor(row / subjects));
    const target = order.map((_, i) => 100 * (starts![subject[i]!]! + slopes![subject[i]!]! * time[i]!));
    const columns = [numbers('subject', subject), numbers('time', time)];
    const model = trainModel(regress(rowsOf(columns, 0, 360), target.subarray(0, 360)));
    assert.ok(processes(model).length > 0);
    const off = meansOf(model, rowsOf(columns, 360, 480), 120).map((value, i) => value - target[360 + i]!);
    const size = (values: ArrayLike<number>) =>
      Math.sqrt(Array.from(values).reduce((sum, value) => sum + value * value, 0));
    assert.ok(size(off) < 0.1 * size(target.subarray(360)), `${size(off) / size(target.subarray(360))}`);
  });

  it('tells exactly why, in its columns as they are grouped', () => {
    const model = fittedOnce();
    const rows = 12;
    const own = rowsOf(features, 0, rows);
    const grouped: Record<string, string[]>[] = [
      {},
      { both: ['x', 'word'] },
      { all: ['x', 'y', 'word', 'at'] },
    ];
    for (const groups of grouped) {
      const told = explain(model, own, predict(model, own, rows), { groups });
      told.predictions.forEach((prediction, i) => {
        const count = told.groups.length;
        const sum = told.effects.subarray(i * count, (i + 1) * count).reduce((a, b) => a + b, told.bases[i]!);
        assert.ok(Math.abs(sum - prediction) < 1e-8, `${sum} is not ${prediction}`);
      });
    }
  });

  it('says of rows the same together, one by one and from its file, in which the kernel stands once', () => {
    const model = fittedOnce();
    const bytes = saveModel(model);
    const loaded = loadModel(bytes);
    assert.deepEqual(saveModel(loaded), bytes);
    const kernels = new Set(
      processes(loaded).map((part) => part.kind === 'gaussian' && part.gaussian.kernel),
    );
    assert.equal(kernels.size, 1);
    for (const estimators of [undefined, 2]) {
      const together = meansOf(model, features, COUNT, estimators);
      assert.deepEqual(meansOf(loaded, features, COUNT, estimators), together);
      for (const row of [0, 13, 100]) {
        const one = rowsOf(features, row, row + 1);
        assert.equal(meansOf(loaded, one, 1, estimators)[0], together[row]);
      }
    }
  });

  it('keeps to groups, blocks with their embargo, and rows that were chosen', () => {
    for (const inference_config of [
      { GROUP: 'word' },
      { BLOCKS: 10, EMBARGO: 5 },
      { SUBSAMPLE_SAMPLES: 60 },
    ] as Record<string, unknown>[]) {
      const model = fit({ inference_config, n_estimators: 1 });
      assert.ok(meansOf(model, features, COUNT).every(Number.isFinite));
      assert.ok(model.report.scores.rmse! > 0);
    }
  });

  it('stays finite at values far outside of the train set', () => {
    const far = [
      numbers('x', [1e300, -Infinity, 0]),
      numbers('y', [NaN, 1e9, Infinity]),
      text('word', ['green', undefined, 'red']),
      dates('at', [NaN, 0, 8e15]),
    ];
    assert.ok(meansOf(fittedOnce(), far, 3).every(Number.isFinite));
  });
});

const kinds = Array.from(smooth, (value) => (value > 56 ? 'high' : value < 45 ? 'low' : 'usual'));
const fitClasses = (labels: string[], options: TrainOptions = {}, own = features) =>
  trainModel(classify(own, labels, { n_estimators: 3, ...options }));
let fittedKinds: Model | undefined;
const kindsOnce = () => (fittedKinds ??= fitClasses(kinds));
const probasOf = (model: Model, rows: FeatureColumn[], count: number, estimators?: number) =>
  (predict(model, rows, count, { estimators }) as ClassificationResult).probas;

describe('Gaussian process of classes: as a candidate', () => {
  it('takes part where borders are smooth, of two classes and more', () => {
    assert.equal(processes(kindsOnce()).length, 3);
    assert.equal(processes(fitClasses(kinds.map((kind) => (kind === 'low' ? 'low' : 'not')))).length, 3);
  });

  it('learns its length scales, and what two columns do together, from a thousand rows', () => {
    const [known, later] = [1000, 2000];
    const drawn = new Random(2);
    const columns = ['x', 'y', 'a', 'b'].map((name) => {
      const values = Array.from({ length: known + later }, () => drawn.uniform());
      return { name, values };
    });
    const [x, y, a] = columns.map(({ values }) => values) as [number[], number[], number[]];
    // A ridge: x and y must fit each other.
    const truth = x.map((one, row) => 1 / (1 + Math.exp(10 * Math.abs(one - y[row]!) - 4 + 2 * a[row]!)));
    const table = columns.map(({ name, values }) => numbers(name, values));
    const labels = truth.slice(0, known).map((share) => (drawn.uniform() < share ? 'good' : 'bad'));
    const model = fitClasses(labels, {}, rowsOf(table, 0, known));
    const told = probasOf(model, rowsOf(table, known, known + later), later);
    const excess = truth.slice(known).map((share, row) => {
      const [bad, good] = [told[2 * row]!, told[2 * row + 1]!];
      return share * Math.log(share / good) + (1 - share) * Math.log((1 - share) / bad);
    });
    const mean = excess.reduce((sum, one) => sum + one / later, 0);
    assert.ok(mean < 0.0135, `${mean}; 0.017 by what trees gained by each column`);
  });

  it('is not tried where its columns would be chosen of many by few rows', () => {
    const many = Array.from({ length: 50 }, (_, i) => numbers(`n${i}`, normals(COUNT, 100 + i)));
    assert.equal(processes(fitClasses(kinds, {}, [...features, ...many])).length, 0);
  });

  it('makes the columns it learns from important, wherever they stand among many', () => {
    const columns = Array.from({ length: 36 }, (_, i) => normals(300, 100 + i));
    const sums = normals(300, 7).map((noise, row) =>
      columns.slice(33).reduce((sum, values) => sum + values[row]!, 0.3 * noise),
    );
    const model = trainModel(
      classify(
        columns.map((values, i) => numbers(`c${i}`, values)),
        Array.from(sums, (sum) => (sum > 0 ? 'up' : 'down')),
      ),
    );
    const { importance } = model.report;
    const most = [...importance].sort((a, b) => b.permutation - a.permutation).slice(0, 3);
    assert.deepEqual(new Set(most.map(({ feature }) => feature)), new Set(['c33', 'c34', 'c35']));
    assert.ok(most.every(({ permutation, gain }) => permutation > 0.3 && gain > 0.1));
  });

  it('says of rows the same together, one by one and from its file, whichever members are asked', () => {
    const model = kindsOnce();
    const bytes = saveModel(model);
    const loaded = loadModel(bytes);
    assert.deepEqual(saveModel(loaded), bytes);
    for (const estimators of [undefined, 2]) {
      const together = probasOf(model, features, COUNT, estimators);
      assert.deepEqual(probasOf(loaded, features, COUNT, estimators), together);
      for (const row of [0, 13, 100]) {
        const one = rowsOf(features, row, row + 1);
        assert.deepEqual(probasOf(loaded, one, 1, estimators), together.slice(3 * row, 3 * row + 3));
      }
    }
  });

  it('keeps to groups, blocks with their embargo, and rows that were chosen', () => {
    for (const inference_config of [
      { GROUP: 'word' },
      { BLOCKS: 10, EMBARGO: 5 },
      { SUBSAMPLE_SAMPLES: 60 },
    ] as Record<string, unknown>[]) {
      const model = fitClasses(kinds, { inference_config, n_estimators: 1 });
      assert.ok(probasOf(model, features, COUNT).every(Number.isFinite));
    }
  });

  it('stays finite at values far outside of the train set', () => {
    const far = [
      numbers('x', [1e300, -Infinity, 0]),
      numbers('y', [NaN, 1e9, Infinity]),
      text('word', ['green', undefined, 'red']),
      dates('at', [NaN, 0, 8e15]),
    ];
    assert.ok(probasOf(kindsOnce(), far, 3).every((p) => p >= 0 && p <= 1));
  });
});

describe('learner: what is told of a Gaussian process', () => {
  it('is what later rows have, as its kernel has not seen the target of those that are held out', () => {
    const LATER = 2000;
    const known = 100;
    const all = known + LATER;
    const ratios = [1, 2, 3, 4, 5, 6].map((seed) => {
      const columns = Array.from({ length: 8 }, (_, at) => normals(all, 100 * seed + at));
      const [a, b, c] = columns as [Float64Array, Float64Array, Float64Array];
      const noise = normals(all, 100 * seed + 9);
      const target = a.map(
        (value, row) => Math.sin(1.5 * value) + Math.abs(b[row]!) + 0.25 * c[row]! ** 2 + 0.2 * noise[row]!,
      );
      const features = columns.map((values, at) => numbers(`x${at}`, values));
      const options = { random_state: seed, n_estimators: 3 };
      const model = trainModel(regress(rowsOf(features, 0, known), target.subarray(0, known), options));
      const later = (predict(model, rowsOf(features, known, all), LATER) as RegressionResult).mean();
      const squares = later.reduce((sum, mean, row) => sum + (mean - target[known + row]!) ** 2, 0);
      return Math.log(Math.sqrt(squares / LATER) / model.report.scores.rmse!);
    });
    const ratio = Math.exp(ratios.reduce((sum, one) => sum + one / ratios.length, 0));
    assert.ok(ratio > 0.9 && ratio < 1.1, `later is ${ratio} of told`);
  });
});

describe('Gaussian process: a ridge', () => {
  const count = 700;
  const [a, b, c, e] = [1, 2, 3, 4].map((seed) => normals(count, seed));
  const features = [numbers('a', a!), numbers('b', b!), numbers('c', c!)];
  const of = (x: number, y: number, z: number) => 3 * Math.abs(x - 0.8 * y) + 0.5 * z;
  const values = a!.map((x, row) => of(x, b![row]!, c![row]!) + 0.3 * e![row]!);
  const model = trainModel(regress(features, values, { random_state: 2, n_estimators: 3 }));
  const ridges = model.members[0]!.parts.flatMap((part) => (part.kind === 'ridge' ? [part.ridge] : []));

  it('is found, along the difference of the two columns that must fit each other', () => {
    const [first] = ridges;
    assert.ok(first !== undefined, 'no ridge was found');
    const weights = features.map((_, column) => first.weights[first.columns.indexOf(column)] ?? 0);
    assert.ok(Math.abs(weights[1]! / weights[0]! + 0.8) < 0.1, String(weights));
    assert.ok(Math.abs(weights[2]! / weights[0]!) < 0.1, String(weights));
  });

  it('is not found where columns count for themselves', () => {
    const apart = a!.map((x, row) => 3 * Math.abs(x) + b![row]! ** 2 + 0.5 * c![row]! + 0.3 * e![row]!);
    const plain = trainModel(regress(features, apart, { random_state: 2, n_estimators: 3 }));
    assert.ok(plain.members.every(({ parts }) => parts.every(({ kind }) => kind !== 'ridge')));
  });

  it('is explained exactly: as all orders of the columns, with each row of the background', () => {
    const result = predict(model, features, count) as RegressionResult;
    const { effects, bases, predictions } = explain(model, features, result, { most: 3 });
    const { background } = model;
    for (let row = 0; row < 3; row++) {
      const sum = effects.subarray(row * 3, row * 3 + 3).reduce((all, one) => all + one, bases[row]!);
      assert.ok(Math.abs(sum - predictions[row]!) < 1e-9);
    }
    // Without what a distribution adds to the mean, whose share follows the effects.
    const plain: Model = { ...model, meanOfDistribution: undefined };
    const own = explain(plain, features, predict(plain, features, count), { most: 3 });
    const given = [a!, b!, c!];
    const mixed = (row: number, set: number) =>
      features.map(({ name }, d) =>
        numbers(
          name,
          background!.numbers![d]!.map((other) => ((set >> d) & 1 ? given[d]![row]! : other)),
        ),
      );
    const meanOf = (row: number, set: number) =>
      (predict(plain, mixed(row, set), 32) as RegressionResult)
        .mean()
        .reduce((all, one) => all + one / 32, 0);
    for (let row = 0; row < 3; row++) {
      const values = Array.from({ length: 8 }, (_, set) => meanOf(row, set));
      for (let d = 0; d < 3; d++) {
        let expected = 0;
        for (let set = 0; set < 8; set++) {
          if (((set >> d) & 1) === 0) {
            const others = ((set >> 0) & 1) + ((set >> 1) & 1) + ((set >> 2) & 1);
            expected += [1 / 3, 1 / 6, 1 / 3][others]! * (values[set | (1 << d)]! - values[set]!);
          }
        }
        assert.ok(Math.abs(own.effects[row * 3 + d]! - expected) < 1e-6, `${row} ${d}`);
      }
    }
  });

  it('is stored, and answers as before', () => {
    const [before, after] = [model, loadModel(saveModel(model))].map((one) =>
      (predict(one, features, count) as RegressionResult).mean(),
    );
    assert.deepEqual(after, before);
  });
});
