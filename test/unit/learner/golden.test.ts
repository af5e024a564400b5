import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import {
  type ClassificationResult,
  type FeatureColumn,
  type Label,
  LEARNER_VERSION,
  type Model,
  predict,
  type RegressionResult,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import { exp, log, Random } from '../../doors/learner';
import { classify, dates, numbers, regress, text } from './tables';

const rows = 240;

/** About normal, from sums alone: the engine's logarithm and cosine would make other tables. */
function bell(seed: number): Float64Array {
  const random = new Random(seed);
  return Float64Array.from({ length: rows }, () => {
    let sum = -6;
    for (let i = 0; i < 12; i++) {
      sum += random.uniform();
    }
    return sum;
  });
}

const x = bell(11);
const z = bell(12);
const noise = bell(13);
const group = Array.from(z, (value) => (value > 0.5 ? 'red' : value < -0.5 ? 'blue' : 'green'));
const features: FeatureColumn[] = [
  numbers(
    'x',
    x.map((value, i) => (i % 11 === 0 ? NaN : value)),
  ),
  text('group', group),
  text(
    'note',
    Array.from(x, (_, i) => `no ${i % 9} part ${i % 4}`),
  ),
  dates(
    'at',
    Array.from(z, (value) => Date.UTC(2024, 0, 1) + Math.round(value * 1e9)),
  ),
];

const hash = (...lists: Float64Array[]) => {
  const sum = createHash('sha256');
  for (const values of lists) {
    sum.update(new Uint8Array(values.buffer));
  }
  return sum.digest('hex').slice(0, 32);
};

function classes(labels: Label[], options: TrainOptions = {}, own = features): string {
  const model = trainModel(classify(own, labels, { random_state: 5, n_estimators: 3, ...options }));
  return hash((predict(model, own, rows) as ClassificationResult).probas);
}

/** Without the text: of so many columns for so few rows no Gaussian process is made. */
function smoothClasses(): string {
  const own = features.filter(({ name }) => name !== 'note');
  const labels = Array.from(x, (value, i) =>
    Math.min(2, Math.floor(Math.abs(value * z[i]! + noise[i]! / 4))),
  );
  const model = trainModel(classify(own, labels, { random_state: 5, n_estimators: 3 }));
  assert.ok(model.members.every(({ parts }) => parts.some(({ kind }) => kind === 'gaussian')));
  return classes(labels, {}, own);
}

/** Of so many rows a bin is wider than the rule is exact: it is divided. */
function exactRule(): string {
  const count = 3000;
  const random = new Random(14);
  const drawn = Float64Array.from({ length: count }, () => random.uniform());
  const other = Float64Array.from({ length: count }, () => random.uniform());
  const own = [numbers('drawn', drawn), numbers('other', other)];
  const labels = Array.from(drawn, (value) => (value > 0.618 ? 'on' : 'off'));
  const model = trainModel(classify(own, labels, { random_state: 5, n_estimators: 3 }));
  const [first] = model.encoders;
  assert.ok(
    first?.type === 'number' && first.borders.filter((at) => Math.abs(at - 0.618) < 0.002).length > 5,
  );
  return hash((predict(model, own, count) as ClassificationResult).probas);
}

function target(
  options: TrainOptions = {},
  y = x.map((value, i) => value * 3 + noise[i]!),
  kind: Model['members'][0]['parts'][0]['kind'] = 'trees',
): string {
  const model = trainModel(regress(features, y, { random_state: 5, n_estimators: 3, ...options }));
  assert.ok(model.members.every(({ parts }) => parts.some((part) => part.kind === kind)));
  const result = predict(model, features, rows) as RegressionResult;
  return hash(result.mean(), ...result.quantiles([0.2, 0.8]), result.mode(), result.full().logits);
}

function growing(): string {
  const now = x.map((value, i) => (100 + 4 * i) * (1 + 0.02 * value));
  const changes = now.map((level, i) => level * (0.03 * z[i]! + 0.01 * noise[i]!));
  const own = [
    numbers('now', now),
    numbers(
      'change',
      now.map((level, i) => level * 0.05 * z[i]!),
    ),
  ];
  const config = { BLOCKS: 20, RELATIVE_TO: 'now' };
  const model = trainModel(regress(own, changes, { n_estimators: 3, inference_config: config }));
  assert.equal(model.report.growth?.column, 'now');
  const result = predict(model, own, rows) as RegressionResult;
  return hash(result.mean(), ...result.quantiles([0.2, 0.8]), result.mode(), result.full().logits);
}

/** Nested groups without noise: learned by many small trees with leaves down to a single row. */
function nested(): string {
  const place = new Random(14).shuffle(Int32Array.from(x, (_, i) => i));
  const own = [8, 6, 5].map((levels, c) =>
    numbers(
      `level ${c}`,
      place.map((at) => Math.floor(at / [30, 5, 1][c]!) % levels),
    ),
  );
  const y = Float64Array.from(
    place,
    (at) => (4 + x[Math.floor(at / 30)]! + z[Math.floor(at / 5)]! / 2) * (1 + (at % 5)),
  );
  const model = trainModel(regress(own, y, { random_state: 5, n_estimators: 3 }));
  const result = predict(model, own, rows) as RegressionResult;
  return hash(result.mean(), ...result.quantiles([0.2, 0.8]));
}

/** More days than a column has bins, each with rows enough to tell it by. */
function daily(): string {
  const days = 280;
  const random = new Random(15);
  const level = Float64Array.from({ length: days }, () => random.uniform());
  const day = Float64Array.from({ length: days * 20 }, (_, row) => row % days);
  const own = [numbers('day', day)];
  const y = day.map((value) => level[value]! + random.uniform() / 4);
  const model = trainModel(regress(own, y, { random_state: 5, n_estimators: 2 }));
  assert.deepEqual(
    model.encoders.map(({ type }) => type),
    ['number', 'between'],
  );
  const result = predict(model, [numbers('day', day.slice(0, days))], days) as RegressionResult;
  return hash(result.mean(), ...result.quantiles([0.2, 0.8]));
}

/** Two rows of each part, and whether it is faulty. */
function parts(): string {
  const own = [
    text(
      'part',
      Array.from({ length: 600 }, (_, i) => `p${i % 300}`),
    ),
    numbers(
      'z',
      Array.from({ length: 600 }, (_, i) => z[i % rows]! + (i >> 8)),
    ),
  ];
  const labels = Array.from({ length: 600 }, (_, i) => (i % 300) % 7 < 2);
  const model = trainModel(classify(own, labels, { random_state: 5, n_estimators: 3 }));
  return hash((predict(model, own, 600) as ClassificationResult).probas);
}

const score = x.map((value, i) => value + (group[i] === 'red' ? 1 : 0) + noise[i]!);

/** The learner these were made by. Where one of them changes, this and LEARNER_VERSION go up by one: kept models are then another learner's. */
const MADE_BY = 37;

/**
 * The same bits on every major of Node and every processor: sums, products and roots alone are used, which IEEE 754
 * fixes; e^x and logarithms are the learner's own, sorts are stable. One list for all of them.
 */
const cases: Record<string, [() => string, string]> = {
  'two classes': [() => classes(Array.from(score, (value) => value > 1)), '7625f08c44f61d55c0ede0d0afcca3bc'],
  'four classes': [
    () => classes(Array.from(score, (value) => Math.min(3, Math.max(0, Math.floor(value + 1))))),
    '7ab5a31ee7b90a30308ddb78b4798801',
  ],
  'thirty classes, a tree for all': [
    () => classes(Array.from(x, (_, i) => (i * 7) % 30)),
    'bded85a0e9daf92967b7beaba88001cc',
  ],
  'three classes, by a Gaussian process too': [() => smoothClasses(), 'e5c3627f5fed28b3f0f700c785d6eaf1'],
  'a number, by a Gaussian process too': [
    () =>
      target(
        {},
        x.map((value, i) => value * value * (2 + z[i]!) + noise[i]! / 4),
        'gaussian',
      ),
    '515d92626a3a245d1709cfd512386c1a',
  ],
  'a number that two columns make together': [
    () =>
      target(
        {},
        x.map((value, i) => value * value + value * z[i]!),
      ),
    'fb928670b55442bb3b1394f64559a744',
  ],
  'four classes without noise': [
    () => classes(Array.from(z, (value) => Math.min(3, Math.max(0, Math.floor(2 * value + 2))))),
    '2fc1bd9ac3d18b0d7f4d242187cccb82',
  ],
  'a text of more levels than a column has bins': [() => parts(), '426d291b64ad6296729adb1adb7bc5cc'],
  'a rule on many rows': [() => exactRule(), 'f6fcb3a0c279f6ac8c235743cd39bd28'],
  'a number of many days': [() => daily(), '22b369253883879570922808b6945210'],
  'a number of nested groups, without noise': [() => nested(), '9c17e9fbc483ac03538a50cd3d7b9048'],
  'a longer search': [
    () => target({ thinking: { effort: 'medium', metric: 'mae' } }),
    'e6c1d5a466ae55b687b23fd628452164',
  ],
  'a change that grows with its level': [() => growing(), 'f46139df64c3a9851a1db9df9e615630'],
  'e^x and logarithms': [
    () =>
      hash(
        Float64Array.from(x, (value) => exp(20 * value)),
        x.map((value) => log(Math.abs(value))),
      ),
    'c1fab235530a98e29c7307dbde73bcd7',
  ],
};

describe('learner: the very bits of when this was written', () => {
  it('are those of this version of the learner', () => {
    assert.equal(LEARNER_VERSION, MADE_BY);
  });

  for (const [name, [run, expected]] of Object.entries(cases)) {
    it(name, () => {
      assert.equal(run(), expected);
    });
  }
});
