import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { connect, type ModelCard, type Tabular } from '../../dist/src';
import { temporaryFolder } from './harness';

const rows = (fit: number) =>
  Array.from({ length: 40 }, (_, i) => ({ load: i % 10, heat: fit * 100 + (i % 10) * 3 }));

describe('a model that travels: a hub publishes it, others take it in', function () {
  this.timeout(60_000);
  let folder: string;
  let hub: Tabular;
  let edge: Tabular;
  /** A model of its own for each test: hub and edge are the same for all. */
  let motor: string;
  let tests = 0;
  /** The number that the hub has last published under before the test: it counts on over all models. */
  let numberBefore = 0;

  const at = (name: string): Promise<Tabular> => connect({ dataDir: path.join(folder, name) });
  const fit = (fit: number, model = motor): Promise<ModelCard> =>
    hub.train({ table: rows(fit), target: 'heat', task: 'regression', model, options: { n_estimators: 1 } });
  const answers = async (where: Tabular, model = motor): Promise<unknown> =>
    (await where.predict({ table: [{ load: 3 }, { load: 8 }], model, outputType: 'full' })).prediction;
  const inCharge = ({ version, published, versions }: ModelCard): unknown => [
    version,
    published && published.number - numberBefore,
    versions.map(({ why }) => why),
  ];

  const cardOf = (where: Tabular): ModelCard => where.models().find(({ name }) => name === motor)!;

  before(async () => {
    folder = await temporaryFolder();
    hub = await at('hub');
    edge = await at('edge');
  });
  beforeEach(() => {
    motor = `motor ${++tests}`;
    numberBefore = Math.max(0, ...hub.models().map(({ published }) => published?.number ?? 0));
  });
  after(async () => {
    await hub.close();
    await edge.close();
  });

  it('answers there as here, and is there once however often it comes', async () => {
    const card = await fit(1);
    const first = await hub.publishModel(motor);
    const taken = await edge.takeModel(first);
    assert.deepEqual(inCharge(taken), [1, 1, ['taken']]);
    assert.equal(taken.fitted_train_set_id, card.fitted_train_set_id);
    assert.deepEqual(await answers(edge), await answers(hub));
    assert.deepEqual(inCharge(await edge.takeModel(first)), [1, 1, ['taken']]);
    assert.deepEqual(inCharge(await edge.takeModel(await hub.publishModel(motor))), [1, 1, ['taken']]);
  });

  it('gives way to the next one and to a roll back at the hub, and an older one does not come back', async () => {
    await fit(1);
    const first = await hub.publishModel(motor);
    await edge.takeModel(first);
    await fit(2);
    const second = await hub.publishModel(motor);
    assert.deepEqual(inCharge(await edge.takeModel(second)), [2, 2, ['taken', 'taken']]);
    assert.deepEqual(inCharge(await edge.takeModel(first)), [2, 2, ['taken', 'taken']]);
    await hub.rollBack(motor);
    const third = await edge.takeModel(await hub.publishModel(motor));
    assert.deepEqual(inCharge(third), [3, 3, ['taken', 'taken', 'taken']]);
    assert.deepEqual(await answers(edge), await answers(hub));
    assert.deepEqual(inCharge(await edge.takeModel(second)), [3, 3, ['taken', 'taken', 'taken']]);
  });

  it('does not undo a roll back at the edge when the broker sends it again', async () => {
    await fit(1);
    await edge.takeModel(await hub.publishModel(motor));
    await fit(2);
    const second = await hub.publishModel(motor);
    await edge.takeModel(second);
    await edge.rollBack(motor);
    assert.equal((await edge.takeModel(second)).version, 1);
  });

  it('counts on over a restart and a deleted model; a hub that begins anew is believed', async () => {
    await fit(1);
    await edge.takeModel(await hub.publishModel(motor));
    await hub.delete(motor);
    await hub.close();
    hub = await at('hub');
    await fit(2);
    assert.deepEqual(inCharge(await edge.takeModel(await hub.publishModel(motor))), [
      2,
      2,
      ['taken', 'taken'],
    ]);
    await hub.close();
    await rm(path.join(folder, 'hub'), { recursive: true });
    hub = await at('hub');
    await fit(3);
    const { version, published } = await edge.takeModel(await hub.publishModel(motor));
    assert.deepEqual([version, published?.number], [3, 1]);
    assert.deepEqual(await answers(edge), await answers(hub));
  });

  it('is handed on by an edge under the number that it has', async () => {
    await fit(1);
    await edge.takeModel(await hub.publishModel(motor));
    const further = await at('further');
    try {
      const card = await further.takeModel(await edge.publishModel(motor));
      assert.deepEqual(card.published, cardOf(edge).published);
      assert.deepEqual(inCharge(await hub.takeModel(await further.publishModel(motor))), [1, 1, ['first']]);
    } finally {
      await further.close();
    }
  });

  it('that is cut anywhere, or damaged in any part, changes nothing', async () => {
    await fit(1);
    await edge.takeModel(await hub.publishModel(motor));
    const before = await answers(edge);
    await fit(2);
    const whole = await hub.publishModel(motor);
    for (let part = 0; part < 20; part++) {
      const where = Math.floor((part / 20) * whole.length);
      const flipped = Buffer.from(whole);
      flipped[where]! ^= 0x40;
      for (const bad of [whole.subarray(0, where), flipped]) {
        await assert.rejects(
          edge.takeModel(bad),
          (error: { code?: string }) => error.code === 'file.unreadable',
        );
      }
    }
    assert.deepEqual([inCharge(cardOf(edge)), await answers(edge)], [[1, 1, ['taken']], before]);
    assert.equal((await edge.takeModel(whole)).version, 2, 'the whole one is taken all the same');
  });

  it('takes over from a model of the same name that was fitted there, which can be put back', async () => {
    await edge.train({
      table: rows(7),
      target: 'heat',
      task: 'regression',
      model: motor,
      options: { n_estimators: 1 },
    });
    const own = await answers(edge);
    await fit(1);
    assert.deepEqual(inCharge(await edge.takeModel(await hub.publishModel(motor))), [
      2,
      1,
      ['taken', 'first'],
    ]);
    assert.deepEqual(await answers(edge), await answers(hub));
    await edge.rollBack(motor);
    assert.deepEqual(await answers(edge), own);
  });
});
