import assert from 'node:assert/strict';

import { fitLinear, makeTerms, Random, squaredError } from '../../doors/learner';
import { normals } from './tables';

const ROWS = 2000;

/** A table of categories alone, with so many levels each, in any order. */
function categories(...levels: number[]) {
  const random = new Random(7);
  const specs = levels.map((count) => ({ source: 0, bins: count + 1, category: true }));
  return {
    columns: levels.map((count) => {
      const order = random.shuffle(Int32Array.from({ length: ROWS }, (_, row) => row));
      return Uint8Array.from(order, (at) => 1 + (at % count));
    }),
    specs,
    numbers: specs.map(() => undefined),
    centers: specs.map(() => undefined),
    rows: Int32Array.from({ length: ROWS }, (_, row) => row),
  };
}

const counted = (terms: { column: number }[], columns: number): number[] =>
  Array.from({ length: columns }, (_, column) => terms.filter((term) => term.column === column).length);

describe('learner: levels of categories in lines', () => {
  it('have a term each where there is room for all', () => {
    assert.deepEqual(counted(makeTerms(categories(200, 60)), 2), [200, 60]);
  });

  it('are the most frequent of each column where there is not', () => {
    assert.deepEqual(counted(makeTerms(categories(200, 200, 30)), 3), [100, 100, 30]);
    assert.deepEqual(counted(makeTerms(categories(200, 200, 200, 200)), 4), [50, 50, 50, 50]);
    const few = categories(40);
    few.columns[0]!.fill(7, 0, 100);
    const terms = makeTerms(few, (count) => count <= 10);
    assert.equal(terms.length, 10);
    assert.deepEqual(terms[0]!.rule, { kind: 'category', bin: 7 });
  });

  it('have none with fewer than three rows', () => {
    const { columns, ...table } = categories(5);
    columns[0]!.fill(1, 0, ROWS - 2);
    columns[0]!.fill(2, ROWS - 2);
    assert.deepEqual(makeTerms({ ...table, columns }), []);
  });

  it('are learned of a fleet of machines, each with an offset of its own', () => {
    const fleet = categories(200);
    const offsets = normals(201, 1);
    const noise = normals(ROWS, 2);
    const target = noise.map((value, row) => 3 * offsets[fleet.columns[0]![row]!]! + value);
    const isHeldOut = (row: number) => row % 4 === 0;
    const learned = fitLinear({
      ...fleet,
      rows: fleet.rows.filter((row) => !isHeldOut(row)),
      heldOut: fleet.rows.filter(isHeldOut),
      objective: squaredError(target),
      target,
      regression: true,
      tableRows: ROWS,
    })!;
    // The noise alone has a mean squared error of 1; what seven or eight rows tell of an offset adds an eighth.
    assert.ok(Math.min(...learned.curve) < 1.3, String(learned.curve));
  });
});
