import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import fc from 'fast-check';

import {
  LearnerError,
  loadModel,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
} from '../../../dist/src/learner';
import { findLeaf, packTrees, Random, type Trees, unpackTrees } from '../../doors/learner';
import { someTrees, TREE_COLUMNS } from './some-trees';
import { classify, normals, numbers, regress, text } from './tables';

const ROWS = 60;

/** What each tree says of each row. */
function valuesOf(trees: Trees, columns: Uint8Array[]): number[][] {
  return Array.from(trees.roots, (root) =>
    Array.from({ length: ROWS }, (_, row) => {
      const at = findLeaf(trees, root, columns, row);
      return [...trees.values.subarray(at, at + trees.width)];
    }).flat(),
  );
}

/**
 * What the version that wrote a fixture predicted: with TPM4 of trees and a line, with TPM5 of a Gaussian process too, with
 * TPM6 and TPM7 of one that is stored by its factor, with TPM8 of a text of many levels, with TPM9 of a floor.
 */
const FORMER = [
  {
    format: 'TPM4',
    features: [numbers('x', [0, 37, 34, NaN, 28, 25]), text('c', ['a', 'b', 'c', 'a', 'b', 'c'])],
    mean: [
      5.663726468588601, 9.439059980879069, 8.502954777867227, 9.774077257010113, 7.540684707100787,
      6.961515758291175,
    ],
    quantile: [
      4.950405023253965, 8.725738535544432, 7.78963333253259, 9.060755811675476, 6.82736326176615,
      6.248194312956538,
    ],
  },
  {
    format: 'TPM5',
    features: [numbers('x', [0, 3.7, 9, NaN, 2.5]), numbers('z', [1, 5, 9.5, 2, NaN])],
    mean: [
      -0.0004426424698698028, 11.788278651785117, -1.0074238658348573, 6.125691506849378, 12.363898525775312,
    ],
    quantile: [
      -0.6908078102403536, 11.358527153132478, -1.4371753644874985, 5.695940008196737, 11.934147027122672,
    ],
  },
  {
    format: 'TPM6',
    features: [numbers('x', [0, 3.7, 9, NaN, 2.5]), numbers('z', [1, 5, 9.5, 2, NaN])],
    mean: [1.0886200083934767, 0.7591332507547204, 12.78573485079253, -5.794176585151311, 9.282169193126085],
    quantile: [
      1.0631237679907468, 0.733986657394057, 12.765127167521655, -5.819672825554041, 9.256850464607648,
    ],
  },
  {
    format: 'TPM7',
    features: [numbers('x', [0, 3.7, 12, NaN, 2.5]), numbers('z', [1, 5, 9.5, 2, NaN])],
    mean: [-0.48119765094463496, 7.147487271448169, 23.552307312346592, 11.51935812486889, 6.410202589549959],
    quantile: [
      -0.6505857179964265, 6.978099204396377, 22.86664902746819, 11.3499700578171, 6.240814522498168,
    ],
  },
  {
    format: 'TPM8',
    features: [numbers('x', [0, 3.7, 12, NaN, 2.5]), text('part', ['p1', 'p2', 'p39', undefined, 'new'])],
    mean: [2.544529819904956, 7.956978936034052, 18.40207708478652, 8.390801825606143, 6.210140735201379],
    quantile: [
      2.2636571484314874, 7.677206158173906, 17.890810977339868, 8.111029047745998, 5.9303679573412325,
    ],
  },
  {
    format: 'TPM9',
    features: [numbers('x', [0, 3.7, 12, NaN, 2.5]), numbers('z', [1, 5, 9.5, 2, NaN])],
    mean: [
      0.14416857627894153, 3.795221344144956, 0.0392339957033343, 3.1295173000168726, 2.5685308750915143,
    ],
    quantile: [
      0.10061358992384192, 3.752206810481106, -0.023925323252882085, 3.0865027663530227, 2.5255163414276645,
    ],
  },
];

describe('learner: models as bytes', () => {
  it('packed trees say of every row what they said before, however often they are packed', () => {
    const random = new Random(1);
    const columns = Array.from({ length: TREE_COLUMNS }, () =>
      Uint8Array.from({ length: ROWS }, () => random.below(4) * random.below(64)),
    );
    const options = fc.record({
      seed: fc.nat(1e6),
      width: fc.constantFrom(1, 3),
      onGrid: fc.boolean(),
      shares: fc.boolean(),
    });
    fc.assert(
      fc.property(options, (one) => {
        const trees = someTrees(one);
        const { bytes } = packTrees(trees);
        const back = unpackTrees(bytes);
        assert.deepEqual(valuesOf(back, columns), valuesOf(trees, columns));
        assert.deepEqual(packTrees(back).bytes, bytes);
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it('refuses packed trees that end too early, or claim more than they hold', () => {
    const { bytes } = packTrees(someTrees({ seed: 3, width: 1, onGrid: true, shares: false }));
    assert.throws(() => unpackTrees(bytes.subarray(0, bytes.length - 4)), LearnerError);
    assert.throws(() => unpackTrees(Uint8Array.of(1, 255, 255, 255, 127, 0, 0, 0)), LearnerError);
  });

  it('take a third of what they hold at most, numbers and classes alike, and are the same bytes when they are saved again', () => {
    const x = normals(300, 21);
    const features = [
      numbers('x', x),
      text(
        't',
        Array.from(x, (value) => (value > 1 ? 'high' : undefined)),
      ),
    ];
    const noise = normals(300, 22);
    const inputs = [
      regress(
        features,
        x.map((value, i) => Math.sin(5 * value) + noise[i]! / 4),
      ),
      classify(
        features,
        Array.from(x, (value, i) => Math.min(2, Math.floor(Math.abs(value + noise[i]! / 4)))),
      ),
    ];
    for (const input of inputs) {
      const model = trainModel(input);
      const bytes = saveModel(model);
      assert.ok(bytes.length * 3 < heldBy(model), `${bytes.length} bytes of ${heldBy(model)}`);
      assert.deepEqual(saveModel(loadModel(bytes)), bytes);
    }
  });

  for (const { format, features, mean, quantile } of FORMER) {
    it(`reads a model of the former format ${format}, with the predictions that it made`, () => {
      const bytes = readFileSync(path.join(__dirname, `../../fixtures/${format.toLowerCase()}-model.bin`));
      assert.equal(bytes.toString('latin1', 0, 4), format);
      const model = loadModel(bytes);
      const result = predict(model, features, mean.length) as RegressionResult;
      assert.deepEqual([...result.mean()], mean);
      assert.deepEqual([...result.quantiles([0.3])[0]!], quantile);
      assert.equal(result.full().logits.includes(-Infinity), format !== 'TPM9', 'the floor came with TPM9');
      const again = saveModel(model);
      assert.equal(Buffer.from(again).toString('latin1', 0, 4), 'TPMA');
      const back = predict(loadModel(again), features, mean.length) as RegressionResult;
      assert.deepEqual([...back.mean()], mean);
    });
  }
});

/** Bytes of all arrays in a value. */
function heldBy(value: unknown): number {
  if (ArrayBuffer.isView(value)) {
    return value.byteLength;
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, one) => sum + heldBy(one), 0)
    : 0;
}
