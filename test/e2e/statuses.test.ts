import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { longestStatuses } from '../helpers/longest-statuses';
import { type FlowNode, root } from '../helpers/node-red';
import { describeInEditor, type EditorRed } from './editor';

const folder = path.join(root, 'examples');

/** What the status of one of our nodes may reach: it stands below its node, and runs to the right. */
function reached(flow: FlowNode[]): FlowNode[] {
  const own = flow.filter(({ type }) => type.startsWith('tabular-')) as (FlowNode & Place)[];
  return flow.filter((node) => {
    const { x, y } = node as FlowNode & Partial<Place>;
    const isNear = (one: Place) => y! > one.y - 60 && y! < one.y + 100 && x! > one.x - 300;
    return x === undefined || own.some(isNear);
  });
}

interface Place {
  x: number;
  y: number;
}

/**
 * Drawn, but not run: nothing of them connects to anything. Nodes of other packages, for whose types Node-RED 5 would
 * wait, are drawn as function nodes of the same name.
 */
const flows = fs
  .readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => reached(JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as FlowNode[]))
  .filter(({ type, z }) => type === 'tab' || type === 'tabular-config' || z !== undefined)
  .map((node) => (node.type === 'tab' ? { ...node, disabled: true } : node))
  .map((node) =>
    /^(?:ui-|postgres|amqp-)/.test(node.type) ? { ...node, type: 'function', func: '' } : node,
  );
const FOLDERS = { 'en-US': '', de: 'Deutsch', ja: '日本語' };
const tabsIn = (language: keyof typeof FOLDERS) => {
  const files = fs.readdirSync(path.join(folder, FOLDERS[language])).filter((name) => name.endsWith('.json'));
  const labels = files.map((name) => path.parse(name).name);
  return flows.filter(({ type, label }) => type === 'tab' && labels.includes(String(label)));
};
const types = [...new Set(flows.map(({ type }) => type))].filter(
  (type) => type.startsWith('tabular-') && type !== 'tabular-config',
);

interface StatusRed extends EditorRed {
  nodes: EditorRed['nodes'] & {
    eachNode(step: (node: Record<string, unknown>) => void): void;
  };
  view: EditorRed['view'] & { redraw(): void; DEBUG_SYNC_REDRAW: boolean };
  workspaces: { show(id: string): void };
}

describeInEditor('the statuses in the examples', flows, ({ editor }) => {
  for (const language of ['en-US', 'de', 'ja'] as const) {
    it(`fit between the nodes at their longest, in ${language}`, async () => {
      const texts = Object.fromEntries(
        types.map((type) => [type, [...longestStatuses(language, type).values()]]),
      );
      const { shown, touching } = await editor.page.evaluate(drawStatuses, {
        tabs: tabsIn(language),
        texts,
      });
      assert.ok(shown >= 50, String(shown));
      assert.deepEqual(touching, []);
    });
  }
});

/** In the page: gives each node the widest of the texts of its type, and says which statuses lie over another node. */
function drawStatuses({ tabs, texts }: { tabs: FlowNode[]; texts: Record<string, string[]> }): {
  shown: number;
  touching: string[];
} {
  const { RED } = globalThis as unknown as { RED: StatusRed };
  RED.view.DEBUG_SYNC_REDRAW = true;
  const measure = document.createElement('canvas').getContext('2d')!;
  const width = (text: string) => measure.measureText(text).width;
  const boxesOf = (selector: string) =>
    [...document.querySelectorAll<SVGElement>(selector)]
      .filter((element) => element.style.display !== 'none')
      .map((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const node = element.closest('.red-ui-flow-node-group')!.id;
        return { node, left, right, top, bottom, text: element.textContent };
      });
  RED.workspaces.show(tabs[0]!.id);
  RED.view.redraw();
  const { fontSize, fontFamily } = getComputedStyle(
    document.querySelector('.red-ui-flow-node-status-label')!,
  );
  measure.font = `${fontSize} ${fontFamily}`;
  const widest = Object.fromEntries(
    Object.entries(texts).map(([type, all]) => [type, all.sort((a, b) => width(b) - width(a))[0]]),
  );
  RED.nodes.eachNode((node) => {
    const text = widest[String(node.type)];
    if (text !== undefined) {
      Object.assign(node, { status: { fill: 'green', shape: 'dot', text }, dirtyStatus: true, dirty: true });
    }
  });
  const touching: string[] = [];
  let shown = 0;
  for (const { id, label } of tabs) {
    RED.workspaces.show(id);
    RED.view.redraw();
    const nodes = boxesOf('rect.red-ui-flow-node');
    const statuses = boxesOf('.red-ui-flow-node-status-group');
    shown += statuses.length;
    for (const status of statuses) {
      for (const other of [...nodes, ...statuses]) {
        const apart =
          other.node === status.node ||
          other.left >= status.right ||
          other.right <= status.left ||
          other.top >= status.bottom ||
          other.bottom <= status.top;
        if (!apart) {
          touching.push(`${String(label)}: "${status.text}" of ${status.node} over ${other.node}`);
        }
      }
    }
  }
  return { shown, touching };
}
