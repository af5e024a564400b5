import assert from 'node:assert/strict';

import fc from 'fast-check';

import { explain, predict, trainModel } from '../../../dist/src/learner';
import {
  findLeaf,
  growRandomised,
  keptTrees,
  NodeRows,
  openScratch,
  Random,
  stackWeights,
} from '../../doors/learner';
import { classify, numbers, text } from './tables';

const rows = Int32Array.from({ length: 120 }, (_, row) => row);
const random = new Random(1);
/** A column of numbers, one with gaps, one of categories and one that says nothing. */
const columns = [
  Uint8Array.from(rows, (row) => 1 + row),
  Uint8Array.from(rows, () => random.below(10)),
  Uint8Array.from(rows, () => 2 + random.below(5)),
  Uint8Array.from(rows, () => 1),
];
const specs = columns.map((_, source) => ({ source, bins: 122, category: source === 2 }));
const centers = specs.map(({ bins, category }) =>
  category ? undefined : Float64Array.from({ length: bins }, (_, bin) => bin * bin),
);

function grow(target: Float64Array, classes: number, minLeaf: number, nodeColumns = 2, trees = 5) {
  const base = new Float64Array(classes > 2 ? classes : 1);
  const input = { columns, specs, centers, rows, target, classes, base };
  return growRandomised(input, { trees, minLeaf, nodeColumns }, new Random(2)).trees;
}

/** The sum over all trees for a row. */
function sumOf(trees: ReturnType<typeof grow>, row: number, output = 0): number {
  return trees.roots.reduce(
    (sum, root) => sum + trees.values[findLeaf(trees, root, columns, row) + output]!,
    0,
  );
}

