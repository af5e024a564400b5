import assert from 'node:assert/strict';

import type { ExampleNode } from '../../scripts/examples/flow.mjs';
import { TestFlow } from '../helpers/flow';
import { type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => ({ id, x: id % 3, y: id % 2 ? 'a' : 'b' }));
const row = 'msg.payload = { id: 3, x: 1 };';
const deep = 'let deep = []; for (let i = 0; i < 9000; i++) deep = [deep];';

/** A message as a function node makes it, the node it goes to, and the error that Catch nodes see. */
const FAILING: [name: string, to: string, code: string, error: string, message: RegExp][] = [
  [
    'a payload that is a promise',
    'fit',
    'msg.payload = new Promise(() => undefined);',
    'table.invalid',
    /msg\.payload is a promise.*await/,
  ],
  [
    'a promise in flow context',
    'stored',
    "flow.set('rows', new Promise(() => undefined));",
    'table.invalid',
    /flow\.rows is a promise/,
  ],
  [
    'a message that is a promise',
    'predict',
    `${row} msg.then = () => undefined;`,
    'validation.failed',
    /The message is a promise/,
  ],
  [
    'a property that throws as it is read',
    'predict',
    `${row} Object.defineProperty(msg, 'reset', { get() { throw new Error('boom'); }, enumerable: true });`,
    'validation.failed',
    /msg\.reset cannot be read: boom/,
  ],
  [
    'a value deep in it that throws as it is read',
    'fit',
    "msg.change = { what: 'decay' }; msg.train = { get reason() { throw new Error('boom'); } };",
    'validation.failed',
    /msg\.train\.reason cannot be read: boom/,
  ],
  [
    'a payload nested too deeply to be copied',
    'predict',
    `${deep} msg.payload = deep;`,
    'table.invalid',
    /./,
  ],
  [
    'a good row in a message that cannot be copied for two nodes',
    'fan',
    `${row} ${deep} msg.deep = deep;`,
    'validation.failed',
    /could not send the message on/,
  ],
  [
    'options with a big integer',
    'fit',
    'msg.options = { seed: 1n };',
    'validation.failed',
    /msg\.options must be an object that can be written as JSON/,
  ],
  [
    'options that hold themselves',
    'fit',
    'msg.options = {}; msg.options.own = msg.options;',
    'validation.failed',
    /circular/,
  ],
  [
    'options that are a promise',
    'fit',
    'msg.options = Promise.resolve({});',
    'validation.failed',
    /msg\.options must be an object/,
  ],
  [
    'a payload with a value in the last of 200 million places',
    'fit',
    'msg.payload = []; msg.payload[2e8] = { x: 1 };',
    'table.invalid',
    /Row 1 is undefined|sparse array/,
  ],
  [
    'a row of a hundred thousand columns',
    'fit',
    'msg.payload = {}; for (let i = 0; i < 1e5; i++) msg.payload[`c${i}`] = i;',
    'limit.exceeded',
    /more than 16,384 columns/,
  ],
  [
    'a Proxy that was revoked',
    'fit',
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); msg.payload = proxy;',
    'table.invalid',
    /could not be read from msg\.payload: .*revoked/,
  ],
  [
    'a frozen place for the rows',
    'nested',
    'msg.data = Object.freeze({ rows: [{ id: 3, x: 1 }] });',
    'validation.failed',
    /msg\.data\.rows cannot be written/,
  ],
];

