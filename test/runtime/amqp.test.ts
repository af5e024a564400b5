import assert from 'node:assert/strict';

import { AmqpFleet } from '../helpers/amqp-fleet';
import { rabbitmqScript } from '../helpers/rabbitmq';
import { readings } from '../helpers/scale-out';
import { waitFor } from '../helpers/wait';

const script = rabbitmqScript();
const title =
  script === undefined ? ' (no RabbitMQ here: install rabbitmq-server, or set RABBITMQ_SERVER)' : '';

/* The example "Nothing lost over AMQP" in two real Node-REDs. More kills, of three: test/large/amqp.test.ts. */
describe(`two Node-REDs share a queue of RabbitMQ${title}`, function () {
  this.timeout(240_000);
  let fleet: AmqpFleet;

  before(async function () {
    if (script === undefined) {
      this.skip();
      return;
    }
    fleet = await AmqpFleet.start(script, 2);
  });
  after(() => fleet?.close());

  it('what a killed one had under way comes again: each key is written, with its own result', async () => {
    await Promise.all([fleet.takes(0), fleet.takes(1)]);
    const sent = readings('kill', 600);
    await fleet.send(sent.map(({ reading }) => reading));
    await waitFor('some of the results', () => fleet.files > 50, 60_000);
    await fleet.kill(0);
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
