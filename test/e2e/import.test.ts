import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { root } from '../helpers/node-red';
import { describeInEditor, type EditorRed, loaded } from './editor';

const NAME = 'node-red-contrib-tabular-prediction';
const english = fs
  .readdirSync(path.join(root, 'examples'))
  .filter((file) => file.endsWith('.json'))
  .map((file) => path.parse(file).name);
const examples = [...english, 'Deutsch/Erste Schritte', '日本語/最初の一歩'];
const modulesOf = (name: string): string[] => {
  const flow = JSON.parse(fs.readFileSync(path.join(root, 'examples', `${name}.json`), 'utf8')) as {
    type: string;
    modules?: object;
  }[];
  return Object.keys(flow.find(({ type }) => type === 'global-config')?.modules ?? {});
};

interface EditorNodes {
  nodes: {
    getWorkspaceOrder(): string[];
    workspace(id: string): { label: string };
    filterNodes(filter: object): { type: string; name: string; valid: boolean }[];
  };
}

/* As a user does it: Import, Examples, this package, the example, Import. That each one deploys and works is seen in test/runtime/. */
const BEFORE = [
  { id: 'empty', type: 'tab', label: 'Empty' },
  { id: 'note', type: 'comment', z: 'empty', name: 'a flow of before', x: 200, y: 60, wires: [] },
];

describeInEditor('importing each example in the editor', BEFORE, ({ editor }) => {
  async function importExample(file: string): Promise<void> {
    const { dir: folder, name } = path.parse(file);
    const { page } = editor;
    await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      RED.actions.invoke('core:show-examples-import-dialog');
    });
    const dialog = page.locator('#red-ui-clipboard-dialog');
    await dialog.waitFor();
    const module = dialog.getByText(NAME, { exact: true });
    const item = dialog.getByText(name, { exact: true });
    await module.waitFor();
    // The tree may be unfolding by itself, as it was left; a click in that moment folds it again.
    const open = async (parent: typeof item, child: typeof item) => {
      while (!(await child.isVisible())) {
        await parent.click();
        await child.waitFor({ timeout: 3_000 }).catch(() => undefined);
      }
    };
    if (folder === '') {
      await open(module, item);
    } else {
      const language = dialog.getByText(folder, { exact: true });
      await open(module, language);
      await open(language, item);
    }
    const ok = page.locator('#red-ui-clipboard-dialog-ok');
    // While the tree unfolds a click may go beside.
    for (let tries = 0; tries < 10 && (await ok.isDisabled()); tries++) {
      await item.click();
      await page.waitForTimeout(200);
    }
    await ok.click();
    await dialog.waitFor({ state: 'hidden' });
  }

  for (const name of examples) {
    it(`${name}: every node is known and valid`, async () => {
      const { page } = editor;
      await importExample(name);
      const imported = await page.waitForFunction((label) => {
        const { RED } = globalThis as unknown as { RED: EditorNodes };
        const tab = RED.nodes.getWorkspaceOrder().find((id) => RED.nodes.workspace(id).label === label);
        return tab === undefined
          ? undefined
          : RED.nodes.filterNodes({ z: tab }).map(({ type, name, valid }) => ({ type, name, valid }));
      }, path.basename(name));
      const nodes = (await imported.jsonValue())!;
      assert.ok(nodes.length > 5);
      const needs = modulesOf(name);
      const unknown = nodes.filter(({ type }) => type === 'unknown');
      const wrong = nodes.filter(({ type, valid }) => type !== 'unknown' && !valid);
      assert.deepEqual(wrong, []);
      if (unknown.length > 0) {
        // Where the packages are not installed, the editor names the missing types and offers to install.
        assert.ok(needs.length > 0, JSON.stringify(unknown));
        const offer = page.locator('.red-ui-notification').getByRole('button', { name: 'Install all' });
        await offer.waitFor();
        await page.reload();
        await loaded(page);
      }
    });
  }
});
