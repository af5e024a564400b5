import type { ClientOptions } from '../../client/types';
import type { ServiceKind } from '../../scoring/services/service-key';
import { CONFIG, type FlowProperties } from '../../settings';
import type { Dialect } from '../../wire/dialect';
import { ServiceError } from '../../wire/service-error';
import { settingsReader } from '../fields/settings-reader';
import type { FlowNode, FlowNodeDef, Red } from '../node-red';

/** The config node as it stands in a flow file. */
export type ConfigDef = FlowNodeDef & FlowProperties<typeof CONFIG>;

export interface ConfigCredentials {
  token?: string;
}

/** The client options that do not depend on the kind of service. */
export interface Tuning {
  timeoutMs: number;
  retries: number;
  concurrency: number;
}

/** The kind of service; embedded by default. @throws ServiceError `config.invalid` */
export function serviceKind(red: Red, node: FlowNode | undefined, def: Partial<ConfigDef>): ServiceKind {
  return settingsReader(red, node, CONFIG, def)('service');
}

/** @throws ServiceError `config.invalid` naming the field. */
export function tuning(red: Red, node: FlowNode, def: ConfigDef): Tuning {
  const read = settingsReader(red, node, CONFIG, def);
  return {
    timeoutMs: read('timeout') * 1000,
    retries: read('retries'),
    concurrency: read('concurrency'),
  };
}

/** The largest request to an on-premises endpoint, in bytes. @throws ServiceError `config.invalid` */
export function requestBytes(red: Red, node: FlowNode, def: ConfigDef): number {
  return Math.floor(settingsReader(red, node, CONFIG, def)('requestSize') * 1024 * 1024);
}

/** @throws ServiceError `config.invalid` naming the field. */
export function dialect(red: Red, node: FlowNode | undefined, def: Partial<ConfigDef>): Dialect {
  const read = settingsReader(red, node, CONFIG, def);
  return {
    apiName: read('apiName').replace(/^\/+|\/+$/g, '') || CONFIG.apiName.fallback,
    fitRequest: read('fitRequest'),
    fileInfo: read('fileInfo'),
  };
}

/** A host with a port, which the parser takes for a scheme, or with a dot or alone and a path behind it. */
const BARE_HOST = /^([\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\]|[\w-]+(?=:\d))(?::\d+)?(?:\/.*)?$/i;
const LOCAL_HOST =
  /^(?:localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|\[::1\])$/i;

/** The address of a hosted service, without a slash at its end. @throws ServiceError `config.invalid`. */
export function serviceUrl(value: string): string {
  const trimmed = value.trim().replace(/\/+$/, '');
  if (trimmed === '') {
    throw new ServiceError('config.invalid', 'The hosted service has no address: fill in its base URL.');
  }
  const shown = trimmed.replace(/[^/]*@/, '***@');
  const [, host] = BARE_HOST.exec(trimmed) ?? [];
  if (host !== undefined) {
    const scheme = LOCAL_HOST.test(host) ? 'http' : 'https';
    throw new ServiceError(
      'config.invalid',
      `The base URL "${shown}" lacks ${scheme}:// at its beginning: ${scheme}://${shown}.`,
    );
  }
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
  // Without a host the parser would take the first part of the path for it, and the token would go there.
  if (!/^https?:\/\/[^\s/\\]/i.test(trimmed)) {
    throw new ServiceError(
      'config.invalid',
      `The base URL "${shown}" names no host after ${url.protocol}//.`,
    );
  }
  return trimmed;
}

/** The address of an on-premises endpoint: a route, `/predict` by default. @throws ServiceError `config.invalid` */
export function endpointUrl(value: string): string {
  if (value.trim() === '') {
    throw new ServiceError('config.invalid', 'The endpoint has no address: fill in its URL.');
  }
  const url = serviceUrl(value);
  return new URL(url).pathname === '/' ? `${url}/predict` : url;
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
