import assert from 'node:assert/strict';
import path from 'node:path';

import { ServiceClient } from '../../dist/src/client';
import {
  Connection,
  EmbeddedService,
  type Hooks,
  type ModelCard,
  ModelCards,
  type TrainRequest,
  type TrainResult,
} from '../../dist/src/connection';
import { Gate, waitFor } from '../helpers/wait';
import { type Harness, temporaryFolder } from './harness';
import { sharedService } from './shared';

interface Reading {
  time?: string;
  load: number;
  speed: number;
  heat: number;
}

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** Readings a minute apart; from `shiftAt` on the machine runs hotter, by 5 degrees or as told. */
function readings(rows: number, { shiftAt = Infinity, by = 5, seed = 1, clock = true } = {}): Reading[] {
  let state = seed;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  return Array.from({ length: rows }, (_, row) => {
    const [load, speed] = [10 * random(), 10 * random()];
    const heat = load + 0.5 * speed + 2 * random() + (row >= shiftAt ? by : 0);
    const time = new Date(START + row * MINUTE).toISOString();
    return { ...(clock && { time }), load, speed, heat };
  });
}

describe('a fit that replaces the model only if it is better', function () {
  this.timeout(120_000);
  let h: Harness;
  let connection: Connection;
  let cards: ModelCards;
  let file: string;
  const open = (): void => {
    cards = ModelCards.open({ path: file, service: 'embedded' });
    connection = new Connection({
      service: new EmbeddedService({
        open: () => Promise.resolve(new ServiceClient({ baseUrl: h.service.url, token: h.service.token })),
      }),
      cards,
    });
  };
  const close = async (): Promise<void> => {
    await connection.close();
    await cards.close();
  };
  const warnings: string[] = [];
  const fit = (
    rows: unknown[],
    more: Partial<TrainRequest> = {},
    onStatus?: Hooks['onStatus'],
  ): Promise<TrainResult> =>
    connection.train(
      {
        table: { value: rows },
        target: 'heat',
        task: 'regression',
        model: 'heat',
        options: { n_estimators: 1 },
        replace: 'better',
        ...more,
      },
      { onWarning: (text) => warnings.push(text), onStatus },
    );
  const stored = async (): Promise<{ models: number; uploads: number }> => {
    const { fitted_train_sets: models, train_sets: uploads } = (await h.get('/get_data_summary/')).body;
    return { models: models.length, uploads: uploads.length };
  };
  const whyOf = ({ challenger }: TrainResult) => [challenger?.taken, challenger?.why];

  before(async () => {
    h = await sharedService();
  });
  beforeEach(async () => {
    warnings.length = 0;
    file = path.join(await temporaryFolder(), 'models.json');
    open();
  });
  afterEach(async () => {
    await close();
    await h.empty();
  });

  for (const clock of [true, false]) {
    it(`takes over after a change, and not without one, ${clock ? 'by a column of times' : 'by the rows alone'}`, async () => {
      const order = clock ? 'auto' : 'time';
      const first = await fit(readings(400, { clock }), { order });
      assert.deepEqual(whyOf(first), [true, 'first']);
      const few = await fit(readings(420, { clock }), { order });
      assert.deepEqual(whyOf(few), [false, 'too_few_rows']);
      // The row that the model in charge knows last is not new to it.
      assert.match(few.challenger!.text, /: 20 rows are new to the model in charge, and 60 are needed\.$/);
      assert.deepEqual(few.card, first.card);
      const same = await fit(readings(400, { clock }), { order });
      assert.deepEqual([...whyOf(same), same.reused], [false, 'unchanged', true]);
      // The newest rows have nothing to do with what the sensors say.
      const odd = readings(600, { clock }).map((row, at) =>
        at < 400 || at >= 500 ? row : { ...row, heat: 15 - row.heat },
      );
      const worse = await fit(odd, { order });
      assert.deepEqual(whyOf(worse), [false, 'not_better']);
      assert.ok(worse.challenger!.scores!.difference < 0 && worse.challenger!.scores!.rows === 100);
      assert.equal(worse.card.version, 1);
      const better = await fit(readings(600, { shiftAt: 400, clock }), { order });
      assert.deepEqual(whyOf(better), [true, 'better']);
      assert.deepEqual([better.card.version, better.card.rows], [2, 600]);
      assert.deepEqual(
        better.card.versions.map(({ why }) => why),
        ['better', 'first'],
      );
      assert.deepEqual(cards.get('heat'), better.card);
      const { scores } = better.challenger!;
      assert.ok(scores!.difference > scores!.standard_error && scores!.loss === 'pinball');
      // The version says by how much, on rows that both of them can be compared on.
      const { champion, challenger, loss, rows, standard_error } = scores!;
      const compared = { with: 1, loss, rows, before: champion, own: challenger, standard_error };
      assert.deepEqual(
        better.card.versions.map((one) => one.compared),
        [compared, undefined],
      );
      // Challengers and their train sets are gone.
      await waitFor('the end of challengers', async () => (await stored()).models <= 2);
      assert.deepEqual(await stored(), { models: 2, uploads: 2 });
    });
  }

  it('a sensor that says what it never said is not believed at once, and a new scale of it is with the next fit', async () => {
    const inOtherUnits = (rows: number, to = rows): Reading[] =>
      readings(rows).map((row, at) => (at < 400 || at >= to ? row : { ...row, load: 32 + 1.8 * row.load }));
    await fit(readings(400));
    const first = await fit(inOtherUnits(500));
    assert.deepEqual(whyOf(first), [false, 'unusual_rows']);
    assert.match(first.challenger!.text, /only on the rows \(50 of 50\) whose values are far from all/);
    await close();
    open();
    // Too little has come since then.
    assert.deepEqual(whyOf(await fit(inOtherUnits(520))), [false, 'unusual_rows']);
    const back = await fit(inOtherUnits(600, 500), { model: 'heat' });
    assert.equal(back.challenger!.taken, false, back.challenger!.text);
    // What was put off is forgotten once rows are as usual again.
    assert.deepEqual(whyOf(await fit(inOtherUnits(560))), [false, 'unusual_rows']);
    const next = await fit(inOtherUnits(700));
    assert.deepEqual([...whyOf(next), next.card.version], [true, 'better', 2]);
  });

  it('rows in no order: a half of those that the model in charge has not seen', async () => {
    const all = readings(600, { clock: false });
    await fit(all.slice(0, 400), { order: 'none' });
    const mixed = [...all.slice(300), ...all.slice(0, 300)];
    const { challenger } = await fit(mixed, { order: 'none' });
    assert.equal(challenger!.scores?.rows, 100);
    const { challenger: none } = await fit(mixed.slice(0, 400), { order: 'none' });
    assert.deepEqual([none!.taken, none!.why], [false, challenger!.taken ? 'too_few_rows' : none!.why]);
  });

  it('without a comparison: another target, columns that are gone, rows that nobody knows, a model that is gone', async () => {
    const rows = readings(300, { clock: false });
    const always = await fit(rows, { replace: 'always', order: 'time' });
    assert.equal(always.challenger, undefined);
    assert.deepEqual(whyOf(await fit(readings(600, { clock: false }), { order: 'time' })), [
      true,
      'rows_unknown',
    ]);
    assert.deepEqual(whyOf(await fit(rows, { target: 'speed', order: 'time' })), [true, 'other_target']);
    const narrow = rows.map(({ load, speed }) => ({ load, speed }));
    assert.deepEqual(whyOf(await fit(narrow, { target: 'speed', order: 'time' })), [true, 'other_columns']);
    const { card } = await fit(rows, { model: 'lost', order: 'time' });
    await new ServiceClient({ baseUrl: h.service.url, token: h.service.token }).deleteDataset(
      card.fitted_train_set_id,
    );
    const gone = await fit(readings(600, { clock: false }), { model: 'lost', order: 'time' });
    assert.deepEqual(whyOf(gone), [true, 'gone']);
    assert.equal(gone.card.version, 2);
    const grown = await fit(readings(1000, { clock: false, seed: 1 }).slice(0, 930), {
      model: 'lost',
      order: 'time',
      embargo: 300,
    });
    assert.deepEqual(whyOf(grown), [true, 'grown']);
  });

  it('fits of one name go one after the other, each against the one that the last has left in charge', async () => {
    await fit(readings(400));
    const shifted = readings(900, { shiftAt: 400 });
    const [one, two] = await Promise.all([fit(shifted.slice(0, 600)), fit(shifted)]);
    assert.deepEqual(whyOf(one), [true, 'better']);
    assert.equal(one.card.version, 2);
    assert.equal(two.challenger!.scores!.rows, 150);
  });

  it('a roll back while it runs is not undone', async () => {
    await fit(readings(400));
    await fit(readings(600, { shiftAt: 400 }));
    // Better than both, whichever was in charge when it began.
    let rolled: ModelCard | undefined;
    const { card, challenger, aside } = await fit(readings(1000, { shiftAt: 600, by: 10 }), {}, ({ key }) => {
      rolled ??= key === 'fitting' ? cards.rollBack('heat', true) : undefined;
    });
    assert.equal(rolled?.version, 1);
    assert.equal(card.version, 1);
    // It has won, and stands by to be put in charge.
    assert.deepEqual([challenger!.taken, challenger!.why, aside], [false, 'late', 3]);
    assert.equal(cards.get('heat')!.version, 1);
    assert.equal(cards.rollBack('heat', 3).version, 3);
  });

  it('a fit that loses while a roll back comes answers with the model in charge', async () => {
    await fit(readings(400));
    await fit(readings(600), { replace: 'always' });
    // What is learned from the older half of the new rows does not hold of the newer.
    const odd = readings(900).map((row, at) =>
      at < 600 || at >= 750 ? row : { ...row, heat: 20 - row.heat },
    );
    let rolled: ModelCard | undefined;
    const { card, challenger } = await fit(odd, {}, ({ key }) => {
      // It is being compared with version 2.
      rolled ??= key === 'predicting' ? cards.rollBack('heat', true) : undefined;
    });
    assert.deepEqual([challenger!.taken, challenger!.why], [false, 'not_better']);
    assert.equal(rolled?.version, 1);
    assert.deepEqual(card, rolled);
  });

  it('closed, or failed, in the middle: the model in charge stays, and is compared with again', async () => {
    await fit(readings(400));
    const shifted = readings(600, { shiftAt: 400 });
    const fitting = new Gate();
    const rejected = assert.rejects(
      fit(shifted, {}, ({ key }) => key === 'fitting' && fitting.open()),
      { code: 'closed' },
    );
    await fitting.opened;
    await close();
    await rejected;
    open();
    assert.equal(cards.get('heat')!.version, 1);
    await assert.rejects(fit(shifted, { options: { n_estimators: -1 } }));
    assert.equal(cards.get('heat')!.version, 1);
    const { challenger, card } = await fit(shifted);
    assert.deepEqual([challenger!.taken, card.version], [true, 2]);
  });

  it('predictions under way are each of one model, and none is lost', async () => {
    await fit(readings(400));
    const answers: number[][] = [];
    let stop = false;
    const stream = (async () => {
      while (!stop) {
        const table = { value: Array.from({ length: 3 }, () => ({ load: 5, speed: 5 })) };
        const { prediction } = await connection.predict({
          table,
          model: 'heat',
          missingColumns: 'fill',
        });
        answers.push(prediction as number[]);
      }
    })();
    const { challenger } = await fit(readings(700, { shiftAt: 400 }), {
      options: { n_estimators: 1, random_state: 2 },
    });
    assert.equal(challenger!.taken, true);
    await waitFor('predictions of both', () => new Set(answers.map(([first]) => first)).size > 1);
    stop = true;
    await stream;
    assert.ok(answers.every((rows) => rows.length === 3 && new Set(rows).size === 1));
    assert.ok(new Set(answers.map(([first]) => first)).size === 2, 'one model, then the other');
  });
});
