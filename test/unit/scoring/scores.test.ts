import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import {
  chooseHeld,
  classCurves,
  classificationScores,
  LEVELS,
  MAX_HELD_ROWS,
  numberCurves,
  quantileOf,
  readCurves,
  readReport,
  regressionScores,
  rocAuc,
  sortedCopy,
} from '../../doors/scoring';

const near = (actual: number | undefined, expected: number): void =>
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

describe('scores', () => {
  it('accuracy, log-loss and ROC AUC of a worked example', async () => {
    const probas = [0.9, 0.6, 0.4, 0.2].map((p) => [1 - p, p]);
    const scores = await classificationScores(probas, [1, 0, 1, 0], 2);
    assert.equal(scores.rows, 4);
    near(scores.accuracy, 0.5);
    near(scores.log_loss, -(Math.log(0.9) + Math.log(0.4) + Math.log(0.4) + Math.log(0.8)) / 4);
    near(scores.roc_auc, 0.75);
  });

  it('are, for several classes, the mean area of each against the rest, classes without rows left out', async () => {
    const probas = [
      [0.8, 0.1, 0.1, 0],
      [0.2, 0.6, 0.2, 0],
      [0.5, 0.3, 0.2, 0],
    ];
    const scores = await classificationScores(probas, [0, 1, 2], 4);
    // Class 0: 1; class 1: 1; class 2: its row ties with one and beats one: 0.75; class 3: none.
    near(scores.roc_auc, (1 + 1 + 0.75) / 3);
    near(scores.accuracy, 2 / 3);
  });

  it('one class, an unknown class, a probability of 0: finite', async () => {
    const one = await classificationScores([[1], [1]], [0, 0], 1);
    assert.deepEqual(one, { rows: 2, accuracy: 1, log_loss: 0 });
    const unknown = await classificationScores([[0.5, 0.5]], [-1], 2);
    near(unknown.log_loss, -Math.log(1e-15));
    assert.equal(unknown.accuracy, 0);
    near((await classificationScores([[1, 0]], [1], 2)).log_loss, -Math.log(1e-15));
    assert.deepEqual(await classificationScores([], [], 2), { rows: 0 });
  });

  it('ROC AUC is the part of the pairs that are in order, ties half', () => {
    const pair = fc.record({ score: fc.integer({ min: 0, max: 5 }), code: fc.constantFrom(0, 1) });
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 30 }), (rows) => {
        let pairs = 0;
        let won = 0;
        for (const a of rows) {
          for (const b of rows) {
            if (a.code === 1 && b.code === 0) {
              pairs++;
              won += a.score > b.score ? 1 : a.score === b.score ? 0.5 : 0;
            }
          }
        }
        const area = rocAuc(
          Float64Array.from(rows, ({ score }) => score),
          rows.map(({ code }) => code),
          1,
        );
        if (pairs === 0) {
          assert.equal(area, undefined);
        } else {
          near(area, won / pairs);
        }
      }),
    );
  });

  it('RMSE, MAE, R², pinball loss and coverage of a worked example', () => {
    const actual = [0, 10];
    const quantiles = LEVELS.map((level) => [level, level]);
    const scores = regressionScores([1, 7], quantiles, actual);
    near(scores.rmse, Math.sqrt((1 + 9) / 2));
    near(scores.mae, 2);
    near(scores.r2, 1 - 10 / 50);
    const pinball = LEVELS.map((q) => (1 - q) * q + q * (10 - q)).reduce((a, b) => a + b) / 18;
    near(scores.pinball, pinball);
    near(scores.coverage_80, 0);
    near(regressionScores([1, 7], [[0, 0], ...quantiles.slice(1, 8), [1, 10]], actual).coverage_80, 1);
    assert.equal(regressionScores([1], [], [1]).r2, undefined, 'one value has no spread');
  });

  it('a perfect prediction has R² 1 and loss 0, the mean has R² 0', () => {
    const numbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(numbers, (actual) => {
        fc.pre(new Set(actual).size > 1);
        const perfect = regressionScores(
          actual,
          LEVELS.map(() => actual),
          actual,
        );
        assert.deepEqual([perfect.rmse, perfect.r2, perfect.pinball, perfect.coverage_80], [0, 1, 0, 1]);
        const mean = actual.reduce((a, b) => a + b, 0) / actual.length;
        const trivial = regressionScores(
          actual.map(() => mean),
          [],
          actual,
        );
        assert.ok(Math.abs(trivial.r2!) < 1e-9);
      }),
    );
  });

  it('quantiles interpolate as type 7', () => {
    const expected = { 0: 1, 0.1: 1.4, 0.5: 3, 0.9: 8.2, 1: 11 };
    for (const [level, value] of Object.entries(expected)) {
      near(quantileOf([1, 2, 3, 4, 11], Number(level)), value);
    }
    assert.equal(quantileOf([5], 0.3), 5);
  });
});

