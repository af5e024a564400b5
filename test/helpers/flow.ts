import { type ExampleNode, Flow, NODE_DEFAULTS } from '../../scripts/examples/flow.mjs';
import type { FlowNode } from './node-red';

/** A service that a config node points at. */
interface Address {
  url: string;
  token: string;
}

/**
 * A flow for a test, made by the builder of the examples. The id of a node is the name that the test gives it, so
 * statuses and debug messages are found by it; where it lies on the tab does not matter. Its name stays empty: a
 * config node with a property that equals its id would count as one that needs itself.
 */
export class TestFlow {
  private readonly flow: Flow;

  constructor(label = 'test') {
    this.flow = new Flow(label);
  }

  /** A config node for a hosted service. */
  hosted({ url, token }: Address, properties: object = {}, id = 'config'): string {
    const own = { id, name: '', service: 'hosted', baseUrl: url, credentials: { token }, ...properties };
    return this.flow.config('tabular-config', id, own);
  }

  embedded(id = 'config'): string {
    return this.flow.config('tabular-config', id, { id, name: '', service: 'embedded' });
  }

  /** A config node for an MQTT broker on this computer. */
  broker(id: string, port: number): string {
    return this.flow.config('mqtt-broker', id, { id, name: '', broker: '127.0.0.1', port: String(port) });
  }

  node(type: string, id: string, properties: object = {}): ExampleNode {
    return this.flow.node(type, '', [0, 0], { ...defaults(type), id, ...properties });
  }

  /** A node of this package that uses the config node `config`. */
  tabular(kind: string, id: string, properties: object = {}): ExampleNode {
    return this.node(`tabular-${kind}`, id, { config: 'config', ...properties });
  }

  inject(id: string, properties: object = { props: [] }): ExampleNode {
    return this.node('inject', id, properties);
  }

  /** A function node with this body. */
  code(id: string, func: string): ExampleNode {
    return this.node('function', id, { func });
  }

  /** A debug node that shows this property of the message. */
  debug(id: string, complete: string): ExampleNode {
    return this.node('debug', id, { complete, targetType: 'msg' });
  }

  /** POST /<name>. */
  post(name: string): ExampleNode {
    return this.node('http in', `in ${name}`, { url: `/${name}`, method: 'post' });
  }

  wire(...stations: (ExampleNode | ExampleNode[])[]): void {
    this.flow.wire(...stations);
  }

  wireOutput(from: ExampleNode, output: number, ...to: ExampleNode[]): void {
    this.flow.wireOutput(from, output, ...to);
  }

  /** What is deployed. */
  get nodes(): FlowNode[] {
    return this.flow.toJSON();
  }
}

function defaults(type: string): object {
  return type in NODE_DEFAULTS ? NODE_DEFAULTS[type as keyof typeof NODE_DEFAULTS] : {};
}
