import assert from 'node:assert/strict';

import { type Message, readProperty, settingsReader } from '../../doors/runtime';
import { choice, column, flag, NODE_SETTINGS, numberIn, object } from '../../doors/settings';
import { labels, loadDialogs, NODES } from '../../helpers/dialogs';
import { fakeNode, fakeRuntime, redIn } from './fake';

const TABLE = {
  target: column({ message: 'target' }),
  options: object({ message: 'options' }),
  task: choice(['auto', 'a', 'b'], { default: 'auto', open: 'auto', message: 'task' }),
  again: flag({ message: 'again' }),
  ordered: flag({ default: true }),
  wait: numberIn({ min: 1, fallback: 60 }),
};
const reader = (def: object, msg: object = {}) => settingsReader(fakeRuntime({}), TABLE, def, msg as Message);

describe('settings of a dialog and a message', () => {
  it('are those of the dialog; what it leaves open is taken from the message', () => {
    assert.equal(reader({ target: 'a' }, { target: 'b' })('target'), 'a');
    for (const empty of ['', undefined, null]) {
      assert.equal(reader({ target: empty }, { target: 'b' })('target'), 'b');
    }
    assert.equal(reader({ target: '' }, { target: '' })('target'), undefined);
    assert.deepEqual(reader({ options: '{}' }, { options: { b: 2 } })('options'), { b: 2 });
    assert.equal(reader({ target: 'a' }, { target: 'b' })('target', 'message first'), 'b');
    assert.equal(reader({ target: 'a' })('target', 'message first'), 'a');
  });

  it('are open where a choice says so', () => {
    assert.equal(reader({ task: 'auto' }, { task: 'b' })('task'), 'b');
    assert.equal(reader({ task: 'a' }, { task: 'b' })('task'), 'a');
    assert.equal(reader({})('task'), 'auto');
  });

  it('are what an empty field stands for, where nobody says anything', () => {
    assert.equal(reader({ wait: '' })('wait'), 60);
    assert.equal(reader({})('ordered'), true);
    assert.equal(reader({ ordered: false })('ordered'), false);
    assert.equal(reader({ ordered: 'false' })('ordered'), false);
  });

  it('raise a check box by dialog or message', () => {
    const cases: [unknown, unknown, boolean][] = [
      [true, undefined, true],
      [false, true, true],
      [undefined, false, false],
      ['', 'no', false],
      ['true', undefined, true],
      [false, 'true', true],
    ];
    for (const [again, raised, expected] of cases) {
      assert.equal(reader({ again }, { again: raised })('again'), expected);
    }
  });

  it('name the property of the message that is wrong', () => {
    const refusal = { code: 'validation.failed', message: 'msg.target must be a text.' };
    assert.throws(() => reader({ target: '' }, { target: {} })('target'), refusal);
    const msg = { _msgid: 'm', target: {} } as Message;
    assert.throws(() => readProperty(column(), 'target', msg), refusal);
  });

  it('take variables of the environment, and are checked only where they are read', () => {
    process.env.TABULAR_WAIT = '0';
    try {
      const read = reader({ wait: '${TABULAR_WAIT}', target: 'x' });
      assert.equal(read('target'), 'x');
      assert.throws(() => read('wait'), {
        code: 'config.invalid',
        message: /must be a number of at least 1/,
      });
    } finally {
      delete process.env.TABULAR_WAIT;
    }
  });
});

describe('a field in an error', () => {
  for (const language of ['en-US', 'de', 'ja']) {
    const { dialogs } = loadDialogs(language);
    for (const node of NODES) {
      it(`has the name that the dialog shows: ${node}, ${language}`, () => {
        const shown = labels(dialogs[node].template);
        let checked = 0;
        for (const [name, { kind }] of Object.entries(NODE_SETTINGS[node])) {
          // No text is wrong in a field of these.
          if (
            ![
              'choice',
              'onOff',
              'number',
              'quantiles',
              'types',
              'object',
              'zone',
              'word',
              'several',
            ].includes(kind)
          ) {
            continue;
          }
          checked++;
          const self = Object.assign(fakeNode(), { type: `tabular-${node}` });
          const read = settingsReader({ red: redIn(language), node: self }, NODE_SETTINGS[node], {
            [name]: '?!',
          });
          assert.throws(
            () => read(name as never),
            (error: { message: string; code: string }) =>
              error.code === 'config.invalid' &&
              error.message.startsWith(`The field "${shown.get(name)![0]}" `),
            name,
          );
        }
        assert.ok(checked > 0);
      });
    }
  }
});