describe('rows kept back', () => {
  it('are a part of each class, never all of one, and the same for the same seed', async () => {
    const counts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(counts, fc.integer({ min: 1, max: 50 }), fc.nat(), async (sizes, percent, seed) => {
        const codes = Int32Array.from(sizes.flatMap((size, code) => new Array<number>(size).fill(code)));
        const held = await chooseHeld({ codes, counts: sizes }, percent, seed);
        assert.deepEqual(held, await chooseHeld({ codes, counts: sizes }, percent, seed));
        let total = 0;
        sizes.forEach((size, code) => {
          const of = codes.reduce((sum, c, row) => sum + (c === code ? held[row]! : 0), 0);
          assert.ok(of < size, 'one is left');
          assert.ok(of <= (size * percent) / 100 + 1 + 1e-9, 'a row more than its part at most');
          total += of;
        });
        assert.ok(total <= (codes.length * percent) / 100 + 1e-6);
      }),
    );
  });

  it('differ by seed and are spread over the table', async () => {
    const codes = new Int32Array(1000);
    const held = (seed: number) => chooseHeld({ codes, counts: [1000] }, 20, seed);
    assert.notDeepEqual(await held(1), await held(2));
    const third = await held(3);
    for (let from = 0; from < 1000; from += 250) {
      const here = third.subarray(from, from + 250).reduce((sum, bit) => sum + bit, 0);
      assert.ok(here > 30 && here < 70, `${here} of 250 from row ${from}`);
    }
    assert.equal(
      third.reduce((sum, bit) => sum + bit, 0),
      200,
    );
  });

  it('are at most 10,000', async () => {
    const codes = new Int32Array(100_000);
    const held = await chooseHeld({ codes, counts: [100_000] }, 50, 0);
    assert.equal(
      held.reduce((sum, bit) => sum + bit, 0),
      MAX_HELD_ROWS,
    );
  });
});

describe('long loops over rows', () => {
  it('give the event loop turns', async () => {
    const codes = new Int32Array(3_000_000);
    for (const work of [
      () => chooseHeld({ codes, counts: [codes.length] }, 20, 1),
      () => sortedCopy(Float64Array.from({ length: 1_000_000 }, (_, i) => Math.sin(i))),
    ]) {
      let turns = 0;
      const count = (): void => {
        turns++;
        timer = setImmediate(count);
      };
      let timer = setImmediate(count);
      await work();
      clearImmediate(timer);
      assert.ok(turns >= 2, `${turns} turns`);
    }
  });
});

describe('a sorted copy', () => {
  it('is what sort makes of few and of many numbers, and leaves the original', async () => {
    for (const count of [0, 1, 1000, 32_768, 32_769, 100_001, 300_000]) {
      const values = Float64Array.from({ length: count }, (_, i) => Math.round(1e4 * Math.sin(i * i)) + 0);
      const before = values.slice();
      assert.deepEqual(await sortedCopy(values), values.slice().sort());
      assert.deepEqual(values, before);
    }
  });
});

