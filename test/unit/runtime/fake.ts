import { EventEmitter } from 'node:events';

import { hooks, util } from '@node-red/util';
import type { NodeStatus } from 'node-red';

import { type FlowNode, type Message, NodeRuntime, type Red } from '../../doors/runtime';
import { catalogue, NODES } from '../../helpers/dialogs';

/** One message as a fake node took it: what was sent, and each call of `done`. */
export interface Taken {
  sent: unknown[];
  done: (Error | undefined)[];
  settled: Promise<void>;
}

/** A node of Node-RED as far as runtime touches it, with its input and close at hand. */
export interface FakeNode extends FlowNode {
  take(msg: Partial<Message>): Taken;
  shut(removed?: boolean): Promise<void>;
  statuses: NodeStatus[];
  warnings: string[];
  errors: { error: Error; msg: unknown }[];
}

export function fakeNode(id = 'n1'): FakeNode {
  const emitter = new EventEmitter();
  const statuses: NodeStatus[] = [];
  const warnings: string[] = [];
  const errors: FakeNode['errors'] = [];
  const node = Object.assign(emitter, {
    id,
    type: 'fake',
    name: '',
    statuses,
    warnings,
    errors,
    status: (status: NodeStatus) => void statuses.push(status),
    warn: (text: string) => void warnings.push(text),
    debug: () => undefined,
    error: (error: Error, msg: unknown) => void errors.push({ error, msg }),
    take(msg: Partial<Message>): Taken {
      const sent: unknown[] = [];
      const done: (Error | undefined)[] = [];
      const settled = new Promise<void>((resolve) => {
        emitter.emit(
          'input',
          msg._msgid === undefined ? Object.assign(msg, { _msgid: 'm' }) : msg,
          (output: unknown) => void sent.push(output),
          (error?: Error) => {
            done.push(error);
            resolve();
          },
        );
      });
      return { sent, done, settled };
    },
    shut: (removed = false) => new Promise<void>((resolve) => void emitter.emit('close', removed, resolve)),
  });
  return node as unknown as FakeNode;
}

/** Node-RED's API with its real util; texts are their own keys, as in its own test helper. */
export function fakeRed(nodes: Record<string, unknown> = {}, settings: Record<string, unknown> = {}): Red {
  return {
    util,
    hooks,
    settings,
    nodes: { getNode: (id: string) => nodes[id], eachNode: () => undefined },
    _: (key: string, values?: Record<string, unknown>) =>
      values === undefined ? key : `${key} ${JSON.stringify(values)}`,
  } as unknown as Red;
}

/** The same with the catalogues of all nodes in a language; as Node-RED does, it answers a key that none has. */
export function redIn(language: string): Red {
  const words = new Map(NODES.map((node) => [`tabular-${node}`, catalogue(language, node)]));
  const translate = (key: string, values: Record<string, string> = {}): string => {
    const [, type, name] = /^[^/]+\/([^:]+):(.*)$/.exec(key) ?? [];
    const word = words.get(type ?? '')?.get(name ?? '') ?? name ?? key;
    return word.replace(/__(\w+)__/g, (_, value: string) => values[value] ?? '');
  };
  return { ...fakeRed(), _: translate } as Red;
}

/** What a node works with, by what its dialog says. */
export function fakeRuntime<Def = object>(def: Def, red = fakeRed(), node: FlowNode = fakeNode()) {
  return new NodeRuntime(red, node, def);
}
