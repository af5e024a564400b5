import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  type FeatureColumn,
  predict,
  type RegressionResult,
  type TargetColumn,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import { ColumnSplit, PrivateValues, RowKinds, RowsButOne } from '../../doors/metrics';
import { normals } from './tables';

interface Table {
  features: FeatureColumn[];
  target: Extract<TargetColumn, { task: 'regression' }>;
}

/** Two measured columns, a setting, and a target that they tell with noise. */
function machine(rows: number, seed: number): Table {
  const [heat, load, noise] = [normals(rows, seed), normals(rows, seed + 1), normals(rows, seed + 2)];
  const setting = Int32Array.from({ length: rows }, (_, row) => row % 3);
  return {
    features: [
      { name: 'heat', kind: 'number', values: heat },
      { name: 'load', kind: 'number', values: load.map((value, row) => (row % 11 === 0 ? NaN : value)) },
      { name: 'setting', kind: 'text', codes: setting, dictionary: ['a', 'b', 'c'] },
    ],
    target: { task: 'regression', values: heat.map((h, row) => 2 * h + setting[row]! + noise[row]!) },
  };
}

/** The rows of these numbers, in this order. */
function pick({ features, target }: Table, rows: number[]): Table {
  return {
    features: features.map((one) =>
      one.kind === 'text'
        ? { ...one, codes: Int32Array.from(rows, (row) => one.codes[row]!) }
        : { ...one, values: Float64Array.from(rows, (row) => one.values[row]!) },
    ),
    target: { ...target, values: Float64Array.from(rows, (row) => target.values[row]!) },
  };
}

const options: TrainOptions = { n_estimators: 2 };
const all = (rows: number): number[] => Array.from({ length: rows }, (_, row) => row);

describe('learner: rows that stand in a table more than once', () => {
  const table = machine(240, 1);
  const once = trainModel({ ...table, options });
  const later = machine(60, 9);
  const meansOf = (model: typeof once): Float64Array =>
    (predict(model, later.features, 60) as RegressionResult).mean();

  const repeated: [string, number[]][] = [
    ['all of them', [...all(240), ...all(240)]],
    ['a third of them', [...all(240), ...all(240).filter((row) => row % 3 === 0)]],
    ['one of them, for a day', [...all(240), ...new Array<number>(40).fill(17)]],
  ];
  for (const [which, rows] of repeated) {
    it(`neither change the model nor its scores: ${which}`, () => {
      const model = trainModel({ ...pick(table, rows), options });
      assert.equal(model.report.repeated_rows, rows.length - 240);
      assert.equal(model.report.rows, 240);
      assert.deepEqual(model.report.scores, once.report.scores);
      assert.deepEqual(meansOf(model), meansOf(once));
    });
  }

  it('neither change the model where no value is of one row alone, but rows that agree in all columns but one are rare', () => {
    const { features } = machine(240, 3);
    const grades = Array.from({ length: 14 }, (_, column): FeatureColumn => ({
      name: `grade ${column}`,
      kind: 'number',
      values: normals(240, 20 + column).map((value) => Math.max(-1, Math.min(1, Math.round(value)))),
    }));
    const values = normals(240, 40).map((value) => Math.round(value));
    const target = { task: 'regression' as const, values };
    const graded = { features: [...grades, features[2]!], target };
    const rows = [...all(240), ...all(240).filter((row) => row % 3 === 0)];
    const model = trainModel({ ...pick(graded, rows), options });
    assert.equal(model.report.repeated_rows, 80);
    assert.deepEqual(model.report.scores, trainModel({ ...graded, options }).report.scores);
  });

  it('leave nothing out of a table without them', () => {
    assert.equal('repeated_rows' in once.report, false);
  });

  it('stay where chance repeats rows of few values', () => {
    const random = normals(400, 5);
    const codes = Int32Array.from(random, (value) => Math.floor(Math.abs(value) * 3) % 4);
    const values = Float64Array.from(normals(400, 6), (value) => Math.round(value));
    const model = trainModel({
      features: [
        { name: 'kind', kind: 'text', codes, dictionary: ['a', 'b', 'c', 'd'] },
        { name: 'grade', kind: 'number', values },
      ],
      target: { task: 'classification', classes: ['no', 'yes'], codes: codes.map((code) => code % 2) },
      options,
    });
    assert.equal(model.report.rows, 400);
  });

  it('stay in blocks and groups, where a machine stands still, but for those of one date', () => {
    const rows = [...all(240), ...all(60)].sort((a, b) => a - b);
    const still = pick(table, rows);
    const inBlocks = { ...options, inference_config: { BLOCKS: 10 } };
    assert.equal(trainModel({ ...still, options: inBlocks }).report.rows, 300);
    assert.equal(
      trainModel({ ...still, options: { ...options, inference_config: { GROUP: 'setting' } } }).report.rows,
      300,
    );
    const dated = (dates: number[]): FeatureColumn => ({
      name: 'at',
      kind: 'date',
      values: Float64Array.from(dates, (minute) => minute * 60_000),
    });
    const own = { ...still, features: [...still.features, dated(all(300))] };
    assert.equal(trainModel({ ...own, options: inBlocks }).report.rows, 300);
    const twice = { ...still, features: [...still.features, dated(rows)] };
    assert.equal(trainModel({ ...twice, options: inBlocks }).report.rows, 240);
  });

  it('stay where estimators are given rows by their numbers', () => {
    const subsample = { SUBSAMPLE_SAMPLES: [all(400)] };
    const twice = pick(table, [...all(240), ...all(240)]);
    const model = trainModel({ ...twice, options: { ...options, inference_config: subsample } });
    assert.equal(model.report.rows, 480);
  });
});

