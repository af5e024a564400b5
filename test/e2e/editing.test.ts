import assert from 'node:assert/strict';

import { type FlowNode } from '../helpers/node-red';
import { waitFor } from '../helpers/wait';
import {
  deploy,
  describeInEditor,
  done,
  type EditorRed,
  openConfigDialog,
  openDialog,
  properties,
  sheet,
} from './editor';

interface Clipboard extends EditorRed {
  nodes: EditorRed['nodes'] & { dirty(): boolean; filterNodes(filter: object): { id: string }[] };
  view: EditorRed['view'] & { select(selection: object): void };
}

/** Rows whose label is told by x alone; `yes` and `no` name the labels. */
const rows = (yes: string, no: string) =>
  JSON.stringify(Array.from({ length: 40 }, (_, i) => ({ x: i % 8, label: i % 8 > 3 ? yes : no })));

const inject = (id: string, payload: string, to: string): FlowNode => ({
  id,
  type: 'inject',
  z: 'sheet',
  props: [{ p: 'payload' }],
  repeat: '',
  crontab: '',
  once: false,
  onceDelay: 0.1,
  topic: '',
  payload,
  payloadType: 'json',
  wires: [[to]],
});

/** A subflow with a predict node whose model is a variable of the subflow, and two of its kind with a model each. */
const SUBFLOW: FlowNode[] = [
  {
    id: 'ask',
    type: 'subflow',
    name: 'ask a model',
    info: '',
    env: [
      { name: 'MODEL', type: 'str', value: '' },
      { name: 'COLUMN', type: 'str', value: 'said' },
    ],
    in: [{ x: 40, y: 40, wires: [{ id: 'asked' }] }],
    out: [{ x: 400, y: 40, wires: [{ id: 'asked', port: 0 }] }],
  },
  {
    id: 'asked',
    type: 'tabular-predict',
    z: 'ask',
    name: '',
    x: 200,
    y: 40,
    config: 'local',
    model: '${MODEL}',
    outputType: 'preds',
    property: '${COLUMN}',
    wires: [[]],
  },
  ...['fruit', 'weather'].flatMap((model): FlowNode[] => [
    inject(`fit-${model}`, model === 'fruit' ? rows('ripe', 'green') : rows('rain', 'sun'), `model-${model}`),
    {
      id: `model-${model}`,
      type: 'tabular-fit',
      z: 'sheet',
      name: '',
      config: 'local',
      target: 'label',
      model,
      wires: [[]],
    },
    inject(`ask-${model}`, '[{"x":7},{"x":0}]', `sub-${model}`),
    {
      id: `sub-${model}`,
      type: 'subflow:ask',
      z: 'sheet',
      name: '',
      env: [
        { name: 'MODEL', type: 'str', value: model },
        ...(model === 'weather' ? [{ name: 'COLUMN', type: 'str', value: 'sky' }] : []),
      ],
      wires: [[`shown-${model}`]],
    },
    {
      id: `shown-${model}`,
      type: 'debug',
      z: 'sheet',
      name: '',
      active: true,
      tosidebar: true,
      complete: 'payload',
      targetType: 'msg',
      wires: [],
    },
  ]),
];

const FLOWS = [
  ...sheet(),
  {
    id: 'far',
    type: 'tabular-config',
    name: 'far',
    service: 'hosted',
    baseUrl: 'http://127.0.0.1:9',
    credentials: { token: 'a-secret' },
  },
  ...SUBFLOW,
];

