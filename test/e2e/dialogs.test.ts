import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { type FlowNode, root } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';
import {
  cancel,
  deploy,
  describeInEditor,
  done,
  type EditorRed,
  offered,
  openConfigDialog,
  openDialog,
  outputsOf,
  properties,
  sheet,
  SHEET_IDS,
} from './editor';

/** The properties but those named. */
function without(one: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name)));
}

/** How the browser shows what is typed into a field: `password` as dots. */
const shownAs = (input: object): string => (input as { type: string }).type;

const FLOWS = sheet([
  {
    id: 'train',
    type: 'inject',
    z: 'sheet',
    x: 100,
    y: 400,
    props: [{ p: 'payload' }],
    repeat: '',
    crontab: '',
    once: false,
    onceDelay: 0.1,
    topic: '',
    payload: JSON.stringify(
      Array.from({ length: 40 }, (_, i) => ({ x: i % 5, label: i % 5 > 2 ? 'b' : 'a' })),
    ),
    payloadType: 'json',
    wires: [['learned']],
  },
  {
    id: 'learned',
    type: 'tabular-fit',
    z: 'sheet',
    name: '',
    x: 300,
    y: 400,
    config: 'local',
    target: 'label',
    model: 'ripe',
    wires: [[]],
  },
  {
    ...{ id: 'priced', type: 'tabular-fit', z: 'sheet', x: 300, y: 460, config: 'local' },
    ...{ target: 'label', costs: '{"yes":{"no":5}}', wires: [[]] },
  },
  {
    ...{ id: 'ripeness', type: 'tabular-predict', z: 'sheet', x: 300, y: 520, config: 'local' },
    ...{ model: 'ripe', wires: [['ripeness-watch']] },
  },
  {
    ...{ id: 'ripeness-watch', type: 'tabular-watch', z: 'sheet', x: 500, y: 520, config: 'local' },
    wires: [[], []],
  },
  {
    ...{ id: 'event', type: 'tabular-series', z: 'sheet', x: 100, y: 520, config: 'local' },
    ...{ outcome: 'event', column: 'heat', value: '85', wires: [[], [], []] },
  },
  // As a flow of an earlier version, or one written by hand: without most properties.
  { id: 'old-local', type: 'tabular-config', name: 'old', service: 'embedded' },
  ...SHEET_IDS.slice(0, -1).map((id, i) => ({
    id: `old-${id}`,
    type: `tabular-${id}`,
    z: 'sheet',
    x: 500,
    y: 80 + 60 * i,
    config: 'old-local',
    wires: outputsOf(id),
  })),
]);

