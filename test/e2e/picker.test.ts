import assert from 'node:assert/strict';

import type { Locator } from 'playwright-core';

import { Gate } from '../helpers/wait';
import {
  cancel,
  describeInEditor,
  done,
  type EditorRed,
  openDialog,
  properties,
  sheet,
  themes,
  useTheme,
} from './editor';

const CARDS = [
  { name: 'pump', task: 'classification', target: 'state', rows: 400, scores: { accuracy: 0.91 } },
  { name: 'pump bearing', task: 'regression', target: 'bearing_c', rows: 1600, scores: { r2: 0.8 } },
  { name: 'oven', task: 'regression', target: 'hardness', rows: 90 },
];

describeInEditor('the lists under the fields for models and columns', sheet(), ({ editor }) => {
  let cards: object[] = CARDS;
  /** The models and columns come once this is settled. */
  let held: Promise<void> | undefined;
  let columns: string[] = ['speed', 'a, b', 'temperature', 'temp'];

  before(async () => {
    await editor.page.route(/tabular-prediction\/[^/]+\/models/, async (asked) => {
      await held;
      await asked.fulfill({ json: cards });
    });
    await editor.page.route(/tabular-prediction\/[^/]+\/columns/, async (asked) => {
      await held;
      await asked.fulfill({ json: columns });
    });
  });

  beforeEach(() => {
    cards = CARDS;
    columns = ['speed', 'a, b', 'temperature', 'temp'];
  });

  const combobox = (name: string) => editor.page.getByRole('combobox', { name, exact: true });
  const list = (name: string) => editor.page.getByRole('listbox', { name, exact: true });
  const names = async (of: Locator) => {
    await of.waitFor();
    return of.locator('.tabular-option').allInnerTexts();
  };
  /** The entry that the keyboard stands on, as a screen reader finds it. */
  const active = async (field: Locator) => {
    const id = await field.getAttribute('aria-activedescendant');
    return id === null ? undefined : editor.page.locator(`[id="${id}"] .tabular-option`).innerText();
  };

  it('by mouse: a filled field shows them all, marks its own, and a click takes another', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    const field = combobox('Model');
    await field.fill('oven');
    await field.blur();
    await field.click();
    assert.deepEqual(await names(list('Model')), ['pump', 'pump bearing', 'oven']);
    const own = list('Model').getByRole('option', { selected: true });
    assert.match(await own.innerText(), /^oven\s+Regression: hardness\s+90 rows$/);
    await list('Model').getByText('pump bearing').click();
    assert.equal(await list('Model').count(), 0);
    assert.equal(await field.inputValue(), 'pump bearing');
    assert.equal(await field.evaluate((input) => input === document.activeElement), true);
    await done(page);
    assert.equal((await properties(page, 'predict')).model, 'pump bearing');
  });

  it('tells a model of a rare label by how well it ranks, as the sidebar does', async () => {
    const { page } = editor;
    const scores = { accuracy: 0.984, roc_auc: 0.978, baseline: { accuracy: 0.966 } };
    cards = [{ ...CARDS[0], scores }];
    await openDialog(page, 'predict');
    await combobox('Model').fill('');
    await combobox('Model').click();
    assert.match(await list('Model').getByRole('option').first().innerText(), /ROC AUC 0\.978/);
    await cancel(page);
  });

  it('offers the names that fit nodes will keep their models under, after the fitted ones', async () => {
    const { page } = editor;
    const keepAs = (name: string) =>
      page.evaluate((model) => {
        const { RED } = globalThis as unknown as { RED: EditorRed };
        RED.nodes.node('fit').model = model;
      }, name);
    for (const [name, offer] of [
      ['motor failure', ['pump', 'pump bearing', 'oven', 'motor failure']],
      ['oven', ['pump', 'pump bearing', 'oven']],
    ] as const) {
      await keepAs(name);
      await openDialog(page, 'predict');
      await combobox('Model').fill('');
      await combobox('Model').click();
      assert.deepEqual(await names(list('Model')), offer);
      await cancel(page);
    }
    await keepAs('');
  });

  it('the arrow in the field opens and closes the list; a click beside closes it', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    const arrow = page.locator('.tabular-picker', { has: page.locator('#node-input-model') }).locator('span');
    await arrow.click();
    await list('Model').waitFor();
    await arrow.click();
    await list('Model').waitFor({ state: 'detached' });
    await arrow.click();
    await list('Model').waitFor();
    await page.locator('#node-input-name').click();
    await list('Model').waitFor({ state: 'detached' });
    await cancel(page);
  });

  it('by keyboard: arrows go round, Enter takes, Escape leaves; the dialog stays open', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    const field = combobox('Model');
    await field.fill('');
    await page.keyboard.press('Escape');
    assert.equal(await field.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowDown');
    assert.equal(await field.getAttribute('aria-expanded'), 'true');
    assert.equal(await active(field), 'pump');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await active(field), 'oven');
    await page.keyboard.press('ArrowDown');
    assert.equal(await active(field), 'pump');
    await page.keyboard.press('ArrowUp');
    assert.equal(await active(field), 'oven');
    await page.keyboard.press('Enter');
    assert.equal(await field.inputValue(), 'oven');
    assert.equal(await field.getAttribute('aria-expanded'), 'false');

    await page.keyboard.press('ArrowUp');
    assert.equal(await active(field), 'oven', 'it opens where it stands');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Escape');
    assert.equal(await list('Model').count(), 0);
    assert.equal(await field.inputValue(), 'oven');
    assert.equal(await page.locator('.red-ui-tray').count(), 1);
    await cancel(page);
  });

  it('typing narrows the list, by name and by what is told of a model', async () => {
    const { page } = editor;
    await openDialog(page, 'predict');
    const field = combobox('Model');
    await field.fill('BEAR');
    assert.deepEqual(await names(list('Model')), ['pump bearing']);
    await field.fill('regression');
    assert.deepEqual(await names(list('Model')), ['pump bearing', 'oven']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await field.inputValue(), 'oven');
    await field.fill('90 rows');
    assert.deepEqual(await names(list('Model')), ['oven']);
    await field.fill('no such thing');
    assert.equal(await list('Model').count(), 0);
    await cancel(page);
  });

  it('a name that is not there yet is kept, though it begins a known one: with Enter, Tab and Done', async () => {
    const { page } = editor;
    for (const key of ['Enter', 'Tab']) {
      await openDialog(page, 'predict');
      const field = combobox('Model');
      await field.fill('pum');
      await list('Model').waitFor();
      await page.keyboard.press(key);
      assert.equal(await list('Model').count(), 0, key);
      assert.equal(await field.inputValue(), 'pum', key);
      await done(page);
      assert.equal((await properties(page, 'predict')).model, 'pum', key);
    }
  });

  it('asks again when it is opened: a model fitted meanwhile is there', async () => {
    const { page } = editor;
    cards = [];
    await openDialog(page, 'predict');
    const tip = page.locator('#node-input-model-tip');
    await tip.waitFor();
    assert.equal(await page.locator('.tabular-open:visible').count(), 0, 'no arrow where there is no list');
    await combobox('Model').fill('');
    cards = CARDS.slice(0, 1);
    await page.keyboard.press('ArrowDown');
    await tip.waitFor({ state: 'hidden' });
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await names(list('Model')), ['pump']);
    await cancel(page);
  });

  it('opens for what was typed or clicked before the models had come, unless the field was left', async () => {
    const { page } = editor;
    const typed = () => combobox('Model').fill('pump');
    const clicked = () => combobox('Model').click();
    for (const [ask, isLeft] of [
      [typed, false],
      [typed, true],
      [clicked, false],
      [clicked, true],
    ] as const) {
      const come = new Gate();
      held = come.opened;
      await openDialog(page, 'predict');
      await ask();
      if (isLeft) {
        await combobox('Model').blur();
      }
      come.open(undefined);
      await page.locator('.tabular-open:visible').first().waitFor();
      assert.equal(await list('Model').count(), isLeft ? 0 : 1);
      held = undefined;
      await cancel(page);
    }
  });

  it('the columns of the last table are offered for the target, and several for Ignore', async () => {
    const { page } = editor;
    await openDialog(page, 'fit');
    await combobox('Target').click();
    assert.deepEqual(await names(list('Target')), columns);
    // What is known of them already follows the target at once.
    const come = new Gate();
    held = come.opened;
    await list('Target').getByText('speed').click();
    await page.locator('.tabular-advanced > summary').click();

    const ignore = combobox('Ignore');
    await ignore.fill('speed, temp');
    assert.deepEqual(await names(list('Ignore')), ['temperature', 'temp'], 'what is being typed narrows it');
    await list('Ignore').getByText('temperature').click();
    assert.equal(await ignore.inputValue(), 'speed, temperature');
    await ignore.fill('temperature');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(
      await names(list('Ignore')),
      ['a, b', 'temp'],
      'neither what is there already nor the target is offered',
    );
    await page.keyboard.press('Enter');
    assert.equal(await ignore.inputValue(), '["temperature","a, b"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await ignore.inputValue(), '["temperature","a, b","temp"]');
    await combobox('Target').fill('temp');
    await page.keyboard.press('Tab');
    await combobox('Group').click();
    assert.ok(!(await names(list('Group'))).includes('temp'), 'it follows the target');
    await page.keyboard.press('Escape');
    come.open();
    held = undefined;
    await combobox('Target').fill('speed');
    await page.keyboard.press('Tab');
    await done(page);
    const { target, ignore: ignored } = await properties(page, 'fit');
    assert.deepEqual([target, ignored], ['speed', '["temperature","a, b","temp"]']);
  });

  it('stands beside its field and inside the window, wide and narrow, light and dark, and can be read', async () => {
    const { page } = editor;
    cards = Array.from({ length: 30 }, (_, i) => ({
      ...CARDS[i % 3],
      name: `${'a long name '.repeat(5)}${i}`,
    }));
    const left = await page.evaluate(
      () => document.querySelector('#red-ui-editor-stack')!.getBoundingClientRect().left,
    );
    for (const theme of await themes(page)) {
      await useTheme(page, theme);
      for (const [width, height] of [
        [300, 420],
        [500, 900],
      ] as const) {
        await page.setViewportSize({ width: Math.round(1300 - left + width + 8), height });
        await openDialog(page, 'predict');
        const field = combobox('Model');
        await field.scrollIntoViewIfNeeded();
        await field.click();
        await list('Model').waitFor();
        const seen = await page.evaluate(() => {
          const numbers = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
          const luminance = (colour: string) => {
            const [r, g, b] = numbers(colour)
              .map((value) => value / 255)
              .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
          };
          const contrast = (one: Element, ground: Element) => {
            const pair = [getComputedStyle(one).color, getComputedStyle(ground).backgroundColor].map(
              luminance,
            );
            return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
          };
          const panel = document.querySelector('.tabular-panel')!;
          const box = panel.getBoundingClientRect();
          const own = document.querySelector('#node-input-model')!.getBoundingClientRect();
          const texts = [...panel.querySelectorAll('.tabular-option, .tabular-details')];
          return {
            beside: Math.abs(box.top - own.bottom) < 2 || Math.abs(box.bottom - own.top) < 2,
            inside: box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth,
            asWide: Math.abs(box.width - own.width) < 2,
            scrolls: panel.scrollHeight > panel.clientHeight && panel.clientHeight > 60,
            cut: panel.scrollWidth > panel.clientWidth,
            faint: texts.map((one) => contrast(one, panel)).filter((ratio) => ratio < 4.5),
          };
        });
        assert.deepEqual(
          seen,
          { beside: true, inside: true, asWide: true, scrolls: true, cut: false, faint: [] },
          `${theme} ${width}`,
        );
        // The last entry comes into view.
        await page.keyboard.press('ArrowUp');
        const inView = await page.evaluate(() => {
          const panel = document.querySelector('.tabular-panel')!.getBoundingClientRect();
          const own = document.querySelector('.tabular-active')!.getBoundingClientRect();
          return own.top >= panel.top && own.bottom <= panel.bottom + 1;
        });
        assert.equal(inView, true);
        await page.keyboard.press('Escape');
        await cancel(page);
      }
    }
    await useTheme(page, 'light');
    await page.setViewportSize({ width: 1300, height: 1100 });
  });

  it('leaves the keys of the dialog alone, and goes away with it', async () => {
    const { page } = editor;
    for (const [key, kept] of [
      ['Control+Escape', 'oven'],
      ['Control+Enter', 'pump'],
    ] as const) {
      await openDialog(page, 'predict');
      await combobox('Model').fill('oven');
      await done(page);
      await openDialog(page, 'predict');
      await combobox('Model').fill('pump');
      await list('Model').waitFor();
      await page.keyboard.press(key);
      await page.waitForSelector('.red-ui-tray', { state: 'detached' });
      assert.equal(await page.locator('.tabular-panel').count(), 0);
      assert.equal((await properties(page, 'predict')).model, kept, key);
    }
  });

  it('of a typed field: the columns where it is one, none where it is a property of the message', async () => {
    const { page } = editor;
    await openDialog(page, 'series');
    const key = combobox('Key');
    await key.click();
    assert.deepEqual(await names(list('Key')), columns);
    await key.press('ArrowDown');
    await key.press('Enter');
    assert.equal(await key.inputValue(), 'speed');
    await done(page);
    const column = await properties(page, 'series');
    assert.deepEqual([column.key, column.keyType], ['speed', 'column']);
    await openDialog(page, 'series');
    await page.evaluate(() => {
      const { $ } = globalThis as unknown as {
        $: (selector: string) => { typedInput(...args: unknown[]): void };
      };
      $('#node-input-key').typedInput('type', 'msg');
    });
    await key.fill('topic');
    await page.waitForTimeout(300);
    assert.equal(await list('Key').count(), 0);
    await done(page);
    const property = await properties(page, 'series');
    assert.deepEqual([property.key, property.keyType], ['topic', 'msg']);
  });

  it('of what may be changed: the columns of the chosen model, before any message has come', async () => {
    const { page } = editor;
    const route = /tabular-prediction\/[^/]+\/models\?columnsOf=oven/;
    const oven = { ...CARDS[2], columns: ['heat', 'minutes'] };
    await page.route(route, (asked) => asked.fulfill({ json: [CARDS[0], oven] }));
    await openDialog(page, 'advise');
    await combobox('Model').fill('oven');
    await combobox('Model').press('Escape');
    await page.locator('.red-ui-editableList-addButton').click();
    const column = page.locator('.tabular-vary').getByRole('combobox');
    await column.click();
    const offered = page.locator('.tabular-option:visible');
    await offered.first().waitFor();
    assert.deepEqual(await offered.allInnerTexts(), ['heat', 'minutes']);
    await offered.last().click();
    assert.equal(await column.inputValue(), 'minutes');
    await combobox('Model').fill('');
    await combobox('Model').press('Escape');
    await column.fill('');
    await column.blur();
    await column.click();
    await page.locator('.tabular-option:visible', { hasText: 'speed' }).waitFor();
    await cancel(page);
    await page.unroute(route);
  });

  it('asks once for what several fields offer, and is laid out a few times, not for each of its fields', async () => {
    const { page } = editor;
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await page.evaluate(`{
      const { resize } = RED.tray;
      globalThis.laidOut = 0;
      RED.tray.resize = () => {
        laidOut += 1;
        resize();
      };
    }`);
    for (const id of ['fit', 'predict', 'cost', 'upload']) {
      asked.length = 0;
      await openDialog(page, id);
      // Node-RED says once more, 50 ms after, that the service was chosen.
      await page.evaluate(() => new Promise((done) => setTimeout(done, 60)));
      const lists = asked.filter((one) => one.startsWith('/tabular-prediction/'));
      assert.ok(lists.length > 0, id);
      assert.deepEqual(lists, [...new Set(lists)], id);
      await cancel(page);
    }
    const laidOut = Number(await page.evaluate('laidOut'));
    assert.ok(laidOut < 40, `${laidOut} times in four dialogs`);
  });
});
