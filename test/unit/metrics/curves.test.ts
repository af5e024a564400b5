import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  answersFrom,
  classCurves,
  evenly,
  findThresholds,
  MAX_POINTS,
  numberCurves,
  rocAuc,
} from '../../doors/metrics';

const sum = (list: number[]): number => list.reduce((all, one) => all + one, 0);

/** Rows of two classes, with ties among their probabilities. */
const binary = fc.array(fc.record({ code: fc.constantFrom(0, 1), p: fc.integer({ min: 0, max: 50 }) }), {
  minLength: 1,
  maxLength: 700,
});

describe('curves', () => {
  it('show rows spread evenly over all, in their order, and every residual', () => {
    const actual = Float64Array.from({ length: 1000 }, (_, row) => row);
    const curves = numberCurves(
      actual,
      actual.map((value) => value + (value % 2)),
    );
    assert.equal(curves.rows, 1000);
    assert.equal(curves.actual.length, MAX_POINTS);
    assert.deepEqual([curves.actual[0], curves.actual.at(-1)], [0, 999]);
    assert.ok(curves.actual.every((value, i) => i === 0 || value > curves.actual[i - 1]!));
    assert.ok(curves.actual.every((value, i) => curves.predicted[i] === value + (value % 2)));
    assert.equal(sum(curves.residuals.counts), 1000);
    assert.equal(curves.residuals.counts.length, curves.residuals.edges.length - 1);
    assert.deepEqual([curves.residuals.edges[0], curves.residuals.edges.at(-1)], [-1, 0]);
  });

  it('an odd row squeezes no residual; no row, one row and equal rows are all right', () => {
    const actual = Float64Array.from({ length: 1000 }, (_, row) => (row === 7 ? 1e9 : row % 10));
    const { edges, counts } = numberCurves(actual, new Float64Array(1000)).residuals;
    assert.deepEqual([edges[0], edges.at(-1), sum(counts)], [0, 9, 1000]);
    assert.deepEqual(numberCurves([], []).residuals, { edges: [], counts: [] });
    assert.deepEqual(numberCurves([2], [1]).residuals, { edges: [1, 1], counts: [1] });
    assert.deepEqual(evenly(1, 400), [0]);
  });

  it('a confusion matrix counts each row once, at its true and its most probable label', () => {
    const codes = [0, 1, 2, 2, -1];
    const found = [0, 2, 2, 1, 1];
    const { labels, others, confusion, by_threshold } = classCurves({
      labels: ['a', 'b', 'c'],
      codes,
      probability: (row, of) => (found[row] === of ? 0.8 : 0.1),
    });
    assert.deepEqual(
      { labels, others, by_threshold },
      {
        labels: ['a', 'b', 'c'],
        others: true,
        by_threshold: undefined,
      },
    );
    assert.deepEqual(confusion, [
      [1, 0, 0, 0],
      [0, 0, 1, 0],
      [0, 1, 1, 0],
      [0, 1, 0, 0],
    ]);
  });

  it('of many labels the rarest stand together', () => {
    const labels = Array.from({ length: 50 }, (_, k) => `label ${k}`);
    // Label k has k + 1 rows, and all answers are label 0.
    const codes = labels.flatMap((_, k) => Array.from({ length: k + 1 }, () => k));
    const curves = classCurves({ labels, codes, probability: (_, of) => (of === 0 ? 1 : 0) });
    assert.deepEqual(curves.labels, labels.slice(31));
    assert.equal(curves.confusion.length, 20);
    assert.equal(sum(curves.confusion.flat()), codes.length);
    assert.equal(curves.confusion[18]![19], 50, 'label 49, answered as label 0');
  });

  it('calibration tells of each part of the probabilities how many came', () => {
    const codes = Array.from({ length: 1000 }, (_, row) => (row % 10 === 0 ? 1 : 0));
    const { calibration } = classCurves({
      labels: [false, true],
      codes,
      probability: (row, of) => (of === 1 ? (row < 500 ? 0.05 : 0.15) : row < 500 ? 0.95 : 0.85),
    });
    assert.deepEqual(calibration, { probability: [0.05, 0.15], share: [0.1, 0.1], rows: [500, 500] });
  });

  it('hits and false alarms are those of the threshold, and rise as it falls', () => {
    fc.assert(
      fc.property(binary, (rows) => {
        const probability = (row: number, of: number): number =>
          of === 1 ? rows[row]!.p / 50 : 1 - rows[row]!.p / 50;
        const codes = rows.map(({ code }) => code);
        const { by_threshold: curve } = classCurves({
          labels: ['no', 'yes'],
          codes,
          probability,
          positive: 1,
        });
        const yes = rows.filter(({ code }) => code === 1);
        if (yes.length === 0 || yes.length === rows.length) {
          assert.equal(curve, undefined);
          return;
        }
        curve!.at.forEach((at, i) => {
          assert.equal(curve!.hits[i], yes.filter(({ p }) => p / 50 >= at).length);
          assert.equal(
            curve!.false_alarms[i],
            rows.filter(({ code, p }) => code === 0 && p / 50 >= at).length,
          );
          assert.ok(i === 0 || at < curve!.at[i - 1]!);
        });
        assert.deepEqual(
          [curve!.hits.at(-1), curve!.false_alarms.at(-1)],
          [curve!.positives, curve!.negatives],
          'the last threshold lets nothing through',
        );
      }),
    );
  });

  it('a thinned ROC curve has the area of the whole one, and the rarer class is looked for', () => {
    const rows = 5000;
    const codes = Array.from({ length: rows }, (_, row) => (row % 7 === 0 ? 0 : 1));
    const noise = (row: number): number => Math.abs(Math.sin(row * 12.9898) * 43758.5453) % 1;
    const p = Float64Array.from(
      { length: rows },
      (_, row) => (noise(row) + (codes[row] === 0 ? 0.4 : 0)) / 1.4,
    );
    const { by_threshold: curve } = classCurves({
      labels: ['bad', 'good'],
      codes,
      probability: (row, of) => (of === 0 ? p[row]! : 1 - p[row]!),
    });
    assert.equal(curve!.positive, 'bad');
    assert.ok(curve!.at.length <= MAX_POINTS && curve!.at.length > 200);
    let area = 0;
    curve!.hits.forEach((hits, i) => {
      const [x0, y0] = i === 0 ? [0, 0] : [curve!.false_alarms[i - 1]!, curve!.hits[i - 1]!];
      area += ((curve!.false_alarms[i]! - x0) * (hits + y0)) / 2;
    });
    const exact = rocAuc(p, codes, 0)!;
    assert.ok(Math.abs(area / curve!.positives / curve!.negatives - exact) < 1e-3);
  });
  it('tells to the row what round probabilities and the best thresholds answer, of however many rows', () => {
    const count = 20_000;
    const noise = (row: number): number => Math.abs(Math.sin(row * 12.9898) * 43758.5453) % 1;
    const codes = Int32Array.from({ length: count }, (_, row) => (row % 100 === 0 ? 1 : 0));
    const p = Float64Array.from({ length: count }, (_, row) =>
      codes[row] === 1 ? 0.2 + 0.7 * noise(row) : noise(row) ** 4,
    );
    const probability = (row: number, of: number): number => (of === 1 ? p[row]! : 1 - p[row]!);
    const curve = classCurves({ labels: ['no', 'yes'], codes, probability }).by_threshold!;
    const both = Float64Array.from({ length: 2 * count }, (_, i) => probability(i >> 1, i % 2));
    const { accuracy, f1 } = findThresholds(both, codes, ['no', 'yes'], undefined)!;
    for (const at of [0.5, 0.05, 0.2, 0.85, accuracy.at, f1.at]) {
      const above = (code: number): number => p.filter((one, row) => codes[row] === code && one >= at).length;
      assert.deepEqual(answersFrom(curve, at), { hits: above(1), false_alarms: above(0) }, `from ${at} on`);
    }
    // Few false alarms are told apart best.
    const gaps = curve.false_alarms.slice(1).map((one, i) => [one - curve.false_alarms[i]!, one] as const);
    assert.ok(
      gaps.every(([gap, alarms]) => gap <= 3 + 3 * Math.sqrt(alarms)),
      JSON.stringify(gaps),
    );
    assert.ok(curve.at.length <= MAX_POINTS);
  });
});
