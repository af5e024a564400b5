import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { EndpointClient, ServiceClient } from '../../dist/src/client';
import {
  Connection,
  EmbeddedService,
  HostedService,
  ModelCards,
  OnPremClient,
  OnPremService,
  type PredictOutcome,
} from '../../dist/src/connection';
import { startEndpoint } from '../helpers/endpoint';
import { waitFor } from '../helpers/wait';
import { type Harness, temporaryFolder } from './harness';
import { sharedService } from './shared';

/** Rows whose answer tells which of the fits they were in. */
const rowsOf = (fit: number) =>
  Array.from({ length: 30 }, (_, i) => ({ load: i % 10, heat: fit * 1000 + (i % 10) }));
const numberOf = ({ prediction }: PredictOutcome): number => (prediction as number[])[0]!;

describe('models that were replaced', function () {
  this.timeout(120_000);
  let h: Harness;
  let connection: Connection;
  let cards: ModelCards;
  let file: string;
  const open = (key = 'embedded'): void => {
    cards = ModelCards.open({ path: file, service: key });
    const client = (): Promise<ServiceClient> =>
      Promise.resolve(new ServiceClient({ baseUrl: h.service.url, token: h.service.token }));
    connection = new Connection({
      service:
        key === 'embedded' ? new EmbeddedService({ open: client }) : new HostedService({ key, open: client }),
      cards,
    });
  };
  const close = async (): Promise<void> => {
    await connection.close();
    await cards.close();
  };
  const fit = async (fitNumber: number, model = 'heat') => {
    const { card } = await connection.train({
      table: { value: rowsOf(fitNumber) },
      target: 'heat',
      task: 'regression',
      model,
      options: { n_estimators: 1 },
    });
    return card;
  };
  const stored = async (): Promise<{ models: number; uploads: number }> => {
    const { fitted_train_sets: models, train_sets: uploads } = (await h.get('/get_data_summary/')).body;
    return { models: models.length, uploads: uploads.length };
  };
  const until = async (models: number): Promise<void> => {
    await waitFor(`${models} models`, async () => (await stored()).models === models);
  };

  before(async () => {
    h = await sharedService();
  });
  beforeEach(async () => {
    file = path.join(await temporaryFolder(), 'models.json');
    open();
  });
  afterEach(async () => {
    await close();
    await h.empty();
  });

  it('go from the embedded service: after ten refits it holds five, over a restart too', async () => {
    for (let at = 1; at <= 7; at++) {
      await fit(at);
    }
    await close();
    open();
    for (let at = 8; at <= 11; at++) {
      await fit(at);
    }
    await until(5);
    assert.deepEqual(await stored(), { models: 5, uploads: 5 });
    // The file of a model goes after the word that it is gone.
    const files = () => readdir(path.join(h.folder, 'models'));
    await waitFor('the files of five models', async () => (await files()).length === 5);
    const answer = numberOf(await connection.predict({ table: { value: { load: 4 } }, model: 'heat' }));
    assert.ok(answer > 10_900 && answer < 11_100, `${answer}`);
  });

  it('stay where another name means them, or somebody has uploaded their train set', async () => {
    const first = await fit(1, 'other');
    await fit(1);
    const upload = await connection.upload({ set: 'train', table: { value: rowsOf(2) }, target: 'heat' });
    const given = {
      trainSetUploadId: upload.id,
      upload,
      task: 'regression' as const,
      options: { n_estimators: 1 },
    };
    const second = (await connection.train({ ...given, model: 'heat' })).card;
    for (let at = 3; at <= 9; at++) {
      await fit(at);
    }
    await until(6);
    const { body } = await h.get('/get_data_summary/');
    const models = body.fitted_train_sets.map(
      (one: { fitted_train_set_id: string }) => one.fitted_train_set_id,
    );
    assert.equal(models.length, 6, 'five of one name, and that of the other');
    assert.ok(models.includes(first.fitted_train_set_id));
    assert.ok(!models.includes(second.fitted_train_set_id));
    const uploads = body.train_sets.map((one: { dataset_uid: string }) => one.dataset_uid);
    assert.ok(uploads.includes(upload.id));
    assert.equal((await connection.train({ ...given, model: 'again' })).card.rows, 30);
  });

  it('end no prediction: rows sent while models come and go get the answer of one of them', async () => {
    await fit(1);
    let fitting = true;
    const answers: number[] = [];
    const predicting = (async () => {
      while (fitting) {
        const asked = Array.from({ length: 10 }, (_, load) =>
          connection.predict({ table: { value: { load } }, model: 'heat' }),
        );
        answers.push(...(await Promise.all(asked)).map(numberOf));
        await sleep(50);
      }
    })();
    for (let at = 2; at <= 9; at++) {
      await fit(at);
    }
    fitting = false;
    await predicting;
    assert.ok(answers.length > 20 && answers.every((answer) => answer > 900), `${answers.length} answers`);
    await fit(10);
    await until(5);
    assert.equal((await stored()).models, 5);
  });

  it('stay on a hosted service, whose data are its user’s own affair', async () => {
    await close();
    open('https://hosted.example/svc');
    for (let at = 1; at <= 6; at++) {
      await fit(at);
    }
    await sleep(300);
    assert.equal((await stored()).models, 6);
  });
});

describe('train rows of models that were replaced', () => {
  it('go with them on an on-premises endpoint', async () => {
    const endpoint = await startEndpoint();
    const folder = await temporaryFolder();
    const connection = new Connection({
      service: new OnPremService({
        key: 'on-prem',
        open: () =>
          Promise.resolve(
            new OnPremClient({ client: new EndpointClient({ baseUrl: endpoint.url }), folder }),
          ),
      }),
      cards: ModelCards.open({ service: 'on-prem' }),
    });
    try {
      for (let at = 1; at <= 8; at++) {
        await connection.train({
          table: { value: rowsOf(at) },
          target: 'heat',
          task: 'regression',
          model: 'heat',
        });
      }
      await waitFor('the rows of five models', async () => (await readdir(folder)).length === 5);
      assert.equal(
        numberOf(await connection.predict({ table: { value: { load: 4 } }, model: 'heat' })),
        8004,
      );
    } finally {
      await connection.close();
      await endpoint.close();
    }
  });
});