describe('extremely randomised trees', () => {
  const values = Float64Array.from(rows, () => Math.round(random.uniform() * 1000) / 8);

  it('grown to single rows tell each row of the train set: numbers', () => {
    const trees = grow(values, 0, 1);
    rows.forEach((row) => assert.ok(Math.abs(sumOf(trees, row) - values[row]!) < 1e-4));
  });

  it('grown to single rows tell each row of the train set: classes', () => {
    for (const classes of [2, 4]) {
      const codes = values.map((value) => Math.floor(value) % classes);
      const trees = grow(codes, classes, 1);
      rows.forEach((row) => {
        const wanted = classes === 2 ? codes[row]! : 1;
        assert.ok(Math.abs(sumOf(trees, row, classes === 2 ? 0 : codes[row]) - wanted) < 1e-6);
      });
    }
  });

  it('kept in part vote as all do: the shares of a row sum to 1', () => {
    const trees = grow(
      values.map((value) => Math.floor(value) % 3),
      3,
      7,
      2,
      8,
    );
    const kept = keptTrees(trees, 4);
    assert.equal(kept.roots.length, 2);
    rows.forEach((row) => {
      const shares = [0, 1, 2].map((of) => sumOf(kept, row, of));
      assert.ok(Math.abs(shares[0]! + shares[1]! + shares[2]! - 1) < 1e-6);
    });
  });

  it('keep so many rows in each leaf, with the mean of their target', () => {
    const trees = grow(values, 0, 7);
    for (const root of trees.roots) {
      const leaves = new Map<number, number[]>();
      rows.forEach((row) => {
        const leaf = findLeaf(trees, root, columns, row);
        leaves.set(leaf, [...(leaves.get(leaf) ?? []), values[row]!]);
      });
      assert.ok(leaves.size > 3);
      for (const [at, own] of leaves) {
        assert.ok(own.length >= 7);
        const mean = own.reduce((sum, value) => sum + value / own.length, 0);
        assert.ok(Math.abs(5 * trees.values[at]! - mean) < 1e-4);
      }
    }
  });

  it('use missing values and categories, and end where nothing is left to split by', () => {
    const target = Float64Array.from(rows, (row) => (columns[1]![row] === 0 ? 1 : 0));
    assert.equal(grow(target, 2, 1, 4).feature.includes(3), false);
    const alike = growRandomised(
      {
        columns: [columns[3]!],
        specs: [specs[3]!],
        centers: [centers[3]],
        rows,
        target,
        classes: 2,
        base: new Float64Array(1),
      },
      { trees: 1, minLeaf: 1, nodeColumns: 1 },
      new Random(2),
    );
    const share = target.reduce((sum, value) => sum + value / rows.length, 0);
    assert.deepEqual([...alike.trees.values], [Math.fround(share)]);
  });

  it('sum and divide the rows of a node as plain loops do: of any columns, classes and rows', () => {
    const tables = fc.record({
      count: fc.integer({ min: 2, max: 700 }),
      width: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(64, 65, 100)),
      classes: fc.constantFrom(0, 2, 3, 7, 64, 65),
      bins: fc.constantFrom(2, 6, 250),
      gaps: fc.constantFrom(0, 0.1, 0.9),
      seed: fc.nat(1000),
    });
    fc.assert(
      fc.property(tables, ({ count, width, classes, bins, gaps, seed }) => {
        const draw = new Random(seed);
        const own = Array.from({ length: width }, () =>
          Uint8Array.from({ length: count }, () => (draw.uniform() < gaps ? 0 : 1 + draw.below(bins))),
        );
        const target = Float64Array.from({ length: count }, () =>
          classes > 0 ? draw.below(classes) : draw.uniform() - 0.5,
        );
        const sample = draw.sample(count, Math.max(1, Math.floor(count * 0.9)));
        const splits = Array.from({ length: Math.min(width, 20) }, () => ({
          column: draw.below(width),
          bin: 1 + draw.below(bins),
          missingLeft: draw.below(2) === 1,
          set: undefined,
        }));
        const node = new NodeRows({
          columns: own,
          rows: sample,
          target,
          classes,
          base: 0.25,
          tried: splits.length,
        });
        node.enter();
        const start = draw.below(sample.length);
        const end = start + draw.below(sample.length - start + 1);
        const inNode = sample.subarray(start, end);
        node.sumLeft(splits, splits.length, start, end);
        splits.forEach(({ column, bin, missingLeft }, i) => {
          const isIn = (row: number) => {
            const of = own[column]![row]!;
            return of === 0 ? missingLeft : of <= bin;
          };
          const left = inNode.filter(isIn);
          assert.equal(node.counts[i], left.length);
          const sums = new Float64Array(Math.max(1, classes));
          left.forEach(
            (row) => (sums[classes > 0 ? target[row]! : 0]! += classes > 0 ? 1 : target[row]! - 0.25),
          );
          assert.deepEqual(node.sums.slice(i * sums.length, (i + 1) * sums.length), sums);
        });
        const [split] = splits;
        const known = Array.from(inNode, (row) => own[split!.column]![row]!).filter((of) => of > 0);
        const { low, high, hasMissing } = node.findRange(split!.column, start, end);
        if (known.length > 0) {
          const range = [Math.min(...known), Math.max(...known), known.length < inNode.length];
          assert.deepEqual([low, high, hasMissing], range);
        } else {
          assert.ok(low > high);
        }
        const isIn = (row: number) => {
          const of = own[split!.column]![row]!;
          return of === 0 ? split!.missingLeft : of <= split!.bin;
        };
        const middle = node.divide(split!, start, end);
        const halves = [...inNode.filter(isIn), ...inNode.filter((row) => !isIn(row))];
        assert.equal(middle, start + inNode.filter(isIn).length);
        assert.deepEqual([...node.list], [...sample.subarray(0, start), ...halves, ...sample.subarray(end)]);
        node.close();
      }),
      { numRuns: 300 },
    );
  });

  it('of as many classes as a byte tells have a leaf for each', () => {
    const count = 255;
    const order = Int32Array.from({ length: count }, (_, row) => row);
    const input = {
      columns: [
        Uint8Array.from(order, (row) => 1 + (row % 200)),
        Uint8Array.from(order, (row) => 1 + Math.floor(row / 200)),
      ],
      specs: [0, 1].map((source) => ({ source, bins: 202, category: false })),
      centers: [0, 1].map(() => Float64Array.from({ length: 202 }, (_, bin) => bin)),
      rows: order,
      target: Float64Array.from(order),
      classes: count,
      base: new Float64Array(count),
    };
    const { trees } = growRandomised(input, { trees: 1, minLeaf: 1, nodeColumns: 2 }, new Random(5));
    for (const row of order) {
      const at = findLeaf(trees, 0, input.columns, row);
      order.forEach((of) => assert.equal(trees.values[at + of], of === row ? 1 : 0));
    }
  });

  it('give their memory back where something fails', () => {
    class Failing extends Random {
      override below(): number {
        throw new RangeError('no memory');
      }
    }
    const target = Float64Array.from(rows, (row) => row % 2);
    const input = { columns, specs, centers, rows, target, classes: 2, base: new Float64Array(1) };
    const placed = (): number => {
      const next = openScratch();
      const { byteOffset } = next.bytes(16);
      next.close();
      return byteOffset;
    };
    const before = placed();
    assert.throws(
      () => growRandomised(input, { trees: 1, minLeaf: 1, nodeColumns: 2 }, new Failing(1)),
      RangeError,
    );
    assert.equal(placed(), before);
  });

  it('are left out of the stack where they gain nothing', () => {
    const noise = Float64Array.from({ length: 400 }, () => 8 * random.uniform() - 4);
    const own = noise.map((value, i) => value + (i % 2 ? 1 : -1));
    const other = Float64Array.from(own, (value, i) => value + 2 * noise[(i * 7) % 400]!);
    const target = Float64Array.from(own, (_, i) => i % 2);
    const stack = (scores: Float64Array[]) =>
      stackWeights({ scores, width: 1, target, regression: false, costly: 1 });
    assert.deepEqual([...stack([own, own])], [1, 0]);
    assert.ok(stack([other, own])[1]! > 0.3);
  });

  it('vote in a model of classes, which tells exactly why', () => {
    const count = 240;
    const [x, y] = [0, 1].map(() => Float64Array.from({ length: count }, () => random.uniform() * 8 - 4));
    const words = Array.from({ length: count }, () => ['red', 'blue', 'green'][random.below(3)]);
    const labels = Array.from(
      x!,
      (value, i) => `ring ${Math.floor(Math.sqrt(value * value + y![i]! * y![i]!)) % 3}`,
    );
    const features = [numbers('x', x!), numbers('y', y!), text('word', words)];
    const model = trainModel(classify(features, labels, { n_estimators: 2 }));
    const voting = model.members.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'votes'));
    assert.equal(voting.length, 2);
    const result = predict(model, features, count);
    const told = explain(model, features, result, { most: 20 });
    told.rows.forEach((_, i) => {
      const effects = told.effects.subarray(i * 3, i * 3 + 3);
      const sum = effects.reduce((total, effect) => total + effect, told.bases[i]!);
      assert.ok(Math.abs(sum - told.predictions[i]!) < 1e-9);
    });
  });
});
