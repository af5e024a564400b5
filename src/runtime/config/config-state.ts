import { existsSync } from 'node:fs';

import type { ClientOptions } from '../../client/settings';
import type { Connection, ModelCards } from '../../connection';
import type { ServiceToOpen } from '../../models/open-service';
import { SERVICE_KINDS, serviceKey, type ServiceKind } from '../../models/service-kind';
import type { FlowProperties } from '../../settings/kinds';
import { CONFIG } from '../../settings/nodes';
import type { Dialect } from '../../wire/dialect';
import { ServiceError } from '../../wire/service-error';
import { type DialogPlace, fromEnvironment, settingsReader } from '../fields/settings-reader';
import { modelCards, scoring } from '../lazy';
import type { FlowNode, FlowNodeDef, Red } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { modelsPath, serviceFolder, trainRowsFolder } from '../paths';

/** The config node as it stands in a flow file. */
export type ConfigDef = FlowNodeDef & FlowProperties<typeof CONFIG>;

export interface ConfigCredentials {
  token?: string;
}

/** The client options that do not depend on the kind of service. */
interface Tuning {
  timeoutMs: number;
  retries: number;
  concurrency: number;
}

/** The kind of service; embedded by default. @throws ServiceError `config.invalid` */
export function serviceKind(place: DialogPlace, def: Partial<ConfigDef>): ServiceKind {
  return settingsReader(place, CONFIG, def)('service');
}

/** @throws ServiceError `config.invalid` naming the field. */
export function tuning(runtime: NodeRuntime<ConfigDef>): Tuning {
  const read = runtime.settings(CONFIG);
  return {
    timeoutMs: read('timeout') * 1000,
    retries: read('retries'),
    concurrency: read('concurrency'),
  };
}

/** The largest request to an on-premises endpoint, in bytes. @throws ServiceError `config.invalid` */
function requestBytes(runtime: NodeRuntime<ConfigDef>): number {
  return Math.floor(runtime.settings(CONFIG)('requestSize') * 1024 * 1024);
}

/** @throws ServiceError `config.invalid` naming the field. */
export function dialect(place: DialogPlace, def: Partial<ConfigDef>): Dialect {
  const read = settingsReader(place, CONFIG, def);
  return {
    apiName: read('apiName').replace(/^\/+|\/+$/g, '') || CONFIG.apiName.fallback,
    fitRequest: read('fitRequest'),
    fileInfo: read('fileInfo'),
  };
}

interface TlsNode extends FlowNode {
  addTLSOptions?(options: Record<string, unknown>): Record<string, unknown>;
}

/** TLS settings of a tls-config node, as the core http request node takes them. */
export function tlsOptions(red: Red, id: string | undefined): ClientOptions['tls'] {
  if (id === undefined || id === '') {
    return undefined;
  }
  const node = red.nodes.getNode(id) as TlsNode | undefined | null;
  if (node?.addTLSOptions === undefined) {
    throw new ServiceError('config.invalid', 'The chosen TLS configuration is missing or disabled.');
  }
  const { ca, cert, key, passphrase, servername, rejectUnauthorized } = node.addTLSOptions({});
  const all = { ca, cert, key, passphrase, servername, rejectUnauthorized };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ''));
}

interface ProxyNode extends FlowNode<{ username?: string; password?: string }> {
  url?: string;
  noproxy?: string[];
}

/** Settings of an http proxy node, with its own no-proxy list. */
export function proxyOptions(red: Red, id: string | undefined): ClientOptions['proxy'] {
  if (id === undefined || id === '') {
    return undefined;
  }
  const node = red.nodes.getNode(id) as ProxyNode | undefined | null;
  if (node?.url === undefined) {
    throw new ServiceError('config.invalid', 'The chosen proxy configuration is missing or disabled.');
  }
  let url: URL;
  try {
    url = new URL(node.url);
  } catch {
    throw new ServiceError('config.invalid', 'The chosen proxy configuration has an address that is no URL.');
  }
  const { username, password } = node.credentials ?? {};
  if (username !== undefined && username !== '') {
    url.username = encodeURIComponent(username);
    url.password = encodeURIComponent(password ?? '');
  }
  return { url: url.href, noProxy: (node.noproxy ?? []).filter((host) => host !== '') };
}

/** The embedded service as the config node starts it. */
interface RunningService {
  url: string;
  token: string;
  close(): Promise<void>;
}

export type StartEmbedded = (options: {
  dataDir: string;
  log: (level: 'debug' | 'info' | 'warn', text: string) => void;
  /** Called when the service has moved to another address. */
  onMoved?: () => void;
}) => Promise<RunningService>;

/** The embedded service: what starts it, and the name of its learner. */
export interface EmbeddedToStart {
  readonly start: StartEmbedded;
  readonly learner: string;
}

