import type { ClientOptions } from '../../client/types';
import type { Dialect } from '../../wire/dialect';
import { ServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/environment';
import { choiceField, numberField } from '../fields/fields';
import type { FlowNode, FlowNodeDef, Red } from '../node-red';

/** The config node as it stands in a flow file. */
export interface ConfigDef extends FlowNodeDef {
  service?: string;
  baseUrl?: string;
  apiName?: string;
  fitRequest?: string;
  fileInfo?: string;
  /** Seconds one call may take, with all its retries and waits. */
  timeout?: string | number;
  retries?: string | number;
  /** Requests in flight per kind. */
  concurrency?: string | number;
  /** Ids of a tls-config and of an http proxy node. */
  tls?: string;
  proxy?: string;
}

export interface ConfigCredentials {
  token?: string;
}

/** What the client is made of, whichever service it talks to. */
export interface Tuning {
  timeoutMs: number;
  retries: number;
  concurrency: number;
}

/** Which service is meant; the embedded one where nothing is said. @throws ServiceError `config.invalid` */
export function serviceKind(
  red: Red,
  node: FlowNode | undefined,
  def: Partial<ConfigDef>,
): 'embedded' | 'hosted' {
  const value = fromEnvironment(red, node, def.service);
  return choiceField(['embedded', 'hosted'], { place: 'The field Service', value }) ?? 'embedded';
}

/** @throws ServiceError `config.invalid` naming the field. */
export function tuning(red: Red, node: FlowNode, def: ConfigDef): Tuning {
  const number = (
    label: string,
    value: unknown,
    range: { min: number; max: number; integer?: boolean },
    standard: number,
  ): number =>
    numberField(range, { place: `The field ${label}`, value: fromEnvironment(red, node, value) }) ?? standard;
  return {
    timeoutMs: number('Timeout', def.timeout, { min: 1, max: 86_400 }, 900) * 1000,
    retries: number('Retries', def.retries, { min: 0, max: 20, integer: true }, 4),
    concurrency: number('Concurrency', def.concurrency, { min: 1, max: 64, integer: true }, 4),
  };
}

/** @throws ServiceError `config.invalid` naming the field. */
export function dialect(red: Red, node: FlowNode | undefined, def: Partial<ConfigDef>): Partial<Dialect> {
  const apiName = fromEnvironment(red, node, def.apiName)
    .trim()
    .replace(/^\/+|\/+$/g, '');
  return {
    ...(apiName === '' ? {} : { apiName }),
    fitRequest:
      choiceField(['task_config', 'flat'], {
        place: 'The field Fit request',
        value: fromEnvironment(red, node, def.fitRequest),
      }) ?? 'task_config',
    fileInfo:
      choiceField(['schema', 'sample'], {
        place: 'The field File info',
        value: fromEnvironment(red, node, def.fileInfo),
      }) ?? 'schema',
  };
}

/** The address of a hosted service, without a slash at its end. @throws ServiceError `config.invalid`. */
export function serviceUrl(value: string): string {
  const trimmed = value.trim().replace(/\/+$/, '');
  if (trimmed === '') {
    throw new ServiceError('config.invalid', 'The hosted service has no address: fill in its base URL.');
  }
  const shown = trimmed.replace(/[^/]*@/, '***@');
  let url: URL;
  try {
    url = new URL(trimmed);
  } catch {
    throw new ServiceError('config.invalid', `The base URL "${shown}" is no URL; it begins with https://.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ServiceError(
      'config.invalid',
      'The base URL may not hold a user name or password; use the token.',
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ServiceError('config.invalid', `The base URL "${shown}" must begin with https:// or http://.`);
  }
  // Where the host is lacking the parser takes the first part of the path for it, and the token would go there.
  if (!/^https?:\/\/[^\s/\\]/i.test(trimmed)) {
    throw new ServiceError(
      'config.invalid',
      `The base URL "${shown}" names no host after ${url.protocol}//.`,
    );
  }
  return trimmed;
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

/** Settings of an http proxy node; its own no-proxy list goes with it. */
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
