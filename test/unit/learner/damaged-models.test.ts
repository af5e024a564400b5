import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import {
  explain,
  type FeatureColumn,
  LearnerError,
  loadModel,
  predict,
  saveModel,
  trainModel,
} from '../../../dist/src/learner';
import { Random, unpackTrees } from '../../doors/learner';
import { editModel, editModelText, sealModel, type StoredModel } from '../../helpers/edit-model';
import { fullCount } from '../../helpers/full-count';
import { classify, numbers, regress, text } from './tables';

const ROWS = 120;
const random = new Random(7);
const x = Float64Array.from({ length: ROWS }, () => random.uniform() * 10);
const words = ['hot oil', 'cold oil pump', 'hot water valve', 'old pump', 'new blue pump', 'left valve'];
const features: FeatureColumn[] = [
  numbers('x', x),
  numbers(
    'z',
    Array.from(x, (_, i) => (i % 9 === 0 ? NaN : i % 40)),
  ),
  { name: 'd', kind: 'date', values: x.map((_, i) => 1.6e12 + i * 8e6) },
  text(
    't',
    Array.from(x, (_, i) => `${words[i % 6]!} ${i % 17}`),
  ),
  text(
    'c',
    Array.from(x, (_, i) => ['a', 'b', 'c'][i % 3]),
  ),
];
const options = { n_estimators: 2 };

/** Models of every kind of part. */
function models(): Record<string, Buffer> {
  const smooth = x.map((value, i) => Math.sin(value) * 3 + (i % 3));
  const level = x.map((_, i) => 100 * Math.exp(i / 40));
  const growing = [numbers('level', level), numbers('x', x)];
  const made = {
    numbers: trainModel({ ...regress(features, smooth), options }),
    growth: trainModel({
      ...regress(
        growing,
        level.map((value, i) => value * (0.1 * Math.sin(x[i]!) + 0.01 * (i % 5))),
      ),
      options: { ...options, inference_config: { RELATIVE_TO: 'level', BLOCKS: 6 } },
    }),
    two: trainModel({
      ...classify(
        features,
        Array.from(smooth, (value) => (value > 2 ? 1 : 0)),
      ),
      options,
    }),
    three: trainModel({
      ...classify(
        features.slice(0, 2),
        Array.from(x, (value) => Math.min(2, Math.floor(value / 3.4))),
      ),
      options,
    }),
    tokens: trainModel({
      ...classify(
        features.slice(3, 4),
        Array.from(x, (_, i) => Number(words[i % 6]!.includes('pump'))),
      ),
      options,
    }),
  };
  const former = [4, 5, 6, 7].map((format): [string, Buffer] => [
    `TPM${format}`,
    readFileSync(path.join(__dirname, `../../fixtures/tpm${format}-model.bin`)),
  ]);
  return Object.fromEntries([
    ...Object.entries(made).map(([name, model]) => [name, Buffer.from(saveModel(model))]),
    ...former,
  ]) as Record<string, Buffer>;
}

function firstRows(count: number): FeatureColumn[] {
  const asked = [
    ...features,
    numbers(
      'level',
      x.map((_, i) => 50 + i),
    ),
  ];
  return asked.map((feature) =>
    feature.kind === 'text'
      ? { ...feature, codes: feature.codes.slice(0, count) }
      : { ...feature, values: feature.values.slice(0, count) },
  );
}

/** All that a loaded model is asked for: few rows one by one, more in blocks, and why. */
function ask(bytes: Uint8Array): unknown {
  const model = loadModel(bytes);
  const answers = [3, 30, ROWS].map((rows) => {
    const result = predict(model, firstRows(rows), rows);
    if (model.background !== undefined && rows === 3) {
      explain(model, firstRows(rows), result, { most: 1 });
    }
    return result.task === 'classification'
      ? result.probas
      : [result.mean(), ...result.quantiles([0.1, 0.5]), rows === 3 ? result.full() : result.mean()];
  });
  saveModel(model);
  return answers;
}

/** The first part of that kind, and its trees not packed. */
function partOf(stored: StoredModel, kind: string): StoredModel {
  const part = stored.members[0].parts.find((one: StoredModel) => one.kind === kind);
  assert.ok(part, `no ${kind}`);
  if (part.packed !== undefined) {
    part.trees = unpackTrees(part.packed as Uint8Array);
    delete part.packed;
  }
  return part;
}