type ConfigRuntime = NodeRuntime<ConfigDef> & { readonly node: FlowNode<ConfigCredentials> };

/** What a config node holds for the nodes that use it: one connection, made on first use. */
export class ConfigState {
  private made: Connection | undefined;
  private running: Promise<RunningService> | undefined;
  private cards: ModelCards | undefined;
  private closed = false;

  constructor(
    private readonly runtime: ConfigRuntime,
    private readonly embeddedService: EmbeddedToStart,
  ) {}

  /** @throws ServiceError `config.invalid` where the field names no service */
  get kind(): ServiceKind {
    return serviceKind(this.runtime, this.runtime.def);
  }

  /** It may be asked: one that is started here runs, or is about to. @throws ServiceError as `kind` */
  get isUp(): boolean {
    return this.running !== undefined || !this.isLocal;
  }

  /**
   * The connection all nodes of this config node share. Nothing is started or sent yet.
   * @throws ServiceError `config.invalid` (no address), `auth.unauthorized` (no token)
   */
  connection(): Connection {
    if (this.closed) {
      throw new ServiceError('closed', 'The configuration of the service was closed.');
    }
    this.made ??= this.make();
    return this.made;
  }

  /** The service did not answer when it was last asked for a fit or a prediction. */
  get isAway(): boolean {
    return this.made?.isAway === true;
  }

  /** Key of the service: see `serviceKey`. Undefined while there is no valid address. */
  key(): string | undefined {
    try {
      return serviceKey(this.kind, this.address(), dialect(this.runtime, this.runtime.def).apiName);
    } catch {
      return undefined;
    }
  }

  /** Base URL of the hosted service, the URL of the endpoint, empty for the embedded one. @throws ServiceError `config.invalid` */
  private address(): string {
    return SERVICE_KINDS[this.kind].address(this.env(this.runtime.def.baseUrl));
  }

  /** Where its token may be sent; undefined for a service that has no address. @throws ServiceError `config.invalid` */
  get origin(): string | undefined {
    const address = this.address();
    return address === '' ? undefined : new URL(address).origin;
  }

  /** The stored token; empty where there is none. @throws ServiceError `config.invalid` for an unset variable */
  token(): string {
    return this.env(this.runtime.node.credentials?.token).trim();
  }

  /** Texts that must not appear in an error or a log. */
  secrets(): readonly string[] {
    try {
      const token = this.token();
      return token === '' ? [] : [token];
    } catch {
      // Its environment variable is not set, so there is no token.
      return [];
    }
  }

  /** The model cards of this service, without starting or asking it. Undefined if none are kept, or after close. */
  savedCards(): ModelCards | undefined {
    if (this.closed || this.cards !== undefined) {
      return this.cards;
    }
    const key = this.key();
    // Opening the cards creates their folder, so they are opened only if there is something to read.
    return key === undefined || !existsSync(modelsPath(this.runtime.red)) ? undefined : this.openCards(key);
  }

  async close(): Promise<void> {
    this.closed = true;
    const { made, running, cards } = this;
    this.made = this.running = this.cards = undefined;
    await made?.close();
    await cards?.close();
    const service = await running?.catch(() => undefined);
    await service?.close();
  }

  /** Whether it is started here. @throws ServiceError as `kind` */
  private get isLocal(): boolean {
    return SERVICE_KINDS[this.kind].isLocal;
  }

  private make(): Connection {
    const { concurrency } = tuning(this.runtime);
    if (!this.isLocal) {
      this.checkRemote();
    }
    const { Connection, openService } = scoring();
    const key = this.key() ?? '';
    const service = openService(this.kind, {
      key,
      learner: this.embeddedService.learner,
      options: this.clientOptions,
      onWarning: (text) => this.log('warn', text),
    });
    return new Connection({ service, cards: this.openCards(key), concurrency, log: this.log });
  }

  private clientOptions: ServiceToOpen['options'] = async () => {
    const common = { ...tuning(this.runtime), log: this.log };
    if (this.isLocal) {
      const { url: baseUrl, token } = await this.service();
      return { ...common, baseUrl, token };
    }
    const baseUrl = this.address();
    return {
      ...common,
      baseUrl,
      token: this.token(),
      dialect: dialect(this.runtime, this.runtime.def),
      tls: tlsOptions(this.runtime.red, this.runtime.def.tls),
      proxy: proxyOptions(this.runtime.red, this.runtime.def.proxy),
      localUploads: this.runtime.settings(CONFIG)('localUploads'),
      folder: trainRowsFolder(this.runtime.red, baseUrl),
      requestBytes: requestBytes(this.runtime),
    };
  };

  private openCards(key: string): ModelCards {
    this.cards ??= modelCards().open({
      path: modelsPath(this.runtime.red),
      service: key,
      onWarning: (warning) => this.runtime.node.warn(warning),
    });
    return this.cards;
  }

