import assert from 'node:assert/strict';

import {
  addOffsetsToEffects,
  causeGroups,
  causeText,
  type Effects,
  effectsOfMixtures,
  importanceBySensor,
  joinEffects,
  mixturesPerRow,
  planMixtures,
  readEffects,
  sliceEffects,
  writeCauses,
} from '../../doors/scoring';
import { HOUR, live, open, START, trainRows } from '../series/support';

const effects: Effects = {
  causes: ['a', 'b', 'c', 'd', 'e'],
  usual: [[0, 1], null, null, [300, 300], null],
  means: [0.5, null, null, 300, null],
  rows: new Map([[1, { of: 1, prediction: 0.9, base: 0.3, effects: [0.31, -0.04, 0.4, -0.072, 0] }]]),
  left: 0,
};

describe('causes of a prediction', () => {
  it('are the three of most effect, each with its sentence', () => {
    const row: Record<string, unknown> = { a: 7.93, b: 'oil', c: null, d: 512.25 };
    const causes = writeCauses(effects, {}, ['no', 'yes'])(1, (column) => row[column]);
    assert.deepEqual(
      causes?.map(({ text }) => text),
      [
        'c (missing) raised "yes" by 40 points',
        'a 7.9 (usually 0 to 1) raised "yes" by 31 points',
        'd 512 (usually 300) lowered "yes" by 7.2 points',
      ],
    );
    assert.deepEqual(causes?.[1], {
      column: 'a',
      value: 7.93,
      usual: [0, 1],
      effect: 0.31,
      text: causes?.[1]?.text,
    });
    assert.equal(
      writeCauses(effects, {}, ['no', 'yes'])(0, () => 1),
      null,
    );
    assert.equal(
      writeCauses(effects, { above: 0.9 }, ['no', 'yes'])(1, () => 1),
      null,
    );
    assert.equal(writeCauses(effects, { above: 0.89 }, ['no', 'yes'])(1, () => 1)?.length, 3);
  });

  it('of how far a row looks ahead tell it in its unit', () => {
    const ahead = {
      column: 'ahead',
      value: 1_800_000,
      usual: [600_000, 3_600_000] as [number, number],
      effect: 2,
    };
    assert.equal(causeText(ahead, undefined), 'ahead 30 min raised the prediction by 2');
    assert.equal(causeText({ ...ahead, value: 7_200_000 }, 'yes'), 'ahead 2 hr raised "yes" by 200 points');
    assert.equal(
      causeText({ ...ahead, value: 3, usual: [1, 4] }, undefined),
      'ahead 3 (usually 1 to 4) raised the prediction by 2',
    );
  });

  it('of one point are of one point', () => {
    const one = { column: 'load', value: 2, effect: 0.0101 };
    assert.equal(causeText(one, 'yes'), 'load 2 raised "yes" by 1 point');
    assert.equal(causeText({ ...one, effect: 0.0004 }, 'yes'), 'load 2 raised "yes" by 0.04 points');
    assert.equal(causeText({ ...one, effect: -0.0111 }, 'yes'), 'load 2 lowered "yes" by 1.1 points');
  });

  it('of numbers are in units of the target, and leave out what no effect has', () => {
    const one = { column: 'load', value: 0.001234, effect: -1234.5678 };
    assert.equal(causeText(one, undefined), 'load 0.00123 lowered the prediction by 1,235');
    assert.equal(
      causeText({ ...one, value: 298.15, usual: [297.9, 302.1], effect: 0.0456 }, undefined),
      'load 298.2 (usually 297.9 to 302.1) raised the prediction by 0.0456',
    );
    assert.equal(
      causeText({ ...one, value: 3.5, usual: [1.5, 115.25], effect: 2 }, undefined),
      'load 3.5 (usually 2 to 115) raised the prediction by 2',
    );
    const none = { ...effects, rows: new Map([[0, { prediction: 1, base: 1, effects: [0, 0, 0, 0, 0] }]]) };
    assert.deepEqual(
      writeCauses(none, {}, undefined)(0, () => 1),
      [],
    );
  });

  it('are cut, joined and moved with the rows', () => {
    assert.deepEqual([...sliceEffects(effects, 1, 3).rows.keys()], [0]);
    assert.equal(sliceEffects(effects, 2, 3).rows.size, 0);
    const joined = joinEffects([
      { rows: 4, effects },
      { rows: 2, effects: { ...effects, left: 3 } },
    ]);
    assert.deepEqual([[...joined!.rows.keys()], joined?.left], [[1, 5], 3]);
    assert.equal(joinEffects([{ rows: 4, effects }, { rows: 1 }]), undefined);
    const level = addOffsetsToEffects(effects, [7, 20], 'a').rows.get(1)!;
    assert.deepEqual(
      [level.prediction, level.base, level.effects[0], level.effects[1]],
      [20.9, 0.8, 19.81, -0.04],
    );
  });

  it('are read as the embedded service tells them, or not at all', () => {
    const told = {
      groups: ['a'],
      usual: [[0, 1]],
      means: [0.5],
      rows: [4],
      left: 2,
      classes: [1],
      predictions: [0.75],
      bases: [0.25],
      effects: [[0.5]],
    };
    const row = { of: 1, prediction: 0.75, base: 0.25, effects: [0.5] };
    assert.deepEqual(readEffects(told), {
      causes: ['a'],
      usual: [[0, 1]],
      means: [0.5],
      rows: new Map([[4, row]]),
      left: 2,
    });
    assert.equal(readEffects({ ...told, effects: 3 }), undefined);
    assert.equal(readEffects(undefined), undefined);
  });
});

