import assert from 'node:assert/strict';

import {
  type ClassificationResult,
  explain,
  type ExplainOptions,
  type FeatureColumn,
  loadModel,
  type Model,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import { growRandomised, makeDimensions, positions, Random } from '../../doors/learner';
import { classify, numbers, regress, text } from './tables';

/** Train rows: each of 32 stretches holds one row of features, many times, so that the model keeps just these 32. */
const DISTINCT = 32;
const TIMES = 10;

interface Raw {
  name: string;
  cells: (number | string | undefined)[];
}

function column({ name, cells }: Raw): FeatureColumn {
  return cells.some((cell) => typeof cell === 'string')
    ? text(name, cells as (string | undefined)[])
    : numbers(
        name,
        (cells as (number | undefined)[]).map((cell) => cell ?? NaN),
      );
}

/** Columns of numbers, words and gaps: `width` of them. */
function table(width: number, rows: number, seed: number): Raw[] {
  const random = new Random(seed);
  return Array.from({ length: width }, (_, i) => ({
    name: `c${i}`,
    cells: Array.from({ length: rows }, () => {
      const value = random.uniform();
      if (value < 0.1) {
        return undefined;
      }
      return i % 3 === 2 ? ['red', 'blue', 'green', 'grey'][Math.floor(value * 4)] : Math.round(value * 1000);
    }),
  }));
}

const size = (cell: Raw['cells'][number]): number =>
  typeof cell === 'number' ? cell / 500 - 1 : cell === undefined ? 0.4 : cell === 'red' ? 1.5 : -0.3;

const fitted = new Map<string, Uint8Array>();

/** A model of its own, which may be changed; what is fitted twice alike is fitted once. */
function fit(base: Raw[], task: 'two' | 'three' | 'number', options: TrainOptions = {}): Model {
  const key = JSON.stringify([base, task, options]);
  const bytes = fitted.get(key);
  if (bytes !== undefined) {
    return loadModel(bytes);
  }
  const model = fitAnew(base, task, options);
  fitted.set(key, saveModel(model));
  return model;
}

function fitAnew(base: Raw[], task: 'two' | 'three' | 'number', options: TrainOptions): Model {
  const random = new Random(3);
  const at = Array.from({ length: DISTINCT * TIMES }, (_, i) => Math.floor(i / TIMES));
  const features = base.map(({ name, cells }) => column({ name, cells: at.map((row) => cells[row]) }));
  const score = at.map((row) => {
    const v = base.map(({ cells }) => size(cells[row]));
    return (
      2 * v[0]! + 3 * v[1]! * v[2]! + v.slice(3).reduce((sum, x) => sum + x, 0) / 2 + random.uniform() - 0.5
    );
  });
  // Rows of one kind follow each other.
  const rules = { n_estimators: 3, inference_config: { FOLDS: 'random' }, ...options };
  if (task === 'number') {
    return trainModel(
      regress(
        features,
        score.map((value) => 100 + 20 * value),
        rules,
      ),
    );
  }
  const labels = score.map((value) =>
    value > 1 ? 'high' : task === 'three' && value < -1 ? 'low' : 'middle',
  );
  return trainModel(classify(features, labels, rules));
}

/** Adds trees that vote for classes at random to each member. */
function withVotes(model: Model): Model {
  const { columns, rows } = model.background!;
  const specs = columns.map((_, source) => ({ source, bins: 255, category: false }));
  const centers = columns.map(() => Float64Array.from({ length: 255 }, (_, bin) => bin));
  const classes = model.classes.length;
  model.members.forEach((member, m) => {
    const base = new Float64Array(member.width);
    const all = Int32Array.from({ length: rows }, (_, row) => row);
    const target = all.map((row) => (row * 7 + m) % classes);
    const input = { columns, specs, centers, rows: all, target, classes, base };
    const { trees } = growRandomised(input, { trees: 6, minLeaf: 1, nodeColumns: 2 }, new Random(4 + m));
    member.parts.push({ kind: 'votes', weight: 0.6, base, trees });
  });
  return model;
}

/** Gives each member but the first a Gaussian process of random weights, in place of its own: all have the same kernel. */
function withProcesses(model: Model, base: Raw[], isMixed = false): Model {
  const background = model.background!;
  background.numbers = base.map(({ cells }, i) =>
    i % 3 === 2 ? undefined : Float64Array.from(cells, (cell) => (typeof cell === 'number' ? cell : NaN)),
  );
  const own = { columns: background.columns, numbers: background.numbers };
  const specs = own.columns.map((_, source) => ({ source, bins: 255, category: source % 3 === 2 }));
  const dimensions = makeDimensions(
    own,
    specs,
    specs.map(({ source }) => source),
  );
  const random = new Random(8);
  const kernel = {
    ...dimensions,
    rates: Float64Array.from(dimensions.columns, () => 0.2 + random.uniform()),
    ...(isMixed && {
      additive: {
        share: 0.6,
        rates: Float64Array.from(dimensions.columns, () => 0.2 + random.uniform()),
        weights: Float64Array.from(dimensions.columns, () => random.uniform()),
      },
    }),
    points: Float32Array.from(positions(dimensions, own, Int32Array.of(0, 3, 4, 9, 20))),
  };
  for (const member of model.members) {
    member.parts = member.parts.filter(({ kind }) => kind !== 'gaussian');
  }
  for (const member of model.members.slice(1)) {
    const { width } = member;
    const weights = Float64Array.from({ length: 5 * width }, () => random.uniform() * 4 - 2);
    const own = model.task === 'regression' ? new Float64Array(1) : weights.slice(0, width);
    member.parts.push({ kind: 'gaussian', weight: 0.7, base: own, gaussian: { kernel, weights } });
  }
  return model;
}

/** The answer for every mixture of a row with the background, by its definition: one prediction for each. */
function byDefinition(
  model: Model,
  base: Raw[],
  rows: Raw[],
  row: number,
  { groups = {}, of = 0, ...options }: ExplainOptions,
): { base: number; effects: number[] } {
  const sets = [
    ...Object.values(groups),
    ...base.map(({ name }) => [name]).filter(([name]) => !Object.values(groups).flat().includes(name!)),
  ];
  const coalitions = 2 ** sets.length;
  const mixed = base.map(({ name, cells }, i) => {
    const group = sets.findIndex((set) => set.includes(name));
    return column({
      name,
      cells: Array.from({ length: coalitions * DISTINCT }, (_, at) =>
        (Math.floor(at / DISTINCT) >> group) & 1 ? rows[i]!.cells[row] : cells[at % DISTINCT],
      ),
    });
  });
  const result = predict(model, mixed, coalitions * DISTINCT, options);
  const answers =
    result.task === 'regression'
      ? result.mean()
      : result.probas.filter((_, i) => i % result.classes.length === of);
  const values = Array.from({ length: coalitions }, (_, c) =>
    answers.subarray(c * DISTINCT, (c + 1) * DISTINCT).reduce((sum, value) => sum + value / DISTINCT, 0),
  );
  const bits = (c: number): number => (c === 0 ? 0 : (c & 1) + bits(c >> 1));
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const effects = sets.map((_, g) =>
    values.reduce((sum, value, c) => {
      if ((c >> g) & 1) {
        return sum;
      }
      const share = (factorial(bits(c)) * factorial(sets.length - bits(c) - 1)) / factorial(sets.length);
      return sum + share * (values[c + 2 ** g]! - value);
    }, 0),
  );
  return { base: values[0]!, effects };
}

function compare(model: Model, base: Raw[], width: number, options: ExplainOptions = {}): number {
  const rows = table(width, 6, 99);
  rows[0]!.cells[0] = undefined;
  rows[2]!.cells[1] = 'violet';
  const features = rows.map(column);
  const told = explain(model, features, predict(model, features, 6, options), options);
  let worst = 0;
  for (let i = 0; i < 6; i++) {
    const of = told.of?.[i];
    const { base: expected, effects } = byDefinition(model, base, rows, i, { ...options, of });
    const own = told.effects.subarray(i * told.groups.length, (i + 1) * told.groups.length);
    worst = Math.max(
      worst,
      Math.abs(told.bases[i]! - expected),
      ...effects.map((e, g) => Math.abs(e - own[g]!)),
    );
    const sum = own.reduce((total, effect) => total + effect, told.bases[i]!);
    assert.ok(Math.abs(sum - told.predictions[i]!) < 1e-9, `row ${i}: ${sum} is not ${told.predictions[i]}`);
  }
  return worst;
}

describe('explanations of the learner', () => {
  const base = table(6, DISTINCT, 1);
  const groups = { gauge: ['c0', 'c3'], drive: ['c1', 'c5', 'gone'] };

  for (const task of ['two', 'three', 'number'] as const) {
    it(`are Shapley values by their definition: ${task}`, () => {
      const model = fit(base, task);
      assert.ok(compare(model, base, 6) < 1e-9);
      assert.ok(compare(model, base, 6, { groups }) < 1e-9);
    });
  }

  it('are Shapley values by their definition where trees vote', () => {
    for (const task of ['two', 'three'] as const) {
      assert.ok(compare(withVotes(fit(base, task)), base, 6, { groups }) < 1e-9);
    }
  });

  it('are Shapley values by their definition of Gaussian processes', () => {
    const model = withProcesses(fit(base, 'number'), base);
    assert.ok(compare(model, base, 6) < 1e-9);
    assert.ok(compare(model, base, 6, { groups }) < 1e-9);
    assert.ok(compare(loadModel(saveModel(model)), base, 6, { estimators: 2 }) < 1e-9);
  });

  it('are Shapley values by their definition of Gaussian processes of classes', () => {
    for (const [task, isMixed] of [['two'], ['two', true], ['three']] as const) {
      const model = withProcesses(fit(base, task), base, isMixed);
      assert.ok(compare(model, base, 6) < 1e-9);
      assert.ok(compare(loadModel(saveModel(model)), base, 6, { groups, averageScores: true }) < 1e-9);
      // By orders all the same where they are to be exact for fewer causes.
      assert.ok(compare(model, base, 6, { exactUpTo: 3 }) < 0.1);
    }
  });

  it('come near to the exact ones by orders where Gaussian processes take part', () => {
    const wide = table(12, DISTINCT, 5);
    const model = withProcesses(fit(wide, 'three', { n_estimators: 2 }), wide);
    const rows = table(12, 8, 6).map(column);
    const result = predict(model, rows, 8);
    for (const options of [{}, { balance: true }]) {
      const near = explain(model, rows, result, { ...options, of: 1 });
      const exact = explain(model, rows, result, { ...options, of: 1, exactUpTo: 12 });
      const away = near.effects.reduce((sum, effect, i) => sum + Math.abs(effect - exact.effects[i]!), 0);
      assert.ok(away / near.effects.length < 0.005, `mean error ${away / near.effects.length}`);
    }
  });

  it('add up beyond ten causes where trees vote', () => {
    const wide = table(12, DISTINCT, 5);
    const model = withVotes(fit(wide, 'three', { n_estimators: 2 }));
    const rows = table(12, 3, 6).map(column);
    const told = explain(model, rows, predict(model, rows, 3));
    told.predictions.forEach((prediction, i) => {
      const effects = told.effects.subarray(i * 12, i * 12 + 12);
      const sum = effects.reduce((total, effect) => total + effect, told.bases[i]!);
      assert.ok(Math.abs(sum - prediction) < 1e-9);
    });
  });

  it('follow what a prediction overrides, and a model from its file', () => {
    const model = loadModel(saveModel(fit(base, 'three')));
    const options = { temperature: 2, balance: true, averageScores: true, estimators: 2 };
    assert.ok(compare(model, base, 6, options) < 1e-9);
    assert.ok(compare(model, base, 6, { ...options, balance: false, of: 1 }) < 1e-9);
  });

  it('add up beyond ten causes, and come near to the exact ones', () => {
    const wide = table(12, DISTINCT, 5);
    const model = fit(wide, 'two');
    const rows = table(12, 20, 6).map(column);
    const result = predict(model, rows, 20) as ClassificationResult;
    const near = explain(model, rows, result, { of: 1 });
    const exact = explain(model, rows, result, { of: 1, exactUpTo: 12 });
    let [sameTop, away] = [0, 0];
    for (let row = 0; row < 20; row++) {
      const [own, true_] = [near, exact].map((one) => one.effects.subarray(row * 12, row * 12 + 12));
      const sum = own!.reduce((total, effect) => total + effect, near.bases[row]!);
      assert.ok(Math.abs(sum - near.predictions[row]!) < 1e-9);
      own!.forEach((effect, g) => (away += Math.abs(effect - true_![g]!) / own!.length / 20));
      sameTop += largest(own!) === largest(true_!) ? 1 : 0;
    }
    assert.ok(away < 0.005, `mean error ${away}`);
    assert.ok(sameTop >= 18, `${sameTop} of 20`);
  });

  it('are of the rows above a value, the first ones where there are many', () => {
    const model = fit(base, 'number');
    const rows = table(6, 50, 8).map(column);
    const result = predict(model, rows, 50) as RegressionResult;
    const above = Array.from(result.mean(), (mean, row) => ({ mean, row })).filter(({ mean }) => mean > 100);
    const told = explain(model, rows, result, { above: 100, most: 3 });
    assert.ok(above.length > 5 && above.length < 45);
    assert.deepEqual(
      [...told.rows],
      above.slice(0, 3).map(({ row }) => row),
    );
    assert.equal(told.left, above.length - 3);
  });

  it('know what is usual, and say so where a model keeps no rows', () => {
    const model = fit(base, 'number');
    const { background } = model;
    const values = base[0]!.cells.filter((cell) => typeof cell === 'number').sort((a, b) => a - b);
    assert.ok(background!.low[0]! >= values[1]! && background!.low[0]! < values[8]!);
    assert.ok(background!.high[0]! > values[20]! && background!.high[0]! <= values.at(-2)!);
    assert.ok(Math.abs(background!.mean[0]! - values.reduce((a, b) => a + b, 0) / values.length) < 1e-9);
    assert.ok(Number.isNaN(background!.low[2]));
    const rows = base.map(column);
    const old: Model = { ...model, background: undefined };
    assert.throws(() => explain(old, rows, predict(old, rows, DISTINCT)), /fit it again/);
  });
});

function largest(effects: Float64Array): number {
  return effects.reduce((best, effect, i) => (Math.abs(effect) > Math.abs(effects[best]!) ? i : best), 0);
}
