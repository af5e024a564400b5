import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  type ClassificationResult,
  LearnerError,
  predict,
  type RegressionResult,
  type TargetColumn,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import {
  assignParts,
  cutBlocks,
  embargoed,
  findGroups,
  findRounds,
  type HoldOut,
  prepare,
  Random,
} from '../../doors/learner';
import { classify, normals, numbers, regress, text } from './tables';

const wish = (more: Partial<HoldOut> = {}): HoldOut => ({
  blocks: 25,
  embargo: 0,
  group: undefined,
  groupIsFeature: true,
  folds: 'groups',
  ...more,
});
const classesOf = (codes: number[], count = 2): TargetColumn => ({
  task: 'classification',
  classes: Array.from({ length: count }, (_, k) => `c${k}`),
  codes: Int32Array.from(codes),
});
const numbersOf = (count: number): TargetColumn => ({ task: 'regression', values: normals(count, 1) });

/** A value that wanders, so that neighbouring rows are alike. */
function wandering(count: number, seed: number): Float64Array {
  let level = 0;
  return normals(count, seed).map((step) => (level = 0.95 * level + 0.31 * step));
}

describe('learner: blocks of consecutive rows', () => {
  it('are consecutive, of about equal length, a multiple of the parts, and no more than asked for', () => {
    const sizes = fc.record({
      rows: fc.integer({ min: 50, max: 900 }),
      blocks: fc.integer({ min: 10, max: 60 }),
      parts: fc.constantFrom(3, 5, 10),
    });
    fc.assert(
      fc.property(sizes, ({ rows, blocks, parts }) => {
        const { of, count } = cutBlocks(numbersOf(rows), wish(), blocks, parts);
        assert.ok(count % parts === 0 && count < blocks + parts && count <= rows);
        const lengths = new Array<number>(count).fill(0);
        of.forEach((block, row) => {
          lengths[block]!++;
          assert.ok(row === 0 || block === of[row - 1] || block === of[row - 1]! + 1);
        });
        assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 1, lengths.join(' '));
      }),
    );
  });

  it('hold an event whole, even where rows of other machines lie between', () => {
    // Failures of 12 rows every 97, seen in every second row.
    const rows = 2000;
    const codes = Array.from({ length: rows }, (_, row) => (row % 97 >= 85 && row % 2 === 0 ? 1 : 0));
    const { of, count } = cutBlocks(classesOf(codes), wish({ embargo: 3 }), 25, 5);
    assert.equal(count, 25);
    let cut = 0;
    for (let row = 2; row < rows; row++) {
      cut += codes[row] === 1 && codes[row - 2] === 1 && of[row] !== of[row - 2] ? 1 : 0;
    }
    assert.equal(cut, 0);
  });

  it('give each part some of a rare class, where there are events enough', () => {
    const rows = 3000;
    for (const events of [10, 12, 17]) {
      const codes = Array.from({ length: rows }, (_, row) => (row % Math.floor(rows / events) < 4 ? 1 : 0));
      const target = classesOf(codes);
      const clusters = cutBlocks(target, wish({ blocks: 30 }), 30, 10);
      const part = assignParts(target, clusters, 10, new Random(1));
      const rare = new Set(part.filter((_, row) => codes[row] === 1));
      assert.equal(rare.size, 10, `${events} events`);
    }
  });

  it('give up blocks, then rows of the embargo, before an embargo takes what a fold learns from', () => {
    const few = cutBlocks(numbersOf(4000), wish({ embargo: 100 }), 25, 5);
    assert.deepEqual([few.count, few.embargo, few.reasons], [20, 100, []]);
    const short = cutBlocks(numbersOf(1000), wish({ embargo: 400 }), 25, 5);
    assert.deepEqual([short.count, short.embargo], [5, 100]);
    assert.match(short.reasons.join(), /embargo is 100 rows instead of 400/);
    const model = trainModel(
      regress([numbers('x', normals(1000, 2))], normals(1000, 3), { inference_config: { EMBARGO: 400 } }),
    );
    assert.deepEqual(model.report.folds, { by: 'blocks', parts: 10, blocks: 10, embargo: 112 });
    assert.match(model.report.work.reasons.join(), /embargo is 112 rows instead of 400/);
  });

  it('keep every row of a fold further from its held-out rows than the embargo', () => {
    const part = Uint8Array.from({ length: 400 }, (_, row) => Math.floor(row / 40) % 5);
    const near = embargoed(part, 2, 7);
    part.forEach((own, row) => {
      const from = Math.max(0, row - 7);
      assert.equal(near[row], part.subarray(from, row + 8).includes(2) ? 1 : 0, `row ${row} of part ${own}`);
    });
  });

  it('tell what comes later, where rows held out at random tell of neighbours', () => {
    // Of columns that wander, a target that wanders by itself can be learned only by heart.
    const [rows, later] = [1200, 1200];
    const measure = (seed: number, options: TrainOptions) => {
      const columns = [1, 2, 3].map((i) => wandering(rows + later, seed + i));
      const y = wandering(rows + later, seed + 4).map((value, row) => value + 0.3 * columns[0]![row]!);
      const part = (from: number, to: number) =>
        columns.map((one, i) => numbers(`x${i}`, one.slice(from, to)));
      const model = trainModel(regress(part(0, rows), y.slice(0, rows), { n_estimators: 2, ...options }));
      const result = predict(model, part(rows, rows + later), later) as RegressionResult;
      const errors = result.mean().map((value, row) => Math.abs(value - y[rows + row]!));
      const [low, high] = result.quantiles([0.1, 0.9]);
      const inside = errors.filter((_, row) => low![row]! <= y[rows + row]! && y[rows + row]! <= high![row]!);
      const came = errors.reduce((sum, error) => sum + error, 0) / later;
      return { told: model.report.scores.mae!, came, covered: inside.length / later };
    };
    const mean = (options: TrainOptions) => {
      const measured = [10, 20, 30, 40].map((seed) => measure(seed, options));
      const of = (name: 'told' | 'came' | 'covered') =>
        measured.reduce((sum, one) => sum + one[name] / measured.length, 0);
      return { told: of('told'), came: of('came'), covered: of('covered') };
    };
    const random = mean({});
    const blocks = mean({ inference_config: { BLOCKS: 25, EMBARGO: 10 } });
    assert.ok(random.told < 0.85 * random.came, `random: ${random.told} told, ${random.came} came`);
    assert.ok(blocks.told > 0.88 * blocks.came, `blocks: ${blocks.told} told, ${blocks.came} came`);
    assert.ok(blocks.came < random.came, `${blocks.came} against ${random.came}`);
    assert.ok(blocks.covered > random.covered + 0.03, `${blocks.covered} against ${random.covered}`);
  });
});

