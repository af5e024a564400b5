import { existsSync } from 'node:fs';

import type { ServiceClient } from '../../client/service-client';
import type { Connection, ModelCards } from '../../scoring';
import { ServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/environment';
import { modelCards, scoring } from '../lazy';
import type { FlowNode, Red } from '../node-red';
import { modelsPath, serviceFolder } from '../paths';
import {
  type ConfigCredentials,
  type ConfigDef,
  dialect,
  proxyOptions,
  serviceKind,
  serviceUrl,
  tlsOptions,
  tuning,
} from './client-options';

/** The embedded service as the config node starts it. */
export interface EmbeddedService {
  url: string;
  token: string;
  close(): Promise<void>;
}

export type StartEmbedded = (options: {
  dataDir: string;
  log: (level: 'debug' | 'info' | 'warn', text: string) => void;
  /** Called when it is at another address from now on. */
  onMoved?: () => void;
}) => Promise<EmbeddedService>;

/** What one config node holds for the nodes that use it: one connection, made when first needed. */
export class ConfigState {
  private made: Connection | undefined;
  private running: Promise<EmbeddedService> | undefined;
  private cards: ModelCards | undefined;
  private closed = false;

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode<ConfigCredentials>,
    private readonly def: ConfigDef,
    private readonly startEmbedded: StartEmbedded,
    /** The learner of the embedded service. */
    private readonly learner: string,
  ) {}

  /** @throws ServiceError `config.invalid` where the field names no service */
  get embedded(): boolean {
    return serviceKind(this.red, this.node, this.def) === 'embedded';
  }

  /** The embedded service runs, or is about to. */
  get started(): boolean {
    return this.running !== undefined;
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

  /** Key of the service: `embedded`, or base URL and API name. Undefined while there is no valid address. */
  key(): string | undefined {
    try {
      return this.embedded
        ? 'embedded'
        : hostedKey(this.address(), dialect(this.red, this.node, this.def).apiName);
    } catch {
      return undefined;
    }
  }

  /** Base URL of the hosted service. @throws ServiceError `config.invalid` */
  address(): string {
    return serviceUrl(this.env(this.def.baseUrl));
  }

  /** The stored token; empty where there is none. @throws ServiceError `config.invalid` for an unset variable */
  token(): string {
    return this.env(this.node.credentials?.token).trim();
  }

  /** Texts that may stand in no error and no log. */
  secrets(): readonly string[] {
    try {
      const token = this.token();
      return token === '' ? [] : [token];
    } catch {
      // Its environment variable is not set, so there is none.
      return [];
    }
  }

  /** A client of the hosted service, or the embedded one (which is started). The caller closes it. */
  async client(): Promise<ServiceClient> {
    const { ServiceClient: Client } = await import('../../client/service-client.js');
    const common = { ...tuning(this.red, this.node, this.def), log: this.log };
    if (this.embedded) {
      const service = await this.service();
      return new Client({ ...common, baseUrl: service.url, token: service.token });
    }
    return new Client({
      ...common,
      baseUrl: this.address(),
      token: this.token(),
      dialect: dialect(this.red, this.node, this.def),
      tls: tlsOptions(this.red, this.def.tls),
      proxy: proxyOptions(this.red, this.def.proxy),
    });
  }

  /** The model cards of this service: nothing is started or asked. Undefined where none are kept, or after the close. */
  savedCards(): ModelCards | undefined {
    if (this.closed || this.cards !== undefined) {
      return this.cards;
    }
    const key = this.key();
    // Opening the cards makes their folder: not where there is nothing to read.
    return key === undefined || !existsSync(modelsPath(this.red)) ? undefined : this.cardsOf(key);
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

  private make(): Connection {
    const { concurrency } = tuning(this.red, this.node, this.def);
    if (!this.embedded) {
      this.checkHosted();
    }
    const key = this.key() ?? '';
    const { Connection } = scoring();
    return new Connection({
      key,
      ...(this.embedded && { learner: this.learner }),
      client: () => this.client(),
      cards: this.cardsOf(key),
      concurrency,
      log: this.log,
    });
  }

  private cardsOf(key: string): ModelCards {
    this.cards ??= new (modelCards())({
      path: modelsPath(this.red),
      service: key,
      onWarning: (warning) => this.node.warn(warning),
    });
    return this.cards;
  }

  private checkHosted(): void {
    this.address();
    dialect(this.red, this.node, this.def);
    if (this.token() !== '') {
      return;
    }
    throw new ServiceError(
      'auth.unauthorized',
      'The hosted service needs a token: paste your API key into the configuration of the service.',
    );
  }

  private service(): Promise<EmbeddedService> {
    this.running ??= this.startEmbedded({
      dataDir: serviceFolder(this.red),
      log: this.log,
      onMoved: () => this.made?.reconnect(),
    }).catch((error: unknown) => {
      // The next message may find the folder free again.
      this.running = undefined;
      throw error;
    });
    return this.running;
  }

  private env(value: unknown): string {
    return fromEnvironment(this.red, this.node, value);
  }

  private readonly log = (level: 'debug' | 'info' | 'warn', line: string): void => {
    if (level === 'warn') {
      this.node.warn(line);
    } else {
      this.node.debug(line);
    }
  };
}

/** Key of a hosted service, under which its model cards are kept. */
export function hostedKey(baseUrl: string, apiName = 'svc'): string {
  return `${baseUrl}/${apiName}`;
}
