import { strict as assert } from 'node:assert';

import { type AddedColumn, openTable } from '../../../dist/src/table';
import { ALL_DIGITS, flatColumns, predictionColumns, tellingDigits } from '../../doors/scoring';
import type { Prediction } from '../../doors/wire';

const probas: Prediction = {
  kind: 'probas',
  values: [
    [0.2, 0.8],
    [0.5, 0.5],
  ],
};

/** @param rows how many were predicted; left out, two */
async function attach(value: unknown, columns: readonly AddedColumn[], rows = 2): Promise<unknown> {
  return (await openTable(value)).addColumns({ rows, columns });
}

const cellAt = ({ cell }: AddedColumn, row: number): unknown => cell(row, () => undefined);

describe('attach', () => {
  it('an array of objects stays one', async () => {
    const rows = [{ x: 1 }, { x: 2 }];
    const result = await attach(rows, predictionColumns(probas, 'species', ['cat', 'dog']));
    assert.deepEqual(result, [
      { x: 1, species: 'dog', species_probabilities: { cat: 0.2, dog: 0.8 } },
      { x: 2, species: 'cat', species_probabilities: { cat: 0.5, dog: 0.5 } },
    ]);
  });

  it('an object stays an object', async () => {
    const labels: Prediction = { kind: 'labels', values: [true] };
    assert.deepEqual(await attach({ x: 1 }, predictionColumns(labels, 'p', undefined), 1), {
      x: 1,
      p: true,
    });
  });

  it('columns gain columns, a matrix a header and cells', async () => {
    const columns = { x: [1, 2] };
    const attachment = predictionColumns(probas, 'p', undefined);
    assert.deepEqual(await attach(columns, attachment), {
      x: [1, 2],
      p: [1, 0],
      p_probabilities: [
        { 0: 0.2, 1: 0.8 },
        { 0: 0.5, 1: 0.5 },
      ],
    });
    const matrix = [['x'], [1], [2]];
    assert.deepEqual(await attach(matrix, attachment), [
      ['x', 'p', 'p_probabilities'],
      [1, 1, { 0: 0.2, 1: 0.8 }],
      [2, 0, { 0: 0.5, 1: 0.5 }],
    ]);
  });

  it('a column of that name is replaced, whatever the form', async () => {
    const again = predictionColumns(probas, 'p', ['a', 'b']);
    const [first, second] = [
      { p: 'b', x: 1, p_probabilities: { a: 0.2, b: 0.8 } },
      { p: 'a', x: 2, p_probabilities: { a: 0.5, b: 0.5 } },
    ];
    const matrix = [
      ['p', 'x'],
      ['old', 1],
      ['old', 2],
    ];
    // Twice, as by two predict nodes in a row.
    await attach(matrix, again);
    assert.deepEqual(await attach(matrix, again), [
      ['p', 'x', 'p_probabilities'],
      ['b', 1, first.p_probabilities],
      ['a', 2, second.p_probabilities],
    ]);
    const rows = [
      { p: 'old', x: 1 },
      { p: 'old', x: 2 },
    ];
    assert.deepEqual(await attach(rows, again), [first, second]);
    const columns = { p: ['old', 'old'], x: [1, 2] };
    assert.deepEqual(await attach(columns, again), {
      p: ['b', 'a'],
      x: [1, 2],
      p_probabilities: [first.p_probabilities, second.p_probabilities],
    });
  });

  it('any other form becomes rows', async () => {
    const numbers: Prediction = { kind: 'numbers', values: [1.5, 2.5] };
    const result = await attach('x\n1\n2', predictionColumns(numbers, 'p', undefined));
    assert.deepEqual(result, [
      { x: 1, p: 1.5 },
      { x: 2, p: 2.5 },
    ]);
  });

  it('quantiles and full distributions', async () => {
    const quantiles: Prediction = {
      kind: 'quantiles',
      quantiles: [0.1, 0.9],
      values: [
        [1, 2],
        [3, 4],
      ],
    };
    assert.deepEqual(await attach([{ x: 1 }, { x: 2 }], predictionColumns(quantiles, 'p', undefined)), [
      { x: 1, p: { '0.1': 1, '0.9': 3 } },
      { x: 2, p: { '0.1': 2, '0.9': 4 } },
    ]);
    const full: Prediction = {
      kind: 'full',
      value: {
        mean: [5],
        median: [4],
        mode: [3],
        quantiles: Array.from({ length: 9 }, (_, q) => [q]),
        borders: [0, 1],
        logits: [[0]],
      },
    };
    const [row] = (await attach([{ x: 1 }], predictionColumns(full, 'p', undefined), 1)) as {
      p: { mean: number; median: number; mode: number; quantiles: Record<string, number> };
    }[];
    assert.equal(row!.p.mean, 5);
    assert.equal(row!.p.median, 4);
    assert.equal(row!.p.mode, 3);
    assert.deepEqual(Object.keys(row!.p.quantiles).sort(), [
      '0.1',
      '0.2',
      '0.3',
      '0.4',
      '0.5',
      '0.6',
      '0.7',
      '0.8',
      '0.9',
    ]);
    assert.equal(row!.p.quantiles['0.9'], 8);
  });

  it('columns, labels and properties of any name survive', async () => {
    const row = JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, unknown>;
    const one: Prediction = { kind: 'probas', values: [[0.4, 0.6]] };
    const result = (await attach(
      [row],
      predictionColumns(one, '__proto__', ['__proto__', 'toString']),
      1,
    )) as object[];
    const attached = result[0]!;
    assert.deepEqual(Object.keys(attached).sort(), ['__proto__', '__proto___probabilities', 'constructor']);
    assert.equal(Object.getOwnPropertyDescriptor(attached, '__proto__')?.value, 'toString');
    const probabilities = Object.getOwnPropertyDescriptor(attached, '__proto___probabilities')
      ?.value as object;
    assert.deepEqual(Object.entries(probabilities), [
      ['__proto__', 0.4],
      ['toString', 0.6],
    ]);
  });

  it('refuses to join unlike counts', async () => {
    await assert.rejects(attach([{ x: 1 }], predictionColumns(probas, 'p', undefined)), {
      code: 'internal',
    });
  });

  it('gives the event loop its turns while it attaches 200,000 rows', async () => {
    const rows = Array.from({ length: 200_000 }, (_, x) => ({ x }));
    const many: Prediction = { kind: 'probas', values: rows.map(() => [0.3, 0.7]) };
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    const before = process.cpuUsage();
    const attaching = attach(rows, predictionColumns(many, 'p', ['a', 'b']), rows.length);
    const result = (await attaching.finally(() => clearImmediate(next))) as unknown[];
    // Of the processor: by the clock a turn may be longer where the machine has other work.
    const { user, system } = process.cpuUsage(before);
    const slice = (user + system) / 1000 / turns;
    assert.equal(result.length, 200_000);
    assert.ok(turns > 3 && slice < 40, `${turns} turns of ${slice} ms`);
  });

  it('plain numbers stand beside a prediction, in every form', async () => {
    const bands: Prediction = {
      kind: 'quantiles',
      quantiles: [0.9, 0.1, 0.4, 0.6],
      values: [
        [9, 8],
        [1, 2],
        [4, 4],
        [6, 6],
      ],
    };
    const times = [1000, undefined];
    const flat = flatColumns(bands, { property: 'p', classes: undefined, times, digits: ALL_DIGITS });
    const expected = [
      { p_mid: 5, p_low: 1, p_high: 9, p_time: 1000 },
      { p_mid: 5, p_low: 2, p_high: 8, p_time: null },
    ];
    const attachment = [{ name: 'p', cell: () => 0 }, ...flat];
    assert.deepEqual(
      await attach([{ x: 1 }, { x: 2 }], attachment),
      expected.map((one, row) => ({ x: row + 1, p: 0, ...one })),
    );
    assert.deepEqual(await attach({ x: [1, 2] }, attachment), {
      ...{ x: [1, 2], p: [0, 0], p_mid: [5, 5], p_low: [1, 2], p_high: [9, 8], p_time: [1000, null] },
    });
    assert.deepEqual(await attach([['x'], [1], [2]], attachment), [
      ['x', 'p', 'p_mid', 'p_low', 'p_high', 'p_time'],
      [1, 0, 5, 1, 9, 1000],
      [2, 0, 5, 2, 8, null],
    ]);
  });

  it('the probability is that of the rarer of two classes, or of the label of several', () => {
    const values = (
      flattened: Partial<Parameters<typeof flatColumns>[1]>,
      of: Prediction = probas,
    ): unknown => {
      const [column, ...others] = flatColumns(of, {
        property: 'p',
        classes: ['cat', 'dog'],
        digits: ALL_DIGITS,
        ...flattened,
      });
      assert.deepEqual([column?.name, others], ['p_probability', []]);
      return [0, 1].map((row) => cellAt(column!, row));
    };
    assert.deepEqual(values({ rarer: 'cat' }), [0.2, 0.5]);
    assert.deepEqual(values({}), [0.8, 0.5]);
    const three: Prediction = {
      kind: 'probas',
      values: [
        [0.2, 0.5, 0.3],
        [0.4, 0.3, 0.3],
      ],
    };
    assert.deepEqual(values({ classes: ['a', 'b', 'c'] }, three), [0.5, 0.4]);
    assert.deepEqual(
      flatColumns({ kind: 'numbers', values: Float64Array.of(1) } as never, {
        property: 'p',
        classes: undefined,
        digits: ALL_DIGITS,
      }),
      [],
    );
    const one: Prediction = { kind: 'quantiles', quantiles: [0.9], values: [[3]] };
    assert.deepEqual(
      flatColumns(one, { property: 'p', classes: undefined, digits: ALL_DIGITS }),
      [],
      'nothing tells the middle',
    );
  });

  it('numbers are written as far as they tell something', () => {
    const { number, probability } = tellingDigits(5.3);
    assert.equal(number(194.07401222786697), 194.07);
    assert.equal(number(-1.8200000000000003), -1.82);
    assert.equal(number(0.00123456789), 0.001235, 'four digits, however small beside the error');
    assert.equal(number(12_345_678.9123), 12_345_678.91);
    assert.equal(tellingDigits(0.14).number(5.754870378218344), 5.755);
    assert.equal(tellingDigits(12_000).number(1_234_567.89), 1_234_568, 'whole numbers at least');
    assert.equal(tellingDigits(undefined).number(194.07401222786697), 194.074012);
    assert.equal(tellingDigits(0).number(0.1 + 0.2), 0.3);
    for (const value of [0, NaN, Infinity, 1e300, 5e-324]) {
      assert.equal(number(value), value);
    }
    assert.equal(probability(0.8765432), 0.8765);
    assert.equal(probability(0.99812345678), 0.998123, 'what is missing to one counts');
    assert.equal(probability(0.0018765432), 0.001877);
    assert.equal(probability(1), 1);
  });

  it('what is attached has these digits, and no more of them', () => {
    const digits = tellingDigits(0.14);
    const values = [[0.43751766], [0.57548703], [0.72119654]];
    const bands: Prediction = { kind: 'quantiles', quantiles: [0.1, 0.5, 0.9], values };
    const [bandsOf] = predictionColumns(bands, 'p', undefined, { digits });
    assert.deepEqual(cellAt(bandsOf!, 0), { 0.1: 0.4375, 0.5: 0.5755, 0.9: 0.7212 });
    const flat = flatColumns(bands, { property: 'p', classes: undefined, digits });
    assert.deepEqual(
      flat.map((column) => cellAt(column, 0)),
      [0.5755, 0.4375, 0.7212],
    );
    const sure: Prediction = { kind: 'probas', values: [[0.00187654321, 0.99812345679]] };
    const [, probabilities] = predictionColumns(sure, 'p', ['no', 'yes'], { digits });
    assert.deepEqual(cellAt(probabilities!, 0), { no: 0.001877, yes: 0.998123 });
  });
});
