import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { WebSocket } from 'undici';

import { flagsFor } from './own-flags';
import { removedAtEnd, whenProcessEnds } from './temporary';
import { waitFor } from './wait';

export const root = path.resolve(__dirname, '..', '..');

/** A node of a flow file; what is in it depends on its type. */
export type FlowNode = { id: string; type: string } & Record<string, unknown>;

/** Gives every node on a tab a place: what has none is a config node to Node-RED. */
export function placed(nodes: FlowNode[]): FlowNode[] {
  return nodes.map((node) => (node.z === undefined ? node : { x: 100, y: 100, ...node }));
}

export interface DebugMessage {
  id: string;
  name: string;
  msg: unknown;
  format: string;
  /** When it came, by `performance.now()`. */
  at: number;
}

export interface RealNodeRed {
  url: string;
  userDir: string;
  process: ChildProcess;
  /** Everything it printed so far. */
  log(): string;
  /** What debug nodes showed in the sidebar, oldest first; `msg` is parsed where it was an object. */
  debug: DebugMessage[];
  /** The last status of each node, by node id. */
  statuses: Map<string, { fill?: string; shape?: string; text?: string }>;
  /** Presses the button of an inject node. */
  inject(id: string): Promise<void>;
  /** `nodes` restarts none but the nodes that have changed. */
  deploy(flows: FlowNode[], type?: 'full' | 'nodes'): Promise<void>;
  /** The messages of a debug node, once there are `count` of them. */
  shown(id: string, count?: number, timeoutMs?: number): Promise<DebugMessage[]>;
  /** Ends it as Ctrl-C does and answers its exit code. */
  stop(): Promise<number | null>;
}

export interface StartOptions {
  flows: FlowNode[];
  /** Package folders to be found under their names in the user folder. Default: this checkout. */
  link?: Record<string, string>;
  /** An existing user folder, for a restart; it is kept. Default: a new one, removed at stop. */
  userDir?: string;
  env?: NodeJS.ProcessEnv;
  /**
   * What its editor shows descriptions and code in. Monaco, which users have unless they choose the other, starts a
   * thread for each dialog: a fifth of its processor time. Default: ace, and no library that draws diagrams.
   */
  codeEditor?: 'ace' | 'monaco';
  /** Packages can be installed from its palette, as by default: it then asks for the version of npm as it starts. */
  installs?: boolean;
  /** Further lines of settings.js, each with its comma. */
  settings?: string;
  /** The node binary and the node-red package to run; else those of NODE_BINARY and NODE_RED, else our own. */
  nodeBinary?: string;
  nodeRed?: string;
}

/*
 * Below those that systems give to outgoing connections, of which there are hundreds a second here: one of these may take
 * a port between its choice and its use, or while a program that has it is started anew. A process begins with a hundred
 * that those started before and after it do not choose.
 */
const FIRST_PORT = 12_000;
const PORTS = 20_000;
let chosen = process.pid * 100;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (chosen++ % PORTS);
    const server = net.createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

function parse(format: string, msg: unknown): unknown {
  if (typeof msg !== 'string' || !/^(Object|array|error|boolean|number)/i.test(format)) {
    return msg;
  }
  try {
    return JSON.parse(msg) as unknown;
  } catch {
    return msg;
  }
}

