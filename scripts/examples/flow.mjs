import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';
import { translated } from './translate.mjs';

const { NODE_SETTINGS } = createRequire(import.meta.url)(
  path.join(root, 'dist', 'src', 'settings', 'nodes.js'),
);
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

  /**
   * Packages of other nodes, by name, or as an object of names and versions where no test installs them: the editor offers
   * to install those that are not there, as it does for its own exports.
   */
  needs(...packages) {
    const modules = Object.assign(
      {},
      ...packages.map((one) =>
        typeof one === 'object' ? one : { [one]: manifest.devDependencies[one].replace(/^\D/, '') },
      ),
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

  /** A function node whose text is a file beside this one. */
  code(name, place, file, properties = {}) {
    return this.node('function', name, place, {
      ...NODE_DEFAULTS.function,
      func: source(file),
      ...properties,
    });
  }

  /** What drives a simulation: an inject node at the start, and one every second from the second on. Answers both. */
  clock(props) {
    const shape = { ...NODE_DEFAULTS.inject, once: true, ...(props !== undefined && { props }) };
    return [
      this.node('inject', 'at start', [0, 1], { ...shape, topic: 'history' }),
      this.node('inject', 'every second', [0, 2], { ...shape, repeat: '1', onceDelay: 1, topic: 'tick' }),
    ];
  }

  /** Holds each message for so many seconds. */
  delay(name, place, seconds) {
    return this.node('delay', name, place, { ...NODE_DEFAULTS.delay, timeout: String(seconds) });
  }

  /** Shows one property of the message in the debug sidebar. */
  debug(name, place, complete, targetType = 'msg') {
    return this.node('debug', name, place, { ...NODE_DEFAULTS.debug, complete, targetType });
  }

  /**
   * Shows the errors of all nodes.
   *
   * @param beside columns from the catch node to the debug node
   * @param status whether the debug node has the last error under it
   */
  errors(place, { beside = 1, status = false } = {}) {
    const caught = this.node('catch', 'any error', place, { scope: null, uncaught: false });
    const shown = this.debug('error', [place[0] + beside, place[1]], 'error');
    if (status) {
      Object.assign(shown, {
        tostatus: true,
        statusVal: 'error.code ? error.code & ": " & error.message : error.message',
        statusType: 'jsonata',
      });
    }
    this.wire(caught, shown);
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

  /** From one end of the sheet to the other without a wire across it. Answers the node to wire to. */
  far(name, place, end, to) {
    const out = this.node('link out', name, place, { mode: 'link', links: [] });
    const into = this.node('link in', name, end, { links: [out.id] });
    out.links.push(into.id);
    this.wire(into, to);
    return out;
  }

  toJSON() {
    return arranged(this.#nodes);
  }

  /** The nodes in another language, placed by their labels in it. */
  inLanguage(language, catalogue, missing) {
    return arranged(translated(this.#nodes, language, catalogue, missing));
  }
}

function arranged(nodes) {
  const copies = nodes.map((node) => ({ ...node }));
  arrange(copies.filter(({ x, type }) => x !== undefined && type !== 'group'));
  return copies;
}

/** Pixels of a letter in a wide font, of a Japanese character, and of what stands beside the label: icon, ports, a button. */
const LETTER = 8;
const WIDE_LETTER = 14;
const BESIDE = 60;
const BUTTON = 30;
const GAP = 20;
const ROW = 36;

/** How wide the editor draws a node at most. */
function widthOf({ type, name }) {
  const label = name || type;
  const wide = label.match(/[\u3000-\u9fff\uff00-\uffef]/g)?.length ?? 0;
  const letters = LETTER * (label.length - wide) + WIDE_LETTER * wide;
  return Math.max(100, letters + BESIDE + (/^(inject|debug)$/.test(type) ? BUTTON : 0));
}

/** Moves nodes to the right, as far as it takes for none to overlap another or the edge, whatever the font. */
function arrange(nodes) {
  const placed = [];
  for (const node of [...nodes].sort((a, b) => a.x - b.x)) {
    const half = widthOf(node) / 2;
    const beside = placed.filter(({ y }) => Math.abs(y - node.y) < ROW);
    const left = Math.max(0, ...beside.map((other) => other.x + widthOf(other) / 2));
    node.x = Math.ceil(Math.max(node.x, left + GAP + half) / 10) * 10;
    placed.push(node);
  }
}

/** No service is chosen: the embedded one, so that examples imported side by side need no service each. */
export const EMBEDDED = '';

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
  delay: {
    pauseType: 'delay',
    timeout: '5',
    timeoutUnits: 'seconds',
    rate: '1',
    nbRateUnits: '1',
    rateUnits: 'second',
    randomFirst: '1',
    randomLast: '5',
    randomUnits: 'seconds',
    drop: false,
    allowrate: false,
    outputs: 1,
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

/** A broker on this computer. */
export const BROKER = {
  broker: '127.0.0.1',
  port: '1883',
  clientid: '',
  autoConnect: true,
  usetls: false,
  protocolVersion: '4',
  keepalive: '60',
  cleansession: true,
};

/** A node as it is dragged in: what its settings say, built from src/settings, but for its name and service. */
function dragged(node) {
  const settings = Object.entries(NODE_SETTINGS[node]).filter(([key]) => !['name', 'config'].includes(key));
  return Object.fromEntries(settings.map(([key, setting]) => [key, setting.default]));
}

export const SERIES_DEFAULTS = dragged('series');
export const ADVISE_DEFAULTS = dragged('advise');
export const ANOMALY_DEFAULTS = dragged('anomaly');
export const WATCH_DEFAULTS = dragged('watch');

/** A number from 0 to below 1 that looks like chance, and is the same in every build. */
export function chance(seed) {
  let mixed = Math.imul(seed + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
}

/** The text of a function node, kept as a file of its own beside this one. */
export function source(file) {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8').trimEnd();
}
