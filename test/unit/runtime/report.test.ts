import assert from 'node:assert/strict';

import { hooks } from '@node-red/util';

import { handleMessages, type Handler, type Red } from '../../doors/runtime';
import { ServiceError } from '../../doors/wire';
import { waitFor } from '../../helpers/wait';
import { type FakeNode, fakeNode, fakeRed, fakeRuntime } from './fake';

/** Calls a hook as Node-RED does, which its types leave out. */
const { trigger } = hooks as unknown as { trigger: (hook: string, event: object, done: () => void) => void };

/** A Catch or Complete node, which Node-RED still knows or not: one that it stops it has forgotten. */
function receiver(type: 'catch' | 'complete', running: boolean) {
  return { id: `${type} ${running ? 'running' : 'stopped'}`, type, running };
}

type Receiver = ReturnType<typeof receiver>;

/** A node of which Node-RED tells each end to these nodes. */
function watched(receivers: Receiver[], run: Handler<unknown>['run']): FakeNode {
  const known = receivers.filter(({ running }) => running).map((node) => [node.id, node]);
  const red: Red = fakeRed(Object.fromEntries(known));
  const node = fakeNode();
  handleMessages(fakeRuntime({}, red, node), { read: () => undefined, run }, { drainMs: 100, closeMs: 100 });
  const take = node.take.bind(node);
  node.take = (msg) => {
    const taken = take(msg);
    const { done } = taken;
    done.push = (error) => {
      const type = error === undefined ? 'complete' : 'catch';
      for (const one of receivers.filter((other) => other.type === type)) {
        trigger('onReceive', { msg, destination: { id: one.id, node: one } }, () => undefined);
      }
      return Array.prototype.push.call(done, error);
    };
    return taken;
  };
  return node;
}

let atWork = 0;

const cut: Handler<unknown>['run'] = (_input, _msg, { signal }) => {
  atWork++;
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('socket hang up')));
  });
};

const withoutOutput: Handler<unknown>['run'] = (_input, _msg, { signal }) => {
  atWork++;
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined));
  });
};

/** How many messages the warning counts after two were under way at the close. */
async function counted(node: FakeNode): Promise<string> {
  atWork = 0;
  const taken = [node.take({}), node.take({})];
  await waitFor('both at work', () => atWork === taken.length);
  await node.shut();
  assert.deepEqual(
    taken.map(({ done }) => done.length),
    [1, 1],
  );
  return node.warnings.join();
}

describe('the warning at close counts what no Catch or Complete node was told', () => {
  const both = /warning\.closed \{"count":"2"\}/;
  const nothing = /^$/;
  const cases: [string, Receiver[], Handler<unknown>['run'], RegExp][] = [
    ['errors that no Catch node is there for', [], cut, both],
    ['errors for a Catch node that is stopped too', [receiver('catch', false)], cut, both],
    ['not errors that a running Catch node gets', [receiver('catch', true)], cut, nothing],
    ['nor those that one of two gets', [receiver('catch', true), receiver('catch', false)], cut, nothing],
    ['ends without error for a stopped Complete node', [receiver('complete', false)], withoutOutput, both],
    ['not those that a running one gets', [receiver('complete', true)], withoutOutput, nothing],
    ['nor those that nobody asks for', [], withoutOutput, nothing],
  ];
  for (const [name, receivers, run, warning] of cases) {
    it(name, async () => {
      assert.match(await counted(watched(receivers, run)), warning);
      assert.ok(!hooks.has('onReceive.tabular-prediction'), 'nothing listens when all nodes have closed');
    });
  }

  it('not what was dropped before, by msg.reset', async () => {
    const dropped = new ServiceError('closed', 'Dropped by msg.reset before it was scored.');
    const node = watched([receiver('catch', true)], () => Promise.reject(dropped));
    await node.take({}).settled;
    await node.shut();
    assert.deepEqual(node.warnings, []);
  });
});
