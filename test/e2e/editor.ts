/* A real Chromium on the editor of a real Node-RED. */
import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { type APIResponse, type Browser, chromium, type Page, type Route } from 'playwright-core';

import {
  type FlowNode,
  placed,
  type RealNodeRed,
  startNodeRed,
  type StartOptions,
} from '../helpers/node-red';
import { NODE_TYPES } from '../helpers/package-nodes';

/** The first draws no window of its own, and takes a quarter less processor time to open an editor. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Whatever would go to the internet fails, and is in the complaints.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
/** Nothing here looks at the icons of the palette: to draw them takes a tenth of an editor's processor time. */
const EDITOR_FLAGS = [...FLAGS, '--blink-settings=imagesEnabled=false'];

/**
 * For what Playwright itself asks: a connection of its own. Node-RED closes one that was idle for 5 s, maybe while the
 * next request is on its way.
 */
export const OWN = { connection: 'close' };

/** What Node-RED answers to a request of the editor. */
export function handOn(route: Route): Promise<APIResponse> {
  return route.fetch({ headers: { ...route.request().headers(), ...OWN } });
}

/** Chromium by the variable CHROMIUM, in its usual place, or on the path. */
export function findChromium(): string | undefined {
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(path.delimiter)];
  const known = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return [process.env.CHROMIUM, ...known].find((file) => {
    if (file === undefined || file === '') {
      return false;
    }
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The ids of the nodes of `sheet`, its config node among them. */
export const SHEET_IDS = [
  ...NODE_TYPES.map((type) => type.slice('tabular-'.length)).filter((name) => name !== 'config'),
  'local',
];

/** The empty wires of a node's outputs. */
export const outputsOf = (id: string): [][] =>
  Array.from({ length: { series: 3, limits: 2, watch: 2, anomaly: 2 }[id] ?? 1 }, () => []);

/** A flow with one node of each type, as a user drags them in, on an embedded service. */
export function sheet(more: FlowNode[] = []): FlowNode[] {
  const nodes = SHEET_IDS.slice(0, -1).map((id, i) => ({
    id,
    type: `tabular-${id}`,
    z: 'sheet',
    name: '',
    x: 300,
    y: 80 + 60 * i,
    config: 'local',
    wires: outputsOf(id),
  }));
  return [
    { id: 'sheet', type: 'tab', label: 'Sheet' },
    { id: 'local', type: 'tabular-config', name: '', service: 'embedded' },
    ...nodes,
    ...more,
  ];
}

/** The themes of this editor: Node-RED 5 has a dark one. */
export async function themes(page: Page): Promise<('light' | 'dark')[]> {
  await useTheme(page, 'dark');
  const ground = await page.evaluate(() =>
    getComputedStyle(document.documentElement).getPropertyValue('--red-ui-form-background').trim(),
  );
  await useTheme(page, 'light');
  return ground === '#fff' ? ['light'] : ['light', 'dark'];
}

/** As the editor's own setting does. */
export async function useTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(
    (dark) => document.documentElement.classList.toggle('nr-theme-dark', dark),
    theme === 'dark',
  );
}

export interface Editor {
  page: Page;
  /** Errors of the console and of scripts, so far. */
  complaints: string[];
  close(): Promise<void>;
}

/** An editor in a Chromium of its own. */
export async function openEditor(executablePath: string, url: string): Promise<Editor> {
  const browser = await chromium.launch({ executablePath, args: EDITOR_FLAGS });
  try {
    return { ...(await openWindow(browser, url)), close: () => browser.close() };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/** An editor in this Chromium, in a window that knows nothing of the others. */
export async function openWindow(browser: Browser, url: string, locale = 'en-US'): Promise<Editor> {
  const page = await browser.newPage({ viewport: { width: 1300, height: 1100 }, locale });
  page.setDefaultTimeout(30_000);
  // The test's compiler marks named functions so; what runs in the page needs the mark too.
  await page.addInitScript('globalThis.__name = (named) => named');
  // Trays come and go at once: to draw them as they slide takes a third of the processor time of what a dialog does.
  await page.addInitScript(() => {
    const still = new CSSStyleSheet();
    still.replaceSync('*, ::before, ::after { transition: none !important; animation: none !important; }');
    document.adoptedStyleSheets.push(still);
  });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') {
      complaints.push(`${message.text()}: ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  // Node-RED starts its tips a second after its settings are there, on a slow machine before the box they stand in is.
  await page.request.post(`${url}/settings/user`, {
    data: { editor: { view: { 'view-show-tips': false } } },
    headers: OWN,
  });
  await page.goto(url);
  await loaded(page);
  return { page, complaints, close: () => page.close() };
}

/** The palette and the flows are there. */
export async function loaded(page: Page): Promise<void> {
  await page.waitForSelector('#red-ui-palette .red-ui-palette-node');
  await page.waitForSelector('.red-ui-flow-node');
}

/**
 * Tests in the editor of one Node-RED with these flows; both are there from the first test on. What a test leaves open
 * is closed; it must leave no complaint of the browser. Without Chromium the tests are counted as skipped.
 */
export function describeInEditor(
  title: string,
  flows: FlowNode[],
  tests: (at: { red: RealNodeRed; editor: Editor }) => void,
  options: Pick<StartOptions, 'codeEditor' | 'installs' | 'settings'> = {},
): void {
  describe(`${title}, in Chromium`, function () {
    this.timeout(60_000);
    const red = {} as RealNodeRed;
    const editor = {} as Editor;

    before(async function () {
      const executablePath = findChromium();
      if (executablePath === undefined) {
        console.log('      no Chromium (CHROMIUM, /usr/bin/chromium or on the path): these are not tested');
        this.skip();
      }
      Object.assign(red, await startNodeRed({ flows: [], ...options }));
      // Deployed, so that a token is stored as a user's is.
      await red.deploy(placed(flows));
      Object.assign(editor, await openEditor(executablePath, red.url));
    });

    after(async () => {
      await editor.close?.();
      await red.stop?.();
    });

    afterEach(async () => {
      await closeTrays(editor.page);
      assert.deepEqual(editor.complaints?.splice(0) ?? [], []);
    });

    tests({ red, editor });
  });
}

/** Opens a node's dialog as a double click does. */
export async function openDialog(page: Page, id: string): Promise<void> {
  await page.evaluate((node) => {
    const { RED } = globalThis as unknown as { RED: EditorRed };
    RED.editor.edit(RED.nodes.node(node));
  }, id);
  await page.waitForSelector('.red-ui-tray .tabular-form');
  await settled(page);
}

export async function openConfigDialog(page: Page, id: string): Promise<void> {
  await page.evaluate((node) => {
    const { RED } = globalThis as unknown as { RED: EditorRed };
    RED.editor.editConfig('', 'tabular-config', node, 'node-input');
  }, id);
  await page.waitForSelector('.red-ui-tray #tabular-test', { state: 'attached' });
  await settled(page);
}

/** Presses Done (or Update), and waits until the tray is gone. */
export async function done(page: Page): Promise<void> {
  await page.locator('.red-ui-tray').last().locator('.red-ui-tray-toolbar .primary').click();
  await page.waitForSelector('.red-ui-tray', { state: 'detached' });
}

export async function cancel(page: Page): Promise<void> {
  await page
    .locator('.red-ui-tray')
    .last()
    .locator('.red-ui-tray-toolbar button:not(.primary)')
    .last()
    .click();
  await page.waitForSelector('.red-ui-tray', { state: 'detached' });
}

/** Closes what a failed test left open, so that the next one begins with none. */
export async function closeTrays(page: Page | undefined): Promise<void> {
  while (page !== undefined && (await page.locator('.red-ui-tray').count()) > 0) {
    await cancel(page);
  }
}

/** The entries of the list under a field, once there are any. It closes the list again. */
export async function offered(page: Page, label: string): Promise<string[]> {
  const field = page.locator('.red-ui-tray').last().getByRole('combobox', { name: label, exact: true });
  await field.click();
  const entries = page.getByRole('listbox', { name: label }).getByRole('option');
  await entries.first().waitFor();
  const texts = await entries.allInnerTexts();
  await page.keyboard.press('Escape');
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
}

/** The tray is as wide as it will be, and has the focus: the editor gives it to the first field a moment after opening. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.red-ui-tray')].at(-1)?.contains(document.activeElement),
  );
}

/** The properties of a node in the editor. */
export function properties(page: Page, id: string): Promise<Record<string, unknown>> {
  return page.evaluate((node) => {
    const { RED } = globalThis as unknown as { RED: EditorRed };
    const found = RED.nodes.node(node);
    const names = ['name', ...Object.keys(found._def.defaults), 'valid', 'validationErrors'];
    return {
      ...Object.fromEntries(names.map((name) => [name, found[name]])),
      changed: found.changed === true,
    };
  }, id);
}

export async function deploy(page: Page): Promise<void> {
  await Promise.all([
    page.waitForResponse((answer) => answer.url().endsWith('/flows') && answer.request().method() === 'POST'),
    page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      RED.actions.invoke('core:deploy-flows');
    }),
  ]);
  // The editor takes the answer in after it has come: only then is a token a stored one.
  await page.waitForFunction(() => !(globalThis as unknown as { RED: EditorRed }).RED.nodes.dirty());
}

interface EditorNode extends Record<string, unknown> {
  _def: { defaults: Record<string, unknown> };
}

export interface EditorRed {
  editor: {
    edit(node: EditorNode): void;
    editConfig(name: string, type: string, id: string, prefix: string): void;
  };
  nodes: {
    node(id: string): EditorNode;
    createExportableNodeSet(nodes: EditorNode[]): Record<string, unknown>[];
    createCompleteNodeSet(options: object): Record<string, unknown>[];
    getType(type: string): unknown;
    add(node: EditorNode): void;
    remove(id: string): void;
    addLink(link: { source: EditorNode; sourcePort: number; target: EditorNode }): void;
    dirty(): boolean;
  };
  view: {
    importNodes(nodes: object[], options: object): void;
    createNode(type: string, x: number, y: number, z: string): { node: EditorNode };
  };
  actions: { invoke(name: string): void };
}
