import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';

/** Numbers of messages: taken by the nodes of a type, ended by `done` (with the code `closed`), and heard of. */
interface Account {
  taken: number[];
  done: number[];
  closed: number[];
  completed: number[];
  caught: number[];
}

const ROWS = '{ payload: Array.from({ length: 30 + (n % 5) }, (_, i) => ({ id: i, x: i % 7, y: i % 2 })) }';

/** What each node is sent, as a function body of a number, how many each so many milliseconds, and its properties. */
const NODES: Record<string, { make: string; every: number; burst: number; properties: object }> = {
  predict: {
    make: 'return { payload: { id: n, x: n % 7 } };',
    every: 25,
    burst: 10,
    properties: { model: 'm' },
  },
  fit: {
    make: `return ${ROWS};`,
    every: 250,
    burst: 1,
    properties: { model: 'm', target: 'y', task: 'classification' },
  },
  upload: { make: `return ${ROWS};`, every: 100, burst: 1, properties: { target: 'y' } },
  series: {
    make: 'return { payload: { time: 1.7e12 + n * 60000, x: n % 7 } };',
    every: 50,
    burst: 4,
    properties: { column: 'x', ahead: '5m', windows: '5m', train: '30 rows', keepAs: 'account' },
  },
  watch: {
    make: `return n % 2
      ? { payload: { x: 1, prediction: n % 7 }, model_name: 'm', series: { id: String(n), time: 1.7e12 + n } }
      : { truth: n % 7, series: { id: String(n - 1), time: 1.7e12 + n } };`,
    every: 50,
    burst: 4,
    properties: {},
  },
  cost: { make: `return ${ROWS};`, every: 50, burst: 2, properties: {} },
  limits: { make: 'return {};', every: 50, burst: 2, properties: {} },
};

/** Every node with a source; `revision` is in their names, so that a deploy of what has changed restarts them. */
function flowOf(service: StrictService, revision: number): FlowNode[] {
  const flow = new TestFlow('account');
  flow.hosted(service);
  for (const [kind, { make, every, burst, properties }] of Object.entries(NODES)) {
    flow.wire(
      flow.node('account-source', `${kind} source`, { every, burst, make }),
      flow.tabular(kind, kind, { name: `revision ${revision}`, ...properties }),
    );
  }
  flow.node('catch', 'caught');
  flow.node('complete', 'completed', { scope: Object.keys(NODES) });
  return flow.nodes;
}

/** By type of node, how many messages the warnings at close have counted. */
function warnedOf(log: string): Record<string, number> {
  const warned: Record<string, number> = {};
  for (const [, type, count] of log.matchAll(
    /\[warn\] \[(tabular-\w+):.*?\] Messages .* closed, .*: ([\d,]+)\./g,
  )) {
    warned[type!] = (warned[type!] ?? 0) + Number(count!.replaceAll(',', ''));
  }
  return warned;
}

describe('the account of messages through redeploys of a real Node-RED', function () {
  this.timeout(180_000);
  let service: StrictService;
  let red: RealNodeRed;

  before(async () => {
    service = await startStrictService({ predictMs: 40 });
    red = await startNodeRed({
      flows: [],
      link: {
        'node-red-contrib-tabular-prediction': root,
        'node-red-contrib-account-test': path.join(__dirname, '..', 'helpers', 'account-nodes'),
      },
    });
  });

  after(async () => {
    await red?.stop();
    await service?.close();
  });

  const accounts = async () => (await (await fetch(`${red.url}/account`)).json()) as Record<string, Account>;

  /** Waits until each type of node has taken some more messages, of which at least one went well. */
  async function goneOn(): Promise<void> {
    const began = await accounts();
    const isReached = (now: Record<string, Account>) =>
      Object.keys(NODES).every((kind) => {
        const [then, { taken = [], completed = [] } = {}] = [
          began[`tabular-${kind}`],
          now[`tabular-${kind}`],
        ];
        return (
          taken.length >= (then?.taken.length ?? 0) + 3 && completed.length > (then?.completed.length ?? 0)
        );
      });
    while (!isReached(await accounts())) {
      await sleep(20);
    }
  }

  async function deploy(type: 'full' | 'nodes' | 'flows', flows: FlowNode[]): Promise<void> {
    const started = () => red.log().match(/Started (modified )?(flows|nodes)/g)?.length ?? 0;
    const before = started();
    const answer = await fetch(`${red.url}/flows`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'Node-RED-Deployment-Type': type },
      body: JSON.stringify(flows),
    });
    assert.ok(answer.ok, await answer.text());
    while (started() === before) {
      await sleep(20);
    }
  }

  it('each is completed, caught, or counted by the warning at close: one of them, once', async () => {
    // Deployed, so that the token is stored as a user's is.
    await deploy('full', flowOf(service, 0));
    const types = ['nodes', 'full', 'flows'] as const;
    for (const [revision, type] of types.entries()) {
      await goneOn();
      await deploy(type, flowOf(service, revision + 1));
    }
    await goneOn();
    await deploy('full', [{ id: 'empty', type: 'tab' }]);
    const warned = warnedOf(red.log());
    const all = await accounts();
    const { closed, caught } = all['tabular-predict']!;
    assert.ok(
      caught.some((message) => closed.includes(message)),
      'some that were cut had a running Catch node',
    );
    assert.ok(warned['tabular-predict']! > 0, 'some had none');
    for (const [type, { taken, done, completed, caught }] of Object.entries(all)) {
      assert.equal(new Set(done).size, done.length, `${type}: none ended twice`);
      assert.equal(done.length, taken.length, `${type}: each ended`);
      assert.equal(
        completed.length + caught.length + (warned[type] ?? 0),
        taken.length,
        `${type}: ${taken.length} taken; ${completed.length} completed, ${caught.length} caught, ${warned[type]} warned of`,
      );
    }
  });
});
