import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type FlowNode, placed, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { removedAtEnd } from '../helpers/temporary';

/** What the probe saw, in the form of its codec. */
export type Seen =
  | { kind: 'taken' | 'done'; from: string }
  | { kind: 'message'; from: string; output: number; msg: Json }
  | { kind: 'error'; from: string; error: Json; msg: Json }
  | { kind: 'status'; from: string; status: Json };

export interface Outcome {
  messages: Record<string, Json[]>;
  errors: Record<string, { error: Json; msg: Json }[]>;
}

export interface Called {
  status: number;
  type: string;
  body: unknown;
}

export type Json = Record<string, unknown>;

interface Options {
  nodes: FlowNode[];
  /** The folder of the package: this checkout, or that of the release that is recorded. */
  package?: string;
  userDir?: string;
  env?: NodeJS.ProcessEnv;
  settings?: string;
}

/** A node shows at most four statuses a second. */
const STATUS_QUIET_MS = 1000;
export const STATUS_PATIENCE_MS = 5000;

const OUTPUTS: Record<string, number> = { 'tabular-limits': 2, 'tabular-watch': 2, 'tabular-series': 3 };

/** The nodes with a probe on each output, and on errors and statuses. They lie on one tab. */
export function probed(nodes: FlowNode[]): FlowNode[] {
  const probes: FlowNode[] = [];
  const probe = (name: string): string => {
    probes.push({ id: `probe ${name}`, type: 'contract-probe', z: 'tab', name, wires: [] });
    return `probe ${name}`;
  };
  const own = nodes.map((node) => {
    if (!node.type.startsWith('tabular-') || node.type === 'tabular-config') {
      return node;
    }
    const given = (node.wires ?? []) as string[][];
    const wires = Array.from({ length: OUTPUTS[node.type] ?? 1 }, (_, output) => [
      ...(given[output] ?? []),
      probe(`${node.id}>${output}`),
    ]);
    return { z: 'tab', ...node, wires };
  });
  return placed([
    { id: 'tab', type: 'tab', label: 'contract' },
    ...own,
    { id: 'catch', type: 'catch', z: 'tab', scope: null, wires: [[probe('error')]] },
    { id: 'status', type: 'status', z: 'tab', scope: null, wires: [[probe('status')]] },
    ...probes,
  ]);
}

/** A Node-RED whose nodes are probed. */
export class ContractNodeRed {
  readonly seen: Seen[] = [];

  private constructor(private readonly red: RealNodeRed) {}

  static async start({
    nodes,
    package: folder = root,
    userDir = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-contract-'))),
    env,
    settings = '',
  }: Options): Promise<ContractNodeRed> {
    const secrets = nodes.filter(({ credentials }) => credentials !== undefined);
    fs.writeFileSync(
      path.join(userDir, 'flows_cred.json'),
      JSON.stringify(Object.fromEntries(secrets.map(({ id, credentials }) => [id, credentials]))),
    );
    const red = await startNodeRed({
      flows: probed(nodes),
      userDir,
      env: { ...env, TZ: 'Europe/Berlin', no_proxy: '' },
      settings: `fileWorkingDirectory: ${JSON.stringify(userDir)}, ${settings}`,
      link: {
        'node-red-contrib-tabular-prediction': folder,
        'node-red-contrib-contract-probe': path.join(__dirname, 'probe'),
      },
    });
    return new ContractNodeRed(red);
  }

  get url(): string {
    return this.red.url;
  }

  get userDir(): string {
    return this.red.userDir;
  }

  log(): string {
    return this.red.log();
  }

  /** Deploys flows as they are, and answers which of our nodes are there then, and what was logged meanwhile. */
  async deployed(flows: FlowNode[]): Promise<{ nodes: string[]; logged: string }> {
    const before = this.red.log().length;
    await this.red.deploy(flows);
    const { body } = await this.call('GET /contract/nodes');
    return { nodes: body as string[], logged: this.red.log().slice(before) };
  }

  stop(): Promise<unknown> {
    return this.red.stop();
  }