  private checkRemote(): void {
    this.address();
    dialect(this.runtime, this.runtime.def);
    requestBytes(this.runtime);
    if (this.token() !== '' || !SERVICE_KINDS[this.kind].needsToken) {
      return;
    }
    throw new ServiceError(
      'auth.unauthorized',
      'The hosted service needs a token: paste your API key into the configuration of the service.',
    );
  }

  private service(): Promise<RunningService> {
    this.running ??= this.embeddedService
      .start({
        dataDir: serviceFolder(this.runtime.red),
        log: this.log,
        onMoved: () => this.made?.reconnect(),
      })
      .catch((error: unknown) => {
        // The next message may find the folder free again.
        this.running = undefined;
        throw error;
      });
    return this.running;
  }

  private env(value: unknown): string {
    return fromEnvironment(this.runtime, value);
  }

  private readonly log = (level: 'debug' | 'info' | 'warn', line: string): void => {
    if (level === 'warn') {
      this.runtime.node.warn(line);
    } else {
      this.runtime.node.debug(line);
    }
  };
}

type OpenEmbedded = (node: FlowNode) => ConfigState;

/** The embedded service for nodes without a chosen service: the first one opens it, the last one closes it. */
class DefaultService {
  private state: ConfigState | undefined;
  private readonly users = new Set<FlowNode>();

  constructor(readonly open: OpenEmbedded) {}

  /** Counts a node in, until it closes. */
  join(node: FlowNode): void {
    this.users.add(node);
    node.on('close', (_removed: boolean, closed: () => void) => {
      this.users.delete(node);
      void this.leave()
        .catch((error: unknown) => node.warn(String(error)))
        .finally(closed);
    });
  }

  /** @throws ServiceError `closed` for a node that has left */
  of(node: FlowNode): ConfigState {
    if (!this.users.has(node)) {
      throw new ServiceError('closed', 'The node was closed.');
    }
    this.state ??= this.open(node);
    return this.state;
  }

  /** The service, where a node has used it. */
  opened(): ConfigState | undefined {
    return this.state;
  }

  private async leave(): Promise<void> {
    if (this.users.size > 0) {
      return;
    }
    const { state } = this;
    this.state = undefined;
    await state?.close();
  }
}

let service: DefaultService | undefined;

/** Sets how the embedded service is opened for nodes without a chosen one. The config node's set calls it on load. */
export function provideDefaultService(open: OpenEmbedded): void {
  service = new DefaultService(open);
}

/** The default service, without being counted as a user; undefined if the config node's set is disabled. */
export function defaultService(): Pick<DefaultService, 'open' | 'opened'> | undefined {
  return service;
}

/** The default service, with this node counted as a user; undefined if the config node's set is disabled. */
function joinDefaultService(node: FlowNode): { state(): ConfigState } | undefined {
  const joined = service;
  joined?.join(node);
  return joined === undefined ? undefined : { state: () => joined.of(node) };
}

/** The default service, where it is in use; asking does not count as a use. */
export function defaultState(): ConfigState | undefined {
  return service?.opened();
}

/** A config node as the nodes that use it see it. */
export interface ConfigNode extends FlowNode {
  state: ConfigState;
}

/** The chosen config node as the other nodes use it. */
export interface UsedConfig {
  /** @throws ServiceError `config.invalid` where the chosen one is missing, or what the state throws. */
  connection(): Connection;
  /** The model cards, without a connection; undefined if there are none. */
  cards(): ModelCards | undefined;
  secrets(): readonly string[];
}

/**
 * Looks the config node up on every use: it may be created after the nodes that use it, or be disabled. If none was
 * chosen, the embedded service is used, and the node's status says so until it has something else to show.
 */
export function useConfig(runtime: NodeRuntime<{ config?: string }>): UsedConfig {
  const { red, node, status, def } = runtime;
  const id = def.config;
  const isDefault = id === undefined || id === '' || id === '_ADD_';
  const embedded = isDefault ? joinDefaultService(node) : undefined;
  if (isDefault) {
    runtime.whenStarted(() => status.showIdle({ kind: 'plain', key: 'embedded' }));
  }
  const find = (): ConfigState | undefined => (isDefault ? embedded?.state() : configNode(red, id)?.state);
  return {
    connection() {
      const state = find();
      if (state !== undefined) {
        return state.connection();
      }
      throw new ServiceError(
        'config.invalid',
        'The chosen service is missing or disabled: choose another one in the node, or none for the embedded one.',
      );
    },
    cards: () => find()?.savedCards(),
    secrets: () => (isDefault ? [] : (find()?.secrets() ?? [])),
  };
}

/** The config node with this id; undefined if there is none or it is disabled. */
export function configNode(red: Red, id: string): ConfigNode | undefined {
  const node = red.nodes.getNode(id) as ConfigNode | undefined | null;
  return node?.state === undefined ? undefined : node;
}
