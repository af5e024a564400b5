import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Connection, HostedService, type ModelCard } from '../../../dist/src/connection';
import { ServiceClient } from '../../doors/client';
import { ModelCards } from '../../doors/scoring';
import { inTurn, startStrictService, type StrictService } from '../../helpers/strict-service';
import { waitFor } from '../../helpers/wait';
import { history } from './stand-in';

interface Visit {
  connection: Connection;
  cards: ModelCards;
  warnings: string[];
  /** Ends as a redeploy or the end of Node-RED does. */
  leave: () => Promise<void>;
}

describe('a fit that goes on in the service', () => {
  let folder: string;
  let service: StrictService;
  let visits: Visit[];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'pending-'));
    visits = [];
  });

  afterEach(async () => {
    await Promise.all(visits.map((visit) => visit.leave()));
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function visit(timeoutMs = 20_000): Visit {
    const warnings: string[] = [];
    const cards = ModelCards.open({ path: path.join(folder, 'models.json'), service: 'hosted' });
    const client = new ServiceClient({ baseUrl: service.url, token: service.token, timeoutMs, retries: 0 });
    const connection = new Connection({
      service: new HostedService({ key: 'hosted', open: () => Promise.resolve(client) }),
      cards,
      log: (level, text) => level === 'warn' && warnings.push(text),
    });
    const leave = async () => {
      await connection.close();
      await cards.close();
    };
    const made = { connection, cards, warnings, leave };
    visits.push(made);
    return made;
  }

  const fit = ({ connection }: Visit, model = 'pets'): Promise<{ card: ModelCard; reused: boolean }> =>
    connection.train({ table: { value: history() }, target: 'species', model });

  const kept = (): { card: ModelCard }[] =>
    (
      JSON.parse(readFileSync(path.join(folder, 'models.json'), 'utf8')) as {
        services: { hosted: { pending: { card: ModelCard }[] } };
      }
    ).services.hosted.pending;

  async function pending(): Promise<void> {
    while (service.seen('get_fit_status').length === 0) {
      await sleep(5);
    }
  }

  it('is taken up again after a restart, and a predict for its model waits for it', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 5 } });
    const first = visit();
    const left = assert.rejects(fit(first), { code: 'closed' });
    await pending();
    await first.leave();
    await left;
    const [{ card } = { card: undefined }] = kept();
    assert.equal(card?.name, 'pets');
    assert.equal(card.columns.length, 4);

    const second = visit();
    const { table } = await second.connection.predict({ model: 'pets', table: { value: [history()[0]] } });
    assert.equal((table as object[]).length, 1);
    assert.equal(second.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.equal(service.seen('fit').length, 1);
    await second.leave();
    assert.deepEqual(kept(), []);
    assert.deepEqual(service.breaches, []);
  });

  it('that has ended is not lost where the end comes while its held out rows are scored', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 1 } });
    service.fault('predict', () => ({ silent: true }));
    const first = visit();
    const asked = { table: { value: history() }, target: 'species', model: 'pets', holdout: 20 };
    const left = assert.rejects(first.connection.train(asked), { code: 'closed' });
    await waitFor('the rows held out', () => service.seen('predict').length > 0);
    await first.cards.flush();
    const [{ card } = { card: undefined }] = kept();
    assert.equal(card?.name, 'pets', 'a kill would lose it');
    await first.leave();
    await left;

    service.fault('predict', undefined);
    const second = visit();
    await second.connection.predict({ model: 'pets', table: { value: [history()[0]] } });
    assert.equal(second.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.equal(service.seen('fit').length, 1, 'it was fitted, and paid, twice');
    await second.leave();
    assert.deepEqual(kept(), []);
  });

  it('is what the same train set with the same options is answered with, after a time-out too', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 25 } });
    const hasty = visit(2_000);
    await assert.rejects(fit(hasty), { code: 'service.timeout' });
    await hasty.leave();
    const patient = visit();
    const { card, reused } = await fit(patient);
    assert.equal(reused, false);
    assert.equal(patient.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.equal(service.seen('fit').length, 1);
    assert.equal(service.seen('prepare_train_set_upload').length, 1, 'nothing is uploaded again');
  });

  it('that nobody waits for does not take charge after a restart where the model was fitted anew', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 1 } });
    service.fault('get_fit_status', () => ({ silent: true }));
    const first = visit(1_000);
    await assert.rejects(fit(first), { code: 'service.timeout' });
    service.fault('get_fit_status', undefined);
    const asked = { table: { value: history(30) }, target: 'species', model: 'pets' };
    const { card } = await first.connection.train(asked);
    await first.leave();
    assert.equal(kept().length, 1);

    const second = visit();
    await waitFor('the earlier fit', () => second.cards.pending().length === 0);
    assert.equal(second.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.deepEqual(
      second.cards.get('pets')?.versions.map(({ version, why }) => [version, why]),
      [
        [2, 'late'],
        [1, 'first'],
      ],
    );
  });

  it('that a later message asks for again takes charge after a restart', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 1 } });
    service.fault('get_fit_status', () => ({ silent: true }));
    const first = visit(1_000);
    await assert.rejects(fit(first), { code: 'service.timeout' });
    const [{ card } = { card: undefined }] = kept();
    service.fault('get_fit_status', undefined);
    await first.connection.train({ table: { value: history(30) }, target: 'species', model: 'pets' });
    service.fault('get_fit_status', () => ({ silent: true }));
    const asked = service.seen('get_fit_status').length;
    const left = assert.rejects(fit(first), { code: 'closed' });
    await waitFor('the fit', () => service.seen('get_fit_status').length > asked);
    await first.leave();
    await left;
    service.fault('get_fit_status', undefined);

    const second = visit();
    await waitFor('the fit', () => second.cards.pending().length === 0);
    assert.equal(second.cards.get('pets')?.fitted_train_set_id, card?.fitted_train_set_id);
    assert.equal(service.seen('fit').length, 2);
  });

  it('and begins with an earlier message than another does not take charge after a restart', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 1 } });
    service.fault('fit', inTurn({ delayMs: 1_500 }));
    const first = visit();
    const left = assert.rejects(fit(first), { code: 'closed' });
    await waitFor('the fit', () => service.seen('fit').length > 0);
    const asked = { table: { value: history(30) }, target: 'species', model: 'pets' };
    const { card } = await first.connection.train(asked);
    service.fault('get_fit_status', () => ({ silent: true }));
    await waitFor('the earlier fit', () => first.cards.pending().length > 0);
    await first.leave();
    await left;
    service.fault('get_fit_status', undefined);

    const second = visit();
    await waitFor('the earlier fit', () => second.cards.pending().length === 0);
    assert.equal(second.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.equal(second.cards.get('pets')?.version, 1);
  });

  it('is told, where it failed there, with the service’s words, and not taken up a second time', async () => {
    service = await startStrictService({
      jobs: { fitIsPending: true, polls: 3, failure: { error: 'Out of memory' } },
    });
    const first = visit();
    const left = assert.rejects(fit(first), { code: 'closed' });
    await pending();
    await first.leave();
    await left;
    const second = visit();
    await assert.rejects(
      second.connection.predict({ model: 'pets', table: { value: history() } }),
      /its fit failed\. The fit ended as "failed": Out of memory/,
    );
    assert.match(second.warnings.join(), /The fit of "pets", which was under way before: .*Out of memory/);
    await second.leave();
    assert.deepEqual(kept(), []);
  });

  it('is begun again where the service does not know it any more', async () => {
    service = await startStrictService({ jobs: { fitIsPending: true, polls: 3 } });
    const first = visit();
    const left = assert.rejects(fit(first), { code: 'closed' });
    await pending();
    await first.leave();
    await left;
    service.forgetFits();
    await fit(visit());
    assert.equal(service.seen('fit').length, 2);
    assert.deepEqual(service.breaches, []);
  });

  for (const [what, threshold, route] of [
    ['above the size that the service names is submitted', 1_000_000, 'submit_fit_job'],
    ['below it is fitted at once', 1e9, 'fit'],
  ] as const) {
    it(what, async () => {
      service = await startStrictService({
        jobs: { polls: 1, async_settings: { use_above_trainset_size_bytes: threshold } },
      });
      const rows = Array.from({ length: 40_000 }, (_, id) => ({
        id,
        a: Math.sin(id),
        b: Math.cos(id),
        c: Math.sqrt(id),
        d: Math.tan(id),
        y: id % 7,
      }));
      await visit().connection.train({ table: { value: rows }, target: 'y', model: 'large' });
      assert.equal(service.seen(route).length, 1);
      assert.equal(service.seen('fit').length + service.seen('submit_fit_job').length, 1);
      assert.deepEqual(service.breaches, []);
    });
  }

  it('costs a small train set no further request', async () => {
    service = await startStrictService({ jobs: {} });
    await fit(visit());
    assert.equal(service.seen('submit_fit_job').length, 0);
    assert.equal(
      service.requests.filter(({ url }) => url.endsWith('get_settings')).length,
      1,
      'the limits alone',
    );
  });

  it('may think about it: few rows and a long time are warned of before the upload', async () => {
    service = await startStrictService({});
    service.fault('prepare_train_set_upload', inTurn({ status: 422, body: { detail: 'no' } }));
    const warnings: string[] = [];
    const thinking = { effort: 'high', timeoutSecs: 3000 };
    const work = visit().connection.train(
      { table: { value: history() }, target: 'species', model: 'pets', thinking },
      { onWarning: (text) => warnings.push(text) },
    );
    await assert.rejects(work, { code: 'validation.failed' });
    assert.match(warnings.join('\n'), /at least 500 rows .* has 20\..*\n.*2400 s at most .* is 3000 s/);
  });
});
