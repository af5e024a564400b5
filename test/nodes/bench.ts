/*
 * Flows of our nodes in Node-RED's own test helper. Every node under test is watched by a Catch and a Complete
 * node, so that a test can see that each message ended exactly once.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { hooks, log } from '@node-red/util';
import type { NodeInitializer } from 'node-red';

import { root } from '../helpers/node-red';
import { NODE_FILES } from '../helpers/package-nodes';
import { sharedService } from '../service/shared';

/** Messages hold anything; the assertions say what. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever JSON a test looks into
export type Anything = any;

export interface Msg {
  _msgid: string;
  payload?: Anything;
  error?: { code?: string; message: string; cause?: Anything; source: { id: string } };
  [key: string]: Anything;
}

interface TestNode {
  receive(msg: object): void;
  on(event: string, listener: (...args: Anything[]) => void): void;
  context(): { flow: Anything; global: Anything };
  credentials?: Record<string, string>;
}

interface Helper {
  init(runtime: string): void;
  settings(settings: object): void;
  load(nodes: NodeInitializer[], flow: object[], credentials?: object): Promise<void>;
  setFlows(flow: object[], type?: string, credentials?: object): Promise<void>;
  clearFlows(): Promise<void>;
  unload(): Promise<void>;
  getNode(id: string): TestNode;
  startServer(): Promise<void>;
  stopServer(): Promise<void>;
  request(): Anything;
  /** What it watches Node-RED by. */
  _sandbox: { restore(): void };
}

const requireHere = createRequire(__filename);
const helper = requireHere('node-red-node-test-helper') as Helper;
helper.init(requireHere.resolve('node-red'));

/** Node-RED gives its hooks to nodes; the test helper leaves them out, though its runtime calls them. */
const withHooks = ((red: object) => Object.assign(red, { hooks })) as unknown as NodeInitializer;

const OURS = Object.values(NODE_FILES).map((file) => requireHere(path.join(root, file)) as NodeInitializer);
const core = (file: string) =>
  requireHere(
    path.join(path.dirname(requireHere.resolve('@node-red/nodes/package.json')), 'core', file),
  ) as NodeInitializer;
const contextStores = requireHere('@node-red/runtime/lib/nodes/context/index.js') as {
  load(): Promise<void>;
};
const CORE = [
  'network/05-tls.js',
  'network/06-httpproxy.js',
  'sequence/17-split.js',
  'parsers/70-CSV.js',
  'storage/10-file.js',
].map(core);

/** Messages that came to one place, and a way to wait for more. */
export class Inbox {
  readonly all: Msg[] = [];
  private waiting: (() => void)[] = [];

