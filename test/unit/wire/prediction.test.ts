import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  joinPredictions,
  type Prediction,
  type PredictionContext,
  readPrediction,
  rowCount,
  ServiceError,
  slicePrediction,
  toService,
} from '../../doors/wire';

const regression = (rest: Partial<PredictionContext> = {}): PredictionContext => ({
  task: 'regression',
  ...rest,
});
const quantiles = (levels: number[], rows?: number): PredictionContext =>
  regression({ output_type: 'quantiles', quantiles: levels, ...(rows !== undefined && { rows }) });

function refused(raw: unknown, context: PredictionContext): string {
  try {
    readPrediction(raw, context);
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, 'response.invalid');
    return error.message;
  }
  throw new Error('expected response.invalid');
}

const valuesOf = (raw: unknown, context: PredictionContext) => {
  const prediction = readPrediction(raw, context);
  assert.equal(prediction.kind, 'quantiles');
  return prediction.values;
};

const full = {
  mean: [1, 2],
  median: [1, 2],
  mode: [1, 2],
  quantiles: Array.from({ length: 9 }, (_, q) => [q, q + 1]),
  borders: [0, 1, 2, 3],
  logits: [
    [0, null, -1],
    [null, 0.5, null],
  ],
};

describe('wire: shapes of a prediction', () => {
  it('takes the default output type of the task', () => {
    assert.equal(readPrediction([[0.5, 0.5]], { task: 'classification' }).kind, 'probas');
    assert.equal(readPrediction([0.5, 3], { task: 'regression' }).kind, 'numbers');
  });

  it('reads labels of every kind', () => {
    const raw = ['a', 1, true];
    assert.deepEqual(readPrediction(raw, { task: 'classification', output_type: 'preds' }), {
      kind: 'labels',
      values: raw,
    });
  });

  it('reads null in statistics as no prediction for that row, and gives it back as null', () => {
    const one = readPrediction([1, null, 3], regression());
    assert.deepEqual(one, { kind: 'numbers', values: [1, NaN, 3] });
    assert.deepEqual(toService(one), [1, null, 3]);
    const raw = { ...full, mean: [1, null], quantiles: full.quantiles.map(() => [null, 2]) };
    const { mean, median, mode, quantiles: levels } = raw;
    const statistics = { mean, median, mode, quantiles: levels };
    assert.deepEqual(toService(readPrediction(raw, regression({ output_type: 'full' }))), raw);
    assert.deepEqual(toService(readPrediction(statistics, regression({ output_type: 'main' }))), statistics);
    assert.match(refused([[0.5, null]], { task: 'classification' }), /prediction\[0\] has a probability/);
  });

  it('reads null as the last border of either side as a support without an end', () => {
    const raw = { ...full, borders: [null, 1, 2, null] };
    const prediction = readPrediction(raw, regression({ output_type: 'full' }));
    assert.ok(prediction.kind === 'full');
    assert.deepEqual(prediction.value.borders, [-Infinity, 1, 2, Infinity]);
    assert.deepEqual(toService(prediction), raw);
  });

  it('reads null as a border in between as a missing one: the bars beside it are one, with the probability of both', () => {
    const read = (borders: (number | null)[], logits = full.logits) => {
      const prediction = readPrediction({ ...full, borders, logits }, regression({ output_type: 'full' }));
      assert.ok(prediction.kind === 'full');
      return prediction.value;
    };
    const one = read([0, null, 2, 3]);
    assert.deepEqual(one.borders, [0, 2, 3]);
    assert.deepEqual(one.logits, [
      [0, -1],
      [0.5, -Infinity],
    ]);
    const same = read(
      [0, null, null, 3],
      [
        [1, 1, 1],
        [null, null, null],
      ],
    );
    assert.deepEqual(same.borders, [0, 3]);
    assert.ok(Math.abs(same.logits[0]![0]! - 1 - Math.log(3)) < 1e-12);
    assert.deepEqual(same.logits[1], [-Infinity]);
    const huge = read(
      [0, null, 2, 3],
      [
        [1e6, 1e6, 0],
        [-1e6, -1e6, 0],
      ],
    );
    assert.deepEqual(
      huge.logits.map(([bar]) => Math.round((bar! + Math.log(0.5)) * 1e6) / 1e6),
      [1e6, -1e6],
    );
  });

  it('reads the statistics of main with the quantiles that were asked for', () => {
    const { mean, median, mode } = full;
    const raw = { mean, median, mode, quantiles: full.quantiles.slice(0, 2) };
    const asked = regression({ output_type: 'main', quantiles: [0.1, 0.9], rows: 2 });
    assert.deepEqual(readPrediction(raw, asked), { kind: 'main', quantiles: [0.1, 0.9], value: raw });
    assert.match(refused(raw, regression({ output_type: 'main' })), /has 2 quantiles, expected 9/);
    assert.match(refused([1, 2], asked), /must be an object with mean, median, mode and quantiles\./);
  });

  describe('quantiles', () => {
    it('are [quantile][row]', () => {
      const raw = [
        [1, 2, 3],
        [4, 5, 6],
      ];
      assert.deepEqual(valuesOf(raw, quantiles([0.1, 0.9], 3)), raw);
      assert.deepEqual(valuesOf(raw, quantiles([0.1, 0.9])), raw);
    });

    it('are turned where the lengths allow only [row][quantile]', () => {
      const raw = [
        [1, 4],
        [2, 5],
        [3, 6],
      ];
      const turned = [
        [1, 2, 3],
        [4, 5, 6],
      ];
      assert.deepEqual(valuesOf(raw, quantiles([0.1, 0.9], 3)), turned);
      assert.deepEqual(valuesOf(raw, quantiles([0.1, 0.9])), turned);
    });

    it('stay as they are where both readings are possible', () => {
      const raw = [
        [1, 2],
        [3, 4],
      ];
      assert.deepEqual(valuesOf(raw, quantiles([0.1, 0.9], 2)), raw);
    });

    it('may come one-dimensional where there is one quantile or one row', () => {
      assert.deepEqual(valuesOf([1, 2, 3], quantiles([0.5], 3)), [[1, 2, 3]]);
      assert.deepEqual(valuesOf([[1, 2, 3]], quantiles([0.5], 3)), [[1, 2, 3]]);
      assert.deepEqual(valuesOf([[1], [2], [3]], quantiles([0.5], 3)), [[1, 2, 3]]);
      assert.deepEqual(valuesOf([1, 2], quantiles([0.1, 0.9], 1)), [[1], [2]]);
    });

    it('are 0.1 … 0.9 by default', () => {
      const raw = Array.from({ length: 9 }, (_, q) => [q]);
      const prediction = readPrediction(raw, regression({ output_type: 'quantiles' }));
      assert.equal(prediction.kind, 'quantiles');
      assert.deepEqual(prediction.quantiles, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
    });

    it('are refused where they have other lengths', () => {
      assert.match(
        refused(
          [
            [1, 2],
            [3, 4],
            [5, 6],
          ],
          quantiles([0.1, 0.9], 4),
        ),
        /3 × 2, expected 2 quantiles of 4 rows/,
      );
      assert.match(
        refused([1, 2, 3], quantiles([0.1, 0.9], 3)),
        /3 numbers in one dimension for 2 quantiles/,
      );
      assert.match(
        refused([[1, 2], [3]], quantiles([0.1, 0.9])),
        /prediction\[1\] has 1 numbers, expected 2/,
      );
    });

    it('keep each row’s own values in either direction, for any size', () => {
      const size = fc.integer({ min: 1, max: 12 });
      fc.assert(
        fc.property(size, size, fc.boolean(), (levels, rows, turned) => {
          const straight = Array.from({ length: levels }, (_, q) =>
            Array.from({ length: rows }, (_, r) => 100 * q + r),
          );
          const across = Array.from({ length: rows }, (_, r) => straight.map((values) => values[r]!));
          const context = quantiles(
            straight.map((_, q) => (q + 1) / (levels + 1)),
            rows,
          );
          fc.pre(levels !== rows || !turned);
          assert.deepEqual(valuesOf(turned ? across : straight, context), straight);
        }),
      );
    });
  });

  it('reads a full distribution, null in logits as −Infinity, and writes it back', () => {
    const prediction = readPrediction(full, regression({ output_type: 'full', rows: 2 }));
    assert.equal(prediction.kind, 'full');
    assert.deepEqual(prediction.value.logits, [
      [0, -Infinity, -1],
      [-Infinity, 0.5, -Infinity],
    ]);
    assert.deepEqual(toService(prediction), full);
  });

  it('reads a full distribution of the deprecated route, which may lack the bars or be plain numbers', () => {
    const context = regression({ output_type: 'full', legacy: true });
    const { borders, logits, ...rest } = full;
    assert.deepEqual(readPrediction({ ...rest, ei: [0], pi: [0] }, context), {
      kind: 'full',
      value: { ...rest, borders: [], logits: [[], []] },
    });
    assert.deepEqual(readPrediction({ ...rest, borders, logits }, context).kind, 'full');
    assert.deepEqual(readPrediction([1, 2], context), { kind: 'numbers', values: [1, 2] });
  });

  it('refuses a malformed answer, naming the place', () => {
    const probas: PredictionContext = { task: 'classification' };
    assert.match(refused([[0.5, 0.5], [1]], probas), /prediction\[1\] has 1 probabilities, expected 2/);
    assert.match(refused([[0.5, 'x']], probas), /prediction\[0\]\[1\] must be a number/);
    assert.match(refused([0.5], probas), /prediction\[0\] must be an array/);
    assert.match(refused('x', probas), /prediction must be an array/);
    assert.match(refused([1, 'x'], regression()), /prediction\[1\] must be a number/);
    assert.match(refused([1, 2], regression({ rows: 3 })), /2 rows where the test set has 3/);
    assert.match(
      refused([{}], { task: 'classification', output_type: 'preds' }),
      /prediction\[0\] must be a label/,
    );
    const bad = (patch: object) => refused({ ...full, ...patch }, regression({ output_type: 'full' }));
    assert.match(bad({ median: [1] }), /prediction\.median has 1 rows where mean has 2/);
    assert.match(
      bad({
        logits: [
          [0, 1],
          [0, 1, 2],
        ],
      }),
      /logits\[0\] has 2 logits for 3 bars/,
    );
    assert.match(bad({ borders: undefined }), /prediction\.borders is missing/);
    assert.match(bad({ quantiles: [[1, 2, 3]] }), /not \[quantile\]\[row\]/);
    assert.match(refused([1, 2], regression({ output_type: 'full' })), /must be an object with mean/);
  });
});

describe('wire: parts of a prediction', () => {
  const rows = fc.integer({ min: 0, max: 30 });
  const kinds: Record<Prediction['kind'], (n: number) => Prediction> = {
    labels: (n) => ({ kind: 'labels', values: Array.from({ length: n }, (_, i) => `r${i}`) }),
    probas: (n) => ({ kind: 'probas', values: Array.from({ length: n }, (_, i) => [i, 1 - i]) }),
    numbers: (n) => ({ kind: 'numbers', values: Array.from({ length: n }, (_, i) => i) }),
    quantiles: (n) => ({
      kind: 'quantiles',
      quantiles: [0.1, 0.5],
      values: [0, 1].map((q) => Array.from({ length: n }, (_, i) => 100 * q + i)),
    }),
    main: (n) => {
      const column = (k: number) => Array.from({ length: n }, (_, i) => k + i);
      const value = { mean: column(0), median: column(1), mode: column(2), quantiles: [column(3)] };
      return { kind: 'main', quantiles: [0.5], value };
    },
    full: (n) => {
      const column = (k: number) => Array.from({ length: n }, (_, i) => k + i);
      return {
        kind: 'full',
        value: {
          mean: column(0),
          median: column(1),
          mode: column(2),
          quantiles: [column(3), column(4)],
          borders: [0, 1, 2],
          logits: column(5).map((v) => [v, -Infinity]),
        },
      };
    },
  };

  for (const [kind, make] of Object.entries(kinds)) {
    it(`${kind}: cut anywhere and joined again, they are the whole`, () => {
      fc.assert(
        fc.property(rows, fc.array(rows, { maxLength: 5 }), (n, marks) => {
          const whole = make(n);
          const cuts = [0, ...marks.map((mark) => Math.min(mark, n)).sort((a, b) => a - b), n];
          const parts = cuts.slice(1).map((to, i) => slicePrediction(whole, cuts[i]!, to));
          assert.equal(
            parts.reduce((sum, part) => sum + rowCount(part), 0),
            n,
          );
          assert.deepEqual(joinPredictions(parts), whole);
        }),
      );
    });

    // Rows of probas are lists themselves, and a row belongs to one slice only.
    if (kind === 'probas') {
      continue;
    }
    it(`${kind}: a slice shares no list with the whole`, () => {
      const whole = make(4);
      const before = JSON.stringify(toService(whole));
      const service = toService(slicePrediction(whole, 1, 3));
      for (const list of Object.values(service as object)) {
        if (Array.isArray(list)) {
          list.length = 0;
        }
      }
      assert.equal(JSON.stringify(toService(whole)), before);
    });
  }

  it('refuses to join what does not belong together', () => {
    const codes = (parts: Prediction[]) => {
      try {
        joinPredictions(parts);
        return 'joined';
      } catch (error) {
        return (error as ServiceError).code;
      }
    };
    assert.equal(codes([kinds.labels(1), kinds.numbers(1)]), 'response.invalid');
    const other = kinds.quantiles(1) as Extract<Prediction, { kind: 'quantiles' }>;
    assert.equal(codes([kinds.quantiles(1), { ...other, quantiles: [0.1, 0.6] }]), 'response.invalid');
    const bars = kinds.full(1) as Extract<Prediction, { kind: 'full' }>;
    assert.equal(
      codes([kinds.full(1), { ...bars, value: { ...bars.value, borders: [0, 1, 3] } }]),
      'response.invalid',
    );
  });
});
