import assert from 'node:assert/strict';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';
import {
  cancel,
  describeInEditor,
  openConfigDialog,
  openDialog,
  openWindow,
  sheet,
  SHEET_IDS,
  themes,
  useTheme,
} from './editor';

describeInEditor('the dialogs by keyboard, by ear and in each theme', sheet(), ({ red, editor }) => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
  });

  after(() => service?.close());

  const open = (id: string, page = editor.page) => (id === 'local' ? openConfigDialog : openDialog)(page, id);
  /** What has the focus: its id, the role it plays in a typed input, or its tag. */
  const focused = () =>
    editor.page.evaluate(() => {
      const active = document.activeElement!;
      const part = /typedInput-(type-select|input|option-trigger|option-expand)/.exec(active.className)?.[1];
      return active.id || part || active.tagName;
    });
  /** The texts that describe a field to a screen reader. */
  const description = (id: string) =>
    editor.page.evaluate((field) => {
      const ids = document.getElementById(field)!.getAttribute('aria-describedby')!.split(' ');
      return ids
        .map((one) => document.getElementById(one)?.textContent ?? '')
        .filter((text) => text !== '')
        .join(' ');
    }, id);

  it('Tab goes from field to field in the order they stand in; each shows that it has the focus', async () => {
    const { page } = editor;
    await open('fit');
    await page.focus('#node-input-config');
    const stations: string[] = [await focused()];
    const unmarked: string[] = [];
    while (stations.at(-1) !== 'SUMMARY' && stations.length < 30) {
      await page.keyboard.press('Tab');
      stations.push(await focused());
      const marked = await page.evaluate(() => {
        const look = (element: Element) => {
          const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(element);
          return JSON.stringify([outlineStyle === 'none' ? '' : outlineWidth, borderColor, boxShadow]);
        };
        const active = document.activeElement as HTMLElement;
        const seen = [active, active.closest('.red-ui-typedInput-container') ?? active];
        const withFocus = seen.map(look).join();
        active.blur();
        const without = seen.map(look).join();
        active.focus();
        return withFocus !== without;
      });
      if (!marked) {
        unmarked.push(stations.at(-1)!);
      }
    }
    assert.deepEqual(stations, [
      'node-input-config',
      'node-input-btn-config-edit',
      'node-input-btn-config-add',
      'node-input-source',
      'type-select',
      'input',
      'node-input-target',
      'node-input-task',
      'node-input-model',
      'node-input-name',
      'SUMMARY',
    ]);
    assert.deepEqual(unmarked, []);
    await cancel(page);
  });

  it('Enter and Space open and close Advanced, and a screen reader is told', async () => {
    const { page } = editor;
    await open('predict');
    const session = await page.context().newCDPSession(page);
    const expanded = async (): Promise<unknown> => {
      const { result } = await session.send('Runtime.evaluate', {
        expression: "document.querySelector('.tabular-advanced > summary')",
      });
      const tree = await session.send('Accessibility.getPartialAXTree', {
        objectId: result.objectId,
        fetchRelatives: false,
      });
      return tree.nodes[0]?.properties?.find(({ name }) => name === 'expanded')?.value.value;
    };
    await page.focus('.tabular-advanced > summary');
    assert.equal(await expanded(), false);
    await page.keyboard.press('Enter');
    assert.equal(await page.isVisible('#node-input-batchRows'), true);
    await waitFor('the summary to be told as expanded', async () => (await expanded()) === true || undefined);
    await page.keyboard.press('Space');
    assert.equal(await page.isVisible('#node-input-batchRows'), false);
    await waitFor('it to be told as closed', async () => (await expanded()) === false || undefined);
    await session.detach();
    await cancel(page);
  });

  it('Enter on the pencil opens the service, and closing it comes back to the node', async () => {
    const { page } = editor;
    await open('cost');
    await page.focus('#node-input-btn-config-edit');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.red-ui-tray #node-config-input-service');
    await page.locator('#node-config-dialog-cancel').click();
    await page.waitForSelector('.red-ui-tray #node-input-operation');
    await cancel(page);
  });

  it('a wrong value says why under its field, and to a screen reader; a right one takes it back', async () => {
    const { page } = editor;
    await open('predict');
    await page.click('.tabular-advanced > summary');
    await page.fill('#node-input-batchRows', '2.5');
    assert.equal(await description('node-input-batchRows'), 'rows, 1 = off must be a whole number');
    assert.equal(await page.getAttribute('#node-input-batchRows', 'aria-invalid'), 'true');
    assert.equal(await page.getAttribute('#node-input-batchRows-error', 'aria-live'), 'polite');
    await page.fill('#node-input-batchRows', '25');
    assert.equal(await description('node-input-batchRows'), 'rows, 1 = off');
    assert.equal(await page.getAttribute('#node-input-batchRows', 'aria-invalid'), null);
    await cancel(page);

    await open('limits');
    await page.selectOption('#node-input-config', '_ADD_');
    await page.getByText('No service is chosen, so the embedded one is used').waitFor();
    await page.selectOption('#node-input-config', 'local');
    await page.getByText('No service is chosen, so the embedded one is used').waitFor({ state: 'hidden' });
    await cancel(page);

    await open('local');
    await page.selectOption('#node-config-input-service', 'hosted');
    assert.equal(await page.isVisible('#node-config-input-baseUrl-error'), true);
    for (const [value, reason] of [
      ['', 'must be filled in'],
      ['ftp://here', 'must begin with https:// or http://'],
      ['https://me:secret@here', 'must not contain a user name or password; use the token'],
    ] as const) {
      await page.fill('#node-config-input-baseUrl', value);
      assert.equal(await description('node-config-input-baseUrl'), reason);
    }
    await page.fill('#node-config-input-baseUrl', '${ADDRESS}/api');
    assert.equal(await description('node-config-input-baseUrl'), '');
    await page.selectOption('#node-config-input-service', 'onPrem');
    await page.getByText('The endpoint stores nothing').waitFor();
    await page.fill('#node-config-input-baseUrl', '');
    assert.equal(await description('node-config-input-baseUrl'), 'must be filled in');
    assert.equal(await page.isVisible('#node-config-input-fitRequest'), false);
    await page.focus('.tabular-advanced > summary');
    await page.keyboard.press('Enter');
    await page.fill('#node-config-input-requestSize', '0');
    assert.equal(await description('node-config-input-requestSize'), 'MB must be at least 1');
    assert.equal(await page.isVisible('#node-config-input-localUploads'), false);
    await cancel(page);
  });

  it('Test connection works by keyboard and speaks up where a screen reader listens', async () => {
    const { page } = editor;
    await open('local');
    await page.selectOption('#node-config-input-service', 'hosted');
    await page.fill('#node-config-input-baseUrl', service.url);
    await page.focus('#tabular-test');
    await page.keyboard.press('Enter');
    const result = page.getByRole('status').filter({ hasText: 'There is no token yet' });
    await result.waitFor();
    assert.equal(await result.getAttribute('aria-live'), 'polite');
    await page.fill('#node-config-input-baseUrl', 'http://127.0.0.1:9');
    await page.fill('#node-config-input-token', 'any');
    await page.focus('#tabular-test');
    await page.keyboard.press('Space');
    await page.getByRole('status').filter({ hasText: 'Check the base URL.' }).waitFor();
    await cancel(page);
  });

  for (const language of ['en-US', 'de', 'ja']) {
    const own = language === 'en-US';
    const title = own
      ? 'every text can be read to its end and stands out (4.5 to 1) in each theme; nothing is cut off, 300 and 500 pixels wide'
      : `what stands in a field can be read to its end in ${language}, in a tray 500 pixels wide`;

    it(title, async () => {
      const at = own ? editor : await openWindow(editor.page.context().browser()!, red.url, language);
      const { page } = at;
      try {
        const left = await page.evaluate(
          () => document.querySelector('#red-ui-editor-stack')!.getBoundingClientRect().left,
        );
        for (const id of SHEET_IDS) {
          await open(id, page);
          await page.evaluate(showAll);
          assert.deepEqual(await page.evaluate(tooLongTexts), [], id);
          assert.deepEqual(await page.evaluate(cutOff), [], `cut off: ${id}, 500 pixels wide`);
          // In other languages the rest is the same.
          if (own) {
            for (const theme of await themes(page)) {
              await useTheme(page, theme);
              assert.deepEqual(await page.evaluate(faintTexts), [], `faint: ${id}, ${theme}`);
            }
            await useTheme(page, 'light');
            await page.setViewportSize({ width: Math.round(1300 - left + 308), height: 1100 });
            await page.waitForFunction(() => {
              const { left: begin, width } = document.querySelector('.red-ui-tray')!.getBoundingClientRect();
              return begin >= 0 && width < 310;
            });
            assert.deepEqual(await page.evaluate(cutOff), [], `cut off: ${id}, 300 pixels wide`);
          }
          await cancel(page);
          await page.setViewportSize({ width: 1300, height: 1100 });
        }
        assert.deepEqual(at.complaints, []);
      } finally {
        if (!own) {
          await at.close();
        }
      }
    });
  }
});