describe('metrics: kinds of rows', () => {
  it('are kept once, or as often as in a table that stands there several times', () => {
    const tables = fc.record({
      kinds: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 20, maxLength: 40 }),
      times: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(tables, ({ kinds, times }) => {
        // One kind has a single row, so that nothing but `times` divides all.
        const counts = [1, ...kinds];
        const rows = counts.flatMap((count, kind) => new Array<number>(count * times).fill(kind));
        const found = new RowKinds(rows.length);
        rows.forEach((kind) => found.add(kind));
        assert.equal(found.times, times);
        const copies = found.copies();
        const kept = counts.map(
          (_, kind) => rows.filter((one, row) => one === kind && copies[row] === 0).length,
        );
        assert.deepEqual(kept, times > 1 ? counts : counts.map(() => 1));
      }),
    );
  });

  it('are more than chance explains only if values that come again bring all others with them', () => {
    const verdict = (rows: [value: number, kind: number][]): boolean => {
      const kinds = new RowKinds(rows.length);
      rows.forEach(([, kind]) => kinds.add(kind));
      const values = new PrivateValues(kinds);
      rows.forEach(([value], row) => values.add(value, row));
      return values.tellOfCopies();
    };
    const each = (count: number, of: (i: number) => [number, number]): [number, number][] =>
      Array.from({ length: count }, (_, i) => of(i));
    // 50 values, of which ten come again: with their own row, or with another one.
    assert.equal(verdict([...each(50, (i) => [i, i]), ...each(10, (i) => [i, i])]), true);
    assert.equal(verdict([...each(50, (i) => [i, i]), ...each(10, (i) => [i, 50 + i])]), false);
    assert.equal(verdict([...each(50, (i) => [i, i]), ...each(4, (i) => [i, i])]), false);
    // A single row that fills an eighth of the table.
    assert.equal(verdict([...each(50, (i) => [i, i]), ...each(7, () => [3, 3])]), true);
    assert.equal(verdict([...each(50, (i) => [i % 5, i]), ...each(7, () => [3, 3])]), false);
    // A column that tells the target, of 15 and of 50 values.
    assert.equal(verdict(each(300, (i) => [i % 15, i % 15])), false);
    assert.equal(verdict(each(300, (i) => [(i * i) % 50, (i * i) % 50])), false);
  });

  it('are more than chance explains if rows that repeat agree in all columns at once', () => {
    const verdict = (rows: readonly (readonly number[])[]): boolean => {
      const kinds = new RowKinds(rows.length);
      rows.forEach((row) => kinds.add(row.reduce((sum, cell) => sum * 4 + cell, 0)));
      const splits = rows[0]!.map((_, column) => {
        const split = new ColumnSplit();
        rows.forEach((row, at) => split.add(row[column]!, at));
        return split;
      });
      const without = new RowsButOne(kinds, splits);
      rows.forEach((row, at) => without.add(row, at));
      return kinds.mayBeCopied(rows[0]!.length) && without.tellOfCopies();
    };
    const table = (columns: number, seed: number): number[][] => {
      const values = normals(200 * columns, seed);
      return Array.from({ length: 200 }, (_, row) =>
        Array.from({ length: columns }, (_, at) => (values[row * columns + at]! > 0 ? 1 : 0)),
      );
    };
    const twice = (rows: number[][]): number[][] => [...rows, ...rows.filter((_, row) => row % 5 === 0)];
    for (const seed of [1, 2, 3]) {
      const wide = table(20, seed);
      assert.equal(verdict(wide), false);
      assert.equal(verdict(twice(wide)), true, 'of a million kinds two hundred, and some again');
      // Chance repeats rows of six columns, and then their first five oftener.
      const narrow = table(6, seed);
      assert.equal(verdict(narrow), false);
      assert.equal(verdict(twice(narrow)), false);
      // With each column a second one that tells the same, none can be left out alone.
      const doubled = table(8, seed).map((row) => [...row, ...row.map((cell) => 2 - cell)]);
      assert.equal(verdict(doubled), false);
    }
  });

  it('are more than chance explains in tables of two columns and a target too', () => {
    const values = normals(600, 4);
    const measured = (row: number, at: number): number => Math.round(1000 * values[3 * row + at]!);
    const third = [...all(200), ...all(200).filter((row) => row % 3 === 0)];
    const rowsLearned = (of: (row: number) => [number, number, number], rows: number[]): number => {
      const cells = rows.map(of);
      const column = (at: number): Float64Array => Float64Array.from(cells, (row) => row[at]!);
      return trainModel({
        features: [
          { name: 'load', kind: 'number', values: column(0) },
          { name: 'flow', kind: 'number', values: column(1) },
        ],
        target: { task: 'regression', values: column(2) },
        options,
      }).report.rows;
    };
    const power = (row: number): [number, number, number] => {
      const [load, flow] = [measured(row, 0), measured(row, 1)];
      return [load, flow, 3 * load - flow + measured(row, 2)];
    };
    assert.equal(rowsLearned(power, all(200)), 200);
    assert.equal(rowsLearned(power, third), 200);
    // Rows of a sum repeat by chance where its parts do, and agree in all three then.
    const sum = (row: number): [number, number, number] => {
      const [a, b] = [measured(row, 0) % 15, measured(row, 1) % 15];
      return [a, b, a + b];
    };
    assert.equal(rowsLearned(sum, all(200)), 200);
  });
});