describe('messages that no node expects, in a real Node-RED', function () {
  this.timeout(60_000);
  let service: StrictService;
  let red: RealNodeRed;

  before(async () => {
    service = await startStrictService();
    const flow = new TestFlow();
    flow.hosted(service);
    const SCORED = ['fit', 'predict', 'fan', 'nested', 'stored'];
    const nodes = new Map<string, ExampleNode>();
    const tabular = (id: string, kind: string, properties: object): ExampleNode => {
      const node = flow.tabular(kind, id, { model: 'm', table: 'payload', tableType: 'msg', ...properties });
      nodes.set(id, node);
      return node;
    };
    const json = (rows: unknown): object => ({
      props: [{ p: 'payload' }],
      payload: JSON.stringify(rows),
      payloadType: 'json',
    });
    const whole = (id: string): ExampleNode => flow.node('debug', id);
    const out = whole('out');
    const fit = tabular('fit', 'fit', { target: 'y' });
    const predict = tabular('predict', 'predict', {});
    const fan = tabular('fan', 'predict', {});
    const nested = tabular('nested', 'predict', { table: 'data.rows' });
    const stored = tabular('stored', 'predict', { table: 'rows', tableType: 'flow' });
    flow.wire(flow.inject('train', json(ROWS)), fit);
    flow.wire(flow.inject('good', json({ id: 5, x: 2 })), [predict, fan], out);
    flow.wire([fit, nested, stored], out);
    flow.wire(fan, whole('other'));
    flow.wire(flow.node('catch', 'catch', { scope: SCORED, uncaught: false }), whole('caught'));
    flow.wire(flow.node('complete', 'complete', { scope: SCORED }), whole('completed'));
    const hostile = (id: string, to: string, code: string): void => {
      const made = flow.code(`${id}-f`, `${code} node.send(msg, false);`);
      flow.wire(flow.inject(id, json(ROWS)), made, nodes.get(to)!);
    };
    FAILING.forEach(([, to, code], i) => hostile(`failing-${i}`, to, code));
    flow.wire(
      tabular('deep-predict', 'predict', {}),
      flow.code('deep-out', "node.warn('deep came through');"),
    );
    flow.node('catch', 'deep-watch', { scope: ['deep-predict'], uncaught: false });
    flow.node('complete', 'deep-complete', { scope: ['deep-predict'] });
    hostile('deep', 'deep-predict', `${row} ${deep} msg.deep = deep;`);
    red = await startNodeRed({ flows: [] });
    await red.deploy(flow.nodes);
    await red.inject('train');
    await red.shown('out');
  });

  after(async () => {
    await red?.stop();
    await service?.close();
  });

  const count = (id: string): number => red.debug.filter((message) => message.id === id).length;

  /** A message that comes behind is scored by both nodes, and each of the two is done once. */
  async function nextIsScored(): Promise<void> {
    const [outs, completed] = [count('out'), count('completed')];
    await red.inject('good');
    await red.shown('out', outs + 2);
    await red.shown('completed', completed + 2);
    assert.equal(red.process.exitCode, null, red.log());
  }

  FAILING.forEach(([name, , , code, message], i) => {
    it(`${name} ends in one error with a code that says so, and the next message is scored`, async () => {
      const before = count('caught');
      const completed = count('completed');
      await red.inject(`failing-${i}`);
      const caught = await red.shown('caught', before + 1);
      const { error } = caught.at(-1)!.msg as { error: { code: string; message: string } };
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      assert.equal(count('completed'), completed);
      await nextIsScored();
      assert.equal(count('caught'), before + 1);
    });
  });

  it('what Node-RED would copy for half a minute reaches Catch nodes as a few words', () => {
    const payloads = red.debug
      .filter(({ id }) => id === 'caught')
      .map(({ msg }) => (msg as { payload: unknown }).payload)
      .filter((payload) => typeof payload === 'string');
    assert.equal(payloads.length, 2);
    assert.match(payloads[0]!, /^\(a sparse array of 200000001 places, left out/);
    assert.match(payloads[1]!, /^\(an object of very many properties, left out/);
  });

  it('a message that cannot be copied is scored, and a warning says why Complete nodes do not hear of it', async () => {
    await red.inject('deep');
    await waitFor('the message', () => /deep came through/.exec(red.log())?.[0]);
    await nextIsScored();
    assert.match(red.log(), /could not copy a message for its Complete nodes \(.+\)/);
  });
});
