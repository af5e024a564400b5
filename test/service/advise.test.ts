import assert from 'node:assert/strict';

import type { ModelCard, Tabular } from '../../dist/src';
import { seededRandom } from '../doors/util';
import { connectShared } from './shared';

/** A press: strength rises with force and dwell, and is scarce where the force is too high. Wear follows force. */
function past(rows: number): Record<string, number | string>[] {
  const random = seededRandom(11);
  return Array.from({ length: rows }, () => {
    const force = 50 + 100 * random();
    const dwell = 1 + 9 * random();
    const resin = random() < 0.5 ? 'A' : 'B';
    const strength = 5 + 0.12 * force + 1.2 * dwell + (resin === 'B' ? 3 : 0) + random() - 0.5;
    return {
      force,
      dwell,
      resin,
      wear: force / 10 + 0.2 * random(),
      strength,
      grade: strength > 22 ? 'good' : 'scrap',
    };
  });
}

describe('advice of a program', function () {
  this.timeout(120_000);
  const row = { force: 70, dwell: 3, resin: 'A', wear: 7 };
  const vary = [
    { column: 'force', from: 50, to: 150, cost: 1 },
    { column: 'dwell', from: 1, to: 10, step: 0.5, cost: 4 },
  ];
  let tabular: Tabular;
  let strength: ModelCard;

  before(async () => {
    tabular = await connectShared();
    const given = { table: past(400), options: { n_estimators: 4 } };
    strength = await tabular.train({ ...given, target: 'strength', ignore: ['grade', 'wear'] });
    await tabular.train({ ...given, target: 'grade', ignore: ['strength', 'wear'] });
    await tabular.train({ ...given, target: 'strength', model: 'worn', ignore: ['grade'] });
  });

  after(() => tabular.close());

  it('says which setting to change, and by how much', async () => {
    const advice = await tabular.advise({ row, model: strength, vary, goal: 'at least', value: 20 });
    const { set, now, then, changes, cost = 0, others, unlike = 1 } = advice;
    assert.ok(set !== null && now.holds === false && then!.holds === true && then!.low! >= 20);
    // Strength rises by 0.12 for a cost of 1 of force, and by 0.3 for a cost of 1 of dwell.
    assert.ok((set.dwell as number) > 5 && (set.dwell as number) % 0.5 === 0);
    const truth = 5 + 0.12 * ((set.force as number | undefined) ?? 70) + 1.2 * (set.dwell as number);
    assert.ok(truth > 19.8 && truth < 21.5, `the truth is ${truth}`);
    assert.deepEqual(
      changes!.find(({ column }) => column === 'dwell'),
      {
        ...{ column: 'dwell', from: 3, to: set.dwell, by: (set.dwell as number) - 3 },
      },
    );
    assert.ok(cost > 0 && unlike <= 0.95 && others.length > 0);
    assert.ok(others.every((one) => one.cost >= cost));
    assert.match(advice.text, /^Set .*dwell to [\d.]+ \(\+.*strength [\d.]+ \(.*\), now [\d.]+ .*It costs/);
    const again = await tabular.advise({ row, model: strength, vary, goal: 'at least', value: 20 });
    assert.deepEqual({ ...again, id: '' }, { ...advice, id: '' });
  });

  it('says when there is nothing to change, and when nothing reaches the goal', async () => {
    const enough = await tabular.advise({ row, model: strength, vary, goal: 'at least', value: 10 });
    assert.deepEqual(enough.set, {});
    assert.match(enough.text, /^Nothing to change: strength/);
    const never = await tabular.advise({ row, model: strength, vary, goal: 'at least', value: 60 });
    assert.equal(never.set, null);
    assert.match(never.text, /^Nothing within the bounds reaches the goal/);
    assert.ok(never.nearest!.then.low! > 25 && never.nearest!.unlike <= 0.95);
    const unread = { ...row, wear: null };
    const unlike = await tabular.advise({ row: unread, model: 'worn', vary, goal: 'at least', value: 20 });
    assert.match(unlike.text, /so there is no advice\. Most unlike: .*wear \(no value\)/);
  });

  it('takes words as settings, goals of classes and of the lowest', async () => {
    const good = await tabular.advise({
      ...{ row, model: 'grade', goal: 'at least', value: 'good' },
      vary: [...vary, { column: 'resin', cost: 1 }],
    });
    assert.equal(good.set!.resin, 'B');
    assert.ok(good.then!.probability! >= 0.9 && good.now.probability! < 0.5);
    const low = await tabular.advise({ row, model: strength, vary, goal: 'lowest' });
    assert.ok((low.set!.force as number) < 60 && (low.set!.dwell as number) <= 2);
    assert.equal(low.then!.holds, undefined);
  });

  it('names a column that went along and stands still, and lets it follow', async () => {
    const question = { row, model: 'worn', vary: vary.slice(0, 1), goal: 'at least', value: 18 } as const;
    const still = await tabular.advise(question);
    const told = still.rests_on ?? { together: [] };
    // With wear standing still, no other force is known ground.
    assert.ok(still.set === null ? still.outside !== undefined : told.together[0]!.column === 'wear');
    const follows = await tabular.advise({ ...question, follow: ['wear'] });
    const force = follows.set!.force as number;
    assert.ok(
      Math.abs(follows.follows!.wear! - force / 10) < 0.3,
      `wear ${follows.follows!.wear} at force ${force}`,
    );
    assert.deepEqual(follows.rests_on!.together, []);
  });

  it('refuses what no answer could be given to', async () => {
    const refused = async (wish: object, code: string, message: RegExp): Promise<void> =>
      assert.rejects(tabular.advise({ row, model: strength, vary, goal: 'at least', value: 20, ...wish }), {
        code,
        message,
      });
    await refused({ vary: [] }, 'config.invalid', /No column may be changed/);
    await refused({ vary: 'force' }, 'validation.failed', /vary must be an array/);
    await refused({ follow: 'force' }, 'validation.failed', /follow must be an array of texts/);
    await refused({ sure: 1 }, 'validation.failed', /sure must be/);
    await refused({ row: [row, row] }, 'validation.failed', /about one row/);
    await refused({ row: { ...row, force: null } }, 'validation.failed', /no value in "force"/);
    await refused({ row: { dwell: 3, resin: 'A' } }, 'columns.missing', /force/);
    await refused({ model: 'none' }, 'model.unknown', /no model "none"/);
    await refused(
      { model: { ...strength, fitted_train_set_id: 'elsewhere' } },
      'validation.failed',
      /not known what it covers/,
    );
  });
});
