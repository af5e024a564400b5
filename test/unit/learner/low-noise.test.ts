import assert from 'node:assert/strict';

import { trainModel } from '../../../dist/src/learner';
import { Random } from '../../doors/learner';
import { classify, text } from './tables';

describe('learner: the candidate for little noise', () => {
  it('has its share of the score without thinking too, where rules tell the class', () => {
    const rows = 900;
    const random = new Random(7);
    const drawn = Array.from({ length: 6 }, () => Array.from({ length: rows }, () => random.below(4)));
    const [a, b, c, d, e] = drawn as [number[], number[], number[], number[], number[]];
    const labels = Array.from({ length: rows }, (_, i) =>
      a[i] === 0 || b[i]! + c[i]! < 2 ? 'refused' : d[i]! + e[i]! > 4 || c[i] === 3 ? 'good' : 'fair',
    );
    const features = drawn.map((levels, k) =>
      text(
        `c${k}`,
        levels.map((level) => `level ${level}`),
      ),
    );
    const { members } = trainModel(classify(features, labels, { random_state: 3, n_estimators: 3 }));
    const [usual, lowNoise] = members[0]!.parts.filter(({ kind }) => kind === 'trees');
    assert.ok(lowNoise !== undefined && lowNoise.weight > usual!.weight);
  });
});
