import type { FlowNode } from './node-red';

/** Where a message goes: the id of a node, or of several. */
type Station = string | readonly string[];

/**
 * A flow under construction: one tab, the service `c`, nodes by ids of the test's own choice, wired by them.
 * `new FlowBuilder().service().inject('go', rows).tabular('fit', { target: 'y' }).debug('out').wire('go', 'fit', 'out')`
 */
export class FlowBuilder {
  private readonly byId = new Map<string, FlowNode>();

  constructor(private readonly tab = 't') {
    this.config(tab, 'tab', { label: tab });
  }

  /** What `startNodeRed` and `deploy` take. */
  get nodes(): FlowNode[] {
    return [...this.byId.values()];
  }

  /** A node without a place on the tab: a config node, a dashboard page. */
  config(id: string, type: string, properties: object = {}): this {
    if (this.byId.has(id)) {
      throw new Error(`two nodes have the id ${id}`);
    }
    this.byId.set(id, { id, type, ...properties });
    return this;
  }

  /** The service of all `tabular` nodes: the embedded one, or a hosted one with its token. */
  service(hosted?: { url: string; token: string }, properties: object = {}): this {
    return this.config('c', 'tabular-config', {
      name: '',
      ...(hosted === undefined
        ? { service: 'embedded' }
        : { service: 'hosted', baseUrl: hosted.url, credentials: { token: hosted.token } }),
      ...properties,
    });
  }

  node(id: string, type: string, properties: object = {}): this {
    const at = this.byId.size;
    const place = { x: 100 + 200 * (at % 5), y: 60 + 60 * Math.floor(at / 5) };
    return this.config(id, type, { z: this.tab, ...place, wires: [], ...properties });
  }

  /** One of our nodes, by the last part of its type, with its table in `msg.payload`. */
  tabular(id: string, name: string, properties: object = {}): this {
    const table = { table: 'payload', tableType: 'msg' };
    return this.node(id, `tabular-${name}`, { config: 'c', ...table, ...properties });
  }

  /** A button that sends a value, once pressed by the test. */
  inject(id: string, payload: unknown, properties: object = {}): this {
    return this.node(id, 'inject', {
      props: [{ p: 'payload' }],
      repeat: '',
      once: false,
      payload: JSON.stringify(payload),
      payloadType: 'json',
      ...properties,
    });
  }

  /** A function node with the text of its function. */
  func(id: string, func: string, properties: object = {}): this {
    return this.node(id, 'function', { func, outputs: 1, timeout: 0, libs: [], ...properties });
  }

  /** Shows whole messages, or the property `complete`, to `RealNodeRed.shown`. */
  debug(id: string, complete = 'true'): this {
    const whole = complete === 'true';
    return this.node(id, 'debug', {
      active: true,
      tosidebar: true,
      complete,
      targetType: whole ? 'full' : 'msg',
    });
  }

  /** All errors of the tab, or those of some nodes. */
  catches(id: string, scope: string[] | null = null): this {
    return this.node(id, 'catch', { scope, uncaught: false });
  }

  /** From the first output of each to the input of the next; `wire('a', ['b', 'c'], 'd')` fans out and in. */
  wire(...stations: Station[]): this {
    for (const [i, to] of stations.slice(1).entries()) {
      for (const from of [stations[i]!].flat()) {
        this.wireOutput(from, 0, to);
      }
    }
    return this;
  }

  wireOutput(from: string, output: number, to: Station): this {
    const node = this.byId.get(from);
    if (node === undefined) {
      throw new Error(`no node has the id ${from}`);
    }
    const wires = node.wires as string[][];
    while (wires.length <= output) {
      wires.push([]);
    }
    wires[output]!.push(...[to].flat());
    return this;
  }
}