describe('learner: neighbours whose errors are alike', () => {
  const rows = 800;
  const [x, y] = [wandering(rows, 5), wandering(rows, 6)];
  const wiggle = normals(rows, 7);
  const reportOf = (order: number[], options: TrainOptions = {}) => {
    const pick = (list: ArrayLike<number>) => order.map((row) => list[row]!);
    const table = regress([numbers('x', pick(x)), numbers('w', pick(wiggle))], pick(y), {
      n_estimators: 4,
      ...options,
    });
    return trainModel(table).report;
  };
  const tells = (order: number[], options: TrainOptions = {}) => reportOf(order, options).neighbours_alike;
  const inTime = Array.from({ length: rows }, (_, row) => row);

  it('are told where rows were held out at random', () => {
    assert.equal(tells(inTime), true);
    assert.equal(tells(inTime, { inference_config: { BLOCKS: 25 } }), undefined, 'blocks know it');
  });

  it('widen the range of the loss, as rows of a period are right or wrong together', () => {
    const keys = normals(rows, 8);
    const [wide, usual] = [inTime, [...inTime].sort((a, b) => keys[a]! - keys[b]!)].map((order) => {
      const { rmse, loss_high: high } = reportOf(order).scores;
      return high! / rmse! - 1;
    });
    assert.ok(wide! > 1.5 * usual!, `${wide} in time, ${usual} shuffled`);
  });

  it('are not there in rows without an order, or sorted by the target', () => {
    const keys = normals(rows, 8);
    const shuffled = [...inTime].sort((a, b) => keys[a]! - keys[b]!);
    assert.equal(tells(shuffled), undefined);
    assert.equal(tells([...inTime].sort((a, b) => y[a]! - y[b]!)), undefined);
  });

  describe('of classes', () => {
    const later = 1600;
    // Days differ in the level of what is measured; the class follows what is measured less that level.
    const [level, state] = [wandering(rows + later, 8), wandering(rows + later, 9)];
    const measured = Array.from({ length: rows + later }, (_, row) => level[row >> 4]! * 2 + state[row]!);
    const labels = Array.from(state, (value) => (value > 0 ? 'yes' : 'no'));
    const fit = (order: number[], options: TrainOptions = {}) => {
      const columns = [
        numbers(
          'measured',
          order.map((row) => measured[row]!),
        ),
        numbers(
          'level',
          order.map((row) => level[row >> 4]! + 0.5 * wiggle[row % rows]!),
        ),
      ];
      const table = order.map((row) => labels[row]!);
      return trainModel(classify(columns, table, { n_estimators: 4, ...options }));
    };
    const loss = (model: ReturnType<typeof fit>) => {
      const columns = [
        numbers('measured', measured.slice(rows)),
        numbers(
          'level',
          measured.slice(rows).map((_, i) => level[(rows + i) >> 4]! + 0.5 * wiggle[i % rows]!),
        ),
      ];
      const { probas, classes } = predict(model, columns, later) as ClassificationResult;
      const own = (row: number) => probas[row * 2 + classes.indexOf(labels[rows + row]!)]!;
      return measured.slice(rows).reduce((sum, _, row) => sum - Math.log(own(row)) / later, 0);
    };

    it('have them held out in blocks, and score what comes later truly', () => {
      const inBlocks = fit(inTime);
      const atRandom = fit(inTime, { inference_config: { FOLDS: 'random' } });
      assert.equal(inBlocks.report.folds.by, 'blocks');
      assert.equal(inBlocks.report.neighbours_alike, true);
      assert.equal(atRandom.report.folds.by, 'random');
      assert.equal(atRandom.report.neighbours_alike, true);
      const [first, second] = [loss(inBlocks), loss(atRandom)];
      assert.ok(first < 0.85 * second, `${first} in blocks, ${second} at random`);
    });

    it('are held out at random without an order, or sorted by the target', () => {
      const keys = normals(rows, 8);
      for (const order of [
        [...inTime].sort((a, b) => keys[a]! - keys[b]!),
        [...inTime].sort((a, b) => Number(labels[a] === 'yes') - Number(labels[b] === 'yes')),
      ]) {
        const { folds, neighbours_alike: areAlike } = fit(order).report;
        assert.equal(folds.by, 'random');
        assert.equal(areAlike, undefined);
      }
    });
  });
});

