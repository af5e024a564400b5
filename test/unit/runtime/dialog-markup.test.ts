import assert from 'node:assert/strict';

import { loadDialogs } from '../../helpers/dialogs';

const { dialogs } = loadDialogs('en-US');

describe('the markup of the dialogs', () => {
  /** The start tags of a template, each with the names of its attributes. */
  const tags = (template: string) =>
    [...template.matchAll(/<[a-z]+(\s[^>]*)>/g)].map(([tag, inner]) => ({
      tag,
      names: [...inner!.replace(/"[^"]*"/g, '').matchAll(/\s([\w-]+)(?==|\s|$)/g)].map((match) => match[1]!),
    }));

  for (const [node, { template }] of Object.entries(dialogs)) {
    it(`gives no element an attribute twice, of which a browser drops the second: ${node}`, () => {
      const all = tags(template);
      assert.ok(all.length > 20);
      for (const { tag, names } of all) {
        assert.deepEqual(names, [...new Set(names)], tag);
      }
    });
  }

  it('shows at most eight fields before Advanced, whatever is chosen', () => {
    for (const [node, { template }] of Object.entries(dialogs)) {
      const [shown] = template.split('<details');
      const fields = [...shown!.matchAll(/<(?:input|select)\b[^>]*>/g)].filter(
        ([tag]) => !tag.includes('hidden'),
      );
      assert.ok(fields.length >= 2 && fields.length <= 8, `${node}: ${fields.length}`);
    }
  });

  it('hides the token while it is typed', () => {
    const token = tags(dialogs.config.template).find(({ tag }) =>
      tag.startsWith('<input id="node-config-input-token"'),
    );
    assert.match(token!.tag, / type="password"/);
  });
});
