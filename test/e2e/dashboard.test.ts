import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { type Browser, chromium, type Page } from 'playwright-core';

import { type FlowNode, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { findChromium, FLAGS } from './editor';

const executablePath = findChromium();
const DASHBOARD = '@flowfuse/node-red-dashboard';

describe('the dashboard of the live machine, in Chromium', function () {
  this.timeout(180_000);
  let red: RealNodeRed;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const example = JSON.parse(
    fs.readFileSync(path.join(root, 'examples', 'Live machine with plots.json'), 'utf8'),
  ) as FlowNode[];
  // Two models in each ensemble are enough for pictures.
  const flow = example.map((node) =>
    node.type === 'tabular-fit' ? { ...node, options: '{"n_estimators":2}' } : node,
  );
  const idOf = (type: string, name: string) =>
    flow.find((node) => node.type === type && node.name === name)!.id;

  before(async function () {
    if (executablePath === undefined) {
      this.skip();
    }
    red = await startNodeRed({
      flows: flow,
      link: {
        'node-red-contrib-tabular-prediction': root,
        [DASHBOARD]: path.join(root, 'node_modules', ...DASHBOARD.split('/')),
      },
    });
    browser = await chromium.launch({ executablePath, args: FLAGS });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    // The test's compiler marks named functions so; what runs in the page needs the mark too.
    await page.addInitScript('globalThis.__name = (named) => named');
    page.on('console', (message) => {
      if (message.type() === 'error') {
        complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${red.url}/dashboard/`);
    await page.locator('canvas').first().waitFor({ timeout: 60_000 });
  });

  after(async () => {
    await browser?.close();
    await red?.stop();
  });

  afterEach(() => {
    assert.deepEqual(complaints.splice(0), []);
  });

  interface Point {
    payload: object;
  }

  /** What a chart has been given so far, newest last. */
  async function points(name: string): Promise<Point[]> {
    const answer = await fetch(`${red.url}/dashboard/_debug/datastore/${idOf('ui-chart', name)}`);
    const text = await answer.text();
    return text === '' ? [] : (JSON.parse(text) as Point[]);
  }

  /** The pixels of each chart as they stand on the page. */
  const pictures = () =>
    page.evaluate(() => [...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()));

  async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
    for (const end = Date.now() + 120_000; Date.now() < end;) {
      const found = await probe();
      if (found !== undefined) {
        return found;
      }
      await page.waitForTimeout(250);
    }
    throw new Error(`waited in vain for ${what}`);
  }

  it('plots measured values, forecasts and probabilities, and they move', async () => {
    const names = ['bearing temperature', 'risk over time'];
    const first = await until('points on both charts', async () => {
      const both = await Promise.all(names.map(points));
      return both.every((list) => list.length > 0) ? both : undefined;
    });
    const drawn = await pictures();
    assert.ok(drawn.length >= 2);
    await until('new values on both charts', async () => {
      const both = await Promise.all(names.map(points));
      const moved = both.every((list, i) => {
        const values = (all: Point[]) => new Set(all.map(({ payload }) => JSON.stringify(payload)));
        return values(list).size > values(first[i]!).size;
      });
      return moved || undefined;
    });
    await until('other pixels in both charts', async () => {
      const now = await pictures();
      return drawn.every((picture, i) => picture !== now[i]) || undefined;
    });
  });

  it('draws the edges of the band, and draws them again for who comes later', async () => {
    const edges = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('canvas')!;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let pixels = 0;
        const colour = [0x9e, 0xca, 0xe1, 0xff];
        for (let i = 0; i < data.length; i += 4) {
          if (colour.every((value, c) => Math.abs(data[i + c]! - value) < 12)) {
            pixels += 1;
          }
        }
        return pixels;
      });
    await until('the edges', async () => (await edges()) > 50 || undefined);
    await page.reload();
    await page.locator('canvas').first().waitFor();
    await until('the edges after a reload', async () => (await edges()) > 50 || undefined);
  });

  it('shows the cards of both models with their scores and the columns that matter', async () => {
    for (const [model, score] of [
      ['pump failure', 'accuracy'],
      ['pump bearing', 'R²'],
    ] as const) {
      const card = page.getByRole('region', { name: model });
      await card.getByText(score, { exact: true }).waitFor({ timeout: 30_000 });
      assert.ok((await card.getByRole('listitem').count()) >= 3, model);
    }
  });

  /** How well the words of each plot stand out: the best contrast of a pixel left of its axis, and the ground. */
  const legibility = () =>
    page.evaluate(() => {
      const luminance = (rgb: number[]) => {
        const [r, g, b] = rgb
          .map((value) => value / 255)
          .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
      };
      const card = document.querySelector('.v-card')!;
      const ground = getComputedStyle(card)
        .backgroundColor.match(/[\d.]+/g)!
        .map(Number)
        .slice(0, 3);
      return [...document.querySelectorAll('canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width / 24, canvas.height);
        let best = 1;
        for (let i = 0; i < data.length; i += 4) {
          const alpha = data[i + 3]! / 255;
          const seen = ground.map((value, c) => data[i + c]! * alpha + value * (1 - alpha));
          const pair = [seen, ground].map(luminance);
          best = Math.max(best, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
        }
        return best;
      });
    });

  for (const theme of ['light', 'dark']) {
    it(`the words of the plots stand out from their ground (4.5 to 1) in a ${theme} theme`, async () => {
      if (theme === 'dark') {
        const colors = { bgPage: '#16191d', groupBg: '#1e2226', groupOutline: '#343a40' };
        await red.deploy(
          flow.map((node) =>
            node.type === 'ui-theme' ? { ...node, colors: { ...(node.colors as object), ...colors } } : node,
          ),
        );
        await page.reload();
        await page.locator('canvas').first().waitFor({ timeout: 60_000 });
      }
      let last: number[] = [];
      await until('legible words', async () => {
        last = await legibility();
        return (last.length >= 2 && last.every((ratio) => ratio >= 4.5)) || undefined;
      }).catch((error: unknown) => assert.fail(`${String(error)}: ${last.join()}`));
    });
  }

  it('fits a phone: nothing is wider than the window, no title is cut', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(500);
    const { wide, cut, titles } = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>('.v-card-title')];
      return {
        wide: document.documentElement.scrollWidth > innerWidth,
        cut: all.filter((title) => title.scrollWidth > title.clientWidth).map((title) => title.innerText),
        titles: all.length,
      };
    });
    assert.equal(titles, 4);
    assert.deepEqual({ wide, cut }, { wide: false, cut: [] });
  });
});
