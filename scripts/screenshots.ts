/**
 * npm run screenshots: the pictures of the README, taken in a real Chromium from the examples as they are now.
 * CHROMIUM names the browser where it is not on the path.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { chromium, type Page } from 'playwright-core';

import { openDialog } from '../test/e2e/editor';
import { type FlowNode, root, startNodeRed } from '../test/helpers/node-red';
import { waitFor } from '../test/helpers/wait';

const images = path.join(root, 'docs', 'images');

function findChromium(): string {
  return process.env.CHROMIUM ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
}

function example(name: string): FlowNode[] {
  return JSON.parse(fs.readFileSync(path.join(root, 'examples', `${name}.json`), 'utf8')) as FlowNode[];
}

async function withNodeRed(
  name: string,
  shoot: (page: Page, red: Awaited<ReturnType<typeof startNodeRed>>, flow: FlowNode[]) => Promise<void>,
): Promise<void> {
  const flow = example(name);
  const red = await startNodeRed({
    flows: flow,
    link: {
      'node-red-contrib-tabular-prediction': root,
      '@flowfuse/node-red-dashboard': path.join(root, 'node_modules', '@flowfuse', 'node-red-dashboard'),
    },
  });
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 800 }, deviceScaleFactor: 1.5 });
    // The compiler marks named functions so; what runs in the page needs the mark too.
    await page.addInitScript('globalThis.__name = (named) => named');
    await shoot(page, red, flow);
  } finally {
    await browser.close();
    await red.stop();
  }
}

/** The editor with the flow in view and the debug sidebar open. */
async function openEditor(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('.red-ui-workspace-chart-event-layer').waitFor();
  await page.waitForTimeout(1500);
  await page.evaluate("RED.sidebar.show('debug')");
  await page.waitForTimeout(500);
}

/** The dialog that is open, with Advanced folded, and what is shown over it, such as a list. */
async function shootDialog(page: Page, height: number): Promise<string> {
  const tray = (await page.locator('.red-ui-tray').last().boundingBox())!;
  const picture = await page.screenshot({ clip: { ...tray, height } });
  return `data:image/png;base64,${picture.toString('base64')}`;
}

/** Pictures side by side, on white. */
async function sideBySide(page: Page, pictures: string[], file: string): Promise<void> {
  const sheet = await page.context().browser()!.newPage({ deviceScaleFactor: 1.5 });
  const list = pictures.map((src) => `<img src="${src}">`).join('');
  await sheet.setContent(
    `<style>body { margin: 0 } div { display: inline-flex; gap: 24px; align-items: flex-start; padding: 8px }
      img { zoom: ${1 / 1.5}; border: 1px solid #bbb }</style><div>${list}</div>`,
  );
  await sheet.locator('div').screenshot({ path: file });
}

async function main(): Promise<void> {
  fs.mkdirSync(images, { recursive: true });
  const only = process.argv.slice(2);
  const wanted = (name: string) => only.length === 0 || only.includes(name);

  if (wanted('first-steps')) {
    await withNodeRed('First steps', async (page, red, flow) => {
      await openEditor(page, red.url);
      const button = (name: string) => flow.find((node) => node.type === 'inject' && node.name === name)!.id;
      const debug = (name: string) => flow.find((node) => node.type === 'debug' && node.name === name)!.id;
      await red.inject(button('Train'));
      await red.shown(debug('model card'), 1, 60_000);
      await red.inject(button('Predict'));
      await red.shown(debug('rows with their prediction'), 1, 60_000);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: path.join(images, 'first-steps.png') });
    });
  }
  if (wanted('dialogs')) {
    await withNodeRed('Live machine', async (page, red, flow) => {
      const idOf = (name: string) => flow.find((node) => node.name === name)!.id;
      for (const fit of ['pump failure', 'pump bearing']) {
        await waitFor(
          'the fit',
          () => ['green', 'yellow'].includes(red.statuses.get(idOf(fit))?.fill ?? '') || undefined,
          60_000,
        );
      }
      await openEditor(page, red.url);
      const folded = async (name: string): Promise<string> => {
        await openDialog(page, idOf(name));
        const fold = page.locator('.tabular-advanced');
        await fold.evaluate((details: HTMLDetailsElement) => (details.open = false));
        const picture = await shootDialog(page, 700);
        await page.locator('#node-dialog-cancel').click();
        await page.waitForSelector('.red-ui-tray', { state: 'detached' });
        return picture;
      };
      const series = await folded('failure within 1 h');
      const fit = await folded('pump failure');
      await openDialog(page, idOf('failure within 1 h?'));
      await page.click('#node-input-model');
      await page.locator('.tabular-panel').waitFor();
      const predict = await shootDialog(page, 700);
      await sideBySide(page, [series, fit, predict], path.join(images, 'dialogs.png'));
    });
  }
  if (wanted('models')) {
    const seconds = Number(process.env.SECONDS_OF_LIFE ?? 60);
    await withNodeRed('Live machine', async (page, red) => {
      await page.waitForTimeout(seconds * 1000);
      const sheets: string[] = [];
      await page.setViewportSize({ width: 1000, height: 1000 });
      await openEditor(page, red.url);
      await page.evaluate("RED.sidebar.show('tabular-models')");
      const root = page.locator('.tabular-models');
      // As wide as it is shown, whatever room the sidebar has: else its right edge is cut off.
      await root.evaluate((one: HTMLElement) => {
        one.style.cssText = 'position: fixed; z-index: 90; top: 0; right: 0; width: 320px; height: 100vh';
      });
      for (const model of ['pump failure', 'pump bearing']) {
        await page.locator('.tabular-model', { hasText: model }).first().click();
        await page.locator('.tabular-facts').waitFor();
        for (const part of model === 'pump failure' ? ['good'] : ['good', 'try']) {
          await page.locator('.tabular-part').evaluateAll((parts, open) => {
            for (const one of parts as HTMLDetailsElement[]) {
              one.open = one.dataset.part === open;
            }
          }, part);
          await page.waitForTimeout(2500);
          await root.evaluate((one: HTMLElement) =>
            one.querySelector('.tabular-body, .tabular-page')?.scrollTo(0, 0),
          );
          const { x, y, height } = (await root.boundingBox())!;
          const picture = await page.screenshot({
            clip: { x, y, width: 320, height: Math.min(height, 960) },
          });
          sheets.push(`data:image/png;base64,${picture.toString('base64')}`);
        }
        await page.locator('.tabular-bar-top button').first().click();
      }
      await sideBySide(page, sheets, path.join(images, 'models.png'));
    });
  }
  if (wanted('energy')) {
    const seconds = Number(process.env.SECONDS_OF_LIFE ?? 150);
    await withNodeRed('Energy of the next 24 hours', async (page, red) => {
      await page.goto(`${red.url}/dashboard/energy`);
      await page.waitForTimeout(seconds * 1000);
      await page.screenshot({ path: path.join(images, 'energy.png'), fullPage: true });
    });
  }
  if (wanted('live-machine')) {
    const seconds = Number(process.env.SECONDS_OF_LIFE ?? 125);
    await withNodeRed('Live machine with plots', async (page, red) => {
      await page.goto(`${red.url}/dashboard/`);
      await page.waitForTimeout(seconds * 1000);
      await page.screenshot({ path: path.join(images, 'live-machine.png'), fullPage: true });
    });
  }
}

void main();
