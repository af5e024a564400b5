import assert from 'node:assert/strict';

import { TestFlow } from '../helpers/flow';
import { type Mosquitto, mosquittoBinary, startMosquitto } from '../helpers/mosquitto';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { waitFor } from '../helpers/wait';

const MINUTE = 60_000;
const HOT = 80;
const START = Date.UTC(2026, 2, 2);

interface Reading {
  time: number;
  temperature: number;
  load: number;
}

/** A motor that warms up under load, one reading a minute: half of its heavy loads last until it is too hot. */
function motor(minutes: number): Reading[] {
  let state = 7;
  const uniform = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const readings: Reading[] = [];
  let [temperature, left, isHeavy] = [55, 40, false];
  for (let minute = 0; minute < minutes; minute++) {
    if (left-- <= 0) {
      isHeavy = !isHeavy;
      left = isHeavy ? (uniform() < 0.5 ? 6 : 30) : 40 + 30 * uniform();
    }
    const load = (isHeavy ? 0.95 : 0.45) + 0.05 * uniform();
    temperature += 0.07 * (25 + 65 * load - temperature) + 0.2 * (uniform() - 0.5);
    readings.push({ time: START + minute * MINUTE, temperature, load });
  }
  return readings;
}

/** Times at which it becomes too hot, by the readings from an index on. */
function overheatings(readings: readonly Reading[], from: number): number[] {
  return readings
    .filter(
      ({ temperature }, i) =>
        i > from && temperature >= HOT && readings.slice(i - 10, i).every((one) => one.temperature < HOT),
    )
    .map(({ time }) => time);
}

/** What a user drags, wires and fills in: nothing else differs from the defaults. POST /motor publishes readings. */
function flow(port: number): FlowNode[] {
  const flow = new TestFlow('motor');
  const broker = flow.broker('broker', port);
  const readings = flow.node('mqtt in', 'readings', {
    topic: 'plant/+',
    qos: '1',
    datatype: 'auto-detect',
    broker,
  });
  const event = { outcome: 'event', column: 'temperature', operator: '>=', value: String(HOT), ahead: '10m' };
  const series = flow.node('tabular-series', 'series', event);
  const predict = flow.node('tabular-predict', 'predict', { model: 'motor', noModel: 'wait' });
  const alarm = { alarmOn: 'probability', alarmLabel: 'yes', raise: '0.5' };
  const watch = flow.node('tabular-watch', 'watch', { model: 'motor', ...alarm });
  flow.wire(readings, series);
  flow.wireOutput(series, 0, predict);
  flow.wireOutput(series, 1, watch);
  flow.wireOutput(series, 2, flow.node('tabular-fit', 'fit', { model: 'motor' }));
  flow.wire(predict, watch);
  flow.wireOutput(watch, 0, flow.debug('live', 'watch.live'));
  flow.wireOutput(watch, 1, series, flow.debug('changes', 'change'));
  flow.wire(flow.node('catch', 'any', { scope: null }), flow.debug('errors', 'error'));
  const posted = flow.post('motor');
  flow.wire(
    posted,
    flow.node('split', 'each'),
    flow.node('mqtt out', 'motor', { topic: 'plant/motor', qos: '1', broker }),
  );
  flow.wire(posted, flow.node('http response', 'published'));
  return flow.nodes;
}

describe('a motor on MQTT, ten minutes ahead', function () {
  this.timeout(120_000);
  let broker: Mosquitto | undefined;
  let red: RealNodeRed | undefined;

  before(async function () {
    const binary = mosquittoBinary();
    if (binary === undefined) {
      console.log('      no Mosquitto here (install it, or set MOSQUITTO to its path): MQTT is not tested');
      return this.skip();
    }
    broker = await startMosquitto(binary);
    red = await startNodeRed({ flows: flow(broker.port) });
  });

  after(async () => {
    await red?.stop();
    await broker?.close();
  });

  it('is warned of before it is too hot, with nodes that were only wired and filled in', async () => {
    const { debug, statuses } = red!;
    const readings = motor(900);
    const shown = (id: string) =>
      debug.filter((message) => message.id === id).map(({ msg }) => msg as { what: string; since: number });
    await waitFor('the broker', () => (red!.log().includes('Connected to broker') ? true : undefined));
    const publish = async (some: readonly Reading[]): Promise<void> => {
      const answer = await fetch(`${red!.url}/motor`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(some),
      });
      assert.equal(answer.status, 200);
    };
    // Until the first train set has gone; what follows it is predicted once the model is there.
    let from = 0;
    while (!/row/.test(statuses.get('series')?.text ?? '')) {
      await publish(readings.slice(from, from + 20));
      from += 20;
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(from < 600, statuses.get('series')?.text);
    }
    await publish(readings.slice(from));
    const rows = readings.length - from;
    await waitFor('all predictions', () => (shown('live').length >= rows ? true : undefined), 60_000);
    const alarms = shown('changes').filter(({ what }) => what === 'alarm');
    const hot = overheatings(readings, from + 10);
    const late = hot.filter(
      (time) => !alarms.some(({ since }) => since < time && since > time - 20 * MINUTE),
    );
    assert.ok(hot.length >= 2, `${hot.length} times too hot`);
    assert.deepEqual(late, []);
    assert.ok(alarms.length <= 2 * hot.length, `${alarms.length} alarms`);
    assert.deepEqual(shown('errors'), []);
  });
});
