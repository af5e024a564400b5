import { strict as assert } from 'node:assert';

import type { ModelCard, TrainRequest } from '../../../dist/src/connection';
import { seededRandom } from '../../doors/util';
import { type Bench, bench, codeOf, embeddedBench, settled } from './stand-in';

const HOUR = 3_600_000;
const START = Date.UTC(2025, 0, 1);

/** Readings an hour apart; `id` is what the stand-in predicts from. */
function readings(rows: number): { id: number; time: Date; level: number; machine: string; y: number }[] {
  return Array.from({ length: rows }, (_, id) => ({
    id,
    time: new Date(START + id * HOUR),
    level: id * 10 + (id % 3),
    machine: `m${Math.floor(id / 10)}`,
    y: id * 10 + (id % 3) + Math.sin(id),
  }));
}

describe('fit, rows in order of time', () => {
  let at: Bench;
  let warnings: string[];
  beforeEach(async () => {
    at = await bench();
    warnings = [];
  });
  afterEach(() => at.close());

  async function fit(value: unknown, more: Partial<TrainRequest> = {}): Promise<ModelCard> {
    const request = { table: { value }, target: 'y', model: 'm', ...more };
    const { card } = await at.connection.train(request, { onWarning: (text) => warnings.push(text) });
    return card;
  }

  const fittedIds = async (card: ModelCard): Promise<unknown[]> =>
    (await at.service.rowsOf(card.train_set_upload_id, 'x')).map(({ id }) => Number(id));

  const until = (last: number): number[] => Array.from({ length: last + 1 }, (_, id) => id);

  it('finds the order by a column of dates that rises, and keeps the newest back, less the embargo', async () => {
    const card = await fit(readings(50), { holdout: 20, embargo: 3 });
    assert.equal(card.order, 'time');
    assert.equal(card.embargo, 3);
    assert.equal(card.trained_until, new Date(START + 49 * HOUR).toISOString());
    assert.deepEqual(await fittedIds(card), until(36));
    assert.equal(card.rows, 37);
    assert.equal(card.scores?.rows, 10);
    assert.deepEqual(at.service.breaches, []);
  });

  it('keeps until when each group was learned from, since one may be behind the others', async () => {
    const rows = readings(60).map((row, id) => ({ ...row, machine: id % 2 === 0 || id > 40 ? 'a' : 'b' }));
    const card = await fit(rows, { group: 'machine' });
    const reference = await at.connection.cards.references.get(card.fitted_train_set_id);
    assert.deepEqual(reference?.until, [
      { key: 'a', to: START + 59 * HOUR },
      { key: 'b', to: START + 39 * HOUR },
    ]);
    const told = [{ key: 'a', to: START }];
    const plain = readings(30).map(({ level, y }) => ({ level, y }));
    const other = await fit(plain, { order: 'time', trainedKeys: told, model: 'told' });
    assert.deepEqual((await at.connection.cards.references.get(other.fitted_train_set_id))?.until, told);
  });

  it('newest first is an order of time too: then the first rows are kept back', async () => {
    const card = await fit(readings(50).reverse(), { holdout: 20 });
    assert.equal(card.order, 'time');
    assert.deepEqual(await fittedIds(card), until(39).reverse());
  });

  it('takes epoch milliseconds in a column named ts for times, other numbers that rise for none', async () => {
    const rows = readings(40).map(({ time, ...others }) => ({ ...others, ts: time.getTime() }));
    const card = await fit(rows);
    assert.equal(card.order, 'time');
    assert.equal(card.trained_until, new Date(START + 39 * HOUR).toISOString());
    assert.ok(
      card.columns.every(({ name }) => name !== 'ts'),
      'numbers that only rise tell nothing of rows to come',
    );
    const predicted = await at.connection.predict({ table: { value: rows }, model: 'm', outputType: 'mean' });
    assert.equal((predicted.prediction as number[]).length, 40);
    const counted = rows.map(({ id, level, y }, count) => ({ id, level, y, count, time: count }));
    assert.equal((await fit(counted)).order, 'none');
  });

  it('a table that is sorted by its target is no series, though a date that follows from it rises', async () => {
    const people = Array.from({ length: 60 }, (_, i) => {
      const y = 20 + i * 0.7 + ((i * 37) % 10) / 20;
      return { id: i, born: new Date(Date.UTC(2025, 0, 1) - y * 365.25 * 24 * HOUR), y };
    });
    assert.equal((await fit(people)).order, 'none');
    const meter = people.map(({ id, y }) => ({ id, time: new Date(START + id * HOUR), y }));
    assert.equal((await fit(meter)).order, 'time', 'a meter rises as well, but is read at an even pace');
  });

  it('a table in no order keeps rows back by chance, and what the user says wins', async () => {
    const mixed = readings(50).map((_, i, all) => all[(i * 17) % 50]!);
    const card = await fit(mixed, { holdout: 20 });
    assert.equal(card.order, 'none');
    assert.notDeepEqual(
      await fittedIds(card),
      mixed.slice(0, 40).map(({ id }) => id),
    );
    const told = await fit(mixed, { holdout: 20, order: 'time' });
    assert.equal(told.order, 'time');
    const rising = await fit(readings(50), { order: 'none' });
    assert.equal(rising.order, 'none');
  });

  it('never tells a hosted service how to fold', async () => {
    await fit(readings(50), { group: 'machine', embargo: 2, options: { n_estimators: 2 } });
    assert.deepEqual(
      at.service.seen('fit').map(({ body }) => (body as { task_config: object }).task_config),
      [{ task: 'regression', svc_config: { n_estimators: 2 } }],
    );
  });

  it('another order, group or column to be relative to is another model of the same table', async () => {
    const reused = async (more: Partial<TrainRequest>): Promise<boolean> => {
      const request = { table: { value: readings(50) }, target: 'y', model: 'm', ...more };
      return (await at.connection.train(request)).reused;
    };
    assert.equal(await reused({}), false);
    assert.equal(await reused({}), true);
    assert.equal(await reused({ order: 'none' }), false);
    assert.equal(await reused({ group: 'machine' }), false);
    assert.equal(await reused({ embargo: 4 }), false);
    assert.equal(await reused({ embargo: 4 }), true);
  });

  it('groups are kept back whole; one that is ignored is no feature', async () => {
    const card = await fit(readings(50), { holdout: 20, group: 'machine', ignore: ['machine'] });
    assert.equal(card.group, 'machine');
    assert.ok(card.columns.every(({ name }) => name !== 'machine'));
    assert.deepEqual(await fittedIds(card), until(39));
    const [first] = await at.service.rowsOf(card.train_set_upload_id, 'x');
    assert.equal('machine' in first!, false);
  });

  it('refuses a group or a column to be relative to that cannot serve', async () => {
    const code = (more: Partial<TrainRequest>): Promise<string> => codeOf(fit(readings(20), more));
    assert.equal(await code({ group: 'none' }), 'columns.missing');
    assert.equal(await code({ relativeTo: 'none' }), 'columns.missing');
    assert.equal(await code({ relativeTo: 'y' }), 'config.invalid');
    assert.equal(await code({ relativeTo: 'machine' }), 'config.invalid');
    assert.equal(await code({ relativeTo: 'level', ignore: ['level'] }), 'config.invalid');
    assert.equal(at.service.seen('prepare_train_set_upload').length, 0);
  });

  describe('relative to a column', () => {
    it('the change is learned, and the column is added to every number predicted', async () => {
      const rows = readings(50);
      const card = await fit(rows, { relativeTo: 'level' });
      assert.equal(card.relative_to, 'level');
      assert.equal(card.task, 'regression');
      const y = (await at.service.rowsOf(card.train_set_upload_id, 'y')).map((one) => Number(one.y));
      y.forEach((change, i) => assert.ok(Math.abs(change - Math.sin(i)) < 1e-9));
      const ask = async (level: number, outputType: 'mean' | 'quantiles' | 'full'): Promise<unknown> => {
        const features = rows[7]!;
        const value = [
          { ...features, level },
          { ...features, level: level + 1 },
        ];
        return (await at.connection.predict({ table: { value }, model: 'm', outputType })).prediction;
      };
      const shifted = async (outputType: 'mean' | 'quantiles'): Promise<void> => {
        const [low, high] = [
          (await ask(0, outputType)) as number[][],
          (await ask(500, outputType)) as number[][],
        ];
        low
          .flat()
          .forEach((value, i) => assert.ok(Math.abs(high.flat()[i]! - value - 500) < 1e-9, outputType));
      };
      await shifted('mean');
      await shifted('quantiles');
      type Full = Record<'mean' | 'median' | 'mode', number[]> & {
        borders: number[][];
        quantiles: number[][];
      };
      const [low, high] = [(await ask(0, 'full')) as Full, (await ask(500, 'full')) as Full];
      for (const name of ['mean', 'median', 'mode', 'borders', 'quantiles'] as const) {
        low[name].flat().forEach((value, i) => {
          assert.ok(Math.abs(high[name].flat()[i]! - value - 500) < 1e-9, name);
        });
      }
      assert.equal(low.borders.length, 2, 'a row of borders for each row');
      assert.equal(low.borders[1]![0]! - low.borders[0]![0]!, 1);
    });

    it('a row without a value in the column is predicted as null, and costs no other row', async () => {
      const rows = readings(50);
      await fit(rows, { relativeTo: 'level', model: 'gaps' });
      const value = rows.slice(0, 6).map((row, i) => (i % 3 === 0 ? { ...row, level: null } : row));
      const ask = (some: object[], outputType: 'mean' | 'quantiles') =>
        at.connection.predict({ table: { value: some }, model: 'gaps', outputType });
      const whole = (await ask(rows.slice(0, 6), 'mean')).prediction as number[];
      const { table } = await ask(value, 'mean');
      assert.deepEqual(
        (table as { prediction: number | null }[]).map(({ prediction }) => prediction),
        whole.map((mean, i) => (i % 3 === 0 ? null : mean)),
      );
      const bands = (await ask(value, 'quantiles')).table as { prediction: Record<string, number | null> }[];
      assert.ok(Object.values(bands[0]!.prediction).every((one) => one === null));
      assert.ok(Object.values(bands[1]!.prediction).every(Number.isFinite));
      for (const some of [value.slice(0, 1), [value[0]!, value[3]!]]) {
        await assert.rejects(ask(some, 'mean'), { code: 'table.invalid', message: /no value in "level"/ });
      }
    });

    it('tells what it would score as it is now, of the rows kept back', async () => {
      const card = await fit(readings(100), { relativeTo: 'level', holdout: 40 });
      const errors = readings(100)
        .slice(60)
        .map(({ id }) => Math.abs(Math.sin(id)));
      const mae = errors.reduce((sum, error) => sum + error / 40, 0);
      assert.ok(Math.abs(card.scores!.baseline_now!.mae! - mae) < 1e-9);
      assert.match(warnings.join(), /no better than assuming that the target stays as it is/);
    });

    it('leaves out rows without the column in the train set, and refuses them in predict, alone', async () => {
      const rows = readings(50).map((one) => (one.id === 3 ? { ...one, level: null } : one));
      const card = await fit(rows, { relativeTo: 'level' });
      assert.equal(card.rows, 49);
      assert.match(warnings.join(), /^1 of 50 rows are left out: they have no value in "level"/);
      const row = (level: number | null) => ({ ...readings(1)[0]!, level });
      const [good, bad] = await Promise.all(
        [1, null].map((level) =>
          settled(at.connection.predict({ table: { value: row(level) }, model: 'm' })),
        ),
      );
      assert.equal(typeof good, 'object');
      assert.equal(bad, 'table.invalid');
    });

    it('in classification the column only says what is now', async () => {
      const rows = readings(40).map((one) => ({ ...one, state: one.id % 8 < 4 ? 'on' : 'off' }));
      const labels = rows.map((one, i) => ({ ...one, y: rows[(i + 1) % 40]!.state }));
      const card = await fit(labels, { relativeTo: 'state', holdout: 50 });
      assert.equal(card.task, 'classification');
      const held = labels.slice(20);
      const same = held.filter(({ y, state }) => y === state).length / held.length;
      assert.equal(card.scores?.baseline_now?.accuracy, same);
      assert.equal(card.relative_to, 'state');
      // It is no part of the answer, so it may be missing.
      const { prediction } = await at.connection.predict({
        table: { value: { ...labels[0], state: null } },
        model: 'm',
        outputType: 'preds',
      });
      assert.match(String(prediction), /^(on|off)$/);
    });

    it('needs the rows: an upload is refused, of a train set and of a test set', async () => {
      const train = await at.connection.upload({ set: 'train', table: { value: readings(20) }, target: 'y' });
      assert.equal(train.order, 'time');
      const request = { trainSetUploadId: train.id, model: 'sent', relativeTo: 'level' };
      assert.equal(await codeOf(at.connection.train(request)), 'config.invalid');
      await fit(readings(20), { relativeTo: 'level' });
      const test = await at.connection.upload({ set: 'test', table: { value: readings(5) }, model: 'm' });
      assert.equal(await codeOf(at.connection.predict({ testSetUploadId: test.id })), 'config.invalid');
    });
  });
});

