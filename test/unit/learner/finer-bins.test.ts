import assert from 'node:assert/strict';

import {
  type ClassificationResult,
  type FeatureColumn,
  predict,
  trainModel,
} from '../../../dist/src/learner';
import { findBin, findBorders, finerBorders, Random } from '../../doors/learner';
import { classify, normals, numbers } from './tables';

const uniform = (count: number, seed: number): Float64Array => {
  const random = new Random(seed);
  return Float64Array.from({ length: count }, () => random.uniform());
};
const bordersOf = (values: Float64Array, model: ReturnType<typeof trainModel>) => {
  const [first] = model.encoders;
  assert.ok(first?.type === 'number');
  return { usual: findBorders(values, new Random(1)), own: first.borders };
};

describe('learner: finer bins', () => {
  const values = Float64Array.from({ length: 10_000 }, (_, i) => i);
  const borders = findBorders(values, new Random(1));
  const bin = findBin(6180, borders);
  const splits = new Int32Array(borders.length + 2);

  it('lie where trees split most, and are no more than before', () => {
    const busy = splits.slice();
    busy[bin] = 20;
    busy[40] = 3;
    const finer = finerBorders(values, borders, busy, 254, new Random(1))!;
    const [low, high] = [borders[bin - 2]!, borders[bin - 1]!];
    assert.equal([...finer].filter((border) => border > low && border < high).length, 24);
    assert.ok([...finer].every((border, i) => i === 0 || border > finer[i - 1]!));
    assert.ok(finer.length <= 253 && finer.includes(low) && finer.includes(high));
    // Of the others those stay by which trees split, or which are next to one; a gap becomes two bins wide at most.
    assert.ok([38, 39, 40].every((at) => finer.includes(borders[at]!)));
    const old = Math.max(...Array.from(borders.subarray(1), (border, i) => border - borders[i]!));
    const widest = Math.max(...Array.from(finer.subarray(1), (border, i) => border - finer[i]!));
    assert.ok(widest <= 2 * old, `${widest}`);
    assert.ok([...finer].filter((border) => borders.includes(border)).length > 200);
  });

  it('are not made where trees split nowhere in particular, or where each value has a bin', () => {
    assert.equal(finerBorders(values, borders, splits.slice().fill(9), 254, new Random(1)), undefined);
    const busy = splits.slice();
    busy[5] = 7;
    assert.equal(finerBorders(values, borders, busy, 254, new Random(1)), undefined);
    const whole = values.map((value) => value % 200);
    const all = findBorders(whole, new Random(1));
    assert.equal(
      finerBorders(whole, all, new Int32Array(201).fill(0).fill(30, 9, 10), 254, new Random(1)),
      undefined,
    );
  });

  const count = 4000;
  const x = uniform(count, 3);
  const features: FeatureColumn[] = [numbers('x', x), numbers('z', normals(count, 4))];

  it('tell rows apart that are nearer to a rule than a bin is wide', () => {
    const options = { random_state: 1, n_estimators: 3 };
    const labels = Array.from(x, (value) => (value > 0.618 ? 'on' : 'off'));
    const model = trainModel(classify(features, labels, options));
    const { usual, own } = bordersOf(x, model);
    const nearest = (list: Float64Array) => Math.min(...list.map((border) => Math.abs(border - 0.618)));
    assert.ok(nearest(own) < 0.0003 && own.length <= usual.length, `${nearest(own)}`);
    assert.ok(nearest(own) < nearest(usual) / 2, `${nearest(usual)}`);
    const near = [numbers('x', [0.6174, 0.6186]), numbers('z', [0, 0])];
    const { probas } = predict(model, near, 2) as ClassificationResult;
    assert.ok(probas[1]! < 0.1 && probas[3]! > 0.9, [...probas].join(' '));
  });

  it('are not made where rows held out do not say that they are better', () => {
    const [b, c] = [normals(count, 6), normals(count, 7)];
    const more = [x, b, c].map((values, i) => numbers(`x${i}`, values));
    // A circle, and a rule that happens to lie on a border of the usual bins.
    const at = findBorders(x, new Random(1))[230]!;
    const labels = Array.from(x, (value, row) =>
      value > at || b[row]! ** 2 + c[row]! ** 2 < 0.6 ? 'in' : 'out',
    );
    const input = classify(more, labels, { random_state: 1, n_estimators: 2 });
    const { usual, own } = bordersOf(x, trainModel(input));
    assert.deepEqual(own, usual);
  });

  it('are not made of classes with more noise, or of fewer rows', () => {
    const flipped = uniform(count, 5);
    const noisy = Array.from(x, (value, row) => (value > 0.618 !== flipped[row]! < 0.1 ? 'on' : 'off'));
    const options = { random_state: 1, n_estimators: 2 };
    const { usual, own } = bordersOf(x, trainModel(classify(features, noisy, options)));
    assert.deepEqual(own, usual);
    const few = [numbers('x', x.subarray(0, 2000)), numbers('z', normals(2000, 4))];
    const labels = Array.from(x.subarray(0, 2000), (value) => (value > 0.618 ? 'on' : 'off'));
    const small = bordersOf(x.subarray(0, 2000), trainModel(classify(few, labels, options)));
    assert.deepEqual(small.own, small.usual);
  });
});
