import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceClient } from '../../dist/src/client';
import { Connection, HostedService, type ModelCard, ModelCards } from '../../dist/src/connection';
import { seededRandom } from '../doors/util';
import { Harness, temporaryFolder } from './harness';

/** The client of this package, for which every train set is a large one: it hands the fit over and asks for its end. */
class Submitting extends ServiceClient {
  override getSettings(): ReturnType<ServiceClient['getSettings']> {
    return Promise.resolve({ async_settings: { use_above_trainset_size_bytes: 1, poll_timeout_secs: 600 } });
  }
}

describe('our client, a submitted fit, a redeploy and a restart of the service', function () {
  this.timeout(300_000);
  const random = seededRandom(5);
  /** More than a megabyte, and some seconds of fitting. */
  const table = Array.from({ length: 18_000 }, () => {
    const row = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`c${at}`, random() + random() / 2 ** 32]),
    );
    return { ...row, y: 10 * row.c0! + row.c1! };
  });
  let h: Harness;
  let folder: string;
  let port: number;
  let open: { connection: Connection; cards: ModelCards; warnings: string[] };

  const visit = (): typeof open => {
    const cards = ModelCards.open({ path: path.join(folder, 'models.json'), service: 'hosted' });
    const warnings: string[] = [];
    const connection = new Connection({
      service: new HostedService({
        key: 'hosted',
        open: () => Promise.resolve(new Submitting({ baseUrl: h.service.url, token: h.service.token })),
      }),
      cards,
      log: (level, text) => level === 'warn' && warnings.push(text),
    });
    return { connection, cards, warnings };
  };
  const leave = async (): Promise<void> => {
    await open.connection.close();
    await open.cards.close();
  };
  const pendingIds = (): string[] => open.cards.pending().map(({ card }) => card.fitted_train_set_id);

  before(async () => {
    folder = await temporaryFolder();
    h = await Harness.start({ dataDir: path.join(folder, 'service') });
    port = Number(new URL(h.service.url).port);
    open = visit();
  });
  after(async () => {
    await leave();
    await h.stop();
  });

  it('keep one fit under one id to its end: the model is there, messages waited for it', async () => {
    const first = open.connection.train({
      table: { value: table },
      target: 'y',
      task: 'regression',
      model: 'm',
      options: { n_estimators: 1 },
    });
    let failure: unknown;
    first.then(
      () => (failure = 'the fit was not submitted'),
      (error: unknown) => (failure = error),
    );
    while (pendingIds().length === 0 && failure === undefined) {
      await sleep(20);
    }
    assert.equal(failure, undefined);
    const [id] = pendingIds();

    await leave();
    await assert.rejects(first, { code: 'closed' });
    open = visit();
    assert.deepEqual(pendingIds(), [id], 'the redeploy found it on disk');
    const waiting = open.connection.predict({ table: { value: { ...table[0]!, y: undefined } }, model: 'm' });
    waiting.catch(() => undefined);

    await h.service.close();
    h = await Harness.start({ dataDir: path.join(folder, 'service'), port, token: h.service.token });
    const { prediction } = await waiting;
    assert.ok(Math.abs((prediction as number[])[0]! - table[0]!.y) < 2, JSON.stringify(prediction));
    const card = open.cards.get('m') as ModelCard;
    assert.equal(card.fitted_train_set_id, id);
    assert.equal(card.scores?.from, 'out-of-fold');
    assert.deepEqual(pendingIds(), []);
    const { fitted_train_sets: models } = (await h.get('/get_data_summary/')).body;
    assert.deepEqual(
      models.map((one: { fitted_train_set_id: string }) => one.fitted_train_set_id),
      [id],
    );
  });
});
