import assert from 'node:assert/strict';

import { Fleet, type FleetReading, HUB, idOf } from '../helpers/fleet';
import { mosquittoBinary, mqtt, type MqttClient } from '../helpers/mosquitto';
import { waitFor } from '../helpers/wait';

const MACHINES = ['motor1', 'motor2'];
const BROKER = 'broker';
/** What is killed together with a machine, in each round the next: the other machine reads on. */
const BESIDE = [[BROKER], [HUB], [], [HUB, BROKER]];
/** FLEET_ROUNDS=30 is a long run. */
const ROUNDS = Number(process.env.FLEET_ROUNDS ?? 3);
const SEED = Number(process.env.FLEET_SEED ?? 43);

const binary = mosquittoBinary();
const title = binary === undefined ? ' (no Mosquitto here: install it, or set MOSQUITTO to its path)' : '';

/** mulberry32: from 0 to below 1, the same for a seed on every computer. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/*
 * Two machines, a hub and a broker that keeps its retained messages on disk, each a process. In each round one of the
 * machines is killed and started again, with others or alone. What must come is what docs/fleet.md says.
 */
describe(`a fleet over MQTT, killed at random${title}`, function () {
  this.timeout(900_000);
  const chance = chanceOf(SEED);
  const below = (count: number): number => Math.floor(count * chance());
  let fleet: Fleet;
  let client: MqttClient;

  before(async function () {
    if (binary === undefined) {
      this.skip();
      return;
    }
    fleet = await Fleet.withBroker(binary, { persistent: true });
    await Promise.all([HUB, ...MACHINES].map((name) => fleet.start(name)));
  });
  after(async () => {
    await client?.endAsync();
    await fleet?.close();
  });

  it('loses no reading that must come, and no machine goes without a whole model', async () => {
    const versions = new Map<string, number>();
    /** By machine: what must be at the hub, and the number up to which it is decided what must. */
    const due = new Map<string, FleetReading[]>();
    const decided = new Map<string, number>();
    const decide = (machine: string, must: (readings: FleetReading[]) => FleetReading[]): void => {
      const readings = fleet.readings(machine);
      const from = decided.get(machine) ?? -Infinity;
      due.set(machine, [
        ...(due.get(machine) ?? []),
        ...must(readings.filter(({ number }) => number > from)),
      ]);
      decided.set(machine, readings.at(-1)?.number ?? from);
    };
    const settled = async (): Promise<void> => {
      await fleet.arrived(due);
      await fleet.onDisk();
      for (const machine of MACHINES) {
        const { version } = await fleet.predicts(machine);
        assert.ok(version >= (versions.get(machine) ?? 1), `${machine} predicts with an older model`);
        versions.set(machine, version);
      }
      for (const name of [HUB, ...MACHINES]) {
        assert.deepEqual(fleet.errors(name), [], name);
      }
    };
    for (const machine of MACHINES) {
      await fleet.predicts(machine);
      decide(machine, (readings) => readings);
    }
    await settled();
    for (let round = 0; round < ROUNDS; round++) {
      const at = below(MACHINES.length);
      const [killed, alive] = [MACHINES[at]!, MACHINES[1 - at]!];
      const victims = [...BESIDE[round % BESIDE.length]!, killed];
      const context = `round ${round} of seed ${SEED}, killed: ${victims.join(', ')}`;
      await fleet.readOn(alive, below(30));
      for (const victim of victims) {
        await (victim === BROKER ? fleet.broker.kill() : fleet.kill(victim));
      }
      // What it had handed over is the hub's, unless that or the broker was killed with it.
      const isHandedOver = victims.length === 1;
      const known = new Set(fleet.acknowledged(killed).map(({ number }) => number));
      decide(killed, (readings) => readings.filter(({ number }) => isHandedOver && known.has(number)));
      await fleet.readOn(alive, below(30));
      for (const victim of victims) {
        await (victim === BROKER ? fleet.broker.startAgain() : fleet.start(victim));
      }
      decide(alive, (readings) => readings);
      await settled().catch((error: unknown) => {
        throw new Error(`${context}: ${String(error)}`, { cause: error });
      });
    }
  });

  it('in the end every machine predicts with the newest model of the hub', async () => {
    client = await mqtt.connectAsync(`mqtt://127.0.0.1:${fleet.broker.port}`, {});
    let newest = '';
    client.on('message', (_topic, file) => {
      newest = idOf(file);
    });
    await client.subscribeAsync(['fleet/model'], { qos: 1 });
    await waitFor(
      'one model everywhere',
      async () => {
        const by = await Promise.all(MACHINES.map((machine) => fleet.predicts(machine)));
        return by.every(({ fitted_train_set_id: id }) => id === newest) || undefined;
      },
      120_000,
    );
  });
});
