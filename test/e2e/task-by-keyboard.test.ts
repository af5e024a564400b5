import assert from 'node:assert/strict';

import { describeInEditor, type Editor, type EditorRed } from './editor';

/** A flow with nothing in it but what a new one has. */
const flow = [
  { id: 'sheet', type: 'tab', label: 'Motor' },
  { id: 'note', type: 'comment', z: 'sheet', name: 'a motor on MQTT', x: 150, y: 40, wires: [] },
];

interface Found {
  id: string;
  type: string;
}

function buildForecast({ editor }: { editor: Editor }): void {
  const selected = () =>
    editor.page.evaluate(
      () =>
        (
          globalThis as unknown as { RED: { view: { selection(): { nodes?: Found[] } } } }
        ).RED.view.selection().nodes?.[0]?.type,
    );
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await editor.page.keyboard.press(key);
    }
  };
  /** Goes by Tab from where the focus is to the field of a label. */
  async function tabTo(label: string): Promise<void> {
    for (let i = 0; i < 40; i++) {
      const name = await editor.page.evaluate(() => {
        const active = document.activeElement!;
        const by = active.getAttribute('aria-labelledby') ?? '';
        const named = document.getElementById(by)?.textContent ?? active.getAttribute('aria-label') ?? '';
        return active.matches('input, select, summary') ? named || (active.textContent ?? '') : '';
      });
      if (name.trim() === label) {
        return;
      }
      await press('Tab');
    }
    throw new Error(`Tab does not come to ${label}`);
  }
  async function fill(label: string, text: string): Promise<void> {
    await tabTo(label);
    await press('Control+a');
    await editor.page.keyboard.type(text);
    // Closes the list under it, where there is one.
    if ((await editor.page.locator(':focus[aria-expanded=true]').count()) > 0) {
      await press('Escape');
    }
  }
  async function open(type: string): Promise<void> {
    assert.equal(await selected(), type);
    await press('Enter');
    await editor.page.waitForSelector('.red-ui-tray .tabular-form');
    await editor.page.waitForFunction(() => document.activeElement?.closest('.red-ui-tray') !== null);
  }
  async function close(): Promise<void> {
    await press('Control+Enter');
    await editor.page.waitForSelector('.red-ui-tray', { state: 'detached' });
  }

  it('the action list adds the nodes, arrow keys go from one to the next, Tab to their fields', async () => {
    const { page } = editor;
    await press('Control+Shift+P');
    await page.keyboard.type('mqtt forecast');
    await press('Enter');
    await page.waitForFunction(
      () =>
        (
          globalThis as unknown as { RED: EditorRed & { nodes: { filterNodes(of: object): unknown[] } } }
        ).RED.nodes.filterNodes({ type: 'tabular-series' }).length === 1,
    );
    assert.equal(await selected(), 'mqtt in');

    await press('ArrowRight');
    await open('tabular-series');
    await fill('Column', 'temperature');
    await fill('Ahead', '10m');
    await close();

    await press('ArrowRight');
    await open('tabular-predict');
    await fill('Model', 'motor temperature');
    await close();

    await press('ArrowDown');
    await open('tabular-fit');
    await fill('Keep as', 'motor temperature');
    await close();

    await press('ArrowUp', 'ArrowRight');
    await open('tabular-watch');
    await fill('Model', 'motor temperature');
    await tabTo('Alarm on');
    await press('ArrowDown', 'ArrowDown');
    await fill('Raise at', '85');
    await close();

    const built = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      return RED.nodes.createCompleteNodeSet({}).filter(({ type }) => type !== 'comment' && type !== 'tab');
    });
    const byType = new Map(built.map((node) => [String(node.type), node]));
    const idOf = (type: string) => byType.get(type)!.id;
    assert.deepEqual(byType.get('tabular-series')!.wires, [
      [idOf('tabular-predict')],
      [idOf('tabular-watch')],
      [idOf('tabular-fit')],
    ]);
    assert.equal(byType.get('tabular-series')!.column, 'temperature');
    assert.equal(byType.get('tabular-fit')!.model, 'motor temperature');
    const { model, alarmOn, raise } = byType.get('tabular-watch')!;
    assert.deepEqual([model, alarmOn, raise], ['motor temperature', 'value', '85']);
  });
}

describeInEditor('a forecast of a motor on MQTT, built without a mouse', flow, buildForecast, {
  // In one file the editor is all as users have it.
  codeEditor: 'monaco',
  installs: true,
  settings: 'nodesExcludes: [],',
});