describe('fit in order of time and in groups, on the embedded service', () => {
  const at = embeddedBench();

  /** A slow random walk with a daily wave, read each hour; its value six hours ahead is asked for. */
  function walk(rows: number): Record<string, unknown>[] {
    const random = seededRandom(7);
    const levels: number[] = [];
    for (let i = 0, level = 50; i < rows + 6; i++) {
      level += random() - 0.5;
      levels.push(level + 3 * Math.sin((i / 24) * 2 * Math.PI));
    }
    return Array.from({ length: rows }, (_, i) => ({
      time: new Date(START + i * HOUR),
      now: levels[i]!,
      day: levels[i]! - (levels[i - 24] ?? levels[i]!),
      y: levels[i + 6]!,
    }));
  }

  it('classes that only their neighbours tell of are held out in blocks, unless rows have no order', async function () {
    this.timeout(120_000);
    const random = seededRandom(9);
    let [level, state] = [0, 0];
    const value = Array.from({ length: 700 }, (_, row) => {
      level = row % 50 > 0 ? level : 9 * (random() - 0.5);
      state = 0.97 * state + 0.9 * (random() - 0.5);
      return {
        measured: level + state,
        noise: random(),
        drift: level + 3 * random(),
        y: state > 0 ? 'on' : 'off',
      };
    });
    const doubts = async (order: 'auto' | 'none') => {
      const request = {
        table: { value },
        target: 'y',
        model: order,
        order,
        options: { n_estimators: 3 },
        forceRefit: true,
      };
      const { card } = await at.connection.train(request);
      return (card.doubts ?? []).join(' ');
    };
    assert.match(await doubts('auto'), /were learned and scored in blocks.*set Order of rows to "No order"/);
    assert.match(await doubts('none'), /scores promise too much for rows to come/);
  });

  it('changes that grow with their level are told as they are at the newest one, beside the value as it is now', async function () {
    this.timeout(120_000);
    const random = seededRandom(8);
    const levels = Array.from(
      { length: 260 },
      (_, i) => 100 * Math.exp(0.012 * i + 0.2 * Math.sin((i / 12) * 2 * Math.PI) + 0.1 * random()),
    );
    const rows = Array.from({ length: 240 }, (_, i) => ({
      time: new Date(START + i * HOUR),
      now: levels[i + 9]!,
      before: levels[i]! - levels[i + 9]!,
      season: i % 12,
      y: levels[i + 12]!,
    }));
    const table = { value: rows.slice(0, 140) };
    const request = { table, target: 'y', model: 'growing', embargo: 3, options: { n_estimators: 5 } };
    const { card } = await at.connection.train({ ...request, relativeTo: 'now' });
    const test = { table: { value: rows.slice(143) }, model: card, outputType: 'mean' as const };
    const { table: predicted } = await at.connection.predict({ ...test, property: 'p' });
    const misses = (predicted as { p: number; y: number }[]).map(({ p, y }) => Math.abs(p - y));
    const later = misses.reduce((sum, miss) => sum + miss / misses.length, 0);
    const stays = (of: typeof rows): number =>
      of.reduce((sum, { now, y }) => sum + Math.abs(y - now) / of.length, 0);
    const { mae, r2, baseline_now: now } = card.scores!;
    const newest = stays(rows.slice(116, 140));
    assert.ok(now!.mae! > 0.7 * newest && now!.mae! < 1.3 * newest, `${now!.mae} of ${newest}`);
    assert.ok(now!.mae! > 1.5 * stays(rows.slice(0, 140)));
    assert.ok(mae! < 0.5 * now!.mae! && r2! > 0.9 && r2! <= 1, `${mae}, ${r2}`);
    assert.ok(later < 0.4 * stays(rows.slice(143)), `${later} of ${stays(rows.slice(143))}`);
  });

  it('what is told is near what comes, and better than the value as it is now', async function () {
    this.timeout(120_000);
    const rows = walk(1800);
    const { card } = await at.connection.train({
      table: { value: rows.slice(0, 1200) },
      target: 'y',
      model: 'walk',
      relativeTo: 'now',
      embargo: 30,
      options: { random_state: 1, n_estimators: 2 },
    });
    assert.equal(card.order, 'time');
    const later = rows.slice(1206);
    const answer = await at.connection.predict({
      table: { value: later },
      model: 'walk',
      outputType: 'mean',
    });
    const mean = answer.prediction as number[];
    const mae = later.reduce((sum, { y }, i) => sum + Math.abs(Number(y) - mean[i]!) / later.length, 0);
    const now = later.reduce((sum, row) => sum + Math.abs(Number(row.y) - Number(row.now)) / later.length, 0);
    const told = card.scores!.mae!;
    assert.ok(Math.abs(told - mae) < 0.15 * mae, `told ${told}, later ${mae}`);
    assert.ok(mae < now, `later ${mae}, as it is now ${now}`);
    assert.ok(card.scores!.mae! < card.scores!.baseline_now!.mae!);
    assert.ok(card.scores!.r2! > 0.5, 'the part explained of the level, not of the change');
    assert.ok(card.scores!.baseline.mae! > card.scores!.baseline_now!.mae!);
  });

  it('groups that go on are held out by blocks of time, which the card says', async function () {
    this.timeout(60_000);
    const random = seededRandom(3);
    const rows = Array.from({ length: 400 }, (_, i) => ({ machine: `m${i % 10}`, x: random(), y: random() }));
    const train = (folds: 'groups' | 'blocks', more: Partial<TrainRequest> = {}) =>
      at.connection.train({
        ...{ table: { value: rows }, target: 'y', ignore: ['machine'], model: 'f', group: 'machine', folds },
        ...{ order: 'time', options: { n_estimators: 2 }, ...more },
      });
    const { card } = await train('blocks', { holdout: 10 });
    assert.deepEqual([card.folds, card.group, card.order], ['blocks', 'machine', 'time']);
    assert.equal(card.rows, 360);
    const other = await train('groups', { holdout: 10 });
    assert.deepEqual([other.card.folds, other.reused], ['groups', false]);
    assert.equal(
      (await train('blocks', { order: 'none' })).card.folds,
      'groups',
      'in no order there are no blocks',
    );
  });

  it('a group that is no feature is needed in the train set only', async function () {
    this.timeout(60_000);
    const random = seededRandom(3);
    const rows = Array.from({ length: 300 }, (_, i) => {
      const x = random();
      return { machine: `m${i % 15}`, x, y: x + (i % 15) * 5 };
    });
    const quick = { ignore: ['machine'], options: { n_estimators: 1 } };
    const fit = (group?: string) =>
      at.connection.train({ table: { value: rows }, target: 'y', model: 'g', group, ...quick });
    const { card } = await fit('machine');
    assert.deepEqual(
      card.columns.map(({ name }) => name),
      ['x'],
    );
    assert.equal(card.folds, 'groups');
    assert.equal((await fit()).card.folds, undefined);
    const { prediction } = await at.connection.predict({ table: { value: { x: 0.5 } }, model: 'g' });
    assert.equal(typeof (prediction as number[])[0], 'number');
  });
});
