import assert from 'node:assert/strict';

import { AmqpFleet } from '../helpers/amqp-fleet';
import { rabbitmqScript } from '../helpers/rabbitmq';
import { readings } from '../helpers/scale-out';
import { waitFor } from '../helpers/wait';

const MEMBERS = 3;
/** Each member is killed, one of them again after the others: AMQP_KILLS=10 is a long run. */
const KILLS = Number(process.env.AMQP_KILLS ?? MEMBERS + 1);
/** Between two kills more than a member holds at a time. */
const READINGS = 500 * (KILLS + 2);

const script = rabbitmqScript();
const title =
  script === undefined ? ' (no RabbitMQ here: install rabbitmq-server, or set RABBITMQ_SERVER)' : '';

/* "Nothing lost over AMQP", killed over and over. Errors and the rest: test/runtime/amqp.test.ts. */
describe(`three Node-REDs share a queue of RabbitMQ${title}`, function () {
  this.timeout(1_200_000);
  let fleet: AmqpFleet;

  before(async function () {
    if (script === undefined) {
      this.skip();
      return;
    }
    fleet = await AmqpFleet.start(script, MEMBERS);
  });
  after(() => fleet?.close());

  it(`${READINGS} readings over ${KILLS} kills: each key is written, once and with its own result`, async () => {
    await Promise.all(fleet.members.map((_, i) => fleet.takes(i)));
    const sent = readings('many', READINGS);
    await fleet.send(sent.map(({ reading }) => reading));
    for (let kill = 0; kill < KILLS; kill++) {
      // At work: some keys more were written since the last one.
      const goal = Math.floor((READINGS * (kill + 1)) / (KILLS + 2));
      await waitFor(`${goal} results`, () => fleet.files >= goal, 300_000);
      await fleet.kill(kill % MEMBERS);
    }
    await waitFor('every key', () => fleet.files >= READINGS && fleet.written().size === READINGS, 600_000);
    const written = fleet.written();
    for (const { reading, load } of sent) {
      assert.equal(written.get(reading.key)?.load, load, reading.key);
    }
    // Nothing of it waits any more, nor is held by a Node-RED.
    await fleet.stopMembers();
    for (const queue of ['readings', 'results', 'readings.failed']) {
      assert.equal(await fleet.waiting(queue), 0, queue);
    }
  });
});
