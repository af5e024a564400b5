import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import type { FittedModel } from '../../../dist/src/connection';
import {
  HELD,
  KEPT,
  LEFT_OUT,
  littleEvidence,
  MAX_HELD_ROWS,
  planRows,
  type RowFacts,
  scoreWarnings,
} from '../../doors/scoring';

function facts(rows: number, more: Partial<RowFacts> = {}): RowFacts {
  return {
    rows,
    task: 'regression',
    codes: new Int32Array(rows),
    classes: [],
    counts: [rows],
    values: new Float64Array(rows),
    order: 'none',
    falling: false,
    ...more,
  };
}

const at = (plan: Uint8Array, what: number): number[] =>
  [...plan].flatMap((one, row) => (one === what ? [row] : []));

const CHOICE = { percent: 20, seed: 1, embargo: 0 };

describe('planRows, rows in order of time', () => {
  it('keeps the newest rows back, and leaves out those of the embargo before them', async () => {
    const plan = await planRows(facts(100, { order: 'time' }), { ...CHOICE, embargo: 5 });
    assert.deepEqual(
      at(plan!, HELD),
      Array.from({ length: 20 }, (_, i) => 80 + i),
    );
    assert.deepEqual(at(plan!, LEFT_OUT), [75, 76, 77, 78, 79]);
  });

  it('takes the newest by the column of times, whatever the order of the rows, ties together', async () => {
    const times = Float64Array.from({ length: 50 }, (_, row) => 100 - (row >> 1));
    const plan = await planRows(facts(50, { order: 'time', times, falling: true }), CHOICE);
    assert.deepEqual(at(plan!, HELD), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('holds back at most as many rows as make the scores surer', async () => {
    const plan = await planRows(facts(200_000, { order: 'time' }), CHOICE);
    assert.equal(at(plan!, HELD).length, MAX_HELD_ROWS);
  });

  it('keeps nothing back where the older rows are all of one class', async () => {
    const codes = Int32Array.from({ length: 50 }, (_, row) => (row < 45 ? 0 : 1));
    const labels = { task: 'classification' as const, codes, classes: ['a', 'b'], counts: [45, 5] };
    assert.equal(await planRows(facts(50, { ...labels, order: 'time' }), CHOICE), undefined);
  });
});

describe('planRows, groups', () => {
  it('never splits a group, keeps some of each class to learn from, and the seed decides', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ group: fc.nat(8), code: fc.nat(2) }), { minLength: 5, maxLength: 200 }),
        fc.constantFrom('time' as const, 'none' as const),
        fc.integer({ min: 5, max: 50 }),
        async (list, order, percent) => {
          const rows = list.length;
          const numbers = new Map<number, number>();
          const groups = Int32Array.from(list, ({ group }) => {
            numbers.set(group, numbers.get(group) ?? numbers.size);
            return numbers.get(group)!;
          });
          const codes = Int32Array.from(list, ({ code }) => code);
          const counts = [0, 1, 2].map((code) => list.filter((one) => one.code === code).length);
          const all = facts(rows, { task: 'classification', groups, codes, counts, order });
          const plan = await planRows(all, { ...CHOICE, percent });
          assert.deepEqual(plan, await planRows(all, { ...CHOICE, percent }));
          if (plan === undefined) {
            return;
          }
          for (const group of new Set(groups)) {
            const own: Set<number> = new Set([...plan].filter((_, row) => groups[row] === group));
            assert.equal(own.size, 1, 'on one side');
          }
          for (const code of new Set(codes)) {
            assert.ok(
              [...plan].some((one, row) => one === KEPT && codes[row] === code),
              'of each class some rows are fitted',
            );
          }
        },
      ),
    );
  });

  it('in order of time the newest groups are kept back', async () => {
    const groups = Int32Array.from({ length: 100 }, (_, row) => Math.floor(row / 10));
    const plan = await planRows(facts(100, { order: 'time', groups }), { ...CHOICE, embargo: 3 });
    assert.deepEqual(
      at(plan!, HELD),
      Array.from({ length: 20 }, (_, i) => 80 + i),
    );
    assert.deepEqual(at(plan!, LEFT_OUT), [77, 78, 79]);
  });

  it('that go on are split: the newest rows of all are kept back, in order of time', async () => {
    const groups = Int32Array.from({ length: 100 }, (_, row) => row % 10);
    const choice = { ...CHOICE, embargo: 3, groupsGoOn: true };
    const plan = await planRows(facts(100, { order: 'time', groups }), choice);
    assert.deepEqual(
      at(plan!, HELD),
      Array.from({ length: 20 }, (_, i) => 80 + i),
    );
    const inNone = await planRows(facts(100, { groups }), choice);
    for (const group of groups) {
      assert.equal(
        new Set(inNone!.filter((_, row) => groups[row] === group)).size,
        1,
        'not in order of time',
      );
    }
  });

  it('has nothing to keep back where there is one group', async () => {
    assert.equal(await planRows(facts(100, { groups: new Int32Array(100) }), CHOICE), undefined);
  });
});