/** The socket of the editor, which takes nobody for a moment after the flows have started. */
async function commsOf(url: string): Promise<WebSocket> {
  for (let tries = 0; tries < 50; tries++) {
    const comms = new WebSocket(`${url.replace('http', 'ws')}/comms`);
    const isOpen = await new Promise<boolean>((resolve) => {
      comms.addEventListener('open', () => resolve(true));
      comms.addEventListener('error', () => resolve(false));
    });
    if (isOpen) {
      return comms;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('no comms socket');
}

/**
 * Nodes that no test uses, by their files, and packages that Node-RED finds beside itself in this checkout: to load them
 * takes a quarter of the processor time of its start. A flow with one of them would wait for its type.
 */
const UNUSED = [
  ...['16-range.js', '89-trigger.js', '90-exec.js', 'rbe.js', '22-websocket.js', '31-tcpin.js', '32-udp.js'],
  ...['70-HTML.js', '70-XML.js', '70-YAML.js', '18-sort.js', '19-batch.js', '23-watch.js'],
];
const FOUND_BESIDE = ['node-red-dashboard', 'node-red-contrib-postgrestor-next'];
/** Where its editor looks for the packages that it could install: there are none. Else it would ask the internet. */
const CATALOGUE = '/catalogue.json';
/**
 * The library that draws the diagrams of descriptions, of which we have none: the editor loads its 3.5 MB as soon as it
 * shows a help, which takes a fifth of the processor time of its start.
 */
const DIAGRAMS = '/vendor/mermaid/mermaid.min.js';

/** A real Node-RED in a process of its own, on a free port, with a user folder of its own. */
export async function startNodeRed(options: StartOptions): Promise<RealNodeRed> {
  const port = await freePort();
  const userDir =
    options.userDir ?? removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-node-red-')));
  const modules = path.join(userDir, 'node_modules');
  fs.mkdirSync(modules, { recursive: true });
  const linked = Object.entries(options.link ?? { 'node-red-contrib-tabular-prediction': root });
  const unused = FOUND_BESIDE.filter((found) => !linked.some(([name]) => path.basename(name) === found));
  for (const [name, folder] of linked) {
    const link = path.join(modules, name);
    fs.mkdirSync(path.dirname(link), { recursive: true });
    if (!fs.existsSync(link)) {
      fs.symlinkSync(folder, link, 'junction');
    }
  }
  // Without one of its own, a package.json further up would say how its scripts are read.
  const manifest = path.join(userDir, 'package.json');
  if (!fs.existsSync(manifest)) {
    fs.writeFileSync(manifest, '{ "name": "user-folder", "private": true }');
  }
  fs.writeFileSync(path.join(userDir, 'flows.json'), JSON.stringify(options.flows));
  fs.writeFileSync(
    path.join(userDir, 'settings.js'),
    `module.exports = { uiHost: '127.0.0.1', uiPort: ${port}, flowFile: 'flows.json', credentialSecret: 'test',
      telemetry: { enabled: false, updateNotification: false },
      externalModules: { palette: { allowInstall: ${options.installs ?? false} } },
      editorTheme: {
        tours: false,
        codeEditor: { lib: '${options.codeEditor ?? 'ace'}' },
        palette: { catalogues: ['http://127.0.0.1:${port}${CATALOGUE}'] },
      },
      httpAdminMiddleware: (request, response, next) =>
        request.path === '${CATALOGUE}' ? response.json({ modules: [] })
        : request.path === '${options.codeEditor === 'monaco' ? '' : DIAGRAMS}' ?
          response.type('js').send('globalThis.mermaid = { initialize() {} };')
        : next(),
      nodesExcludes: ${JSON.stringify([...UNUSED, ...unused])},
      debugMaxLength: 10000000, logging: { console: { level: 'info' } }, ${options.settings ?? ''} };`,
  );

  const red = options.nodeRed ?? process.env.NODE_RED ?? path.join(root, 'node_modules', 'node-red');
  const binary = options.nodeBinary ?? process.env.NODE_BINARY ?? process.execPath;
  const child = spawn(
    binary,
    [
      ...flagsFor(binary),
      path.join(red, 'red.js'),
      '--userDir',
      userDir,
      '--settings',
      path.join(userDir, 'settings.js'),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.env } },
  );
  whenProcessEnds(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(child, 'exit');

  const url = `http://127.0.0.1:${port}`;
  const debug: DebugMessage[] = [];
  const statuses: RealNodeRed['statuses'] = new Map();
  const startedTimes = () => printed.split(/Started (?:flows|modified nodes)/).length - 1;
  try {
    await waitFor(
      'Started flows',
      () => (startedTimes() > 0 || child.exitCode !== null ? true : undefined),
      60_000,
    );
    if (child.exitCode !== null) {
      throw new Error('Node-RED ended at start');
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${String(error)}\n${printed}`, { cause: error });
  }

  const comms = await commsOf(url);
  comms.addEventListener('message', (event) => {
    const list = [JSON.parse(String(event.data)) as unknown].flat() as { topic?: string; data: never }[];
    for (const { topic, data } of list) {
      if (topic === 'debug') {
        const shown = data as DebugMessage;
        debug.push({ ...shown, msg: parse(shown.format, shown.msg), at: performance.now() });
      } else if (topic?.startsWith('status/')) {
        statuses.set(topic.slice('status/'.length), data);
      }
    }
  });
  comms.send(JSON.stringify({ subscribe: 'debug' }));
  comms.send(JSON.stringify({ subscribe: 'status/#' }));

  const post = async (route: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body ?? {}),
    });
    if (!answer.ok) {
      throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
    }
  };

  return {
    url,
    userDir,
    process: child,
    log: () => printed,
    debug,
    statuses,
    async inject(id) {
      // The editor's deploy is answered before its nodes are there.
      for (let tries = 0; ; tries++) {
        try {
          await post(`/inject/${id}`);
          return;
        } catch (error) {
          if (tries === 50 || !String(error).includes('answered 404')) {
            throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },
    async deploy(flows, type = 'full') {
      const before = startedTimes();
      await post('/flows', flows, { 'Node-RED-Deployment-Type': type });
      await waitFor('Started flows', () => (startedTimes() > before ? true : undefined));
    },
    shown: (id, count = 1, timeoutMs = 30_000) =>
      waitFor(
        // As it is once nothing has come: what was shown, above all errors, and what the nodes were at.
        () =>
          [
            `${count} messages of debug node ${id}; shown:`,
            ...debug.map((shown) => JSON.stringify(shown).slice(0, 500)).slice(-20),
            `statuses: ${JSON.stringify([...statuses])}; log:`,
            printed,
          ].join('\n'),
        () => {
          const own = debug.filter((message) => message.id === id);
          return own.length >= count ? own : undefined;
        },
        timeoutMs,
      ),
    async stop() {
      comms.close();
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGINT');
      }
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      const [code] = (await exited) as [number | null];
      clearTimeout(timer);
      if (options.userDir === undefined) {
        fs.rmSync(userDir, { recursive: true, force: true });
      }
      return code;
    },
  };
}