describeInEditor('editing flows with the nodes', FLOWS, ({ red, editor }) => {
  const invoke = (action: string) =>
    editor.page.evaluate((name) => {
      (globalThis as unknown as { RED: Clipboard }).RED.actions.invoke(name);
    }, action);
  const dirty = () =>
    editor.page.evaluate(() => (globalThis as unknown as { RED: Clipboard }).RED.nodes.dirty());
  const idsOf = (type: string) =>
    editor.page.evaluate(
      (wanted) =>
        (globalThis as unknown as { RED: Clipboard }).RED.nodes
          .filterNodes({ type: wanted })
          .map(({ id }) => id),
      type,
    );
  const services = () =>
    editor.page.evaluate(
      () =>
        (globalThis as unknown as { RED: Clipboard }).RED.nodes
          .createCompleteNodeSet({ credentials: false })
          .filter(({ type }) => type === 'tabular-config').length,
    );
  const field = (label: string) =>
    editor.page.locator('.red-ui-tray').last().getByLabel(label, { exact: true });
  /** What hangs on the mouse is put down on the sheet. */
  async function putDown(): Promise<void> {
    const { page } = editor;
    await page.mouse.move(700, 700);
    await page.mouse.move(720, 720);
    await page.mouse.click(720, 720);
  }
  /** Where nothing is left to be deployed. */
  async function clean(): Promise<void> {
    if (await dirty()) {
      await deploy(editor.page);
    }
    await editor.page.waitForFunction(() => !(globalThis as unknown as { RED: Clipboard }).RED.nodes.dirty());
  }

  it('Done without a change of a service leaves nothing to deploy, and the token untouched', async () => {
    const { page } = editor;
    await clean();
    await openConfigDialog(page, 'far');
    assert.equal(await field('Token').inputValue(), '__PWRD__');
    await done(page);
    assert.equal(await dirty(), false);
    assert.equal((await properties(page, 'far')).changed, false);
    const sent = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: Clipboard };
      const all = RED.nodes.createCompleteNodeSet({ credentials: true });
      return JSON.stringify(all.find(({ id }) => id === 'far'));
    });
    assert.doesNotMatch(sent, /credentials|secret/);
  });

  it('a change is undone and done again, check boxes and JSON too; undone, there is nothing to deploy', async () => {
    const { page } = editor;
    await clean();
    const before = await properties(page, 'fit');
    await openDialog(page, 'fit');
    await field('Target').fill('label');
    await page.locator('.tabular-advanced > summary').click();
    await field('text').check();
    await field('Fit again even if nothing changed').check();
    await page.evaluate(() => {
      const { $ } = globalThis as unknown as {
        $: (selector: string) => { typedInput(...args: unknown[]): void };
      };
      $('#node-input-options').typedInput('value', '{"random_state":7}');
    });
    await done(page);
    const after = await properties(page, 'fit');
    assert.deepEqual(
      [after.target, after.systems, after.forceRefit, after.options],
      ['label', ['text'], true, '{"random_state":7}'],
    );
    assert.equal(await dirty(), true);

    await invoke('core:undo');
    assert.deepEqual(await properties(page, 'fit'), before);
    assert.equal(await dirty(), false);
    await invoke('core:redo');
    assert.deepEqual(await properties(page, 'fit'), after);
    await openDialog(page, 'fit');
    assert.equal(await field('Target').inputValue(), 'label');
    assert.equal(await field('text').isChecked(), true);
    await done(page);
    await invoke('core:undo');
    assert.deepEqual(await properties(page, 'fit'), before, 'Done without a change is no step of its own');
  });

  it('a copied node keeps its service and its fields; no second service comes to be', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    await field('Model').fill('fruit');
    await field('Attach as').fill('said');
    await done(page);
    const before = await idsOf('tabular-predict');
    const count = await services();
    await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: Clipboard };
      RED.view.select({ nodes: [RED.nodes.node('predict')] });
    });
    await invoke('core:copy-selection-to-internal-clipboard');
    await invoke('core:paste-from-internal-clipboard');
    await putDown();
    const [made] = (await idsOf('tabular-predict')).filter((id) => !before.includes(id));
    assert.ok(made !== undefined);
    const own = async (id: string) => ({ ...(await properties(page, id)), changed: true });
    assert.deepEqual(await own(made), await own('predict'));
    assert.equal((await properties(page, made)).config, 'local');
    assert.equal(await services(), count);
  });

  it('a flow pasted as JSON brings its nodes and their service, valid and ready to deploy', async () => {
    const { page } = editor;
    const count = await services();
    const before = await idsOf('tabular-fit');
    await invoke('core:show-import-dialog');
    const text = page.locator('#red-ui-clipboard-dialog-import-text');
    await text.waitFor();
    await text.fill(
      JSON.stringify([
        { id: 'p-service', type: 'tabular-config', name: 'pasted', service: 'embedded' },
        {
          id: 'p-fit',
          type: 'tabular-fit',
          name: 'pasted fit',
          x: 100,
          y: 100,
          config: 'p-service',
          target: 'label',
          systems: ['text'],
          options: '{"n_estimators":4}',
          wires: [['p-predict']],
        },
        {
          id: 'p-predict',
          type: 'tabular-predict',
          name: '',
          x: 300,
          y: 100,
          config: 'p-service',
          quantiles: '0.1,0.9',
          wires: [[]],
        },
      ]),
    );
    // The dialog looks at its text at a key.
    await text.press('End');
    await page.locator('#red-ui-clipboard-dialog-ok').click();
    await putDown();
    const [made] = (await idsOf('tabular-fit')).filter((id) => !before.includes(id));
    assert.ok(made !== undefined);
    const { name, valid, target, systems, options, config } = await properties(page, made);
    assert.deepEqual(
      { name, valid, target, systems, options },
      { name: 'pasted fit', valid: true, target: 'label', systems: ['text'], options: '{"n_estimators":4}' },
    );
    assert.equal(await services(), count + 1);
    assert.equal((await properties(page, String(config))).name, 'pasted');
    await openDialog(page, made);
    assert.equal(await field('Target').inputValue(), 'label');
    assert.equal(await field('Service').locator('option:checked').innerText(), 'pasted');
    await done(page);
    await deploy(page);
  });

  it('in a subflow a field may be a variable: it is valid, stays as written, and each use has its own model', async () => {
    const { page } = editor;
    const before = await properties(page, 'asked');
    assert.equal(before.valid, true);
    await openDialog(page, 'asked');
    assert.equal(await field('Model').inputValue(), '${MODEL}');
    await done(page);
    assert.deepEqual(await properties(page, 'asked'), before);
    await clean();
    for (const model of ['fruit', 'weather']) {
      await red.inject(`fit-${model}`);
      await waitFor(
        'the fit',
        () => ['green', 'yellow'].includes(red.statuses.get(`model-${model}`)?.fill ?? '') || undefined,
        30_000,
      );
      await red.inject(`ask-${model}`);
    }
    const [fruit] = await red.shown('shown-fruit');
    const [weather] = await red.shown('shown-weather');
    assert.deepEqual(fruit!.msg, [
      { x: 7, said: 'ripe' },
      { x: 0, said: 'green' },
    ]);
    assert.deepEqual(weather!.msg, [
      { x: 7, sky: 'rain' },
      { x: 0, sky: 'sun' },
    ]);
  });
});
