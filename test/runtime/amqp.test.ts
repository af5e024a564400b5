import assert from 'node:assert/strict';

import { AmqpFleet } from '../helpers/amqp-fleet';
import { rabbitmqScript } from '../helpers/rabbitmq';
import { readings } from '../helpers/scale-out';
import { waitFor } from '../helpers/wait';

const script = rabbitmqScript();
const title =
  script === undefined ? ' (no RabbitMQ here: install rabbitmq-server, or set RABBITMQ_SERVER)' : '';

const MEMBERS = 2;
/** Each is killed once: AMQP_KILLS=20 is a long run. */
const KILLS = Number(process.env.AMQP_KILLS ?? MEMBERS);
/** Between two kills more than a member holds at a time: 50 of each of two queues. */
const READINGS = 200 * (KILLS + 1);

/* The example "Nothing lost over AMQP" in real Node-REDs. */
describe(`two Node-REDs share a queue of RabbitMQ${title}`, function () {
  this.timeout(240_000 + 60_000 * KILLS);
  let fleet: AmqpFleet;

  before(async function () {
    if (script === undefined) {
      this.skip();
      return;
    }
    fleet = await AmqpFleet.start(script, MEMBERS);
  });
  after(() => fleet?.close());

  it('what a killed one had under way comes again: each key is written, with its own result', async () => {
    await Promise.all([fleet.takes(0), fleet.takes(1)]);
    const sent = readings('kill', READINGS);
    await fleet.send(sent.map(({ reading }) => reading));
    for (let kill = 0; kill < KILLS; kill++) {
      // At work: some keys more were written since the last one.
      const goal = Math.floor((READINGS * (kill + 0.25)) / (KILLS + 1));
      await waitFor(`${goal} results`, () => fleet.files >= goal, 120_000);
      await fleet.kill(kill % MEMBERS);
    }
    await waitFor('every key', () => fleet.written().size === sent.length, 120_000);
    const written = fleet.written();
    for (const { reading, load } of sent) {
      assert.equal(written.get(reading.key)?.load, load, reading.key);
    }
  });

  it('what a repeat cannot mend ends in readings.failed with its reason, and stays there', async () => {
    await fleet.publish('readings', [
      JSON.stringify({ key: 'wrong/1', values: { temperature: 'hot', vibration: 1, material: 'oak' } }),
      'no JSON at all',
    ]);
    const good = readings('after', 20);
    await fleet.send(good.map(({ reading }) => reading));
    await waitFor('the others', () => good.every(({ reading }) => fleet.written().has(reading.key)), 60_000);
    const failed = fleet.id('debug', 'failed');
    await waitFor('the failed ones, one at a time in each Node-RED', () =>
      fleet.members.every((red) => red.debug.some(({ id }) => id === failed)),
    );
    const shown = fleet.members.flatMap((red) => red.debug.filter(({ id }) => id === failed));
    const reasons = shown.map(({ msg }) => msg as Record<'key' | 'code' | 'message', string>);
    const wrong = reasons.find(({ key }) => key === 'wrong/1')!;
    assert.equal(wrong.code, 'table.invalid');
    assert.match(wrong.message, /temperature/);
    assert.match(reasons.find(({ key }) => key === undefined)!.code, /^(table|validation)\./);
    assert.equal(fleet.written().has('wrong/1'), false);
    await fleet.stopMembers();
    await waitFor('both in the queue again', async () => (await fleet.waiting('readings.failed')) === 2);
    assert.equal(await fleet.waiting('readings'), 0);
    assert.equal(await fleet.waiting('results'), 0);
  });
});