const many = (count: number): unknown[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${i}`, kind: 'number' }));

/** What is wrong, in which model, and what is said of it. */
const FAULTS: [what: string, model: string, change: (stored: StoredModel) => void, said: RegExp][] = [
  [
    'a tree that leads back to its root',
    'three',
    (s) => (partOf(s, 'trees').trees.left[0] = 0),
    /no children after it/,
  ],
  [
    'a child beyond its tree',
    'three',
    (s) => (partOf(s, 'trees').trees.left[0] = 1e9),
    /no children after it/,
  ],
  [
    'a child in the next tree',
    'three',
    (s) => {
      const { trees } = partOf(s, 'trees');
      trees.left[0] = trees.roots[1];
    },
    /no children after it/,
  ],
  [
    'nodes with two parents, of which paths double with each',
    'three',
    (s) => {
      const part = partOf(s, 'trees');
      const nodes = 61;
      const feature = new Uint16Array(nodes).fill(0xffff, nodes - 2);
      part.trees = {
        ...part.trees,
        ...{ roots: Int32Array.of(0), feature, bin: new Uint8Array(nodes), flags: new Uint8Array(nodes) },
        left: Int32Array.from(feature, (_, node) => (node < nodes - 2 ? node + 1 : 0)),
        ...{ setAt: new Int32Array(nodes), sets: new Int32Array(0) },
      };
    },
    /two parents/,
  ],
  [
    'a tree that is a chain of a million nodes',
    'three',
    (s) => {
      const part = partOf(s, 'votes');
      const nodes = 1_000_001;
      const feature = Uint16Array.from({ length: nodes }, (_, node) =>
        node % 2 === 1 || node === nodes - 1 ? 0xffff : 0,
      );
      part.trees = {
        ...part.trees,
        ...{ roots: Int32Array.of(0), feature, bin: new Uint8Array(nodes), flags: new Uint8Array(nodes) },
        left: Int32Array.from(feature, (column, node) => (column === 0 ? node + 1 : 0)),
        ...{ setAt: new Int32Array(nodes), sets: new Int32Array(0) },
      };
    },
    /too deep/,
  ],
  [
    'a column that is not there',
    'three',
    (s) => (partOf(s, 'trees').trees.feature[0] = 999),
    /column that is not there/,
  ],
  [
    'a leaf beyond the values',
    'three',
    (s) => partOf(s, 'votes').trees.left.fill(1e8, -1),
    /leaf has no value/,
  ],
  [
    'a leaf before the values',
    'three',
    (s) => partOf(s, 'votes').trees.left.fill(-1, -1),
    /leaf has no value/,
  ],
  [
    'a set that is not there',
    'two',
    (s) => {
      const { trees } = partOf(s, 'trees');
      trees.flags[0] |= 2;
      trees.setAt[0] = -8;
    },
    /node has no set/,
  ],
  [
    'a leaf that is no number',
    'three',
    (s) => (partOf(s, 'trees').trees.values[0] = NaN),
    /leaf is not a number/,
  ],
  ['trees of more outputs', 'three', (s) => (partOf(s, 'votes').trees.width = 1e9), /of other outputs/],
  [
    'a second tree that begins first',
    'three',
    (s) => (partOf(s, 'trees').trees.roots[1] = 0),
    /ends before it begins/,
  ],
  [
    'trees in numbers of another type',
    'three',
    (s) => (partOf(s, 'trees').trees.left = new Float64Array(3)),
    /lack a part/,
  ],
  ['a part of another kind', 'three', (s) => (s.members[0].parts[0].kind = 'forest'), /no known kind/],
  ['no members', 'two', (s) => (s.members = []), /no members/],
  ['a member of other outputs', 'three', (s) => (s.members[0].width = 2), /no parts/],
  ['a weight that is no number', 'two', (s) => (s.members[0].parts[0].weight = NaN), /no base/],
  [
    'a term of a column that is not there',
    'growth',
    (s) => partOf(s, 'linear').terms.columns.fill(500),
    /term is of a column/,
  ],
  ['a term of no known kind', 'growth', (s) => partOf(s, 'linear').terms.kinds.fill(9), /no known kind/],
  [
    'terms without their numbers',
    'growth',
    (s) => (partOf(s, 'linear').terms.numbers = new Float64Array(0)),
    /not a number/,
  ],
  [
    'more terms than a fit makes',
    'growth',
    (s) => {
      const { terms } = partOf(s, 'linear');
      const count = 301;
      terms.columns = new Uint16Array(count);
      terms.kinds = new Uint8Array(count).fill(2);
      terms.bins = new Uint8Array(count);
      terms.weights = new Float32Array(count);
    },
    /too many terms/,
  ],
  [
    'a line over words',
    'numbers',
    (s) => {
      const part = partOf(s, 'linear');
      const word = s.encoders.length - 1;
      part.terms.columns.fill(word, 0, 1);
      part.terms.kinds[0] = 3;
    },
    /column without numbers|not a number/,
  ],
  ['a lookup beyond its table', 'TPM4', (s) => partOf(s, 'linear').tables.at.fill(1e9), /beyond its table/],
  ['a lookup before its table', 'TPM4', (s) => partOf(s, 'linear').tables.at.fill(-2), /beyond its table/],
  [
    'a Gaussian process with points by the thousand',
    'growth',
    (s) => {
      s.kernel.points = new Float32Array(2000 * s.kernel.columns.length);
    },
    /too many points/,
  ],
  ['a Gaussian process whose points are all the same', 'growth', (s) => s.kernel.points.fill(1), /alike/],
  ['a Gaussian process that grows with the distance', 'growth', (s) => s.kernel.rates.fill(-1), /no column/],
  ['a Gaussian process without a kernel', 'growth', (s) => delete s.kernel, /no kernel/],
  [
    'a Gaussian process with fewer weights',
    'growth',
    (s) => (partOf(s, 'gaussian').ofFactor = new Float32Array(1)),
    /lacks weights/,
  ],
  ['a hundred thousand features', 'three', (s) => (s.features = many(100_000)), /features are no list/],
  ['a feature without a name', 'three', (s) => delete s.features[0].name, /no name or kind/],
  ['an encoder of a feature that is not there', 'three', (s) => (s.encoders[0].source = 7), /of no feature/],
  ['an encoder of a feature of another kind', 'two', (s) => (s.encoders[0].source = 3), /another kind/],
  ['an encoder of no known type', 'three', (s) => (s.encoders[0].type = 'toString'), /no known type/],
  ['borders that do not ascend', 'three', (s) => s.encoders[0].borders.reverse(), /do not ascend/],
  [
    'more borders than bins',
    'three',
    (s) => (s.encoders[0].borders = Float64Array.from({ length: 300 }, (_, i) => i)),
    /do not ascend/,
  ],
  [
    'a part of a date that there is not',
    'two',
    (s) => (s.encoders.find((e: StoredModel) => e.type === 'date').part = 'age'),
    /no part of a date/,
  ],
  [
    'categories that are no texts',
    'two',
    (s) => (s.encoders.find((e: StoredModel) => e.type === 'category').values = [1]),
    /no texts/,
  ],
  [
    'categories of a share that there is not',
    'two',
    (s) => (s.encoders.find((e: StoredModel) => e.type === 'category').share = { index: 2, of: 2 }),
    /no share/,
  ],
  [
    'tokens by the hundred thousand',
    'tokens',
    (s) => {
      s.encoders.find((e: StoredModel) => e.type === 'tokens').tokens = many(100_000).map(String);
    },
    /no texts|too many columns/,
  ],
  ['a floor of other buckets', 'growth', (s) => (s.floor.shares = new Float64Array(2)), /of no buckets/],
  ['a floor of nothing', 'growth', (s) => s.floor.shares.fill(0), /of no buckets/],
  ['means of other bins', 'growth', (s) => (s.centers[0] = new Float64Array(1)), /means of bins/],
  ['a temperature of nothing', 'two', (s) => (s.calibration.temperature = 0), /not calibrated/],
  [
    'frequencies of other classes',
    'two',
    (s) => (s.calibration.priors = new Float64Array(9)),
    /not calibrated/,
  ],
  ['classes without labels', 'two', (s) => (s.classes = [{}, {}]), /no label/],
  [
    'more classes than scores',
    'two',
    (s) => {
      s.classes = ['a', 'b', 'c', 'd'];
      s.calibration.priors = new Float64Array(4).fill(0.25);
    },
    /no parts/,
  ],
  ['a threshold of no class', 'two', (s) => (s.threshold = { of: 5, at: 0.5 }), /threshold/],
  ['no scale', 'numbers', (s) => (s.scale = Infinity), /no scale/],
  ['a level that is not there', 'growth', (s) => (s.growth.level = 99), /no level/],
  ['residuals that do not ascend', 'numbers', (s) => s.residuals.atoms.reverse(), /do not ascend/],
  ['residuals of no weight', 'numbers', (s) => s.residuals.overall.fill(0), /do not ascend/],
  [
    'leaves that list residuals without end',
    'numbers',
    (s) => (s.residuals.leaves = Uint8Array.of(255, 255, 255, 255, 255, 15)),
    /counts further|too many rows|too early/,
  ],
  ['no residuals', 'numbers', (s) => delete s.residuals, /no residuals/],
  ['buckets that do not ascend', 'numbers', (s) => s.borders.reverse(), /do not ascend/],
  [
    'a background of bins that are not there',
    'three',
    (s) => s.background.columns[0].fill(255),
    /bins that are not there/,
  ],
  [
    'a background without the numbers of a line',
    'growth',
    (s) => delete s.background.numbers,
    /numbers of a line/,
  ],
  ['a background of many rows', 'three', (s) => (s.background.rows = 33), /no rows/],
];

describe('learner: models that are damaged, or made to harm', () => {
  let all: Record<string, Buffer>;
  before(() => {
    all = models();
  });

  it('are what these tests change: untouched, each answers as before', () => {
    for (const [name, bytes] of Object.entries(all)) {
      assert.deepEqual(ask(editModel(bytes, () => undefined)), ask(bytes), name);
    }
  });

  for (const [what, name, change, said] of FAULTS) {
    it(`are refused: ${what}`, () => {
      const bytes = editModel(all[name]!, change);
      assert.throws(
        () => loadModel(bytes),
        (error: Error) => {
          assert.ok(error instanceof LearnerError, String(error.stack));
          assert.match(error.message, said);
          return true;
        },
      );
    });
  }

  it('are refused: arrays that share their bytes, lie nowhere or are of no type; a text that is none', () => {
    const [array] = /\{"\$array":[^}]*\}/.exec(editModelText(all.two!, (t) => t).toString('latin1'))!;
    for (const [changed, said] of [
      [array.replace(/"at":\d+/, '"at":4'), /an array is nowhere/],
      [array.replace(/"at":\d+/, '"at":1e12'), /an array is nowhere/],
      [array.replace(/"length":\d+/, '"length":-1'), /an array is nowhere/],
      [array.replace(/"length":\d+/, '"length":4000'), /larger than the file/],
      [array.replace(/"\$array":"\w+"/, '"$array":"constructor"'), /no known type/],
      [`[${Array.from({ length: 3000 }, () => array).join()}]`, /larger than the file/],
      ['['.repeat(100_000) + ']'.repeat(100_000), /cannot be read/],
      [array.slice(1), /cannot be read/],
      ['null', /./],
    ] as const) {
      const bytes = editModelText(all.two!, (t) => t.replace(array, changed));
      assert.throws(
        () => loadModel(bytes),
        (error: Error) => {
          assert.ok(error instanceof LearnerError, `${changed.slice(0, 60)}: ${error.stack}`);
          assert.match(error.message, said);
          return true;
        },
      );
    }
    for (const whole of ['null', '[]', '1', '"x"', '{}', '{"$array":"Uint8Array","at":0,"length":1}']) {
      assert.throws(() => loadModel(editModelText(all.two!, () => whole)), LearnerError, whole);
    }
  });

  it('are refused, or answer in the end, whatever was flipped, cut or counted otherwise', () => {
    const draw = new Random(11);
    const extremes = [
      '0',
      '-1',
      '1',
      '255',
      '256',
      '65535',
      '65536',
      '2147483647',
      '4294967295',
      '1e308',
      'null',
    ];
    const names = Object.keys(all);
    let refused = 0;
    const rounds = fullCount(500, 160);
    for (let round = 0; round < rounds; round++) {
      const name = names[draw.below(names.length)]!;
      const bytes = Buffer.from(all[name]!);
      const textEnd = 24 + bytes.readUInt32LE(16);
      let changed: Buffer;
      switch (round % 4) {
        case 0:
          for (let flips = draw.below(4); flips >= 0; flips--) {
            bytes[16 + draw.below(bytes.length - 16)]! ^= 1 << draw.below(8);
          }
          changed = sealModel(bytes);
          break;
        case 1:
          bytes[24 + draw.below(textEnd - 24)]! ^= 1 << draw.below(7);
          changed = sealModel(bytes);
          break;
        case 2:
          changed = sealModel(Buffer.from(bytes.subarray(0, 17 + draw.below(bytes.length - 17))));
          break;
        default:
          changed = editModelText(bytes, (stored) => {
            const found = [...stored.matchAll(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g)];
            const { index, 0: number } = found[draw.below(found.length)]!;
            const other = extremes[draw.below(extremes.length)]!;
            return stored.slice(0, index) + other + stored.slice(index + number.length);
          });
      }
      try {
        ask(changed);
      } catch (error) {
        assert.ok(error instanceof LearnerError, `round ${round}, ${name}: ${(error as Error).stack}`);
        refused++;
      }
    }
    assert.ok(refused > rounds / 3 && refused < rounds, `${refused} refused`);
  });
});
