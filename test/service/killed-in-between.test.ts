import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, type ModelCard, ModelCards } from '../../dist/src/connection';
import { type CrashImage, crashImages } from '../helpers/crash-images';
import { heatReadings } from '../helpers/heat-readings';
import { waitFor } from '../helpers/wait';
import { Harness, temporaryFolder } from './harness';

/** Which models there are, and what they are: all that a kill must leave as before or as after. */
type Models = Record<string, ModelCard>;

describe('killed in the middle of', function () {
  this.timeout(120_000);
  let root: string;
  let user: string;
  let h: Harness;
  let connection: Connection;
  let cards: ModelCards;
  let works = 0;

  const openCards = (folder: string): ModelCards =>
    ModelCards.open({
      path: path.join(folder, 'models.json'),
      service: 'embedded',
      onWarning: (text) => assert.fail(text),
    });
  const connect = (at: Harness, own: ModelCards): Connection =>
    new Connection({
      service: new EmbeddedService({
        open: () => Promise.resolve(new ServiceClient({ baseUrl: at.service.url, token: at.service.token })),
      }),
      cards: own,
    });
  const fit = (rows: object[], more: object = {}) =>
    connection.train({
      table: { value: rows },
      ...{ target: 'heat', task: 'regression', model: 'heat', replace: 'better' },
      ...{ options: { n_estimators: 1 } },
      ...more,
    });
  const modelsOf = (own: ModelCards): Models =>
    Object.fromEntries(own.list().map((card) => [card.name, JSON.parse(JSON.stringify(card)) as ModelCard]));

  before(async () => {
    root = await temporaryFolder();
    user = path.join(root, 'user');
    await mkdir(user);
    h = await Harness.start({ dataDir: path.join(user, 'service') });
  });
  after(async () => {
    await h.stop(true);
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    cards = openCards(user);
    connection = connect(h, cards);
    await fit(heatReadings(300));
  });
  afterEach(async () => {
    await connection.close();
    await cards.close();
    await h.empty();
    for (const name of (await readdir(user)).filter((one) => one !== 'service')) {
      await rm(path.join(user, name), { recursive: true });
    }
  });

  /** Does something, and judges what each kill on the way would have left. Answers the images. */
  async function killedOnTheWay(work: () => Promise<unknown>): Promise<CrashImage[]> {
    await cards.flush();
    const before = modelsOf(cards);
    const { images } = await crashImages(user, path.join(root, `images ${++works}`), async () => {
      await work();
      await cards.flush();
      // What the service removes follows by itself.
      await tidied(h, cards);
    });
    const after = modelsOf(cards);
    assert.notDeepEqual(after, before);
    let isDone = false;
    for (const image of images) {
      const left = openCards(image.folder);
      const models = modelsOf(left);
      isDone ||= !isEqual(models, before);
      assert.deepEqual(models, isDone ? after : before, `before ${image.before}`);
      for (const { name, versions } of Object.values(models)) {
        for (const { version } of versions) {
          const id = left.get(`${name}@${version}`)!.fitted_train_set_id;
          const model = path.join(image.folder, 'service', 'models', id);
          assert.ok(existsSync(path.join(model, 'model.json')), `${id} before ${image.before}`);
          assert.ok(existsSync(path.join(model, 'model.bin')), `${id} before ${image.before}`);
          const { columns } = (await left.references.get(id))!;
          assert.ok(columns.length > 0, `${id} before ${image.before}`);
        }
      }
      await left.close();
    }
    assert.ok(isDone);
    return images;
  }

  /** Waits until the service has no model but those that the cards mean. */
  async function tidied(at: Harness, own: ModelCards, which = 'of now'): Promise<void> {
    const meant = Object.values(modelsOf(own)).flatMap(({ name, versions }) =>
      versions.map(({ version }) => own.get(`${name}@${version}`)!.fitted_train_set_id),
    );
    await waitFor(`the end of models that nobody means, ${which}`, async () => {
      const { fitted_train_sets } = (await at.get('/get_data_summary/')).body as {
        fitted_train_sets: { fitted_train_set_id: string }[];
      };
      return fitted_train_sets.every((one) => meant.includes(one.fitted_train_set_id));
    });
  }

  /** Starts what a kill has left: it predicts as before or after, and what nobody means is removed. */
  async function startAgain({ folder, before }: CrashImage): Promise<void> {
    // Of a process that is gone; here it is this one.
    for (const name of await readdir(path.join(folder, 'service'))) {
      if (name.includes('lock')) {
        await rm(path.join(folder, 'service', name), { recursive: true });
      }
    }
    const again = await Harness.start({ dataDir: path.join(folder, 'service') });
    const left = openCards(folder);
    const linked = connect(again, left);
    try {
      await tidied(again, left, `left before ${before}`);
      for (const model of Object.keys(modelsOf(left))) {
        const { prediction } = await linked.predict({
          ...{ table: { value: { load: 5 } }, model, missingColumns: 'fill' },
        });
        assert.ok(Math.abs((prediction as number[])[0]! - 8) < 4);
      }
    } finally {
      await linked.close();
      await left.close();
      await again.stop(true);
    }
  }

  it('a take over: one model or the other, and no challenger stays', async () => {
    const images = await killedOnTheWay(async () => {
      const { challenger } = await fit(heatReadings(500, 300));
      assert.equal(challenger!.why, 'better');
    });
    // Where the service had the challenger, and no model of its own name was there yet.
    const modelsIn = async ({ folder }: CrashImage): Promise<number> =>
      (await readdir(path.join(folder, 'service', 'models'))).length;
    const withChallenger: CrashImage[] = [];
    // And where it had the model that takes over too, whose card was not kept yet.
    const unkept: CrashImage[] = [];
    for (const image of images) {
      const left = openCards(image.folder);
      const models = await modelsIn(image);
      if (left.get('heat')!.version === 1 && models > 1) {
        (models === 2 ? withChallenger : unkept).push(image);
      }
      await left.close();
    }
    assert.ok(withChallenger.length > 1, images.map(({ before }) => before).join('\n'));
    await startAgain(unkept[0]!);
    await startAgain(unkept.at(-1)!);
    await startAgain(withChallenger[0]!);
    await startAgain(withChallenger.at(-1)!);
    await startAgain(images.at(-1)!);
  });

  it('a take over that ends the oldest of five versions', async () => {
    for (const rows of [320, 340, 360, 380]) {
      await fit(heatReadings(rows), { replace: 'always' });
    }
    const images = await killedOnTheWay(() => fit(heatReadings(500, 300)));
    await startAgain(images.at(-1)!);
  });

  it('a roll back', async () => {
    await fit(heatReadings(500, 300));
    const images = await killedOnTheWay(() => connection.rollBack('heat'));
    await startAgain(images.at(-1)!);
  });

  it('a renaming, a deletion and an import', async () => {
    const { pieces } = await connection.exportModel('heat');
    const file: Uint8Array[] = [];
    for await (const piece of pieces) {
      file.push(piece);
    }
    await killedOnTheWay(() => connection.rename('heat', 'warmth'));
    await fit(heatReadings(320), { replace: 'always', model: 'other' });
    const images = await killedOnTheWay(() => connection.delete('warmth'));
    const deleted = images.find(({ folder }) => {
      const left = openCards(folder);
      const isDeleted = left.get('warmth') === undefined;
      void left.close();
      return isDeleted;
    });
    await startAgain(deleted!);
    await killedOnTheWay(() => connection.importModel(Buffer.concat(file), 'imported'));
  });
});

function isEqual(a: Models, b: Models): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}