describe('the report of a fit answer', () => {
  const cardOf = (report: unknown) => readReport(report, { inTime: false }).card;

  it('becomes scores marked as out-of-fold, and importance by column, at most 50', () => {
    const importance = Array.from({ length: 60 }, (_, i) => ({
      feature: `c${i}`,
      gain: 0.1,
      permutation: 0.2,
    }));
    const read = cardOf({
      scores: { rows: 10, accuracy: 0.9, odd: 'x' },
      baseline: { rows: 10, accuracy: 0.5 },
      importance,
    });
    assert.deepEqual(read.scores, {
      from: 'out-of-fold',
      rows: 10,
      accuracy: 0.9,
      baseline: { rows: 10, accuracy: 0.5 },
    });
    assert.equal(read.importance?.length, 50);
    assert.deepEqual(read.importance?.[0], { column: 'c0', gain: 0.1, permutation: 0.2 });
  });

  it('takes curves as they should be, and nothing else for them', () => {
    const numbers = numberCurves([1, 2, 3], [1, 2, 4]);
    const classes = classCurves({
      labels: ['no', 'yes'],
      codes: [0, 1, 1],
      probability: (row, of) => (of === row % 2 ? 0.7 : 0.3),
    });
    for (const curves of [numbers, classes]) {
      assert.deepEqual(readCurves({ curves: JSON.parse(JSON.stringify(curves)) as unknown }), curves);
    }
    const wrong: unknown[] = [
      undefined,
      { curves: [] },
      { curves: { ...numbers, kind: 'other' } },
      { curves: { ...numbers, actual: [1, 2] } },
      { curves: { ...numbers, actual: ['1', 2, 3] } },
      { curves: { ...numbers, residuals: null } },
      { curves: { ...numbers, actual: new Array(500).fill(1), predicted: new Array(500).fill(1) } },
      { curves: { ...classes, labels: [{}, {}] } },
      { curves: { ...classes, confusion: [[1], [2]] } },
      { curves: { ...classes, by_threshold: { positive: 'yes' } } },
    ];
    for (const report of wrong) {
      assert.equal(readCurves(report), undefined);
    }
  });

  it('orders importance by what shuffling a column costs, whatever the splits gained by it', () => {
    const of = (feature: string, gain: number, permutation: number) => ({ feature, gain, permutation });
    const { importance } = cardOf({ importance: [of('id', 0.6, 0), of('x', 0.3, 0.5), of('y', 0.1, 0)] });
    assert.deepEqual(
      importance?.map(({ column }) => column),
      ['x', 'id', 'y'],
    );
  });

  it('says where the fit saved work', () => {
    const reasons = ['Each tree sees 40 % of the rows.', 7, 'x'.repeat(1000)];
    assert.deepEqual(cardOf({ work: { limited: true, reasons } }), { limited: [reasons[0]] });
    const f1 = { at: 0.3, value: 0.8 };
    const thresholds = {
      label: 'yes',
      accuracy: { at: 0.5, value: 0.9 },
      f1,
      costs: { at: 'low' },
      other: f1,
    };
    assert.deepEqual(cardOf({ thresholds }), {
      thresholds: { label: 'yes', accuracy: { at: 0.5, value: 0.9 }, f1 },
    });
    assert.deepEqual(cardOf({ thresholds: { f1 } }), {}, 'of nobody knows which class');
    assert.deepEqual(cardOf({ work: { limited: false, reasons: [] } }), {});
  });

  it('says nothing where its shape is another one, or there is none', () => {
    for (const report of [
      undefined,
      null,
      'fine',
      [],
      { scores: 1, importance: 'much' },
      { work: { reasons: 'many' } },
      { scores: { rows: 3 }, importance: [null, { feature: 1 }] },
    ]) {
      assert.deepEqual(cardOf(report), {});
    }
  });
});
