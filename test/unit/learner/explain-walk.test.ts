import assert from 'node:assert/strict';

import { explain, predict, trainModel } from '../../../dist/src/learner';
import {
  BlockMemory,
  bytesForCoalitions,
  bytesForRows,
  drawPermutations,
  explanationCache,
  gaussianScores,
  growRandomised,
  isLeft,
  layOutCoalitions,
  leafBlocks,
  memberScores,
  mixtureCount,
  permutationScores,
  processAlongPermutations,
  processApart,
  Random,
  TreeBlocks,
  TreeBuilder,
  type Trees,
} from '../../doors/learner';
import { classify, numbers, text } from './tables';

/** Shapley values by their definition for each leaf and each background row: outputs × groups. */
function effectsByLeaf(
  trees: Trees,
  {
    bins,
    background,
    groupOf,
    groups,
  }: {
    bins: Uint8Array;
    background: { columns: Uint8Array[]; rows: number };
    groupOf: Int32Array;
    groups: number;
  },
  width: number,
): Float64Array {
  const effects = new Float64Array(width * groups);
  /** (p - 1)! q! / (p + q)! */
  const share = (p: number, q: number): number => (q === 0 ? 1 / p : (share(p, q - 1) * q) / (p + q));
  trees.roots.forEach((root, tree) => {
    for (let row = 0; row < background.rows; row++) {
      const walk = (node: number, ours: Set<number>, theirs: Set<number>): void => {
        const column = trees.feature[node]!;
        const left = trees.left[node]!;
        if (column === 0xffff) {
          for (let k = 0; k < trees.width; k++) {
            const to = (trees.width > 1 ? k : tree % width) * groups;
            const value = trees.values[left + k]!;
            const [p, q] = [ours.size, theirs.size];
            ours.forEach((group) => (effects[to + group]! += value * share(p, q)));
            theirs.forEach((group) => (effects[to + group]! -= value * share(q, p)));
          }
          return;
        }
        const group = groupOf[column]!;
        const own = left + (isLeft(trees, node, bins[column]!) ? 0 : 1);
        const other = left + (isLeft(trees, node, background.columns[column]![row]!) ? 0 : 1);
        if (own === other) {
          walk(own, ours, theirs);
          return;
        }
        if (!theirs.has(group)) {
          walk(own, new Set(ours).add(group), theirs);
        }
        if (!ours.has(group)) {
          walk(other, ours, new Set(theirs).add(group));
        }
      };
      walk(root, new Set(), new Set());
    }
  });
  return effects;
}

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

  it('give the scores of mixtures along permutations', () => {
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
    const known = explanationCache(background, groupOf, groups, model.members);
    const everyGroup = Array.from({ length: groups }, (_, group) => group);
    const [permutations] = known.permutations(1, { common: everyGroup, groups }, 2, 1);
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
    assert.ok(process);
    const { changes, effects: sharedEffects } = processAlongPermutations(process, foreground, [
      permutations!,
    ]);
    const asked = { foreground, process: { changes: changes[0]!, effects: sharedEffects } };
    // A rough kernel, for which the quadrature has too few nodes.
    const { kernel, weights } = process.gaussian;
    const rough = { kernel: { ...kernel, rates: kernel.rates.map((rate) => 30 * rate) }, weights };
    const effects = processAlongPermutations({ ...process, gaussian: rough }, foreground, []).effects;
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
    const { scores } = permutationScores(member, [asked], permutations!, known)[0]!;
    const expected = memberScores(member, mixed, each);
    expected.forEach((score, i) => assert.ok(Math.abs(score - scores[i]!) < 1e-9, `mixture ${i}`));
    assert.ok(new Set(expected).size > 200);
  });

  it('have the same results whether blocks have a place in the memory and results are cached or not', () => {
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
      const size = { width, groups, columns: specs.length };
      const sizes = { width, groups, perLeaf: trees.width };
      const blocks = leafBlocks(trees, background, groupOf, sizes);
      const rows = Array.from({ length: 20 }, (_, row) => ({
        bins: Uint8Array.from(background.columns, (column) => (row === 19 ? 0 : column[row]!)),
        numbers: new Float64Array(0),
        ...{ background, groupOf, groups },
      }));
      // Row 18 has coalitions of its own for one of the background rows.
      const layouts = rows.map((_, row) =>
        layOutCoalitions(
          Array.from({ length: background.rows }, (_, i) =>
            row === 18 && i === 1 ? common.slice().reverse() : common,
          ),
          groups,
        ),
      );
      const coalitions = Math.max(...layouts.map(({ at }) => at.at(-1)!));
      // Room for all results, for some, for none; no room for blocks; and none for more than a row.
      const rooms = [
        ...[4_000_000, 20_000, 0].map((results) => ({ blocks: 4_000_000, results })),
        { blocks: 1000, results: 0 },
        { blocks: 0, results: 4_000_000 },
      ];
      const told = rooms.map((room, i) => {
        const forRows = bytesForRows(permutations, size);
        const memory = new BlockMemory({
          ...room,
          rows: Math.max(i === 2 ? forRows / 16 : forRows, bytesForCoalitions(coalitions, size)),
        });
        const along = new TreeBlocks(memory, blocks, permutations, sizes);
        const alone = new TreeBlocks(memory, blocks, undefined, sizes);
        assert.equal(along.isPlaced, i < 3);
        const zeros = (mixtures: number) =>
          rows.map(() => ({
            scores: new Float64Array(mixtures * width),
            effects: new Float64Array(width * groups),
          }));
        const [found, effectsAlone] = [zeros(mixtureCount(permutations)), zeros(0)];
        along.add(rows, 0.3, found);
        along.add(rows, 0.3, found);
        alone.add(rows, 0.3, effectsAlone);
        alone.add(rows, 0.3, effectsAlone);
        assert.deepEqual(
          effectsAlone.map(({ effects }) => effects),
          found.map(({ effects }) => effects),
        );
        rows.forEach((row, at) => {
          const byLeaf = effectsByLeaf(trees, row, width);
          byLeaf.forEach((effect, k) => assert.ok(Math.abs(0.6 * effect - found[at]!.effects[k]!) < 1e-9));
        });
        const sums = rows.map((row, at) => {
          const scores = new Float64Array(layouts[at]!.at.at(-1)! * width);
          alone.addCoalitions(row, layouts[at]!, 0.3, scores);
          return scores;
        });
        return { found, sums };
      });
      told.forEach((one, i) => assert.deepEqual(one, told[0], `memory ${i}`));
    }
  });

  it('may ask for many causes in a row, as of columns with outliers, but not for any number', () => {
    const chain = (depth: number) => {
      const trees = new TreeBuilder(1);
      let node = trees.addRoot();
      for (let column = 0; column < depth; column++) {
        const left = trees.split(node, { column, bin: 1, missingLeft: true, set: undefined });
        trees.setLeaf(left, [column % 7]);
        node = left + 1;
      }
      trees.setLeaf(node, [-100]);
      const grown = trees.finish();
      // Every row ends up at another leaf.
      const columns = Array.from({ length: depth }, (_, column) =>
        Uint8Array.from({ length: 32 }, (_, row) => (row * 4 > column ? 2 : 1)),
      );
      const row = {
        bins: Uint8Array.from(columns, (_, column) => (column % 3 === 0 && column > 5 ? 1 : 2)),
        numbers: new Float64Array(0),
        background: { ...model.background!, columns, rows: 32 },
        groupOf: Int32Array.from(columns, (_, column) => column),
        groups: depth,
      };
      return { grown, row };
    };
    const { grown, row } = chain(120);
    const { background, groupOf, groups } = row;
    const memory = new BlockMemory({
      rows: bytesForRows(undefined, { width: 1, groups, columns: groups }),
      blocks: 1_000_000,
      results: 0,
    });
    const effects = new Float64Array(groups);
    const sizes = { width: 1, groups, perLeaf: 1 };
    const blocks = leafBlocks(grown, background, groupOf, sizes);
    new TreeBlocks(memory, blocks, undefined, sizes).add([row], 1, [
      { scores: new Float64Array(0), effects },
    ]);
    effectsByLeaf(grown, row, 1).forEach((effect, i) =>
      assert.ok(Math.abs(effect - effects[i]!) < 1e-9, `cause ${i}: ${effect} and ${effects[i]}`),
    );
    assert.ok(effects.filter((effect) => Math.abs(effect) > 1e-9).length > 40);
    const long = chain(140);
    assert.throws(
      () => leafBlocks(long.grown, long.row.background, long.row.groupOf, sizes),
      /more than 127 causes in a row/,
    );
  });

  it('are cached for the models explained last, and none of them is mistaken for another', () => {
    const models = [1, 1, 1, 1, 3].map((n_estimators, random_state) =>
      trainModel(classify(features, labels, { n_estimators, random_state })),
    );
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
