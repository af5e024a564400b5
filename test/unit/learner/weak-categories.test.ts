import assert from 'node:assert/strict';

import { type ClassificationResult, predict, trainModel } from '../../../dist/src/learner';
import {
  chanceGain,
  chooseEncoders,
  columnSpecs,
  encodeColumn,
  type Encoder,
  Random,
  squaredError,
  weakCategories,
} from '../../doors/learner';
import { noSplit, searchHistogram } from './split-search';
import { classify, normals, numbers, rowsOf, text } from './tables';

const LEVELS = 50;
const drawn = (count: number, levels: number, seed: number): Uint8Array => {
  const random = new Random(seed);
  return Uint8Array.from({ length: count }, () => 1 + random.below(levels));
};

/** Levels from 0, of more than fit into a byte. */
const drawn16 = (count: number, levels: number, seed: number): Uint16Array => {
  const random = new Random(seed);
  return Uint16Array.from({ length: count }, () => random.below(levels));
};

describe('learner: categories that tell nothing', () => {
  it('are those of many levels that differ no more than by chance', () => {
    const count = 4000;
    const noise = normals(count, 1);
    const telling = drawn(count, LEVELS, 2);
    const target = noise.map((value, row) => value + (telling[row]! % 7) / 5);
    const many = { source: 0, bins: LEVELS + 1, category: true };
    const specs = [many, many, { ...many, category: false }, { ...many, bins: 9 }, { ...many, bins: 255 }];
    const columns = [drawn(count, LEVELS, 3), telling, drawn(count, LEVELS, 4), drawn(count, 8, 5)];
    columns.push(drawn(count, 254, 6));
    const rows = Int32Array.from(target, (_, row) => row);
    const room = () => ({ scores: new Float64Array(count), gradHess: new Float64Array(count * 2) });
    const table = { columns, specs, objective: squaredError(target), rows };
    assert.deepEqual([...weakCategories(table, room())!], [1, 0, 0, 0, 1]);
    assert.equal(weakCategories({ ...table, columns: [telling], specs: [many] }, room()), undefined);
  });

  it('are found with three rows a level too, and with one row a level nothing shows that they tell', () => {
    const count = 300;
    const noise = normals(count, 1);
    const [telling, random] = [drawn(count, 100, 2), drawn(count, 100, 3)];
    const target = noise.map((value, row) => value + (telling[row]! % 7));
    const single = Uint8Array.from({ length: 250 }, (_, row) => row + 1);
    const objective = squaredError(target);
    const room = () => ({ scores: new Float64Array(count), gradHess: new Float64Array(count * 2) });
    const specs = [0, 1].map((source) => ({ source, bins: 101, category: true }));
    const rows = Int32Array.from(target, (_, row) => row);
    assert.deepEqual(
      [...weakCategories({ columns: [telling, random], specs, objective, rows }, room())!],
      [0, 1],
    );
    const alone = { columns: [single], specs: [{ source: 0, bins: 251, category: true }], objective };
    assert.deepEqual([...weakCategories({ ...alone, rows: rows.slice(0, 250) }, room())!], [1]);
  });

  it('gain by chance what is taken from their splits', () => {
    const count = 3000;
    const rules = { lambda: 0, minHessian: 1, minGain: 0, categorySmooth: 0, categoryLambda: 0 };
    const split = (seed: number, isCorrected: boolean) => {
      const bins = drawn(count, LEVELS, seed);
      const gradients = normals(count, seed);
      const gradHess = Float64Array.from({ length: count * 2 }, (_, i) => (i % 2 ? 1 : gradients[i / 2]!));
      const sums = new Float64Array((LEVELS + 1) * 2);
      const totals = new Float64Array(2);
      gradHess.forEach((value, i) => {
        sums[bins[i >> 1]! * 2 + (i % 2)]! += value;
        totals[i % 2]! += value;
      });
      const best = noSplit();
      const h = { sums, bins: LEVELS + 1, category: true, totals, width: 1 };
      const chance = chanceGain(
        gradHess,
        Int32Array.from(bins, (_, row) => row),
        1,
      );
      searchHistogram(h, 0, rules, best, isCorrected ? chance : 0);
      return best.gain / (chance * (LEVELS - 1));
    };
    const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);
    const mean = (isCorrected: boolean) =>
      seeds.reduce((sum, seed) => sum + split(seed, isCorrected) / seeds.length, 0);
    assert.ok(Math.abs(mean(false) - 1) < 0.05, String(mean(false)));
    assert.ok(mean(true) < 0.15, String(mean(true)));
  });

  it('hardly raise the loss', () => {
    const count = 4000;
    const fitted = 2000;
    const columns = [0, 1, 2, 3, 4].map((k) => normals(count, 10 + k));
    const labels = Array.from({ length: count }, (_, row) =>
      columns[0]![row]! > 0.5 && columns[1]![row]! * columns[2]![row]! > -0.3 ? 'yes' : 'no',
    );
    const features = columns.map((values, k) => numbers(`x${k}`, values));
    const state = Array.from(drawn(count, LEVELS, 7), (level) => `state ${level}`);
    const lossWith = (all: typeof features) => {
      const model = trainModel(
        classify(rowsOf(all, 0, fitted), labels.slice(0, fitted), { n_estimators: 2 }),
      );
      const { probas } = predict(model, rowsOf(all, fitted, count), count - fitted) as ClassificationResult;
      return labels
        .slice(fitted)
        .reduce((sum, label, row) => sum - Math.log(probas[row * 2 + (label === 'yes' ? 1 : 0)]!), 0);
    };
    const change = lossWith([...features, text('state', state)]) / lossWith(features) - 1;
    assert.ok(change < 0.2, String(change));
  });

  const sizes = [
    [350, 300, [1, 2, 3]],
    [1000, 600, [2]],
  ] as const;
  for (const [count, levels, seeds] of sizes) {
    it(`of a row or two each are all named, so that held-out rows are like later ones: ${levels} of them`, () => {
      toldAndLater(count, levels, seeds);
    });
  }

  it('are divided among columns where one has too few bins, with levels that no row has', () => {
    const levels = Array.from({ length: 500 }, (_, i) => `level ${i}`);
    const rules = { maxBins: 255, random: new Random(1) };
    const words = text('a', [...levels, ...levels]);
    const numbered = numbers(
      'b',
      Array.from({ length: 1000 }, (_, row) => row % 500),
    );
    for (const [column, later] of [
      [words, text('a', ['level 7', 'new', 'newer', undefined, 'newest'])],
      [numbered, numbers('b', [7, 1000, 1001, NaN, 1002])],
    ] as const) {
      const encoders = chooseEncoders(column, 0, { ...rules, asCategory: column === numbered }).filter(
        ({ type }) => type === 'category' || type === 'numberCategory',
      ) as (Encoder & { type: 'category' })[];
      assert.equal(encoders.length, 3);
      assert.equal(new Set(encoders.flatMap(({ values }) => [...values])).size, 500);
      const known = encoders.map((encoder) => encodeColumn(encoder, column, undefined)[0]!);
      const rows = encoders.map((encoder) => encodeColumn(encoder, later, undefined)[0]!);
      const elsewhere = encoders.map(({ values }) => values.length + 2);
      assert.deepEqual(
        columnSpecs(encoders).map(({ bins }) => bins),
        elsewhere.map((bin) => bin + 1),
      );
      for (let row = 0; row < 1000; row++) {
        const own = known.map((bins) => bins[row]!).filter((bin, i) => bin !== elsewhere[i]);
        assert.ok(own.length === 1 && own[0]! > 1, String(own));
      }
      assert.deepEqual(
        [0, 1, 2, 4].map((row) => rows.filter((bins, i) => bins[row] !== elsewhere[i]).length),
        [1, 1, 1, 1],
      );
      assert.deepEqual(
        rows.map((bins) => bins[3]),
        [0, 0, 0],
      );
      assert.ok(rows.some((bins, i) => bins[0] === known[i]![7] && bins[0]! > 1 && bins[0] !== elsewhere[i]));
    }
  });

  it('of five rows or more are in a column of their own too', () => {
    const levels = Array.from({ length: 500 }, (_, i) => `level ${i}`);
    const words = text('a', [levels, levels, ...Array.from({ length: 3 }, () => levels.slice(0, 20))].flat());
    const [first, second] = chooseEncoders(words, 0, {
      asCategory: false,
      maxBins: 255,
      random: new Random(1),
    });
    assert.deepEqual([...(first as { values: string[] }).values].sort(), levels.slice(0, 20).sort());
    assert.deepEqual((second as Encoder & { type: 'category' }).share, { index: 0, of: 3 });
  });

  function toldAndLater(count: number, levels: number, seeds: readonly number[]): void {
    const later = 2000;
    const sums = { told: 0, later: 0 };
    for (const seed of seeds) {
      const kinds = drawn16(count + later, levels, seed);
      const faulty = drawn(levels, 5, seed + 10);
      const features = [
        text(
          'part',
          Array.from(kinds, (kind) => `p${kind}`),
        ),
        numbers('noise', normals(count + later, seed + 20)),
      ];
      const labels = Array.from(kinds, (kind) => (faulty[kind] === 1 ? 'faulty' : 'fine'));
      const options = { random_state: seed, n_estimators: 2 };
      const input = classify(rowsOf(features, 0, count), labels.slice(0, count), options);
      const fitted = trainModel(input);
      const { probas } = predict(
        fitted,
        rowsOf(features, count, count + later),
        later,
      ) as ClassificationResult;
      const classes = ['faulty', 'fine'];
      labels.slice(count).forEach((label, row) => {
        sums.later -= Math.log(probas[2 * row + classes.indexOf(label)]!) / later;
      });
      sums.told += fitted.report.scores.log_loss!;
    }
    assert.ok(sums.later < 1.25 * sums.told, JSON.stringify(sums));
  }

  it('are named by the rows that they have where most rows are alone with theirs', () => {
    const values = Array.from({ length: 60 }, (_, row) => (row < 20 ? `twice ${row >> 1}` : `once ${row}`));
    const [category] = chooseEncoders(text('a', values), 0, {
      asCategory: false,
      maxBins: 255,
      random: new Random(1),
    });
    assert.equal(category?.type, 'category');
    assert.deepEqual(
      [...(category as { values: string[] }).values].sort(),
      Array.from({ length: 10 }, (_, i) => `twice ${i}`),
    );
  });
});