/* What follows runs in the page, on the dialog that is open. */

/** Shows everything at once, reasons included. */
function showAll(): void {
  const form = [...document.querySelectorAll('.red-ui-tray .tabular-form')].at(-1)!;
  for (const hidden of form.querySelectorAll<HTMLElement>('[data-tabular-when], .form-tips')) {
    hidden.style.display = '';
  }
  for (const fold of form.querySelectorAll('details')) {
    fold.open = true;
  }
  for (const place of form.querySelectorAll('.tabular-error')) {
    place.textContent = 'must be another';
  }
}

/** Texts that stand out from their ground by less than 4.5 to 1. */
function faintTexts(): string[] {
  const numbers = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const ground = (element: Element | null): number[] => {
    if (element === null) {
      return [255, 255, 255];
    }
    const found = numbers(getComputedStyle(element).backgroundColor);
    return found.length === 4 && found[3] === 0 ? ground(element.parentElement) : found;
  };
  const luminance = (rgb: number[]) => {
    const [r, g, b] = rgb
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const form = [...document.querySelectorAll('.red-ui-tray .tabular-form')].at(-1)!;
  const texts = form.querySelectorAll(
    'label > span, .tabular-unit, .tabular-error, .form-tips, summary, .tabular-field > select, .tabular-field input',
  );
  return [...texts]
    .filter((element) => element.getClientRects().length > 0)
    .map((element) => {
      const pair = [numbers(getComputedStyle(element).color), ground(element)].map(luminance);
      const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      return `${element.id || element.className || element.textContent}: ${ratio.toFixed(2)}`;
    })
    .filter((line) => Number(line.split(': ').at(-1)) < 4.5);
}

/** Placeholders and choices that are longer than their field. */
function tooLongTexts(): string[] {
  const form = [...document.querySelectorAll('.red-ui-tray .tabular-form')].at(-1)!;
  const measure = document.createElement('canvas').getContext('2d')!;
  const fields = form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(
    'input[placeholder]:not([type=hidden]), .tabular-field > select:not([id$=-tls]):not([id$=-proxy])',
  );
  return [...fields].flatMap((field) => {
    const style = getComputedStyle(field);
    measure.font = `${style.fontSize} ${style.fontFamily}`;
    // A select has an arrow at its end.
    const room =
      field.clientWidth -
      parseFloat(style.paddingLeft) -
      parseFloat(style.paddingRight) -
      (field instanceof HTMLSelectElement ? 16 : 0);
    const texts =
      field instanceof HTMLSelectElement
        ? [...field.options].map((option) => option.text)
        : [field.placeholder];
    return texts.filter((text) => field.clientWidth > 0 && measure.measureText(text).width > room);
  });
}

/** What reaches beyond the tray. */
function cutOff(): string[] {
  const form = [...document.querySelectorAll('.red-ui-tray .tabular-form')].at(-1)!;
  const tray = form.closest('.red-ui-tray')!.getBoundingClientRect();
  return [...form.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > tray.right)
    .map((element) => `${element.tagName} ${element.id}`);
}
