import assert from 'node:assert/strict';

import { unzip, writeZip } from '../doors/util';
import { Fleet, HUB, idOf } from '../helpers/fleet';
import { mosquittoBinary, mqtt, type MqttClient } from '../helpers/mosquitto';
import { waitFor } from '../helpers/wait';

const binary = mosquittoBinary();
const title = binary === undefined ? ' (no Mosquitto here: install it, or set MOSQUITTO to its path)' : '';

/* The examples "Fleet over MQTT, hub" and "Fleet over MQTT, machine" in real Node-REDs, with a real broker. */
describe(`a fleet over MQTT${title}`, function () {
  this.timeout(240_000);
  let fleet: Fleet;
  let client: MqttClient;
  /** What was published, oldest first. */
  const models: Buffer[] = [];

  const listen = async (): Promise<void> => {
    client = await mqtt.connectAsync(`mqtt://127.0.0.1:${fleet.broker.port}`, { reconnectPeriod: 100 });
    client.on('message', (_topic, payload) => models.push(payload));
    await client.subscribeAsync(['fleet/model'], { qos: 1 });
  };

  before(async function () {
    if (binary === undefined) {
      this.skip();
      return;
    }
    fleet = await Fleet.withBroker(binary);
    await listen();
    await Promise.all([HUB, 'motor1'].map((name) => fleet.start(name)));
  });
  after(async () => {
    await client?.endAsync();
    await fleet?.close();
  });

  it('a machine predicts with the model that the hub made of its readings', async () => {
    assert.equal((await fleet.predicts('motor1')).name, 'motor heat');
    for (const [name, functions] of [
      ['motor1', ['Motor']],
      [HUB, []],
    ] as const) {
      const own = fleet.flow(name).filter(({ type }) => type === 'function');
      assert.deepEqual(
        own.map((node) => node.name),
        functions,
      );
    }
    assert.deepEqual([...fleet.errors(HUB), ...fleet.errors('motor1')], []);
  });

  it('predicts on without the broker; one that has lost everything gets readings and model again', async () => {
    await fleet.broker.kill();
    await fleet.readOn('motor1', 20);
    await fleet.predicts('motor1');
    const apart = fleet.readings('motor1');
    await fleet.broker.startAgain();
    await fleet.arrived(new Map([['motor1', apart]]));
    // It begins with the model of the fleet, which the broker has again.
    await fleet.start('motor2');
    await fleet.predicts('motor2');
  });

  it('a damaged, a hostile and an older model change nothing, and the next one is taken all the same', async () => {
    const [first] = models as [Buffer];
    await waitFor('another model', () => idOf(models.at(-1)!) !== idOf(first) || undefined, 60_000);
    await fleet.kill(HUB);
    const before = await fleet.predicts('motor1', (by) => by.fitted_train_set_id === idOf(models.at(-1)!));
    const whole = models.at(-1)!;
    const send = (file: Buffer) => client.publishAsync('fleet/model', file, { qos: 1 });
    for (const bad of [
      whole.subarray(0, whole.length / 2),
      Buffer.from('no model'),
      await changed(whole, (card) => ({ ...card, published: { ...card.published, number: 1_000 } }), 'x'),
    ]) {
      const told = fleet.errors('motor1').length;
      await send(bad);
      await waitFor('an error', () => fleet.errors('motor1').length > told || undefined);
    }
    assert.deepEqual([...new Set(fleet.errors('motor1'))], ['file.unreadable']);
    // Had it been taken, the next one would be a version further.
    await send(first);
    const { published } = await cardOf(whole);
    await send(
      await changed(first, (card) => ({
        ...card,
        published: { ...published, number: published.number + 1 },
      })),
    );
    const { version } = await fleet.predicts('motor1', (by) => by.fitted_train_set_id === idOf(first));
    assert.equal(version, before.version + 1);
  });
});

interface Card {
  fitted_train_set_id: string;
  published: { by: string; number: number };
}

async function cardOf(file: Buffer): Promise<Card> {
  const files = await unzip(file, 1e9, 'model.json');
  return (JSON.parse(files.get('model.json')!.toString()) as { card: Card }).card;
}

/** A model file with another card, and other bytes for its model; its checksums are right. */
async function changed(file: Buffer, change: (card: Card) => Card, model?: string): Promise<Buffer> {
  const files = await unzip(file, 1e9);
  const head = JSON.parse(files.get('model.json')!.toString()) as { card: Card };
  files.set('model.json', Buffer.from(JSON.stringify({ ...head, card: change(head.card) })));
  if (model !== undefined) {
    files.set('model.bin', Buffer.from(model));
  }
  const entries = [...files].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    read: async function* () {
      yield await Promise.resolve(bytes);
    },
  }));
  const pieces: Uint8Array[] = [];
  for await (const piece of writeZip(entries)) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
