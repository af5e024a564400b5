import assert from 'node:assert/strict';

import { type FeatureColumn, type FitReport, trainModel, type TrainOptions } from '../../../dist/src/learner';
import { RowKinds, StillRows } from '../../doors/metrics';
import { normals } from './tables';

type Row = readonly number[];

const MINUTE = 60_000;
const WALK = 0.1;
const ROWS = 600;
const DAY = 240;

/** Load, warmth and power of a machine, as sensors of a decimal or two tell them: their values come again and again. */
function machine(rows: number, seed: number): Row[] {
  const [steps, warmth, noise] = [normals(rows, seed), normals(rows, seed + 1), normals(rows, seed + 2)];
  let load = 0;
  return Array.from({ length: rows }, (_, row) => {
    load += WALK * (steps[row]! - load);
    const [a, b] = [Math.round(100 * load), Math.round(10 * warmth[row]!)];
    return [a, b, Math.round(2 * a + b + 10 * noise[row]!)];
  });
}

/** The same with a day on which one reading is repeated. */
function withDay(rows: readonly Row[], at: number): Row[] {
  return [...rows.slice(0, at), ...new Array<Row>(DAY).fill(rows[at]!), ...rows.slice(at)];
}

interface Clock {
  name: string;
  kind: 'date' | 'number';
  at: (row: number) => number;
}

function fit(rows: readonly Row[], clock?: Clock, config: TrainOptions['inference_config'] = {}): FitReport {
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => row[at]!);
  const time: FeatureColumn[] = clock
    ? [{ name: clock.name, kind: clock.kind, values: Float64Array.from(rows, (_, row) => clock.at(row)) }]
    : [];
  return trainModel({
    features: [
      ...time,
      { name: 'load', kind: 'number', values: column(0) },
      { name: 'warmth', kind: 'number', values: column(1) },
    ],
    target: { task: 'regression', values: column(2) },
    options: { n_estimators: 2, inference_config: config },
  }).report;
}

describe('learner: a machine that stands still for a day', () => {
  const rows = machine(ROWS, 1);
  const still = withDay(rows, 250);

  it('counts once, so that what is told is what it is without that day', () => {
    const [without, report] = [fit(rows), fit(still)];
    assert.equal(without.repeated_rows, undefined);
    assert.deepEqual([report.repeated_rows, report.rows], [DAY, ROWS]);
    assert.deepEqual(report.scores, without.scores);
  });

  const clocks: Clock[] = [
    { name: 'at', kind: 'date', at: (row) => row * MINUTE },
    { name: 'number', kind: 'number', at: (row) => row + 1 },
  ];
  for (const clock of clocks) {
    it(`counts once where the time goes on: a ${clock.kind}`, () => {
      assert.equal(fit(still, clock).repeated_rows, DAY);
      assert.equal(fit(still, clock, { BLOCKS: 10 }).repeated_rows, DAY);
      assert.equal(fit(rows, clock).repeated_rows, undefined);
    });
  }

  it('counts once among other machines, in blocks without a column of the time too', () => {
    const other = machine(still.length, 7);
    const fleet = still.flatMap((row, at) => [row, other[at]!]);
    assert.equal(fit(fleet).repeated_rows, DAY);
    assert.equal(fit(fleet, undefined, { BLOCKS: 10 }).repeated_rows, DAY);
  });

  it('is no state that comes each night', () => {
    const nights = machine(4 * ROWS, 3).map((row, at) => (at % 400 < 150 ? [0, 0, 0] : row));
    assert.equal(fit(nights).repeated_rows, undefined);
  });
});

describe('metrics: readings that fill a day', () => {
  const repeated = (rows: readonly Row[]): number | undefined => {
    const numbers = new Map<string, number>();
    const kinds = new RowKinds(rows.length);
    for (const row of rows) {
      const key = row.join();
      numbers.set(key, numbers.get(key) ?? numbers.size);
      kinds.add(numbers.get(key)!);
    }
    const still = new StillRows(kinds, rows[0]!.length);
    still.firstRows.forEach((first, candidate) => {
      for (const row of rows) {
        still.add(candidate, row.filter((cell, at) => cell !== rows[first]![at]).length);
      }
    });
    return still.repeats()?.reduce((sum, one) => sum + one, 0);
  };
  const rows = machine(ROWS, 11);

  it('are found from thirty rows on, in up to three parts', () => {
    const part = (count: number): Row[] => new Array<Row>(count).fill([7, 7, 777]);
    assert.equal(repeated([...rows, ...part(30)]), 29);
    assert.equal(repeated([...rows, ...part(29)]), undefined);
    const cut = (parts: number): Row[] =>
      Array.from({ length: parts }, (_, at) => [...rows.slice(100 * at, 100 * at + 100), ...part(40)]).flat();
    assert.equal(repeated(cut(3)), 119);
    assert.equal(repeated(cut(4)), undefined);
  });

  it('are not what hardly differing rows say is usual', () => {
    const usual = Array.from({ length: 100 }, (_, at): Row => [0, 0, at % 10 === 0 ? at : 0]);
    assert.equal(repeated([...rows, ...usual]), undefined);
  });

  it('are not what a table of a few kinds of rows consists of', () => {
    const kinds = Array.from({ length: 40 }, (_, kind) =>
      new Array<Row>(30).fill([kind, kind * kind, -kind]),
    );
    assert.equal(repeated(kinds.flat()), undefined);
  });
});