  take(msg: Msg): void {
    this.all.push(msg);
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) {
      wake();
    }
  }

  /** The first `count` messages, once they are there. */
  async first(count = 1, timeoutMs = 40_000): Promise<Msg[]> {
    const end = Date.now() + timeoutMs;
    while (this.all.length < count) {
      const left = end - Date.now();
      if (left <= 0) {
        const caught = current?.caught.all.map(({ error }) => `${error?.code}: ${error?.message}`).join('\n');
        throw new Error(`waited in vain for ${count} messages, ${this.all.length} came; caught: ${caught}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.all.slice(0, count);
  }
}

export interface Bench {
  /** Gives a message to a node. */
  send(id: string, msg: object): void;
  node(id: string): TestNode;
  /** The text of the last status that a node under test showed. */
  status(id: string): string;
  /** Waits until the last status of a node under test has such a text. */
  shows(id: string, text: RegExp): Promise<void>;
  /** The numbers of the last status that a node under test showed. */
  progress(id: string): Anything;
  /** What left an output of a node under test. */
  out(id: string, output?: number): Inbox;
  /** Errors and completions of all nodes under test. */
  caught: Inbox;
  completed: Inbox;
  userDir: string;
  /** What was logged at level warn (30) or worse, as text. */
  warnings: () => string[];
  redeploy(type?: 'full' | 'nodes'): Promise<void>;
  /** Deploys with properties of a node changed, or (undefined) without it. */
  change(id: string, properties: object | undefined, type: 'full' | 'nodes'): Promise<void>;
  request(): Anything;
  /** Ends the flow; may be called once more by `after`. */
  stop(): Promise<void>;
}

export interface Setup {
  /** Properties of the config node `c`. */
  config?: Record<string, unknown>;
  token?: string;
  /** Nodes under test. `config` is filled in with `c` unless given. */
  nodes: ({ id: string; type: string } & Record<string, Anything>)[];
  /** Further nodes, taken as they are. */
  extra?: object[];
  userDir?: string;
  settings?: object;
  /** Admin routes are asked for. */
  credentials?: Record<string, Record<string, string>>;
}

let current: Bench | undefined;

/** Errors and warnings that Node-RED has logged since the flow was loaded. */
let logged: string[] = [];
const write = log.log.bind(log);
// A handler of its own would be gone with each start of its server.
log.log = (entry: { level: number; msg?: unknown }) => {
  if (entry.level <= log.WARN) {
    logged.push(String(entry.msg));
  }
  write(entry);
};

/** A folder of its own, in which the embedded service is the one that the process has already. */
async function temporaryUserDir(): Promise<string> {
  const userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-bench-'));
  const { folder } = await sharedService();
  fs.mkdirSync(path.join(userDir, 'tabular-prediction'));
  fs.symlinkSync(folder, path.join(userDir, 'tabular-prediction', 'service'), 'junction');
  return userDir;
}

/** Starts a flow. Each node under test has its outputs wired to inboxes of its own. */
export async function startBench(setup: Setup): Promise<Bench> {
  await current?.stop();
  const userDir = setup.userDir ?? (await temporaryUserDir());
  helper.settings({ userDir, ...setup.settings });
  const sinks: string[] = [];
  const outputs = ({ type }: { type: string }) =>
    ({ 'tabular-limits': 2, 'tabular-watch': 2, 'tabular-anomaly': 2, 'tabular-series': 3 })[type] ?? 1;
  const sinkOf = (id: string, output: number) => `${id}-out${output}`;
  const under = setup.nodes.map((node) => ({
    z: 'flow',
    // Without a place on the sheet Node-RED takes a node for a config node.
    x: 100,
    y: 100,
    config: 'c',
    ...node,
    wires:
      node.wires ??
      Array.from({ length: outputs(node) }, (_, output) => {
        sinks.push(sinkOf(node.id, output));
        return [sinkOf(node.id, output)];
      }),
  }));
  const scope = under.map(({ id }) => id);
  let flow: Record<string, Anything>[] = [
    { id: 'flow', type: 'tab', label: 'test' },
    { id: 'c', type: 'tabular-config', name: '', ...setup.config },
    ...under,
    ...(setup.extra ?? []),
    { id: 'catch', type: 'catch', z: 'flow', x: 200, y: 100, scope, wires: [['caught']] },
    { id: 'statuses', type: 'status', z: 'flow', x: 200, y: 300, scope, wires: [['status']] },
    { id: 'complete', type: 'complete', z: 'flow', x: 200, y: 200, scope, wires: [['completed']] },
    ...[...sinks, 'caught', 'completed', 'status'].map((id) => ({
      id,
      type: 'helper',
      z: 'flow',
      x: 300,
      y: 100,
    })),
  ];
  const credentials = {
    ...(setup.token === undefined ? {} : { c: { token: setup.token } }),
    ...setup.credentials,
  };
  logged = [];
  await helper.load([withHooks, ...OURS, ...CORE], flow, credentials);
  // Its spies keep each message, each status and each call of the log, with an error for where it came from.
  helper._sandbox.restore();
  if (setup.settings !== undefined && 'contextStorage' in setup.settings) {
    await contextStores.load();
  }

  const statuses = new Map<string, { text?: string; progress?: Anything }>();
  const inboxes = new Map<string, Inbox>();
  const listen = () => {
    for (const id of [...sinks, 'caught', 'completed']) {
      const inbox = inboxes.get(id) ?? new Inbox();
      inboxes.set(id, inbox);
      helper.getNode(id).on('input', (msg: Msg) => inbox.take(msg));
    }
    helper
      .getNode('status')
      .on('input', ({ status }: { status: { source: { id: string }; text?: string; progress?: object } }) =>
        statuses.set(status.source.id, status),
      );
  };
  listen();

  let stopped = false;
  let warnings: string[] | undefined;
  const bench: Bench = {
    userDir,
    send: (id, msg) => helper.getNode(id).receive(msg),
    node: (id) => helper.getNode(id),
    status: (id) => statuses.get(id)?.text ?? '',
    shows: async (id, wanted) => {
      for (const end = Date.now() + 20_000; !wanted.test(statuses.get(id)?.text ?? '');) {
        assert.ok(Date.now() < end, `${id} shows "${statuses.get(id)?.text}"`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    progress: (id) => statuses.get(id)?.progress,
    out: (id, output = 0) => inboxes.get(sinkOf(id, output))!,
    caught: inboxes.get('caught')!,
    completed: inboxes.get('completed')!,
    warnings: () => warnings ?? [...logged],
    async redeploy(type = 'full') {
      await helper.setFlows(flow, type, credentials);
      if (type === 'full') {
        listen();
      }
    },
    change(id, properties, type) {
      flow = flow.flatMap((node) =>
        node.id !== id ? [node] : properties === undefined ? [] : [{ ...node, ...properties }],
      );
      return bench.redeploy(type);
    },
    request: () => helper.request(),
    async stop() {
      if (stopped) {
        return;
      }
      stopped = true;
      current = undefined;
      // Before unload, which forgets what was logged.
      await helper.clearFlows();
      warnings = [...logged];
      await helper.unload();
      if (setup.userDir === undefined) {
        fs.rmSync(userDir, { recursive: true, force: true });
      }
    },
  };
  current = bench;
  return bench;
}

export async function stopBench(): Promise<void> {
  await current?.stop();
}

/** Needed once by tests that use a Node-RED server. */
export const server = { start: () => helper.startServer(), stop: () => helper.stopServer() };

/** A small train set with a class that depends on `x`, and ids. */
export function trainRows(count = 30): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    x: i % 7,
    colour: i % 2 ? 'red' : 'blue',
    y: i % 7 > 3 ? 'yes' : 'no',
  }));
}

/** A row to predict that the strict service answers by its id. */
export function row(id: number): Record<string, unknown> {
  return { id, x: id % 7, colour: 'red' };
}
