import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { labels, loadDialogs, type NodeName } from '../../helpers/dialogs';
import { root } from '../../helpers/node-red';

/* What an error calls a field is what the dialog calls it. */
const folder = path.join(root, 'src', 'runtime');
const NODES_OF: Record<string, NodeName[]> = {
  'config/client-options.ts': ['config'],
  'requests/cost-request.ts': ['cost'],
  'requests/fit-request.ts': ['fit'],
  'requests/limits-request.ts': ['limits'],
  'requests/predict-request.ts': ['predict'],
  'requests/predict-queue.ts': ['predict'],
  'input/table-collector.ts': ['fit', 'upload'],
  'fields/cleaning-fields.ts': ['fit', 'upload', 'predict'],
  'fields/missing-target-field.ts': ['fit', 'upload'],
  'fields/types-field.ts': ['fit', 'upload'],
  'requests/upload-request.ts': ['upload'],
};
const { dialogs } = loadDialogs('en-US');

/** The fields that a module names, with the property read there where it stands beside the name. */
function named(text: string): { label: string; property?: string }[] {
  const value =
    /(?:,\s*(?:value: )?(?:env\()?(?:(?:fromEnvironment|inside|insideOptions)\(red, node, )?def\.(\w+))?/
      .source;
  return [
    /The field ([A-Z][a-z]+(?: [a-z]+)*?)(?: names| gives|')/,
    /\bcandidates\(\s*'([^']+)'/,
    /\bnumber\('([^']+)'/,
  ]
    .flatMap((start) => [...text.matchAll(new RegExp(start.source + value, 'g'))])
    .map(([, label, property]) => ({ label: label!, property }));
}

describe('fields in error messages', () => {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: fs.readFileSync(path.join(folder, file), 'utf8') }))
    .filter(({ file, text }) => file !== 'fields/fields.ts' && /The field |candidates\('/.test(text));

  it('are named in the modules that are looked at here, and nowhere else', () => {
    assert.deepEqual(files.map(({ file }) => file).sort(), Object.keys(NODES_OF).sort());
  });

  for (const { file, text } of files) {
    it(`have the labels of the dialog: ${file}`, () => {
      const fields = named(text);
      assert.ok(fields.length > 0);
      for (const node of NODES_OF[file] ?? []) {
        const known = labels(dialogs[node].template);
        for (const { label, property } of fields) {
          assert.ok([...known.values()].flat().includes(label), `${node} has no field ${label}`);
          if (property !== undefined) {
            assert.deepEqual([label], known.get(property), `${node}: ${property}`);
          }
        }
      }
    });
  }
});

describe('the markup of the dialogs', () => {
  /** The start tags of a template, each with the names of its attributes. */
  const tags = (template: string) =>
    [...template.matchAll(/<[a-z]+(\s[^>]*)>/g)].map(([tag, inner]) => ({
      tag,
      names: [...inner!.matchAll(/\s([\w-]+)(?==|\s|$)/g)].map((match) => match[1]!),
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

  it('hides the token while it is typed', () => {
    const token = tags(dialogs.config.template).find(({ tag }) =>
      tag.startsWith('<input id="node-config-input-token"'),
    );
    assert.match(token!.tag, / type="password"/);
  });
});
