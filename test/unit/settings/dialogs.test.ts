import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { serviceUrl, settingsReader } from '../../doors/runtime';
import { NODE_SETTINGS, type Setting, type Settings } from '../../doors/settings';
import { choices, labels, loadDialogs, type NodeName, NODES } from '../../helpers/dialogs';
import { root } from '../../helpers/node-red';
import { fakeRuntime } from '../runtime/fake';

const { dialogs } = loadDialogs('en-US');
const settingsOf = (node: NodeName): Settings => NODE_SETTINGS[node];
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Values that a user may type into a field of each kind, right and wrong ones. */
function typed({ kind, min = 0, max = 9 }: Setting): unknown[] {
  switch (kind) {
    case 'number':
      return ['', ' ', 'x', 1.5, -1, min, max, min - 1, max + 1, String(max)];
    case 'types':
      return ['', '{}', '{"a":"date-dmy"}', '{"a":"zork"}', '[]', 'a'];
    case 'object':
      return ['', '{}', '{"a":1}', '[1]', 'a'];
    case 'quantiles':
      return ['', '0.1,0.9', '[0.1,0.9]', '0.1,,0.9', '0.1,', ',', '0', '1', '0.5,x', '[0.1', '[]'];
    case 'zone':
      return ['', 'UTC', 'Europe/Berlin', 'Atlantis'];
    case 'word':
      return ['', 'predict', 'two words'];
    case 'url':
      return [
        'https://a.example/x',
        'http://a',
        'a.example',
        'ftp://a',
        'https://me@a',
        'https:/a',
        'https:a',
      ];
    default:
      return [];
  }
}

/** Whether the runtime takes a value out of a dialog. */
function isRead(node: NodeName, name: string, value: unknown): boolean {
  try {
    const text = settingsReader(fakeRuntime({}), settingsOf(node), { [name]: value })(name);
    if (settingsOf(node)[name]!.kind === 'url') {
      serviceUrl(text as string);
    }
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'config.invalid');
    return false;
  }
}

describe('the settings of the nodes', () => {
  const contract = JSON.parse(
    fs.readFileSync(path.join(root, 'test', 'fixtures', 'flow-defaults.json'), 'utf8'),
  ) as Record<NodeName, Record<string, unknown>>;

  it('are those of all nodes', () => {
    assert.deepEqual(Object.keys(NODE_SETTINGS).sort(), [...NODES].sort());
  });

  for (const node of NODES) {
    const settings = Object.entries(settingsOf(node));

    it(`have the names and defaults of flow files that are out there: ${node}`, () => {
      assert.deepEqual(
        plain(Object.fromEntries(settings.map(([name, setting]) => [name, setting.default]))),
        contract[node],
      );
      assert.deepEqual(plain(dialogs[node].defaults), contract[node]);
    });

    it(`are the fields of the dialog, with these choices: ${node}`, () => {
      assert.deepEqual(
        dialogs[node].properties,
        settings.map(([name]) => name),
      );
      const fields = labels(dialogs[node].template);
      const offered = choices(dialogs[node].template);
      for (const [name, setting] of settings) {
        assert.equal(fields.has(name), setting.label !== false, name);
        const expected =
          setting.kind === 'choice' || setting.kind === 'onOff'
            ? [...(setting.default === '' ? [''] : []), ...(setting.options ?? [])]
            : undefined;
        assert.deepEqual(offered.get(name), expected, name);
      }
    });

    it(`are refused while they are typed where the runtime would refuse them: ${node}`, () => {
      for (const [name, setting] of settings) {
        // What must be filled in may be left empty as far as the runtime's reader goes.
        const isFilled = (value: unknown) =>
          setting.requiredWhen === undefined || String(value).trim() !== '';
        for (const value of typed(setting).filter(isFilled)) {
          const answer = dialogs[node].validate(name, value, { service: 'hosted', alarmOn: 'value' });
          assert.equal(answer === true, isRead(node, name, value), `${name}: ${String(value)}`);
        }
      }
    });
  }
});
