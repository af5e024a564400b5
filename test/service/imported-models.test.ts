import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, type ModelCard, ModelCards } from '../../dist/src/connection';
import { type Harness, temporaryFolder } from './harness';
import { sharedService } from './shared';

const rows = (fit: number) =>
  Array.from({ length: 30 }, (_, i) => ({ load: i % 10, heat: fit * 1000 + (i % 10) }));

describe('what an import leaves in the embedded service', function () {
  this.timeout(60_000);
  let h: Harness;
  let file: string;
  let cards: ModelCards;
  let connection: Connection;
  let client: ServiceClient;
  /** A model that is here no more, as a file. */
  let exported: Buffer;
  let gone: ModelCard;

  const fit = async (number: number, model: string): Promise<ModelCard> => {
    const { card } = await connection.train({
      table: { value: rows(number) },
      ...{ target: 'heat', task: 'regression', model, options: { n_estimators: 1 } },
    });
    return card;
  };
  const stored = async (): Promise<string[]> => {
    const { body } = await h.get('/get_data_summary/');
    return (body.fitted_train_sets as { fitted_train_set_id: string }[])
      .map(({ fitted_train_set_id: id }) => id)
      .sort();
  };
  const until = async (ids: string[]): Promise<void> => {
    const wanted = JSON.stringify([...ids].sort());
    for (const end = Date.now() + 10_000; Date.now() < end && JSON.stringify(await stored()) !== wanted;) {
      await sleep(20);
    }
    assert.deepEqual(await stored(), [...ids].sort());
  };
  const bytesOf = async (name: string): Promise<Buffer> => {
    const { pieces } = await connection.exportModel(name);
    return buffer(pieces);
  };

  before(async () => {
    h = await sharedService();
  });
  beforeEach(async () => {
    file = path.join(await temporaryFolder(), 'models.json');
    cards = ModelCards.open({ path: file, service: 'embedded' });
    client = new ServiceClient({ baseUrl: h.service.url, token: h.service.token });
    connection = new Connection({
      service: new EmbeddedService({ open: () => Promise.resolve(client) }),
      cards,
    });
    gone = await fit(1, 'gone');
    exported = await bytesOf('gone');
    await connection.delete('gone');
    await until([]);
  });
  afterEach(async () => {
    await connection.close();
    await cards.close();
    await h.empty();
  });

  it('goes when the model is deleted, and no earlier', async () => {
    const card = await connection.importModel(exported, 'back');
    assert.equal(card.fitted_train_set_id, gone.fitted_train_set_id);
    const other = await fit(2, 'other');
    await connection.delete('other');
    await until([card.fitted_train_set_id]);
    assert.notEqual(other.fitted_train_set_id, card.fitted_train_set_id);
    await connection.delete('back');
    await until([]);
  });

  it('goes by itself where the import fails after the model came to the service', async () => {
    const other = await fit(2, 'other');
    const put = cards.references.put.bind(cards.references);
    cards.references.put = async (...given) => {
      await put(...given);
      cards.put({ ...other, name: 'back' });
    };
    await assert.rejects(connection.importModel(exported, 'back'), { code: 'validation.failed' });
    await until([other.fitted_train_set_id]);
  });

  it('stays though it was being removed as the import began; nothing is removed while that is under way', async () => {
    const another = ModelCards.open({ path: file, service: 'embedded' });
    const elsewhere = new Connection({
      service: new EmbeddedService({ open: () => Promise.resolve(client) }),
      cards: another,
    });
    try {
      await connection.importModel(exported, 'first');
      await fit(2, 'other');
      const steps: string[] = [];
      const remove = client.deleteDataset.bind(client);
      client.deleteDataset = async (...given) => {
        steps.push('begun');
        await remove(...given);
        // What comes late has every time to overtake it.
        await stored();
        steps.push('removed');
      };
      const put = cards.references.put.bind(cards.references);
      cards.references.put = async (...given) => {
        steps.push('arrived');
        await elsewhere.delete('other');
        await stored();
        await stored();
        await put(...given);
        steps.push('kept');
      };
      await elsewhere.delete('first');
      await connection.importModel(exported, 'back');
      await until([gone.fitted_train_set_id]);
      const { prediction } = await connection.predict({ table: { value: { load: 4 } }, model: 'back' });
      assert.ok(Math.abs((prediction as number[])[0]! - 1004) < 3);
      assert.deepEqual(steps.slice(0, 5), ['begun', 'removed', 'arrived', 'kept', 'begun']);
    } finally {
      await elsewhere.close();
      await another.close();
    }
  });

  it('was noted for removal before there is a card: a kill in between leaves nothing for good', async () => {
    const put = cards.references.put.bind(cards.references);
    let noted = '';
    cards.references.put = async (...given) => {
      noted = await readFile(file, 'utf8');
      await put(...given);
    };
    await connection.importModel(exported, 'back');
    assert.match(noted, new RegExp(`"former":\\[\\{"fitted":"${gone.fitted_train_set_id}"`));
  });

  it('is removed only once the cards on disk have forgotten the model', async () => {
    const seen: string[] = [];
    const remove = client.deleteDataset.bind(client);
    client.deleteDataset = async (id, ...rest) => {
      const { services } = JSON.parse(await readFile(file, 'utf8')) as {
        services: { embedded: { models: { card: ModelCard }[] } };
      };
      seen.push(services.embedded.models.map(({ card }) => card.name).join());
      await remove(id, ...rest);
    };
    await connection.importModel(exported, 'back');
    await connection.delete('back');
    await until([]);
    assert.deepEqual(seen, ['']);
  });

  it('never has the id of an upload, which a delete of the model would take with it', async () => {
    const upload = await connection.upload({ set: 'train', table: { value: rows(3) }, target: 'heat' });
    const bytes = await client.exportModel((await fit(4, 'other')).fitted_train_set_id);
    const end = bytes.indexOf(10);
    const entry = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString()) as object;
    const asUpload = Buffer.concat([
      Buffer.from(JSON.stringify({ ...entry, id: upload.id })),
      bytes.subarray(end),
    ]);
    const id = await client.importModel(asUpload);
    assert.notEqual(id, upload.id);
    await client.deleteDataset(id);
    const { body } = await h.get('/get_data_summary/');
    assert.ok(body.train_sets.some(({ dataset_uid: one }: { dataset_uid: string }) => one === upload.id));
    const both = await Promise.all(
      [1, 2].map(() => connection.importModel(exported, `twin ${Math.random()}`)),
    );
    for (const { name } of both) {
      await connection.predict({ table: { value: { load: 4 } }, model: name });
    }
  });
});
