import { once } from 'node:events';
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';

import { type FlowNode, type RealNodeRed, root, startNodeRed } from './node-red';
import { type RabbitMq, startRabbitMq } from './rabbitmq';
import type { Reading } from './scale-out';
import { removedAtEnd } from './temporary';
import { waitFor } from './wait';

const PACKAGE = '@frankvdb/node-red-contrib-amqp';
const GUEST = { username: 'guest', password: 'guest' };

/** The real nodes where the variable AMQP_NODES names their folder, else ours that do the same. */
function amqpNodes(): Record<string, string> {
  const real = process.env.AMQP_NODES;
  return real === undefined
    ? { 'node-red-contrib-amqp-test': path.join(__dirname, 'amqp-nodes') }
    : { [PACKAGE]: real };
}

/** The example "Nothing lost over AMQP" in several Node-REDs, with a RabbitMQ and a folder of results that they share. */
export class AmqpFleet {
  readonly members: RealNodeRed[] = [];
  private readonly folders: string[] = [];
  private readonly results = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-amqp-results-')));

  private constructor(
    readonly broker: RabbitMq,
    readonly flow: FlowNode[],
    private readonly connection: ChannelModel,
    private readonly sender: ConfirmChannel,
    private readonly looker: Channel,
  ) {
    flow.find(({ type }) => type === 'tab')!.env = [{ name: 'RESULTS', value: this.results, type: 'str' }];
  }

  static async start(script: string, members: number): Promise<AmqpFleet> {
    const broker = await startRabbitMq(script);
    const example = fs.readFileSync(path.join(root, 'examples', 'Nothing lost over AMQP.json'), 'utf8');
    const flow = JSON.parse(example) as FlowNode[];
    const node = flow.find(({ type }) => type === 'amqp-broker')!;
    Object.assign(node, { port: String(broker.port), credentials: GUEST });
    const connection = await connect({ hostname: '127.0.0.1', port: broker.port, ...GUEST });
    const sender = await connection.createConfirmChannel();
    const fleet = new AmqpFleet(broker, flow, connection, sender, await connection.createChannel());
    try {
      for (let i = 0; i < members; i++) {
        fleet.folders.push(removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-amqp-'))));
        await fleet.startMember(i);
      }
    } catch (error) {
      await fleet.close();
      throw error;
    }
    return fleet;
  }

  private async startMember(i: number): Promise<void> {
    const link = { 'node-red-contrib-tabular-prediction': root, ...amqpNodes() };
    const red = await startNodeRed({ flows: [], userDir: this.folders[i]!, link });
    this.members[i] = red;
    await red.deploy(this.flow);
  }

  /** Waits until this one takes readings: it has its model, and its queue. */
  async takes(i: number): Promise<void> {
    const { statuses } = this.members[i]!;
    const isConnected = (name: string): boolean =>
      statuses.get(this.id('amqp-in-manual-ack', name))?.text === 'Connected';
    await waitFor('its queues', () => ['readings', 'results'].every(isConnected), 60_000);
  }

  id(type: string, name: string): string {
    return this.flow.find((node) => node.type === type && node.name === name)!.id;
  }

  /** Ends a member with SIGKILL and starts it again on its folder. */
  async kill(i: number): Promise<void> {
    const { process } = this.members[i]!;
    const gone = once(process, 'exit');
    process.kill('SIGKILL');
    await gone;
    await this.startMember(i);
  }

  /** Resolves when the broker has them on its disk. */
  async send(readings: Reading[]): Promise<void> {
    await this.publish(
      'readings',
      readings.map((reading) => JSON.stringify(reading)),
    );
  }

  async publish(queue: string, texts: string[]): Promise<void> {
    for (const text of texts) {
      this.sender.sendToQueue(queue, Buffer.from(text), { persistent: true });
    }
    await this.sender.waitForConfirms();
  }

  /** Messages that wait in a queue; those with a consumer do not count. */
  async waiting(queue: string): Promise<number> {
    return (await this.looker.checkQueue(queue)).messageCount;
  }

  /** The keys written, with what was written for each. Files that are being written are left out. */
  written(): Map<string, { key: string; load: string }> {
    const found = new Map<string, { key: string; load: string }>();
    for (const name of fs.readdirSync(this.results)) {
      const text = fs.readFileSync(path.join(this.results, name), 'utf8');
      if (text.endsWith('}')) {
        found.set(decodeURIComponent(name.replace(/\.json$/, '')), JSON.parse(text));
      }
    }
    return found;
  }

  /** How many files there are, whole or not. */
  get files(): number {
    return fs.readdirSync(this.results).length;
  }

  async stopMembers(): Promise<void> {
    await Promise.all(this.members.map((red) => red.stop()));
  }

  async close(): Promise<void> {
    await this.stopMembers();
    await this.connection.close();
    await this.broker.close();
    // Ten thousand files: at the end of the process there may be no time to remove them.
    await rm(this.results, { recursive: true, force: true });
  }
}