describe('scoreWarnings', () => {
  const card = (more: Partial<FittedModel>): FittedModel => ({
    name: 'm',
    fitted_train_set_id: 'f',
    train_set_upload_id: 'u',
    task: 'regression',
    target: 'y',
    columns: [],
    rows: 100,
    options: {},
    service: 'embedded',
    fitted_at: '',
    ...more,
  });
  const scores = {
    from: 'holdout' as const,
    rows: 50,
    mae: 2,
    rmse: 3,
    r2: 0.5,
    baseline: { rows: 50, mae: 4, rmse: 5 },
  };

  it('says where the model is no better than the value as it is now, or than the usual', () => {
    assert.deepEqual(scoreWarnings(card({ scores })), []);
    const now = { rows: 50, mae: 1.5, rmse: 2.5 };
    assert.deepEqual(scoreWarnings(card({ scores: { ...scores, baseline_now: now } })), [
      'The model "m" is no better than assuming that the target stays as it is: mean absolute error 2 against 1.5 on 50 rows.',
    ]);
    assert.match(
      scoreWarnings(card({ scores: { ...scores, mae: 5, rmse: 6 } })).join(),
      /predicting the usual/,
    );
    assert.deepEqual(
      scoreWarnings(card({ scores: { ...scores, rows: 29, mae: 5, rmse: 6 } })),
      [],
      'by chance',
    );
  });
});

describe('littleEvidence', () => {
  it('tells a loss that rests on few rows of the rarer labels with its range', () => {
    const scores = { rows: 300, log_loss: 0.0055, loss_low: 0.001, loss_high: 0.048 };
    assert.equal(
      littleEvidence({ ...scores, events: 3 }),
      'The scores rest on few rows of the rarer labels: 3 of 300. The log loss is 0.0055, and that of rows to come may be anywhere from 0.001 to 0.048.',
    );
    assert.equal(littleEvidence({ ...scores, events: 30 }), undefined);
    assert.equal(littleEvidence({ ...scores, rows: 20, events: 12 }), undefined, 'no label is rare');
    assert.equal(littleEvidence({ ...scores, events: 0 }), undefined, 'one label alone');
  });

  it('and an error that few rows make, where they were drawn one by one', () => {
    const scores = { rows: 60, rmse: 2, loss_low: 0.4, loss_high: 3.1 };
    assert.equal(littleEvidence({ ...scores, loss_high: 2.9 }), undefined);
    assert.equal(
      littleEvidence(scores),
      'A few rows make most of the error: the RMSE of 60 rows is 2, and that of as many rows to come may be anywhere from 0.4 to 3.1.',
    );
    assert.equal(littleEvidence(scores, true), undefined, 'days or machines differ');
  });
});