describe('learner: groups of rows', () => {
  const machines = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

  it('are whole in one part, every part holds some, and each its share of the classes', () => {
    const table = fc.array(fc.record({ group: fc.integer({ min: 0, max: 40 }), yes: fc.boolean() }), {
      minLength: 60,
      maxLength: 300,
    });
    fc.assert(
      fc.property(table, (rows) => {
        const column = numbers(
          'key',
          rows.map(({ group }) => group),
        );
        const clusters = findGroups(column);
        const parts = Math.min(5, clusters.count);
        const target = classesOf(rows.map(({ yes }) => Number(yes)));
        const part = assignParts(target, clusters, parts, new Random(3));
        const partOf = new Map<number, number>();
        rows.forEach(({ group }, row) => {
          assert.equal(partOf.get(group) ?? part[row], part[row]);
          partOf.set(group, part[row]!);
        });
        assert.equal(new Set(part).size, parts);
      }),
    );
  });

  it('share rare classes among the parts', () => {
    const codes = Array.from({ length: 1200 }, (_, row) => (row % 100 < 3 ? 1 : 0));
    const target = classesOf(codes);
    const clusters = findGroups(
      text(
        'machine',
        codes.map((_, row) => machines[Math.floor(row / 100)]),
      ),
    );
    const part = assignParts(target, clusters, 5, new Random(1));
    assert.equal(new Set(part.filter((_, row) => codes[row] === 1)).size, 5);
  });

  it('rows without a value are a group each', () => {
    assert.equal(findGroups(numbers('key', [1, NaN, 1, NaN, 2])).count, 4);
    assert.equal(findGroups(text('key', ['a', undefined, 'a', undefined])).count, 3);
  });

  const rows = 600;
  const key = Array.from({ length: rows }, (_, row) => machines[Math.floor(row / 50)]);
  const x = normals(rows, 31);
  const features = [numbers('x', x), text('machine', key), numbers('kind', normals(rows, 32).map(Math.sign))];
  const labels = Array.from(x, (value, row) => (value + (row % 3) / 3 > 0.5 ? 'yes' : 'no'));

  it('need not be a feature: neither the model nor a prediction has the column then', () => {
    const options = { n_estimators: 3, inference_config: { GROUP: 'machine', GROUP_AS_FEATURE: false } };
    const model = trainModel(classify(features, labels, { ...options, categorical_features_indices: [2] }));
    assert.deepEqual(
      model.features.map(({ name }) => name),
      ['x', 'kind'],
    );
    assert.deepEqual(model.report.folds, { by: 'groups', parts: 5, groups: 12 });
    assert.deepEqual(model.report.options.ignored, []);
    assert.equal(model.encoders.find(({ source }) => source === 1)?.type, 'numberCategory');
    const { probas } = predict(model, [features[0]!, features[2]!], rows) as ClassificationResult;
    assert.equal(probas.length, rows * 2);
    const byNumber = trainModel(
      classify(features, labels, { n_estimators: 1, inference_config: { GROUP: 1 } }),
    );
    assert.equal(byNumber.features.length, 3);
    assert.equal(byNumber.report.folds.by, 'groups');
  });

  it('may go on through blocks of rows, which part no round of them', () => {
    const of = Int32Array.from([0, 1, 2, 0, 2, 0, 1, 2, 3, 1, 0, 2]);
    const rounds = findRounds({ of, count: 4 });
    assert.equal(rounds.count, 4);
    assert.deepEqual([...rounds.within], [0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1]);
    const hours = Array.from({ length: 60 }, (_, hour) =>
      machines.map((machine) => ({ machine, hour })),
    ).flat();
    const groups = findGroups(
      text(
        'machine',
        hours.map(({ machine }) => machine),
      ),
    );
    const { of: blocks, count } = cutBlocks(numbersOf(hours.length), wish({}), 25, 5, findRounds(groups));
    assert.equal(count, 25);
    for (const hour of new Set(hours.map((one) => one.hour))) {
      assert.equal(new Set(blocks.filter((_, row) => hours[row]!.hour === hour)).size, 1, `hour ${hour}`);
    }
  });

  it('may go on through the folds, and are told of all the same', () => {
    const inTurn = Array.from({ length: rows }, (_, row) => machines[row % 12]);
    const table = [numbers('x', x), text('machine', inTurn)];
    const config = { GROUP: 'machine', GROUP_AS_FEATURE: false, EMBARGO: 4 };
    const { report, features: learned } = trainModel(
      classify(table, labels, { n_estimators: 5, inference_config: { ...config, FOLDS: 'blocks' } }),
    );
    assert.deepEqual(report.folds, { by: 'blocks', parts: 5, blocks: 25, embargo: 4, groups: 12 });
    assert.deepEqual(report.losses?.groups?.rows, new Array(12).fill(50));
    assert.deepEqual(
      learned.map(({ name }) => name),
      ['x'],
    );
    const whole = trainModel(
      classify(table, labels, { n_estimators: 1, inference_config: { ...config, FOLDS: 'groups' } }),
    );
    assert.equal(whole.report.folds.by, 'groups');
    const years = trainModel(
      classify([numbers('x', x.slice(0, 48)), text('machine', inTurn.slice(0, 48))], labels.slice(0, 48), {
        inference_config: { GROUP: 'machine', FOLDS: 'blocks' },
      }),
    );
    assert.deepEqual(years.report.folds, { by: 'blocks', parts: 4, blocks: 4, embargo: 0, groups: 12 });
  });

  it('are no more parts than there are groups, and a single group is said to be one', () => {
    const two = Array.from({ length: rows }, (_, row) => (row % 2 ? 'a' : 'b'));
    const table = [numbers('x', x), text('machine', two)];
    const model = trainModel(classify(table, labels, { inference_config: { GROUP: 'machine' } }));
    assert.deepEqual(model.report.folds, { by: 'groups', parts: 2, groups: 2 });
    assert.equal(model.report.estimators, 2);
    const one = [numbers('x', x), text('machine', new Array<string>(rows).fill('a'))];
    const { report } = trainModel(
      classify(one, labels, { n_estimators: 4, inference_config: { GROUP: 'machine', BLOCKS: 20 } }),
    );
    assert.deepEqual(report.folds, { by: 'blocks', parts: 5, blocks: 20, embargo: 0 });
    assert.match(report.work.reasons.join(), /"machine" has the same value in every row/);
  });

  it('are refused, as blocks are, where they make no sense', () => {
    for (const config of [
      { BLOCKS: 1 },
      { BLOCKS: 2.5 },
      { BLOCKS: '25' },
      { EMBARGO: -1 },
      { GROUP: 'nobody' },
      { GROUP: 3 },
      { GROUP: ['machine'] },
      { GROUP_AS_FEATURE: 'no' },
      { FOLDS: 'time' },
    ]) {
      const name = Object.keys(config)[0]!;
      assert.throws(
        () => prepare(classify(features, labels, { inference_config: config })),
        (error) => error instanceof LearnerError && error.message.includes(`inference_config.${name}`),
        JSON.stringify(config),
      );
    }
  });
});
