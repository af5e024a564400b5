import assert from 'node:assert/strict';

import { explain, predict, trainModel } from '../../../dist/src/learner';
import {
  addLeafEffects,
  allRows,
  BlockMemory,
  cutTrees,
  drawPermutations,
  EffectTable,
  explanationCache,
  gaussianScores,
  growRandomised,
  leafBlocks,
  LeafWalk,
  makePermutationScorer,
  memberScores,
  mixtureCount,
  permutationScores,
  processAlongPermutations,
  processApart,
  quickSigmoid,
  Random,
  ReachedSubtrees,
  sigmoid,
} from '../../doors/learner';
import { classify, numbers, text } from './tables';

describe('paths through trees', () => {
  const random = new Random(1);
  const rows = 300;
  const draw = () => Array.from({ length: rows }, () => (random.uniform() < 0.1 ? NaN : random.uniform()));
  const columns = Array.from({ length: 5 }, draw);
  const words = columns[0]!.map((value) => ['red', 'blue', 'green'][Math.floor(value * 3)]);
  const features = [...columns.map((values, i) => numbers(`c${i}`, values)), text('colour', words)];
  const labels = columns[0]!.map((a, row) =>
    a + columns[1]![row]! * columns[2]![row]! > 0.8 ? 'yes' : 'no',
  );
  const model = trainModel(classify(features, labels, { n_estimators: 3 }));

  it('are the same whether they are cached or found on the walk', () => {
    const background = model.background!;
    // Two columns are one group.
    const groupOf = Int32Array.from(background.columns, (_, column) => Math.max(0, column - 1));
    const known = explanationCache(background, groupOf);
    let leaves = 0;
    for (let row = 0; row < 4; row++) {
      const bins = Uint8Array.from(background.columns, (column) => column[row * 7]!);
      const foreground = { bins, numbers: new Float64Array(0), background, groupOf, groups: groupOf.length };
      const visited = [known.paths, () => undefined].map((pathsOf) => {
        const walk = new LeafWalk(foreground, pathsOf);
        const out: string[] = [];
        for (const { trees } of model.members.flatMap(({ parts }) =>
          parts.filter((part) => 'trees' in part),
        )) {
          trees.roots.forEach((_, tree) =>
            walk.tree(trees, tree, -1, (from, leaf) => {
              const groupsIn = (slots: number) =>
                Array.from({ length: 31 }, (_, slot) => slot)
                  .filter((slot) => (slots >>> slot) & 1)
                  .map((slot) => leaf.groups[leaf.groupsAt + slot]!)
                  .sort((a, b) => a - b);
              for (let other = 0; other < background.rows; other++) {
                if ((leaf.mask >>> other) & 1) {
                  const failedByOther = groupsIn(leaf.failedByOther[leaf.failedByOtherAt + other]!);
                  out.push(
                    `${tree} ${from} ${other}: ${failedByOther.join()} not ${groupsIn(leaf.failed).join()}`,
                  );
                }
              }
            }),
          );
        }
        return out.sort();
      });
      assert.deepEqual(visited[0], visited[1]);
      leaves += visited[0]!.length;
    }
    assert.ok(leaves > 10_000, `${leaves} leaves`);
  });

  it('give the scores of mixtures along permutations, for all background rows at once or one by one', () => {
    const background = model.background!;
    const groupOf = Int32Array.from(background.columns, (_, column) => Math.max(0, column - 1));
    const groups = Math.max(...groupOf) + 1;
    const bins = Uint8Array.from(background.columns, (column) => column[9]!);
    const own = Float64Array.from(background.columns, (_, at) => background.numbers?.[at]?.[9] ?? NaN);
    const foreground = { bins, numbers: own, background, groupOf, groups };
    const member = { ...model.members[0]!, parts: [...model.members[0]!.parts] };
    const specs = background.columns.map((_, source) => ({ source, bins: 255, category: false }));
    const centers = specs.map(() => Float64Array.from({ length: 255 }, (_, bin) => bin));
    const all = Int32Array.from({ length: background.rows }, (_, row) => row);
    const votes = { columns: background.columns, specs, centers, rows: all, classes: 2 };
    const base = new Float64Array(1);
    const grown = growRandomised(
      { ...votes, target: all.map((row) => (row * 7) % 2), base },
      { trees: 4, minLeaf: 1, nodeColumns: 2 },
      new Random(3),
    );
    const known = explanationCache(background, groupOf);
    const everyGroup = Array.from({ length: groups }, (_, group) => group);
    const asked = { perRow: 2, nodes: 1000 };
    const [permutations] = known.permutations(1, { common: everyGroup, groups }, asked);
    const { perRow, steps, flips } = permutations!;
    const mixtures = background.rows * perRow * steps;
    const isOwn = (mixture: number, column: number) =>
      mixture % steps >= flips[Math.floor(mixture / steps) * groups + groupOf[column]!]!;
    const rowOf = (mixture: number) => Math.floor(mixture / steps / perRow);
    const each = Int32Array.from({ length: mixtures }, (_, mixture) => mixture);
    const mixed = {
      columns: background.columns.map((column, at) =>
        Uint8Array.from(each, (i) => (isOwn(i, at) ? bins[at]! : column[rowOf(i)]!)),
      ),
      numbers: background.columns.map((_, at) =>
        Float64Array.from(each, (i) =>
          isOwn(i, at) ? own[at]! : (background.numbers?.[at]?.[rowOf(i)] ?? NaN),
        ),
      ),
    };
    // A Gaussian process next to the trees, shared by all members.
    const { process } = processApart([{ ...member, weight: 1 }]);
    const shared = (of: number) => {
      const { changes, effects } = processAlongPermutations(process!, foreground, of, [permutations!]);
      return { changes: changes[0]!, effects };
    };
    assert.ok(process);
    const ask = (of: number) => ({ foreground, rows: of, process: shared(of) });
    const plain = permutationScores(member, [ask(-1)], permutations!)[0]!;
    const sums = new Float64Array(plain.effects.length);
    const apart = permutationScores(
      member,
      Array.from(all, (row) => ask(1 << row)),
      permutations!,
    );
    for (const [row, one] of apart.entries()) {
      one.effects.forEach((effect, i) => (sums[i]! += effect));
      const [first, end] = [row * perRow * steps, (row + 1) * perRow * steps];
      for (let i = first; i < end; i++) {
        assert.ok(Math.abs(one.scores[i]! - plain.scores[i]!) < 1e-12);
      }
    }
    sums.forEach((sum, i) => assert.ok(Math.abs(sum - plain.effects[i]!) < 1e-9, `effect ${i}`));
    // A rough kernel, for which the quadrature has too few nodes.
    const { kernel, weights } = process.gaussian;
    const rough = { kernel: { ...kernel, rates: kernel.rates.map((rate) => 30 * rate) }, weights };
    const effects = processAlongPermutations({ ...process, gaussian: rough }, foreground, -1, []).effects;
    const [end] = gaussianScores(
      rough,
      base,
      {
        columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
        numbers: Array.from(own, (value) => Float64Array.of(value)),
      },
      Int32Array.of(0),
    );
    const starts = gaussianScores(
      rough,
      base,
      { columns: background.columns, numbers: background.numbers! },
      all,
    );
    const rise = starts.reduce((sum, start) => sum + end! - start, 0);
    assert.ok(Math.abs(rise) > 0.01);
    assert.ok(Math.abs(effects.reduce((sum, effect) => sum + effect, 0) - rise) < 1e-9);
    member.parts.push({ kind: 'votes', weight: 0.6, base, trees: grown.trees });
    const { scores } = permutationScores(member, [ask(-1)], permutations!)[0]!;
    const expected = memberScores(member, mixed, each);
    expected.forEach((score, i) => assert.ok(Math.abs(score - scores[i]!) < 1e-9, `mixture ${i}`));
    assert.ok(new Set(expected).size > 200);
  });

  it('have the same effects as whole trees and leaf by leaf, whether these are cached or not', () => {
    const background = model.background!;
    const groupOf = Int32Array.from(background.columns, (_, column) => Math.max(0, column - 1));
    const groups = Math.max(...groupOf) + 1;
    const known = explanationCache(background, groupOf);
    const { trees } = model.members[0]!.parts.find((part) => 'trees' in part)!;
    const paths = known.paths(trees)!;
    const effects = [0, 3, 5, 8].flatMap((bits) => {
      const subtrees = cutTrees(trees, paths, bits);
      return [0, 1000, 1e9].map((bytes) => {
        const effects = new Float64Array(groups);
        const effectTable = new EffectTable(subtrees, { bytes });
        const reached = new ReachedSubtrees();
        for (const row of [3, 9, 3]) {
          const bins = Uint8Array.from(background.columns, (column) => column[row]!);
          trees.roots.forEach((_, tree) => {
            reached.find(subtrees, tree, bins, allRows(background));
            effectTable.add(reached, 0.5, 0, effects, groups);
          });
        }
        return { subtrees: subtrees.roots.length, values: [...effects] };
      });
    });
    const [first] = effects;
    assert.equal(new Set(first!.values).size, groups);
    for (const { values } of effects) {
      values.forEach((value, i) => assert.ok(Math.abs(value - first!.values[i]!) < 1e-9, `value ${i}`));
    }
    assert.equal(new Set(effects.map(({ subtrees }) => subtrees)).size, 4);
  });

  it('are followed along permutations to the same bits in WebAssembly and in JavaScript, cached or not', () => {
    const background = model.background!;
    const groupOf = Int32Array.from(background.columns, (_, column) => Math.max(0, column - 1));
    const groups = Math.max(...groupOf) + 1;
    const own = Int32Array.from({ length: background.rows }, (_, row) => row);
    const specs = background.columns.map((_, source) => ({ source, bins: 255, category: source === 5 }));
    const centers = specs.map(() => Float64Array.from({ length: 255 }, (_, bin) => bin));
    // Trees of up to 32 leaves, so that some take every bit of a block.
    const grow = (classes: number, minLeaf = 1) =>
      growRandomised(
        {
          ...{ columns: background.columns, specs, centers, rows: own, classes },
          base: new Float64Array(classes > 2 ? classes : 1),
          target: own.map((row) => (row * 7) % classes),
        },
        { trees: 30, minLeaf, nodeColumns: 1 },
        new Random(5),
      ).trees;
    const boosted = model.members[0]!.parts.find((part) => 'trees' in part)!.trees;
    const common = Array.from({ length: groups }, (_, group) => group);
    const permutations = drawPermutations(
      background.rows,
      { perRow: 2, reversed: false },
      { common, groups },
      new Random(2),
    );
    // Trees with a value for each of 3 and of 11 classes: pairs of these, eight at a time, and one that is left.
    // And trees so small that rows share paths, whose results are cached.
    const forests = [boosted, grow(2), grow(3), grow(11), grow(2, 5)];
    assert.deepEqual(
      forests.map((trees) => trees.width),
      [1, 1, 3, 11, 1],
    );
    const nodes = forests.map((trees) => trees.left.length / trees.roots.length);
    assert.ok(nodes[1]! > 2 * 9 && nodes[4]! < 2 * 9, nodes.join());
    for (const trees of forests) {
      const width = trees.width > 1 ? trees.width : 2;
      const size = {
        scores: mixtureCount(permutations) * width,
        effects: width * groups,
        columns: specs.length,
      };
      const blocks = leafBlocks(trees, background, groupOf);
      // With memory for blocks and all cached results, for some results, for none, and without memory for blocks.
      const rooms = [
        ...[4_000_000, 20_000, 0].map((results) => BlockMemory.open(size, { blocks: 4_000_000, results })),
        BlockMemory.open(size, { blocks: 1000, results: 0 }),
        undefined,
      ];
      assert.ok(rooms.slice(0, 4).every(Boolean));
      const effects = rooms.map((memory, i) => {
        const { scorer, leaves } = makePermutationScorer(blocks, permutations, width, memory, {
          bytes: i === 3 ? 5000 : 1e9,
        });
        assert.equal(leaves, i < 3 ? 0 : blocks.valuesAt.length);
        const rows = Array.from({ length: 20 }, (_, row) => ({
          foreground: {
            bins: Uint8Array.from(background.columns, (column) => (row === 19 ? 0 : column[row]!)),
            numbers: new Float64Array(0),
            ...{ background, groupOf, groups },
          },
          rows: row === 18 ? 0b1011 : -1,
        }));
        const found = rows.map(() => ({
          scores: new Float64Array(size.scores),
          effects: new Float64Array(size.effects),
        }));
        scorer.add(rows, 0.3, found);
        scorer.add(rows, 0.3, found);
        // The effects are those of leaves, one by one.
        rows.forEach(({ foreground, rows: about }, row) => {
          const walk = new LeafWalk(foreground, () => undefined);
          const effects = new Float64Array(size.effects);
          trees.roots.forEach((_, tree) => {
            for (let k = 0; k < trees.width; k++) {
              const output = trees.width > 1 ? k : tree % width;
              const onOutput = effects.subarray(output * groups, (output + 1) * groups);
              walk.tree(trees, tree, about, (from, leaf) =>
                addLeafEffects(leaf, 0.6 * trees.values[from + k]!, onOutput),
              );
            }
          });
          effects.forEach((effect, at) => assert.ok(Math.abs(effect - found[row]!.effects[at]!) < 1e-9));
        });
        return found;
      });
      effects.forEach((found, i) => assert.deepEqual(found, effects[0], `memory ${i}`));
    }
  });

  it('are cached for the models explained last, and none of them is mistaken for another', () => {
    const models = [2, 3, 4, 5, 6].map((n) => trainModel(classify(features, labels, { n_estimators: n })));
    const effects = () =>
      models.map((one) => [
        ...explain(one, features, predict(one, features, rows), { of: 1, most: 2 }).effects,
      ]);
    const first = effects();
    assert.deepEqual(effects(), first);
    const grouped = { groups: { both: ['c0', 'c1'] }, of: 1, most: 2 };
    const result = predict(models[4]!, features, rows);
    const both = explain(models[4]!, features, result, grouped);
    const few = explain(models[4]!, features, result, { of: 1, most: 2, estimators: 2 });
    assert.equal(both.groups.length, 5);
    assert.equal(few.groups.length, 6);
    assert.deepEqual([...explain(models[4]!, features, result, { of: 1, most: 2 }).effects], first[4]);
  });
});

