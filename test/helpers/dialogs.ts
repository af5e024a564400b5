import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

import type { NODE_SETTINGS } from '../doors/settings';
import { root } from './node-red';
import { NODE_TYPES } from './package-nodes';

export type NodeName = keyof typeof NODE_SETTINGS;
/** The names of the node types without `tabular-`. */
export const NODES = NODE_TYPES.map((type) => type.slice('tabular-'.length)) as NodeName[];

/** What a dialog's .html brings to the editor. */
export interface Dialog {
  /** The properties that stand in a flow file, in the order of `defaults`. */
  properties: string[];
  credentials: string[];
  /** What each property is in a node just dragged in. */
  defaults: Record<string, unknown>;
  /** True, or the reason against a value typed into a field, in a node with these other properties. */
  validate(name: string, value: unknown, node?: object): unknown;
  icon?: string;
  /** The markup as dialog.js makes it. */
  template: string;
}

/** One of the `defaults` of a dialog. */
interface DialogSetting {
  value?: unknown;
  validate?: (this: object, value: unknown, options: object) => unknown;
}

/** A catalogue as flat keys: `label.name` → text. */
export function catalogue(language: string, node: string): Map<string, string> {
  const flat = new Map<string, string>();
  const walk = (value: object, prefix: string): void => {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string') {
        flat.set(prefix + key, inner);
      } else {
        walk(inner as object, `${prefix}${key}.`);
      }
    }
  };
  const file = path.join(root, 'dist', 'nodes', 'locales', language, `${node}.json`);
  walk(JSON.parse(fs.readFileSync(file, 'utf8')) as object, '');
  return flat;
}

/** The words beside the fields of a dialog, by property; a field may have several that take turns. */
export function labels(template: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [, name, inner] of template.matchAll(
    /<label[^>]* id="node-(?:config-)?input-(\w+)-label"[^>]*>([\s\S]*?)<\/label>/g,
  )) {
    const texts = [...inner!.matchAll(/<span[^>]*>([^<]+)<\/span>/g)].map((match) => match[1]!.trim());
    found.set(name!, texts);
  }
  return found;
}

/** The values of each select of a dialog, by property. */
export function choices(template: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [, name, inner] of template.matchAll(
    /<select id="node-(?:config-)?input-(\w+)"[^>]*>([\s\S]*?)<\/select>/g,
  )) {
    found.set(
      name!,
      [...inner!.matchAll(/<option value="([^"]*)"/g)].map((match) =>
        match[1]!.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      ),
    );
  }
  return found;
}

/**
 * The dialogs as the editor gets them, without a browser: the shared scripts and the script of each .html run against
 * as little of the editor as they touch while they register. `asked` are the
 * words they asked for as `node:key`, `missing` the keys that no catalogue had.
 */
export function loadDialogs(language: string): {
  dialogs: Record<NodeName, Dialog>;
  asked: Set<string>;
  missing: string[];
} {
  const catalogues = new Map(NODES.map((node) => [node as string, catalogue(language, node)]));
  const missing: string[] = [];
  const asked = new Set<string>();
  const templates = new Map<string, { textContent: string }>();
  const dialogs = {} as Record<NodeName, Dialog>;
  const translate = (keys: string | string[]): string => {
    for (const key of [keys].flat()) {
      const [, node, name] = /^node-red-contrib-tabular-prediction\/tabular-(\w+):(.+)$/.exec(key) ?? [];
      const found = catalogues.get(node ?? '')?.get(name ?? '');
      if (found === undefined) {
        continue;
      }
      asked.add(`${node}:${name}`);
      return found;
    }
    missing.push(String(keys));
    return String(keys);
  };
  const context = vm.createContext({
    URL,
    // No dialog is open.
    $: () => [],
    document: {
      querySelector(selector: string) {
        const type = /"(.+)"/.exec(selector)![1]!;
        if (!templates.has(type)) {
          templates.set(type, { textContent: '' });
        }
        return templates.get(type);
      },
    },
    RED: {
      _: translate,
      validators: { typedInput: () => () => true },
      editor: {},
      events: { on: () => undefined },
      nodes: {
        registerType(
          type: string,
          definition: { defaults: Record<string, DialogSetting>; credentials?: object; icon?: string },
        ): void {
          dialogs[type.replace('tabular-', '') as NodeName] = {
            properties: Object.keys(definition.defaults),
            credentials: Object.keys(definition.credentials ?? {}),
            defaults: Object.fromEntries(
              Object.entries(definition.defaults).map(([name, { value }]) => [name, value]),
            ),
            validate: (name, value, node = {}) =>
              definition.defaults[name]?.validate?.call(node, value, {}) ?? true,
            icon: definition.icon,
            template: templates.get(type)!.textContent,
          };
        },
      },
    },
  });
  for (const node of NODES) {
    const html = fs.readFileSync(path.join(root, 'dist', 'nodes', `${node}.html`), 'utf8');
    const files = [
      ...html.matchAll(/<script src="resources\/node-red-contrib-tabular-prediction\/(.+?)">/g),
    ].map((match) => match[1]!);
    for (const file of files) {
      vm.runInContext(fs.readFileSync(path.join(root, 'resources', file), 'utf8'), context);
    }
    vm.runInContext(/<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(html)![1]!, context);
  }
  return { dialogs, asked, missing };
}
