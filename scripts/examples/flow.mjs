import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** One example under construction: nodes get ids that depend on nothing but their names, so that a rebuild changes nothing. */
export class Flow {
  #nodes = [];
  #label;

  /** `env`: the flow's environment variables. */
  constructor(label, info, env = []) {
    this.#label = label;
    this.tab = this.#add(
      { type: 'tab', label, disabled: false, info, ...(env.length > 0 && { env }) },
      `tab ${label}`,
    ).id;
  }

  #add(node, key) {
    const id = createHash('sha256').update(`${this.#label}/${key}`).digest('hex').slice(0, 16);
    if (this.#nodes.some((other) => other.id === id)) {
      throw new Error(`two nodes are named ${key} in ${this.#label}`);
    }
    const whole = { id, ...node };
    this.#nodes.push(whole);
    return whole;
  }

  /** Packages of other nodes: the editor offers to install those that are not there, as it does for its own exports. */
  needs(...packages) {
    const modules = Object.fromEntries(
      packages.map((name) => [name, manifest.devDependencies[name].replace(/^\D/, '')]),
    );
    this.#add({ type: 'global-config', env: [], modules }, 'global-config');
  }

  /** A node that has no place on a tab; the service, a dashboard page. */
  config(type, name, properties = {}) {
    return this.#add({ type, name, ...properties }, `${type} ${name}`).id;
  }

  /** A node at column x, row y of the grid. Its `wires` are set by `wire`. */
  node(type, name, [x, y], properties = {}) {
    return this.#add(
      { type, z: this.tab, name, x: 120 + 190 * x, y: 60 + 60 * y, wires: [], ...properties },
      `${type} ${name}`,
    );
  }

  comment(text, place, info = '') {
    return this.node('comment', text, place, { info });
  }

  group(name, nodes, colour) {
    const left = Math.min(...nodes.map((n) => n.x)) - 116;
    const top = Math.min(...nodes.map((n) => n.y)) - 41;
    const right = Math.max(...nodes.map((n) => n.x)) + 116;
    const bottom = Math.max(...nodes.map((n) => n.y)) + 41;
    const group = this.#add(
      {
        type: 'group',
        z: this.tab,
        name,
        style: { label: true, fill: colour, 'fill-opacity': '0.15', stroke: colour },
        nodes: nodes.map((n) => n.id),
        x: left,
        y: top,
        w: right - left,
        h: bottom - top,
      },
      `group ${name}`,
    );
    for (const n of nodes) {
      n.g = group.id;
    }
  }

  /** From one node to the next, first output to input; `wire(a, [b, c], d)` fans out and in. */
  wire(...stations) {
    for (let i = 0; i + 1 < stations.length; i++) {
      for (const from of [stations[i]].flat()) {
        from.wires[0] = [...(from.wires[0] ?? []), ...[stations[i + 1]].flat().map((to) => to.id)];
      }
    }
  }

  wireOutput(from, output, ...to) {
    for (let i = 0; i <= output; i++) {
      from.wires[i] ??= [];
    }
    from.wires[output].push(...to.map((node) => node.id));
  }

  toJSON() {
    return this.#nodes;
  }
}

export const NODE_DEFAULTS = {
  inject: {
    props: [{ p: 'payload' }, { p: 'topic', vt: 'str' }],
    repeat: '',
    crontab: '',
    once: false,
    onceDelay: 0.1,
    topic: '',
    payload: '',
    payloadType: 'date',
  },
  function: { outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '', libs: [] },
  debug: {
    active: true,
    tosidebar: true,
    console: false,
    tostatus: false,
    complete: 'true',
    targetType: 'full',
    statusVal: '',
    statusType: 'auto',
  },
};

/** The text of a function node, kept as a file of its own beside this one. */
export function source(file) {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8').trimEnd();
}