describeInEditor('the dialogs', FLOWS, ({ red, editor }) => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
  });

  after(() => service?.close());

  const field = (label: string) =>
    editor.page.locator('.red-ui-tray').last().getByLabel(label, { exact: true });
  const openAdvanced = () => editor.page.locator('.tabular-advanced > summary').click();
  const saved = (id: string): Record<string, unknown> => {
    const flows = JSON.parse(fs.readFileSync(path.join(red.userDir, 'flows.json'), 'utf8')) as FlowNode[];
    return flows.find((one) => one.id === id)!;
  };

  it('are all in the palette, in a category of their own', async () => {
    const names = await editor.page
      .locator(
        '[id="red-ui-palette-tabular_prediction"] .red-ui-palette-label, [id*="tabular"] .red-ui-palette-label',
      )
      .allTextContents();
    assert.deepEqual([...new Set(names)].sort(), [
      'advise',
      'anomaly',
      'cost',
      'fit',
      'limits',
      'predict',
      'series',
      'upload',
      'watch',
    ]);
  });

  it('are found in the palette by what people call the thing', async () => {
    const { page } = editor;
    const search = page.locator('#red-ui-palette-search input');
    const found = page.locator('.red-ui-palette-node[data-palette-type^="tabular-"]:visible');
    for (const word of ['train', 'learn', 'model', 'machine learning', 'forecast']) {
      await search.fill('');
      await search.pressSequentially(word);
      await page.waitForFunction(
        () => document.querySelectorAll('.red-ui-palette-node[data-filter]').length > 0,
      );
      const types = await found.evaluateAll((nodes) =>
        nodes.map((node) => node.getAttribute('data-palette-type')),
      );
      assert.ok(types.includes('tabular-fit'), `${word}: ${types.join()}`);
    }
    for (const word of ['time series', 'sensor', 'forecast']) {
      await search.fill('');
      await search.pressSequentially(word);
      await page.locator('.red-ui-palette-node[data-palette-type="tabular-series"]:visible').waitFor();
    }
    await search.fill('');
    await found.nth(4).waitFor();
    assert.deepEqual(await found.first().innerText(), 'fit', 'the words are searched, not shown');
  });

  it('have a help of which the edge of the sidebar cuts nothing off, in each language', async () => {
    const locales = path.join(root, 'dist', 'nodes', 'locales');
    const pages = fs
      .readdirSync(locales, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html'))
      .map((file) => ({ file, html: fs.readFileSync(path.join(locales, file), 'utf8') }));
    assert.equal(pages.length, 30);
    const cut = await editor.page.evaluate((helps) => {
      const box = document.createElement('div');
      box.className = 'red-ui-help';
      // As wide as the sidebar first is.
      box.style.cssText = 'position: absolute; width: 282px;';
      document.body.append(box);
      const outside: string[] = [];
      for (const { file, html } of helps) {
        box.innerHTML = html.replace(/<\/?script[^>]*>/g, '');
        const { right } = box.getBoundingClientRect();
        for (const part of box.querySelectorAll('dt, dd, p, li, code')) {
          const range = document.createRange();
          range.selectNodeContents(part);
          if ([...range.getClientRects()].some((line) => line.right > right)) {
            outside.push(`${file}: ${part.textContent}`);
          }
        }
      }
      box.remove();
      return outside;
    }, pages);
    assert.deepEqual(cut, []);
  });

  it('fit: fills, saves, deploys and reopens with every value', async () => {
    const { page } = editor;
    await openDialog(page, 'fit');
    await field('Target').fill('label');
    await field('Keep as').focus();
    assert.equal(await field('Keep as').inputValue(), 'label', 'it runs, but has fitted nothing yet');
    await field('Task').selectOption('classification');
    await field('Keep as').fill('kept');
    await field('Name').fill('my fit');
    assert.equal(await field('Ignore').isVisible(), false, 'Advanced is folded');
    await openAdvanced();
    await field('Ignore').fill('a, b');
    await page.evaluate(() => {
      const $ = (
        globalThis as unknown as { $: (selector: string) => { typedInput(...args: unknown[]): void } }
      ).$;
      $('#node-input-options').typedInput('value', '{"random_state":1}');
    });
    assert.equal(
      await page.locator('#node-input-costs-label').isVisible(),
      false,
      'JSON is for flows that have it',
    );
    await field('A miss costs').fill('20');
    await field('A false alarm costs').fill('2');
    await field('text').check();
    assert.equal(await field('Thinking time').isVisible(), false);
    await field('Thinking').selectOption('high');
    await field('Thinking time').fill('90');
    await field('Metric').fill('log_loss');
    await field('Threshold').selectOption('costs');
    await field('Hold back').fill('20');
    await field('Missing words').fill('unavailable');
    await field('Unreadable cells').selectOption('missing');
    await field('Time zone').fill('Europe/Berlin');
    await field('Replace the model').selectOption('better');
    await field('Fit again even if nothing changed').check();
    await field('Send a model report').check();
    assert.equal(await field('Give up after').isVisible(), false);
    await field('Collect message sequences into one table').check();
    await field('Give up after').fill('30');
    await done(page);
    await deploy(page);
    assert.deepEqual(without(saved('fit'), ['x', 'y', 'z', 'wires']), {
      id: 'fit',
      type: 'tabular-fit',
      name: 'my fit',
      config: 'local',
      source: 'value',
      table: 'payload',
      tableType: 'msg',
      target: 'label',
      ignore: 'a, b',
      types: '',
      missingTarget: '',
      missingWords: 'unavailable',
      unreadable: 'missing',
      timezone: 'Europe/Berlin',
      order: 'auto',
      group: '',
      relativeTo: '',
      costMissed: '20',
      costFalseAlarm: '2',
      costs: '',
      threshold: 'costs',
      embargo: '',
      task: 'classification',
      model: 'kept',
      systems: ['text'],
      options: '{"random_state":1}',
      thinkingEffort: 'high',
      thinkingTimeout: '90',
      thinkingMetric: 'log_loss',
      holdout: '20',
      replace: 'better',
      forceRefit: true,
      modelReport: true,
      sendModel: 'off',
      modelFileMax: '',
      collect: true,
      collectTimeout: '30',
    });
    await openDialog(page, 'fit');
    assert.equal(await field('Target').inputValue(), 'label');
    assert.equal(
      await field('Thinking time').isVisible(),
      true,
      'Advanced is open where something was changed',
    );
    assert.equal(await field('text').isChecked(), true);
    assert.equal(await field('preprocessing').isChecked(), false);
    await cancel(page);
  });

  it('predict: quantiles appear where they apply; everything is saved', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    assert.equal(await field('Quantiles').inputValue(), '');
    assert.equal(await field('Quantiles').getAttribute('placeholder'), 'msg.quantiles, else 0.1,0.5,0.9');
    assert.equal(await field('Quantiles').isVisible(), true, 'the message may ask for quantiles');
    await field('Output').selectOption('mean');
    assert.equal(await field('Quantiles').isVisible(), false);
    await field('Model').fill('ripe');
    await field('Output').selectOption('quantiles');
    await field('Quantiles').fill('0.05,0.95');
    await field('Attach as').fill('life');
    await openAdvanced();
    await field('Missing columns').selectOption('fill');
    await field('Batch rows').fill('100');
    await field('Batch wait').fill('20');
    await field('Keep the order of arrival').uncheck();
    await field('Queue').fill('5000');
    await field('When full').selectOption('dropOldest');
    const become = (service: string) =>
      page.evaluate(
        `RED.nodes.node('local').service = '${service}'; $('#node-input-config').trigger('change')`,
      );
    assert.equal(await field('Highest cost').isVisible(), false, 'it costs nothing');
    await become('hosted');
    await field('Highest cost').fill('12.5');
    await become('embedded');
    assert.equal(await field('Highest cost').isVisible(), true, 'what is set is shown');
    assert.equal(await field('API').isVisible(), false);
    assert.equal(await field('Only above').isVisible(), false);
    await field('Say why').selectOption('on');
    await field('Only above').fill('0.5');
    await field('Compare with the train set').selectOption('on');
    await field('Score against the target').selectOption('on');
    await done(page);
    await deploy(page);
    assert.deepEqual(without(saved('predict'), ['x', 'y', 'z', 'wires']), {
      id: 'predict',
      type: 'tabular-predict',
      name: '',
      config: 'local',
      model: 'ripe',
      task: '',
      source: 'value',
      table: 'payload',
      tableType: 'msg',
      outputType: 'quantiles',
      quantiles: '0.05,0.95',
      property: 'life',
      explain: 'on',
      explainAbove: '0.5',
      flat: 'off',
      unlike: 'on',
      evaluate: 'on',
      noModel: 'error',
      takeModel: 'off',
      missingColumns: 'fill',
      missingWords: '',
      unreadable: '',
      timezone: '',
      batchRows: '100',
      batchMs: '20',
      ordered: false,
      queue: '5000',
      overflow: 'dropOldest',
      retryPredict: false,
      maxCost: '12.5',
      api: 'svc',
    });
  });

  it('upload: target for a train set, model for a test set', async () => {
    const { page } = editor;
    await openDialog(page, 'upload');
    await field('Target').fill('label');
    assert.equal(await field('Model').isVisible(), false);
    await field('Upload as').selectOption('test');
    assert.equal(await field('Target').isVisible(), false);
    await field('Model').fill('ripe');
    await field('Input').selectOption('file');
    await page.getByText('File path', { exact: true }).waitFor();
    await openAdvanced();
    await field('Format').selectOption('csv');
    await done(page);
    const stored = await properties(page, 'upload');
    assert.equal(stored.set, 'test');
    assert.equal(stored.model, 'ripe');
    assert.equal(stored.source, 'file');
    assert.equal(stored.format, 'csv');
    assert.equal(stored.valid, true);
  });

  it('limits and cost: the fields that apply', async () => {
    const { page } = editor;
    await openDialog(page, 'limits');
    assert.equal(await field('Model version').isVisible(), false);
    await field('Check a table against the limits').check();
    await field('Check as').selectOption('test');
    await field('Model version').fill('v3');
    await done(page);
    const limits = await properties(page, 'limits');
    assert.deepEqual([limits.check, limits.set, limits.modelVersion], [true, 'test', 'v3']);
    await openDialog(page, 'cost');
    await field('Estimators').fill('8');
    assert.equal(await field('Thinking').isVisible(), false);
    await field('Operation').fill('thinking');
    await page.locator('#node-input-operation-list [role=option]').first().click();
    await field('Thinking').selectOption('high');
    await done(page);
    const cost = await properties(page, 'cost');
    assert.deepEqual([cost.operation, cost.thinkingEffort, cost.nEstimators], ['thinking_fit', 'high', '8']);
  });

  it('series: the fields of its outcome, and durations, lists and ranges checked as they are typed', async () => {
    const { page } = editor;
    await openDialog(page, 'series');
    const shown = async (labels: string[]) => Promise.all(labels.map((label) => field(label).isVisible()));
    const OF_EVENT = ['Column', 'Operator', 'Value', 'Ahead'];
    assert.deepEqual(await shown(OF_EVENT), [true, false, false, true]);
    await field('Outcome').selectOption('none');
    assert.deepEqual(await shown(OF_EVENT), [false, false, false, false]);
    await field('Outcome').selectOption('event');
    assert.deepEqual(await shown(OF_EVENT), [true, true, true, true]);
    await field('Column').fill('temperature');
    await field('Operator').selectOption('>=');
    await field('Value').fill('80');
    const reason = page.locator('#node-input-ahead-error');
    for (const [typed, why] of [
      ['soon', /be a time \(10m\), a list \(1h, 6h\) or a range/],
      ['1h, 6h', /^$/],
      ['1h..', /be a time \(10m\), a list \(1h, 6h\) or a range/],
      ['1h..24h', /^$/],
    ] as const) {
      await field('Ahead').fill(typed);
      assert.match(await reason.innerText(), why, typed);
    }
    await openAdvanced();
    await field('Windows').fill('1h, x');
    assert.match(await page.locator('#node-input-windows-error').innerText(), /times separated by commas/);
    await field('Windows').fill('1h, 6h');
    await field('Known ahead').fill('holiday, temperature');
    const aheadError = page.locator('#node-input-knownAhead-error');
    assert.match(await aheadError.innerText(), /Must not contain temperature/);
    await field('Known ahead').fill('holiday, outside');
    assert.equal(await aheadError.innerText(), '');
    await field('Train set').fill('500 rows');
    await field('One row every').fill('1m');
    await field('Late').fill('0');
    await field('Keep').fill('5000');
    await field('Calendar').selectOption('off');
    await field('Time zone').fill('Europe/Berlin');
    await field('Keep as').fill('hall');
    assert.equal(await field('Learn the change from now').isVisible(), false);
    await done(page);
    const stored = await properties(page, 'series');
    const { outcome, column, operator, value, ahead, windows, train, every, late, keep, calendar, keepAs } =
      stored;
    assert.equal(stored.knownAhead, 'holiday, outside');
    assert.deepEqual(
      [outcome, column, operator, value, ahead, windows, train, every, late, keep, calendar, keepAs],
      ['event', 'temperature', '>=', '80', '1h..24h', '1h, 6h', '500 rows', '1m', '0', '5000', 'off', 'hall'],
    );
    assert.equal(stored.valid, true);
  });

  it('watch: the fields of an alarm where there is one, which has to say from where on', async () => {
    const { page } = editor;
    await openDialog(page, 'watch');
    const shown = async () =>
      Promise.all(['Class', 'Raise at', 'Clear at', 'For'].map((label) => field(label).isVisible()));
    assert.deepEqual(await shown(), [false, false, false, false]);
    await field('Alarm on').selectOption('upper');
    assert.deepEqual(await shown(), [false, true, true, true]);
    const reason = page.locator('#node-input-raise-error');
    assert.match(await reason.innerText(), /must be filled in/i);
    await field('Alarm on').selectOption('probability');
    assert.deepEqual(await shown(), [true, true, true, true]);
    await reason.waitFor({ state: 'hidden' });
    assert.equal(await field('Raise at').getAttribute('placeholder'), 'from the model');
    await field('Raise at').fill('high');
    assert.match(await reason.innerText(), /must be a number/i);
    await field('Raise at').fill('0.8');
    await field('Class').fill('yes');
    await openAdvanced();
    await field('Worse by').fill('20');
    await field('Correct bands from outcomes').uncheck();
    await field('Attached as').fill('failure');
    await field('Score each key separately').check();
    await field('Keep').fill('500');
    await done(page);
    const { alarmOn, alarmLabel, raise, worse, honest, property, perKey, keep, valid } = await properties(
      page,
      'watch',
    );
    assert.deepEqual(
      [alarmOn, alarmLabel, raise, worse, honest, property, perKey, keep, valid],
      ['probability', 'yes', '0.8', '20', false, 'failure', true, '500', true],
    );
  });

  it('refuse wrong values with the reason', async () => {
    const { page } = editor;
    const reasons = async (id: string) =>
      ((await properties(page, id)).validationErrors as string[]).join('\n');
    await openDialog(page, 'predict');
    await field('Quantiles').fill('0.1,1.5');
    await field('Batch rows').fill('0');
    await field('Queue').fill('many');
    assert.match((await field('Quantiles').getAttribute('class')) ?? '', /input-error/);
    await done(page);
    const wrong = await reasons('predict');
    assert.match(wrong, /Quantiles: must be numbers between 0 and 1/);
    assert.match(wrong, /Batch rows: must be at least 1/);
    assert.match(wrong, /Queue: must be a whole number/);
    await openDialog(page, 'predict');
    await field('Quantiles').fill('0.1,0.5');
    await field('Batch rows').fill('${ROWS}');
    await field('Queue').fill('10');
    await done(page);
    assert.equal((await properties(page, 'predict')).valid, true);

    await openDialog(page, 'fit');
    await page.evaluate(() => {
      const $ = (
        globalThis as unknown as { $: (selector: string) => { typedInput(...args: unknown[]): void } }
      ).$;
      $('#node-input-types').typedInput('value', '{"a":"float"}');
    });
    await done(page);
    assert.match(await reasons('fit'), /Column types: the type of column "a" is unknown/);
    await openDialog(page, 'fit');
    await page.evaluate(() => {
      const $ = (
        globalThis as unknown as { $: (selector: string) => { typedInput(...args: unknown[]): void } }
      ).$;
      $('#node-input-types').typedInput('value', '{}');
    });
    await done(page);
    assert.equal((await properties(page, 'fit')).types, '');
  });

  it('offer the columns that passed and the models that were fitted', async () => {
    const { page } = editor;
    await deploy(page);
    await red.inject('train');
    await waitFor(
      'the fit',
      () => ['green', 'yellow'].includes(red.statuses.get('learned')?.fill ?? '') || undefined,
      30_000,
    );
    await openDialog(page, 'learned');
    assert.deepEqual(await offered(page, 'Target'), ['x', 'label']);
    await openAdvanced();
    const types = page.locator('.tabular-types');
    assert.deepEqual(await types.locator('label').allTextContents(), ['x', 'label']);
    assert.match(
      (await types.getByLabel('label').locator('option').first().textContent())!,
      /^as found: text$/,
    );
    await types.getByLabel('x', { exact: true }).selectOption('text');
    assert.equal(await page.locator('#node-input-types').inputValue(), '{"x":"text"}');
    await types.getByLabel('x', { exact: true }).selectOption('');
    assert.equal(await page.locator('#node-input-types').inputValue(), '{}');
    assert.equal(await page.locator('#node-input-target-tip').isVisible(), false);
    await cancel(page);
    // The lines of types come after the dialog has opened: to press Done is no change for that.
    const before = await properties(page, 'learned');
    assert.deepEqual([before.changed, before.types], [false, undefined]);
    await openDialog(page, 'learned');
    await types.locator('label').first().waitFor({ state: 'attached' });
    await done(page);
    assert.deepEqual(await properties(page, 'learned'), before);
    await openDialog(page, 'predict');
    const [model] = await offered(page, 'Model');
    assert.match(model!, /^ripe Classification: label accuracy [01]\.\d{3} 40 rows$/);
    assert.equal(await page.locator('#node-input-model-tip').isVisible(), false);
    await cancel(page);
  });

  it('predict: no quantiles for a model that classifies, which need not be deployed', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    await field('Output').selectOption('');
    await field('Model').fill('ripe');
    await field('Quantiles').waitFor({ state: 'hidden' });
    const groups = field('Output').locator('optgroup');
    const fitting = () => groups.evaluateAll((all) => all.map((one) => (one as HTMLElement).hidden));
    assert.deepEqual(await fitting(), [false, true], 'nor outputs of the other task');
    await field('Model').fill('another');
    await field('Quantiles').waitFor();
    assert.deepEqual(await fitting(), [false, false]);
    await page.locator('.red-ui-tray #node-input-config').selectOption('_ADD_');
    // What a service has comes from Node-RED, in its own time.
    const ripe = ['ripe Classification: label accuracy 1.000 40 rows'];
    await waitFor('the model alone that needs no service', async () =>
      isDeepStrictEqual(await offered(page, 'Model'), ripe),
    );
    await cancel(page);
  });

  it('watch: the labels of its model for an alarm, the rarer one filled in; yes and no of an event', async () => {
    const { page } = editor;
    await openDialog(page, 'ripeness-watch');
    // What the model is comes from Node-RED, in its own time.
    const hidden = (wanted: boolean[]) =>
      page.waitForFunction((states) => {
        const groups = document.querySelectorAll<HTMLElement>('#node-input-alarmOn optgroup');
        return JSON.stringify([...groups].map((group) => group.hidden)) === JSON.stringify(states);
      }, wanted);
    await field('Alarm on').selectOption('probability');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#node-input-alarmLabel')?.value === 'b',
    );
    assert.deepEqual(await offered(page, 'Class'), ['b', 'a']);
    // No band of a model of classes.
    await hidden([false, true]);
    // What somebody typed stays, and a model that is not fitted yet tells nothing but what an event is.
    await field('Class').fill('a');
    await field('Alarm on').selectOption('upper');
    await field('Alarm on').selectOption('probability');
    assert.equal(await field('Class').inputValue(), 'a');
    await field('Class').fill('');
    await field('Model').fill('not fitted yet');
    await hidden([false, false]);
    // A list opens with what is known, and shows what has changed as soon as that is known.
    await field('Class').click();
    await page.getByRole('listbox', { name: 'Class' }).getByRole('option', { name: 'yes' }).waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(await offered(page, 'Class'), ['yes', 'no']);
    await field('Alarm on').selectOption('value');
    await field('Alarm on').selectOption('probability');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#node-input-alarmLabel')?.value === 'yes',
    );
    await cancel(page);
  });

  it('config: the defaults stay in grey after Update', async () => {
    const { page } = editor;
    await openConfigDialog(page, 'local');
    await page.locator('.tabular-advanced > summary').click();
    await field('Name').fill('other');
    assert.equal(await field('Timeout').getAttribute('placeholder'), '900');
    await done(page);
    await openConfigDialog(page, 'local');
    assert.equal(await field('Timeout').getAttribute('placeholder'), '900');
    await field('Name').fill('');
    await done(page);
    await deploy(page);
  });

  it('fit: thinking is a system only where Thinking is on', async () => {
    const { page } = editor;
    await openDialog(page, 'fit');
    await page.evaluate(() => {
      const fold = document.querySelector('.tabular-advanced');
      fold?.setAttribute('open', '');
    });
    await field('Thinking').selectOption('high');
    await field('thinking').check();
    await field('Thinking').selectOption('');
    assert.equal(await field('thinking').isVisible(), false);
    await done(page);
    assert.deepEqual((await properties(page, 'fit')).systems, ['text']);
  });

  it('offer a model with its score where its card has one, the newest first', async () => {
    const { page } = editor;
    const card = { task: 'regression', target: 'load', rows: 12_345 };
    const cards = [
      { ...card, name: 'plain', fitted_at: '2026-01-02T00:00:00.000Z' },
      { ...card, name: 'scored', scores: { r2: 0.98765 }, fitted_at: '2026-01-03T00:00:00.000Z' },
    ];
    const route = /tabular-prediction\/[^/]+\/models/;
    await page.route(route, (asked) => asked.fulfill({ json: cards }));
    await openDialog(page, 'predict');
    const [scored, plain, ...planned] = await offered(page, 'Model');
    assert.deepEqual(
      [scored, plain],
      ['scored Regression: load R² 0.988 12,345 rows', 'plain Regression: load 12,345 rows'],
    );
    // Those that other tests gave the fit nodes of the flow.
    assert.ok(
      planned.every((name) => name.endsWith(' not fitted yet')),
      planned.join(),
    );
    await cancel(page);
    await page.unroute(route);
  });

  it('config: a hosted service needs an address; the connection is tested; the token stays secret', async () => {
    const { page } = editor;
    await openConfigDialog(page, 'local');
    assert.match(
      await page.locator('.red-ui-tray-header').last().innerText(),
      /^Edit tabular service node$/m,
    );
    assert.equal(await field('Base URL').isVisible(), false);
    await field('Service').selectOption('hosted');
    await field('Base URL').fill('no address');
    await field('Base URL').blur();
    assert.match((await field('Base URL').getAttribute('class')) ?? '', /input-error/);
    await field('Base URL').fill(service.url);
    await field('Base URL').blur();
    assert.doesNotMatch((await field('Base URL').getAttribute('class')) ?? '', /input-error/);

    const result = page.locator('#tabular-test-result');
    assert.equal(await field('Token').evaluate(shownAs), 'password');
    await field('Token').fill('not-the-token');
    assert.equal(await field('Token').evaluate(shownAs), 'password');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await result.getByText('Check the token.').waitFor();
    await field('Token').fill(service.token);
    await page.getByRole('button', { name: 'Test connection' }).click();
    await result.getByText('Connected').waitFor();
    await field('API name').isHidden();
    await openAdvanced();
    await field('API name').fill('other');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await result.getByText('but not under this API name').waitFor();
    await field('API name').fill('');
    await field('Timeout').fill('soon');
    await field('Timeout').blur();
    assert.match((await field('Timeout').getAttribute('class')) ?? '', /input-error/);
    await field('Timeout').fill('60');
    await done(page);
    await deploy(page);

    assert.equal(saved('local').baseUrl, service.url);
    assert.equal(saved('local').timeout, '60');
    for (const file of fs.readdirSync(red.userDir).filter((name) => name.endsWith('.json'))) {
      assert.ok(!fs.readFileSync(path.join(red.userDir, file), 'utf8').includes(service.token), file);
    }
    const exported = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      return JSON.stringify(RED.nodes.createCompleteNodeSet({ credentials: false }));
    });
    assert.ok(exported.includes(service.url) && !exported.includes(service.token));

    await openConfigDialog(page, 'local');
    assert.equal(await field('Token').inputValue(), '__PWRD__');
    assert.equal(await field('Token').evaluate(shownAs), 'password', 'and so is the stored one');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await result.getByText('Connected').waitFor();
    assert.ok(!(await page.content()).includes(service.token));
    await field('Timeout').fill('61');
    await done(page);
    await deploy(page);
    await openConfigDialog(page, 'local');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await result.getByText('Connected').waitFor();
    await cancel(page);
  });

  it('reopen with what was saved, each field named for a screen reader; Done without a change leaves every property', async () => {
    const { page } = editor;
    for (const id of SHEET_IDS) {
      const before = await properties(page, id);
      await (id === 'local' ? openConfigDialog(page, id) : openDialog(page, id));
      assert.deepEqual(await page.evaluate(namelessFields), [], id);
      await done(page);
      assert.deepEqual(await properties(page, id), before, id);
    }
  });

  it('show costs as JSON where a flow has them so, and two fields once they are taken out', async () => {
    const { page } = editor;
    await openDialog(page, 'priced');
    assert.ok(await page.locator('#node-input-costs-label').isVisible());
    assert.equal(await field('A miss costs').isVisible(), false);
    await page.evaluate(() => {
      const { $ } = globalThis as unknown as {
        $: (selector: string) => { typedInput(...args: string[]): void };
      };
      $('#node-input-costs').typedInput('value', '{}');
    });
    await field('A miss costs').fill('5');
    assert.equal(await page.locator('#node-input-costs-label').isVisible(), false);
    await done(page);
    const { costs, costMissed } = await properties(page, 'priced');
    assert.deepEqual([costs, costMissed], ['', '5']);
  });

  it('leave a node of an earlier version as it was: Done without a change marks nothing as changed, nor anything to deploy', async () => {
    const { page } = editor;
    const dirty = () => page.evaluate(() => (globalThis as unknown as { RED: EditorRed }).RED.nodes.dirty());
    if (await dirty()) {
      await deploy(page);
    }
    for (const id of SHEET_IDS.map((name) => `old-${name}`)) {
      const before = await properties(page, id);
      assert.ok(Object.values(before).includes(undefined), id);
      await (id === 'old-local' ? openConfigDialog(page, id) : openDialog(page, id));
      await done(page);
      assert.deepEqual(await properties(page, id), before, id);
      assert.equal(before.changed, false, id);
      assert.equal(await dirty(), false, id);
    }
    await openDialog(page, 'old-fit');
    await field('Keep as').fill('kept');
    await openAdvanced();
    await field('text').check();
    await done(page);
    const { model, systems, ignore, changed } = await properties(page, 'old-fit');
    assert.deepEqual([model, systems, ignore, changed], ['kept', ['text'], '', true]);
  });

  it('add a service as it is offered, with its defaults', async () => {
    const { page } = editor;
    await openConfigDialog(page, '_ADD_');
    await done(page);
    const added = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const all = RED.nodes.createCompleteNodeSet({ credentials: false });
      const one = all.filter(({ type }) => type === 'tabular-config').at(-1)!;
      if (one.id !== 'old-local') {
        RED.nodes.remove(String(one.id));
      }
      return one;
    });
    assert.deepEqual([added.service, added.timeout, added.fitRequest], ['embedded', 900, 'task_config']);
  });

  it('take the service that is there, for a node just dragged in', async () => {
    const { page } = editor;
    const id = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const { node } = RED.view.createNode('tabular-predict', 100, 500, 'sheet');
      RED.nodes.add(node);
      return String(node.id);
    });
    await openDialog(page, id);
    assert.equal(await field('Service').inputValue(), 'local');
    await done(page);
    const made = await properties(page, id);
    assert.deepEqual([made.config, made.valid], ['local', true]);
    await page.evaluate((gone) => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      RED.nodes.remove(gone);
    }, id);
  });

  it('name the model of a new fit node after its target, or after what its series node predicts', async () => {
    const { page } = editor;
    const [fit, series, fed, asked] = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const add = (type: string) => {
        const { node } = RED.view.createNode(type, 100, 500, 'sheet');
        RED.nodes.add(node);
        return node;
      };
      const nodes = ['tabular-fit', 'tabular-series', 'tabular-fit', 'tabular-predict'].map(add);
      const [, source, target, predict] = nodes;
      source!.column = 'energy';
      RED.nodes.addLink({ source: source!, sourcePort: 2, target: target! });
      RED.nodes.addLink({ source: source!, sourcePort: 0, target: predict! });
      return nodes.map(({ id }) => String(id)) as [string, string, string, string];
    });
    const keepAs = (): Promise<string> => field('Keep as').inputValue();
    await openDialog(page, fit);
    assert.equal(await keepAs(), '');
    await field('Target').fill('Machine failure');
    await field('Keep as').focus();
    assert.equal(await keepAs(), 'Machine failure');
    await field('Target').fill('Tool wear [min]');
    await field('Keep as').focus();
    await field('Keep as').fill('wear');
    await field('Target').fill('Machine failure');
    await field('Name').focus();
    assert.equal(await keepAs(), 'wear', 'what somebody typed stays');
    await field('Keep as').fill('Machine failure');
    await done(page);
    await openDialog(page, fed);
    assert.equal(await keepAs(), 'energy');
    await field('Target').fill('Machine failure');
    await field('Keep as').focus();
    assert.equal(await keepAs(), 'Machine failure 2', 'no other model is replaced');
    await field('Target').fill('');
    await field('Keep as').focus();
    assert.equal(await keepAs(), 'energy');
    await done(page);
    assert.equal((await properties(page, fed)).model, 'energy');
    await openDialog(page, asked);
    await field('Model').fill('energy');
    await done(page);
    assert.equal((await properties(page, asked)).noModel, 'wait', 'its model is yet to be fitted');
    await page.evaluate(
      (gone) => {
        const { RED } = globalThis as unknown as { RED: EditorRed };
        gone.forEach((id) => RED.nodes.remove(id));
      },
      [fit, series, fed, asked],
    );
    // Of a node that runs, other nodes may know the model by its id.
    await openDialog(page, 'fit');
    const [target, kept] = [await field('Target').inputValue(), await keepAs()];
    await field('Target').fill('another');
    await field('Name').focus();
    assert.equal(await keepAs(), kept);
    await field('Target').fill(target);
    await cancel(page);
  });

  it('leave a node that was used without a service on the embedded one', async () => {
    const { page } = editor;
    const id = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const { node } = RED.view.createNode('tabular-fit', 100, 500, 'sheet');
      RED.nodes.add(Object.assign(node, { target: 'kwh' }));
      return String(node.id);
    });
    await openDialog(page, id);
    assert.equal(await field('Service').inputValue(), '_ADD_');
    await page.locator('.red-ui-tray .form-tips', { hasText: 'No service is chosen' }).waitFor();
    await field('Target').fill('power');
    await done(page);
    const { config, target } = await properties(page, id);
    assert.deepEqual([config, target], ['', 'power']);
    await page.evaluate((gone) => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      RED.nodes.remove(gone);
    }, id);
  });

  it('advise: a line for each column that may be changed, with room for its words and checked while it is typed', async () => {
    const { page } = editor;
    const id = await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const { node } = RED.view.createNode('tabular-advise', 100, 560, 'sheet');
      RED.nodes.add(
        Object.assign(node, {
          config: 'local',
          vary: [
            { column: 'temperature', from: 60, to: 120, step: 0.5, cost: 2 },
            { column: 'fan', price: 3 },
          ],
        }),
      );
      return String(node.id);
    });
    await openDialog(page, id);
    const lines = page.locator('.tabular-vary');
    const part = (line: number, name: string) => lines.nth(line).getByLabel(name, { exact: true });
    const wrong = page.locator('[data-tabular-wrong]');
    assert.equal(await lines.count(), 2);
    const seen = await lines.first().evaluate((line) => ({
      cut: [...line.querySelectorAll('span')].filter((word) => word.scrollWidth > word.clientWidth + 1)
        .length,
      narrowest: Math.min(...[...line.querySelectorAll('input')].map((input) => input.clientWidth)),
      right: Math.max(...[...line.querySelectorAll('input')].map((one) => one.getBoundingClientRect().right)),
      end: line.closest('.red-ui-editableList')!.getBoundingClientRect().right,
    }));
    assert.equal(seen.cut, 0, 'words are whole');
    assert.ok(seen.narrowest >= 60, `${seen.narrowest} pixels for a number`);
    assert.ok(seen.right <= seen.end, `${seen.right} of ${seen.end}`);
    assert.equal(await wrong.isVisible(), false);
    const says = async (line: number, name: string, value: string, reason: RegExp) => {
      const before = await part(line, name).inputValue();
      await part(line, name).fill(value);
      await wrong.waitFor({ state: 'visible' });
      assert.match(await wrong.innerText(), reason);
      await part(line, name).fill(before);
      await wrong.waitFor({ state: 'hidden' });
    };
    await says(0, 'from', '130', /temperature: the bounds are the wrong way round, 130 to 120/);
    await says(0, 'step', '0', /temperature: the step must be above 0/);
    await says(0, 'cost of change', '-1', /at least 0/);
    await says(1, 'price', 'cheap', /fan: "cheap" is not a number/);
    await says(1, 'column', 'temperature', /temperature is named twice/);
    await says(1, 'column', '', /must name its column/);
    await page.locator('.red-ui-editableList-addButton').click();
    await part(2, 'column').fill('minutes');
    await part(2, 'to').fill('45');
    // A line that is gone leaves its name to no other.
    await lines.nth(1).locator('xpath=..').locator('.red-ui-editableList-item-remove').click();
    await page.waitForFunction(() => document.querySelectorAll('.tabular-vary').length === 2);
    await page.locator('.red-ui-editableList-addButton').click();
    const ids = await lines.locator('input').evaluateAll((all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, ids.join());
    await done(page);
    assert.deepEqual((await properties(page, id)).vary, [
      { column: 'temperature', from: 60, to: 120, step: 0.5, cost: 2 },
      { column: 'minutes', to: 45 },
    ]);
    await page.evaluate((gone) => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      RED.nodes.remove(gone);
    }, id);
  });

  it('are the same after export and import', async () => {
    const { page } = editor;
    const ids = ['fit', 'predict', 'upload', 'limits', 'cost'];
    const { before: exported, after: all } = await page.evaluate((list) => {
      const { RED } = globalThis as unknown as { RED: EditorRed };
      const before = RED.nodes.createExportableNodeSet(list.map((id) => RED.nodes.node(id)));
      RED.view.importNodes(structuredClone(before), {
        generateIds: true,
        addFlow: true,
        applyNodeDefaults: true,
      });
      return { before, after: RED.nodes.createCompleteNodeSet({ credentials: false }) };
    }, ids);
    const strip = (one: Record<string, unknown>) => without(one, ['id', 'z', 'x', 'y', 'wires', 'config']);
    const pairs = exported
      .filter(({ type }) => type !== 'tabular-config')
      .map((one) => ({
        before: strip(one),
        after: all.filter(({ type, id }) => type === one.type && id !== one.id).map(strip),
      }));
    assert.equal(pairs.length, 5);
    for (const { before, after } of pairs) {
      const wanted = JSON.stringify(before);
      const found = after.map((one) => JSON.stringify(one));
      assert.ok(found.includes(wanted), `${wanted}\n${found.join('\n')}`);
    }
  });
});

/** In the page: fields of the open dialog without a name for a screen reader, or that the keyboard does not reach. */
function namelessFields(): string[] {
  const form = [...document.querySelectorAll('.red-ui-tray .tabular-form')].at(-1)!;
  const own =
    'input[id^=node-], input.tabular-system, select[id^=node-], textarea[id^=node-], button, summary';
  return (
    [...form.querySelectorAll<HTMLInputElement>(own)]
      // Node-RED's own typedInput brings buttons of its own.
      .filter((input) => input.type !== 'hidden' && !/typedInput-/.test(input.className))
      .filter((input) => {
        const labels = [...(input.labels ?? [])].map((label) => label.textContent);
        const name = [...labels, input.getAttribute('aria-label'), input.title];
        if (input.matches('button, summary')) {
          name.push(input.textContent);
        }
        return input.tabIndex < 0 || !name.some((text) => text?.trim());
      })
      .map((input) => input.outerHTML)
  );
}
