import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { type Locator } from 'playwright-core';

import { root } from '../helpers/node-red';
import { describeInEditor, type Editor, type EditorRed } from './editor';

const NAME = 'node-red-contrib-tabular-prediction';
const english = fs
  .readdirSync(path.join(root, 'examples'))
  .filter((file) => file.endsWith('.json'))
  .map((file) => path.parse(file).name);
/** These come in as a user does it: Import, Examples, this package, the example, Import. One of each folder. */
const BY_HAND = ['First steps', 'Deutsch/Erste Schritte', '日本語/最初の一歩'];
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
  view: EditorRed['view'];
}

const BEFORE = [
  { id: 'empty', type: 'tab', label: 'Empty' },
  { id: 'note', type: 'comment', z: 'empty', name: 'a flow of before', x: 200, y: 60, wires: [] },
];

/* That each one deploys and works is seen in test/runtime/. */
describeInEditor('importing each example in the editor', BEFORE, importEach, {
  // With the nodes of other packages that are there.
  settings: 'nodesExcludes: [],',
});

function importEach({ editor }: { editor: Editor }): void {
  it('the Import dialog lists them all', async () => {
    const dialog = await openImportDialog(editor);
    const module = dialog.getByText(NAME, { exact: true });
    await module.waitFor();
    await unfold(module, dialog.getByText('First steps', { exact: true }));
    const listed = await dialog.locator('.red-ui-treeList-label:visible').allInnerTexts();
    for (const name of [...english, 'Deutsch', '日本語']) {
      assert.ok(listed.map((text) => text.trim()).includes(name), `${name}: ${listed.join()}`);
    }
    await editor.page.locator('#red-ui-clipboard-dialog-cancel').click();
    await dialog.waitFor({ state: 'hidden' });
  });

  for (const name of [...new Set([...BY_HAND, ...english])]) {
    it(`${name}: every node is known and valid`, async () => {
      const { page } = editor;
      await (BY_HAND.includes(name) ? importByHand(editor, name) : importAsTheDialog(editor, name));
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
        const offer = page.getByRole('button', { name: 'Install all' });
        const notification = page.locator('.red-ui-notification').filter({ has: offer });
        await notification.waitFor();
        // It has no button that only closes it, and the next one is to be seen apart.
        await notification.evaluate((shown) => shown.remove());
      }
    });
  }
}

async function openImportDialog({ page }: Editor): Promise<Locator> {
  await page.evaluate(() => {
    const { RED } = globalThis as unknown as { RED: EditorRed };
    RED.actions.invoke('core:show-examples-import-dialog');
  });
  const dialog = page.locator('#red-ui-clipboard-dialog');
  await dialog.waitFor();
  return dialog;
}

/** The tree may be unfolding by itself, as it was left; a click in that moment folds it again. */
async function unfold(parent: Locator, child: Locator): Promise<void> {
  while (!(await child.isVisible())) {
    await parent.click();
    await child.waitFor({ timeout: 3_000 }).catch(() => undefined);
  }
}

async function importByHand(editor: Editor, file: string): Promise<void> {
  const { dir: folder, name } = path.parse(file);
  const { page } = editor;
  const dialog = await openImportDialog(editor);
  const module = dialog.getByText(NAME, { exact: true });
  const item = dialog.getByText(name, { exact: true });
  await module.waitFor();
  if (folder === '') {
    await unfold(module, item);
  } else {
    const language = dialog.getByText(folder, { exact: true });
    await unfold(module, language);
    await unfold(language, item);
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

/** What the dialog does once Import is pressed, from the same address. The dialog itself takes most of the time. */
function importAsTheDialog({ page }: Editor, name: string): Promise<void> {
  return page.evaluate(
    async (route) => {
      const flow = (await (await fetch(route)).json()) as object[];
      const { RED } = globalThis as unknown as { RED: EditorNodes };
      RED.view.importNodes(flow, { generateIds: false, addFlow: false });
    },
    `library/examples/flows/${NAME}/${encodeURIComponent(name)}`,
  );
}
