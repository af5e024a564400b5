import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { explain, type Model, predict, trainModel } from '../../../dist/src/learner';
import { Random } from '../../doors/learner';
import { classify, numbers, regress } from './tables';

const ROWS = 131;
const EXPLAINED = 20;

/** About normal, from sums alone: the engine's logarithm and cosine would make other tables. */
function bell(seed: number): Float64Array {
  const random = new Random(seed);
  return Float64Array.from({ length: ROWS }, () => {
    let sum = -6;
    for (let i = 0; i < 12; i++) {
      sum += random.uniform();
    }
    return sum;
  });
}

/** What a member is made of: trees by how many values a leaf has, Gaussian processes by outputs, and points beyond fours. */
const partsOf = ({ members }: Model) =>
  members[0]!.parts.map((part) =>
    part.kind === 'gaussian'
      ? `process of ${part.base.length}, ${(part.gaussian.weights.length / part.base.length) % 4} more`
      : 'trees' in part
        ? `${part.kind} of ${part.trees.width}`
        : part.kind,
  );

/**
 * Of so many columns and classes, by coalitions (few columns) or along permutations; a number has one score. Borders with
 * edges are for randomised trees.
 */
const TABLES: { columns: number; cuts: number[]; edges?: boolean; bits: string }[] = [
  { columns: 13, cuts: [0], bits: 'fb4d9770c41935910c465cd9c591f5da' },
  { columns: 13, cuts: [-1, 1], bits: 'f4fc4cda0ce9d5d0291b9a3c99c39cfd' },
  { columns: 5, cuts: [0], bits: '40aa24a6984848af7a9a7b5b868d267a' },
  { columns: 4, cuts: [-1, 1], bits: 'd4c7c7159b7bf38c2a2fa139389662f3' },
  { columns: 6, cuts: [-2, -1, 0, 1, 2], bits: '3529b545f57c71274a49e4dcf75eab64' },
  {
    columns: 6,
    cuts: Array.from({ length: 12 }, (_, i) => 0.4 * (i - 6)),
    bits: '0ed4a55f0530fe996771d5803cd4e57a',
  },
  { columns: 9, cuts: [-1, 1], edges: true, bits: '668c59be55b7460319cbe1705adc503b' },
  { columns: 5, cuts: [-2, -1, 0, 1, 2], edges: true, bits: '344142cb7a80e4b0a7f6f0608b83adbe' },
  { columns: 9, cuts: [], bits: 'ab47576a781a79a9bb71a8b05b1fcfa9' },
];

describe('learner: the very bits of explanations when this was written', () => {
  const parts = new Set<string>();

  for (const { columns, cuts, edges, bits } of TABLES) {
    it(`${columns} columns, ${cuts.length === 0 ? 'a number' : `${cuts.length + 1} classes`}${edges ? ' with edges' : ''}`, () => {
      const values = Array.from({ length: columns }, (_, i) => bell(i + 1));
      const [a, b, c, d] = values;
      const scores = Array.from(a!, (value, row) =>
        edges
          ? 2 * Math.max(Math.abs(value), Math.abs(b![row]!), Math.abs(c![row]!)) - 3
          : 2 * value + b![row]! * c![row]! + 3 * d![row]! * d![row]! - 3,
      );
      const features = values.map((own, i) => numbers(`x${i}`, own));
      const model = trainModel(
        cuts.length === 0
          ? regress(features, scores, { n_estimators: 3 })
          : classify(
              features,
              scores.map((score) => `c${cuts.filter((cut) => score > cut).length}`),
              { n_estimators: 3 },
            ),
      );
      partsOf(model).forEach((part) => parts.add(part));
      const first = values.map((own, i) => numbers(`x${i}`, own.slice(0, EXPLAINED)));
      const predicted = predict(model, first, EXPLAINED);
      const found = explain(model, first, predicted, cuts.length === 0 ? {} : { of: 1 });
      const sum = createHash('sha256');
      for (const list of [found.effects, found.bases]) {
        sum.update(new Uint8Array(Float64Array.from(list).buffer));
      }
      assert.equal(sum.digest('hex').slice(0, 32), bits);
    });
  }

  it('cover sums of four at a time with a rest, and pairs of classes with one left', () => {
    for (const part of ['trees of 1', 'trees of 13', 'votes of 3', 'votes of 6']) {
      assert.ok(parts.has(part), `${part} is not among ${[...parts].join('; ')}`);
    }
    const points = [...parts].filter((part) => part.startsWith('process of'));
    for (const of of ['process of 1, ', 'process of 3, ', /[123] more$/]) {
      assert.ok(
        points.some((part) => (typeof of === 'string' ? part.startsWith(of) : of.test(part))),
        points.join('; '),
      );
    }
  });
});