describe('causes by sensor', () => {
  it('take all columns that a series makes of one', async () => {
    const { series } = await open({
      outcome: 'column',
      column: 'heat',
      ahead: '1d',
      windows: '90m, 1d',
      relative: false,
    });
    const readings = Array.from({ length: 24 * 40 }, (_, hour) => ({
      time: START + hour * HOUR,
      heat: hour % 24,
      'pump speed': (hour * 7) % 30,
      state: hour % 9 > 4 ? 'on' : 'off',
    }));
    await live(series, readings);
    const names = Object.keys((await trainRows(series)).at(-1) ?? {});
    const groups = causeGroups(names.map((name) => ({ name })));
    assert.deepEqual(Object.keys(groups), ['heat', 'pump speed', 'state']);
    const alone = names.filter((name) => !Object.values(groups).flat().includes(name));
    assert.deepEqual(alone, ['seconds since the reading before', 'hour', 'weekday', 'heat in 1d']);
    const days = [
      'heat',
      'heat a day before',
      'heat change a day before',
      'heat a week before',
      'heat change a week before',
      'heat usual now',
      'heat usual change',
    ];
    assert.deepEqual(causeGroups(days.map((name) => ({ name }))), { heat: days });
  });

  it('leave other columns alone', () => {
    const columns = ['mean 1h', 'speed', 'speed limit', 'heat mean 1h', 'a mean', 'a'].map((name) => ({
      name,
    }));
    assert.deepEqual(causeGroups(columns), {});
    assert.deepEqual(causeGroups([{ name: '__proto__ mean 1h' }, { name: 'x' }, { name: 'x for' }]), {
      x: ['x', 'x for'],
    });
  });

  it('what matters is told of sensors too, also where a sensor alone matters nothing', () => {
    const named = (...names: string[]) => names.map((name) => ({ name, type: 'number' as const }));
    const columns = named('heat', 'heat mean 1h', 'heat change 1d', 'heat pump', 'load', 'load for');
    const importance = [
      { column: 'load', permutation: 0.2, gain: 0 },
      { column: 'heat mean 1h', permutation: 0.15, gain: 0 },
      { column: 'heat change 1d', permutation: 0.1, gain: 0 },
      { column: 'heat pump', permutation: 0.05, gain: 0 },
      { column: 'load for', permutation: -0.1, gain: 0 },
    ];
    assert.deepEqual(importanceBySensor({ columns, importance }), [
      ['heat', 0.25],
      ['load', 0.2],
      ['heat pump', 0.05],
    ]);
    assert.deepEqual(importanceBySensor({ columns }), []);
  });
});

describe('effects by mixtures of rows', () => {
  it('are Shapley values: exact for a sum and a product of two, and they add up', () => {
    // Columns 0 and 2 are one cause.
    const causeOf = [0, 1, 0, 2];
    const own = [
      [3, 5, 1, 2],
      [0, 1, 4, 1],
    ];
    const background = [
      [1, 1, 0, 0],
      [2, 0, 1, 1],
      [0, 4, 2, 5],
    ];
    const pool = [...own, ...background];
    const answer = (cells: number[]): number => cells[0]! + cells[2]! * cells[1]! + 10 * cells[3]!;
    const plan = planMixtures(2, 3, causeOf, 3);
    assert.equal(plan.sources[0]!.length, 3 + 2 * mixturesPerRow(3, 3));
    const answers = plan.sources[0]!.map((_, at) =>
      answer(plan.sources.map((rows, column) => pool[rows[at]!]![column]!)),
    );
    own.forEach((row, i) => {
      const { prediction, base, effects: found } = effectsOfMixtures(i, plan, (at) => answers[at]!, 3);
      assert.equal(prediction, answer(row));
      assert.ok(Math.abs(base + found.reduce((a, b) => a + b, 0) - prediction) < 1e-9);
      assert.ok(Math.abs(base - background.reduce((sum, b) => sum + answer(b) / 3, 0)) < 1e-9);
      // Two causes interact and each order has its reverse, so the share of their product is exact.
      const exact = background.reduce((sum, b) => {
        const [x, y] = [row, b];
        const product = (a: number[], c: number[]): number => a[2]! * c[1]!;
        const first = product(x, y) - product(y, y) + (product(x, x) - product(y, x));
        return sum + (x[0]! - y[0]! + first / 2) / 3;
      }, 0);
      assert.ok(Math.abs(found[0]! - exact) < 1e-9);
      assert.ok(
        Math.abs(found[2]! - background.reduce((sum, b) => sum + (10 * (row[3]! - b[3]!)) / 3, 0)) < 1e-9,
      );
    });
  });
});
