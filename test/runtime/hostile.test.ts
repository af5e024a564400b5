import assert from 'node:assert/strict';

import { FlowBuilder } from '../helpers/flow';
import { type RealNodeRed, startNodeRed, waitFor } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';

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
    /msg\.then/,
  ],
  [
    'a property that throws as it is read',
    'predict',
    `${row} Object.defineProperty(msg, 'reset', { get() { throw new Error('boom'); }, enumerable: true });`,
    'validation.failed',
    /msg\.reset cannot be read: boom/,
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
    const flow = new FlowBuilder()
      .service(service)
      .inject('train', ROWS)
      .tabular('fit', 'fit', { target: 'y', model: 'm' })
      .tabular('predict', 'predict', { model: 'm' })
      .tabular('fan', 'predict', { model: 'm' })
      .tabular('nested', 'predict', { model: 'm', table: 'data.rows' })
      .tabular('stored', 'predict', { model: 'm', table: 'rows', tableType: 'flow' })
      .debug('out')
      .debug('other')
      .catches('catch', ['fit', 'predict', 'fan', 'nested', 'stored'])
      .debug('caught')
      .node('complete', 'complete', { scope: ['fit', 'predict', 'fan', 'nested', 'stored'] })
      .debug('completed')
      .inject('good', { id: 5, x: 2 })
      .wire('train', 'fit')
      .wire('good', ['predict', 'fan'], 'out')
      .wire(['fit', 'nested', 'stored'], 'out')
      .wire('fan', 'other')
      .wire('catch', 'caught')
      .wire('complete', 'completed');
    const hostile = (id: string, to: string, code: string): void => {
      flow.inject(id, ROWS).func(`${id}-f`, `${code} node.send(msg, false);`).wire(id, `${id}-f`, to);
    };
    FAILING.forEach(([, to, code], i) => hostile(`failing-${i}`, to, code));
    flow
      .tabular('deep-predict', 'predict', { model: 'm' })
      .func('deep-out', "node.warn('deep came through');")
      .wire('deep-predict', 'deep-out')
      .catches('deep-watch', ['deep-predict'])
      .node('deep-complete', 'complete', { scope: ['deep-predict'] });
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

  it('a message that cannot be copied is scored, and a warning says why Complete nodes do not hear of it', async () => {
    await red.inject('deep');
    await waitFor('the message', () => /deep came through/.exec(red.log())?.[0]);
    await nextIsScored();
    assert.match(red.log(), /could not copy a message for its Complete nodes \(.+\)/);
  });
});