  /** Gives messages to a node, one right after the other. */
  async give(to: string, messages: Json[]): Promise<void> {
    const answer = await fetch(`${this.red.url}/contract/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ to, messages }),
    });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
  }

  /**
   * Gives messages to a node, and answers what came of them once every node has ended every message that it took:
   * messages by `node>output` and errors by node, in their order, and how the last status of each node looks.
   */
  async outcomeOf(to: string, messages: Json[]): Promise<Outcome> {
    const before = this.seen.length;
    await this.give(
      to,
      messages.map((msg, i) => ({ _msgid: `given ${i}`, ...msg })),
    );
    const isOver = (): boolean => {
      const open = new Map<string, number>();
      let ended = 0;
      for (const { kind, from } of this.seen.slice(before)) {
        if (kind === 'taken' || kind === 'done') {
          open.set(from, (open.get(from) ?? 0) + (kind === 'taken' ? 1 : -1));
          ended += kind === 'done' && from === to ? 1 : 0;
        }
      }
      return ended >= messages.length && [...open.values()].every((count) => count === 0);
    };
    if ((await this.until(() => isOver() || undefined)) === undefined) {
      throw new Error(`${to} did not end its messages\n${this.log()}`);
    }
    const outcome: Outcome = { messages: {}, errors: {} };
    for (const event of this.seen.slice(before)) {
      if (event.kind === 'message') {
        (outcome.messages[`${event.from}>${event.output}`] ??= []).push(event.msg);
      } else if (event.kind === 'error') {
        (outcome.errors[event.from] ??= []).push({ error: event.error, msg: event.msg });
      }
    }
    return outcome;
  }

  /** Calls a route: `GET /path?query`, with spaces as they are. The answer's body is parsed where it is JSON. */
  async call(route: string, { body, token }: { body?: Json | Buffer; token?: string } = {}): Promise<Called> {
    const [, method, path] = /^(\S+) (.*)$/.exec(route)!;
    const answer = await fetch(new URL(path!, this.red.url), {
      method,
      headers: {
        ...(body !== undefined && {
          'content-type': Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json',
        }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && {
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    });
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isJson = type === 'application/json';
    return {
      status: answer.status,
      type,
      body: isJson ? JSON.parse(bytes.toString()) : type.startsWith('text/') ? bytes.toString() : bytes,
    };
  }

  /** The token of a user whose password is the name. */
  async login(username: string): Promise<string> {
    const asked = {
      client_id: 'node-red-admin',
      grant_type: 'password',
      scope: '',
      username,
      password: username,
    };
    const { body } = await this.call('POST /auth/token', { body: asked });
    return (body as { access_token: string }).access_token;
  }

  /**
   * The newest status of a node: once it is as wanted or, where that is not known, once it no longer changes.
   * @param patienceMs how long it may take to become as wanted
   */
  async status(
    id: string,
    isWanted?: (status: Json | undefined) => boolean,
    patienceMs = STATUS_PATIENCE_MS,
  ): Promise<Json | undefined> {
    const newest = (): Json | undefined => {
      const all = this.seen.filter((event) => event.kind === 'status' && event.from === id);
      return (all.at(-1) as { status: Json } | undefined)?.status;
    };
    if (isWanted === undefined) {
      let since = performance.now();
      let before = newest();
      await this.until(() => {
        since = newest() === before ? since : performance.now();
        before = newest();
        return performance.now() - since > STATUS_QUIET_MS || undefined;
      });
    } else {
      await this.until(() => isWanted(newest()) || undefined, patienceMs);
    }
    return newest();
  }

  /** Resolves with the answer of `look` at everything seen, once it has one; with undefined after the time. */
  async until<T>(look: (seen: Seen[]) => T | undefined, timeoutMs = 40_000): Promise<T | undefined> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const found = look(this.seen);
      if (found !== undefined || Date.now() > end) {
        return found;
      }
      const answer = await fetch(`${this.red.url}/contract/events?from=${this.seen.length}`);
      this.seen.push(...((await answer.json()) as Seen[]));
    }
  }
}
