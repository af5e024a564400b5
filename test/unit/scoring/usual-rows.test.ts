import { strict as assert } from 'node:assert';

import { type Reference, type RowFacts, SEEN, UNSEEN, usualRows } from '../../doors/scoring';

const KNOWN = 40;
const OUTCOMES = [1, 2, 3, 4, 5, 6];
const ALL = OUTCOMES.map(() => 1);

const number = (min: number, max: number): Reference['usual'][number] => ({
  kind: 'number',
  ...{ q05: min, q10: min, median: min, q90: max, q95: max, min, max, missing: 0 },
});

/** Which rows are usual, of a column of numbers between 0 and 10 and of outcomes between 0 and 40. */
async function usual(
  cells: number[],
  outcomes: number[],
  more: Partial<RowFacts> = {},
  known = [number(0, 10)],
  before: (number | null)[] = [],
) {
  const numbers = Int32Array.from(outcomes, (_, at) => KNOWN + at);
  const values = Float64Array.from([...Array.from({ length: KNOWN }, (_, row) => row), ...outcomes]);
  const facts: RowFacts = {
    rows: values.length,
    task: 'regression',
    codes: new Int32Array(0),
    classes: [],
    counts: [],
    values,
    order: 'time',
    falling: false,
    ...more,
  };
  const columns = [{ name: 'load', type: 'number' as const }];
  const parts = [cells.slice(0, 2), cells.slice(2)].map((part) => ({
    rows: part.length,
    columns: [{ type: 'number' as const, values: Float64Array.from(part) }],
  }));
  const seen = Uint8Array.from(values, (_, row) => (row < KNOWN ? SEEN : UNSEEN));
  const told = await usualRows(
    { features: columns, batches: () => parts, numbers },
    { reference: { columns, rows: before.map((cell) => [cell]), usual: known }, seen },
    facts,
  );
  return [...told];
}

describe('usualRows', () => {
  it('are those whose numbers lie within a range of what the champion was fitted on', async () => {
    const told = await usual([5, -10, -10.1, 20, 20.1, NaN], [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(told, [1, 1, 0, 1, 0, 1]);
  });

  it('and whose outcomes do', async () => {
    const told = await usual([1, 2, 3, 4, 5, 6], [-39, -40, 10, 78, 79, 11]);
    assert.deepEqual(told, [1, 0, 1, 1, 0, 1]);
    const labels = { task: 'classification' as const, values: new Float64Array(0) };
    assert.deepEqual(await usual([1, 2, 30], [500, 500, 500], labels), [1, 1, 0]);
  });

  it('an outcome that stands still is none, but where it often did before', async () => {
    assert.deepEqual(await usual([1, 2, 3, 4], [7, 7, 8, 9]), [0, 0, 1, 1]);
    assert.deepEqual(await usual([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]), [1, 1, 1, 1, 1, 1]);
    const often = Float64Array.from({ length: KNOWN + 4 }, (_, row) => (row % 2 === 0 ? 7 : row));
    assert.deepEqual(await usual([1, 2, 3, 4], [7, 41, 7, 43], { values: often }), [1, 1, 1, 1]);
  });

  it('nor is a sensor that stands still within its range, where it never did', async () => {
    const still = (cells: number[], before: (number | null)[]) =>
      usual(cells, OUTCOMES, {}, [number(0, 10)], before);
    const before = (cellOf: (row: number) => number | null) =>
      Array.from({ length: KNOWN }, (_, row) => cellOf(row));
    const moves = before((row) => row / 4);
    assert.deepEqual(await still([5, 5, 1, 2, 3, 5], moves), [0, 0, 1, 1, 1, 0]);
    assert.deepEqual(await still([5, 4, 1, 2, 3, 6], moves), ALL, 'it moves');
    assert.deepEqual(await still([NaN, NaN, NaN, 2, 3, 6], moves), ALL, 'it is missing');
    const often = before((row) => (row % 3 === 0 ? 5 : row / 4));
    assert.deepEqual(await still([5, 5, 1, 2, 3, 5], often), ALL, 'it often had this value');
    const months = before((row) => 1 + Math.floor(row / 4));
    assert.deepEqual(await still([5, 5, 5, 5, 5, 5], months), ALL, 'it kept its values for a while');
    const few = before((row) => (row < 29 ? row / 4 : null));
    assert.deepEqual(await still([5, 5, 1, 2, 3, 5], few), ALL, 'too little is known of it');
  });

  it('a column that never changed, a clock, or one that is not known, says nothing', async () => {
    assert.deepEqual(await usual([100, 1, 1, 1, 1, 1], OUTCOMES, {}, [number(1, 1)]), ALL);
    assert.deepEqual(await usual([100, 1, 1, 1, 1, 1], OUTCOMES, { clock: 'load' }), ALL);
    assert.deepEqual(await usual([100, 1, 1, 1, 1, 1], OUTCOMES, {}, []), ALL);
  });
});
