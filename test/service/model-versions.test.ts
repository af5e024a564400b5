import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, ModelCards, type PredictOutcome } from '../../dist/src/connection';
import { type Harness, temporaryFolder } from './harness';
import { sharedService } from './shared';

/** Rows whose answer tells which of the fits they were in: 1000 for the first, 2000 for the second. */
const rowsOf = (fit: number) =>
  Array.from({ length: 30 }, (_, i) => ({ load: i % 10, heat: fit * 1000 + (i % 10) }));
const fitOf = ({ prediction }: PredictOutcome): number => Math.round((prediction as number[])[0]! / 1000);

describe('versions of a model in the embedded service', function () {
  this.timeout(60_000);
  let h: Harness;
  let connection: Connection;
  let cards: ModelCards;
  let warnings: string[];

  const fit = (at: number, model = 'heat') =>
    connection.train(
      {
        table: { value: rowsOf(at) },
        target: 'heat',
        task: 'regression',
        model,
        options: { n_estimators: 1 },
      },
      { onWarning: (text) => warnings.push(text) },
    );
  const ask = async (model = 'heat'): Promise<number> =>
    fitOf(await connection.predict({ table: { value: { load: 4 } }, model }));
  const stored = async (): Promise<string[]> =>
    (await h.get('/get_data_summary/')).body.fitted_train_sets.map(
      (one: { fitted_train_set_id: string }) => one.fitted_train_set_id,
    );

  before(async () => {
    h = await sharedService();
  });
  beforeEach(async () => {
    warnings = [];
    cards = ModelCards.open({ path: path.join(await temporaryFolder(), 'models.json'), service: 'embedded' });
    connection = new Connection({
      service: new EmbeddedService({
        open: () => Promise.resolve(new ServiceClient({ baseUrl: h.service.url, token: h.service.token })),
      }),
      cards,
    });
  });
  afterEach(async () => {
    await connection.close();
    await cards.close();
  });

  it('predict by name and number, and roll back without a fit; a prediction is of one of them', async () => {
    await fit(1);
    await fit(2);
    assert.deepEqual([await ask(), await ask('heat@1'), await ask('heat@2')], [2, 1, 2]);
    await assert.rejects(ask('heat@3'), { code: 'model.unknown', message: /versions 1, 2 are kept/ });
    const answers: Promise<number>[] = [];
    for (let at = 0; at < 40; at++) {
      answers.push(ask());
      if (at === 20) {
        assert.equal((await connection.rollBack('heat')).version, 1);
      }
      await sleep(1);
    }
    const fits = await Promise.all(answers);
    const sorted = fits.toSorted((a, b) => b - a);
    assert.deepEqual(fits, sorted, 'no answer of the second after one of the first');
    assert.deepEqual([...new Set(fits)], [2, 1]);
    assert.equal(await ask(), 1);
    const again = await fit(2);
    assert.deepEqual([again.card.version, again.aside, again.reused], [1, 2, true]);
    assert.match(warnings.at(-1)!, /msg\.rollback = 2/);
    assert.equal((await fit(3)).card.version, 3);
    assert.equal(await ask(), 3);
  });

  it('a fit that runs meanwhile does not undo it', async () => {
    await fit(11);
    await fit(12);
    const running = fit(13);
    await connection.rollBack('heat');
    const { card, aside } = await running;
    assert.deepEqual([card.version, aside], [1, 3]);
    assert.match(warnings.at(-1)!, /version 1 is in charge and the new version 3 is not/);
    assert.deepEqual([await ask(), await ask('heat@3')], [11, 13]);
  });

  it('are not rolled back to where the service has lost them', async () => {
    const first = await fit(21);
    const second = await fit(22);
    await fit(23);
    const client = new ServiceClient({ baseUrl: h.service.url, token: h.service.token });
    await client.deleteDataset(second.card.fitted_train_set_id);
    await client.close();
    await assert.rejects(connection.rollBack('heat', 2), { code: 'rollback.impossible' });
    assert.equal((await connection.rollBack('heat')).fitted_train_set_id, first.card.fitted_train_set_id);
    await assert.rejects(connection.rollBack('heat'), { code: 'rollback.impossible' });
    assert.equal(await ask(), 21);
  });

  it('go with their name, train sets too; a model of another name stays', async () => {
    await fit(31, 'other');
    const ids = [(await fit(31)).card, (await fit(32)).card].map((card) => card.fitted_train_set_id);
    assert.equal((await connection.rename('heat', 'Wärme/“@”')).version, 2);
    assert.equal(await ask('Wärme/“@”@1'), 31);
    await connection.delete('Wärme/“@”');
    for (let waited = 0; (await stored()).includes(ids[1]!) && waited < 100; waited++) {
      await sleep(20);
    }
    const left = await stored();
    assert.deepEqual(
      ids.map((id) => left.includes(id)),
      [true, false],
    );
    assert.equal(await ask('other'), 31);
    await assert.rejects(ask('Wärme/“@”'), { code: 'model.unknown' });
  });
});