describe('explanations of many causes', () => {
  it('are exact where a row differs in few of them from each background row', () => {
    const random = new Random(4);
    const rows = 320;
    // Thirteen switches, of which at most four are on.
    const switches = Array.from({ length: 13 }, () => new Float64Array(rows));
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < 4; i++) {
        switches[Math.floor(random.uniform() * 13)]![row] = 1;
      }
    }
    const features = switches.map((values, i) => numbers(`s${i}`, values));
    const labels = Array.from({ length: rows }, (_, row) =>
      switches[0]![row]! + switches[1]![row]! * 2 - switches[2]![row]! + random.uniform() > 1 ? 'yes' : 'no',
    );
    const model = trainModel(classify(features, labels, { n_estimators: 2 }));
    const result = predict(model, features, rows);
    const [effects, exact] = [undefined, 13].map((exactUpTo) =>
      explain(model, features, result, { of: 1, most: 10, exactUpTo }),
    );
    exact!.effects.forEach((effect, i) => assert.ok(Math.abs(effect - effects!.effects[i]!) < 1e-9));
    assert.ok(exact!.effects.filter((effect) => Math.abs(effect) > 0.01).length > 10);
  });
});

describe('the quick sigmoid', () => {
  it('is within 2e-12 of the other', () => {
    const random = new Random(9);
    for (let i = 0; i < 20_000; i++) {
      const x = (random.uniform() - 0.5) * 60;
      assert.ok(Math.abs(quickSigmoid(x) - sigmoid(x)) < 2e-12, `at ${x}`);
    }
    assert.deepEqual([0, 1000, -1000].map(quickSigmoid), [0.5, 1, 0]);
    assert.ok(Number.isNaN(quickSigmoid(NaN)));
  });
});
