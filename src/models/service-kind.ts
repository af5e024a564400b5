import type { ValueOf } from '../settings/kinds';
import { CONFIG } from '../settings/nodes';
import { ServiceError } from '../wire/service-error';

export type ServiceKind = ValueOf<typeof CONFIG.service>;

/** By which option of a program each kind is named. */
const NAMED_BY = { dataDir: 'embedded', baseUrl: 'hosted', endpoint: 'onPrem' } as const;

/** The kind of service that a program names. @throws ServiceError `config.invalid` for none, and for several */
export function kindNamed(options: { [Option in keyof typeof NAMED_BY]: string | undefined }): ServiceKind {
  const named = Object.entries(NAMED_BY).filter(
    ([option]) => options[option as keyof typeof NAMED_BY] !== undefined,
  );
  if (named.length === 1) {
    return named[0]![1];
  }
  throw new ServiceError(
    'config.invalid',
    'Give one of dataDir (the embedded service), baseUrl (a hosted one) and endpoint (one on-premises).',
  );
}

/** What is asked of a kind of service where none is open: each kind answers all of it, so nobody asks which kind it is. */
interface KindOfService {
  /** This package starts it on this computer: it says itself where it is, and a prediction is free. */
  readonly isLocal: boolean;
  /** Without a token nothing need be sent. */
  readonly needsToken: boolean;
  /** A process that was killed in a fit has left its train set there, and models of it, which are to be removed. */
  readonly keepsAbandonedFits: boolean;
  /** Where it is, by what the user typed. @throws ServiceError `config.invalid` */
  readonly address: (typed: string) => string;
  /** Under which its model cards are kept: stands in files and model files. */
  readonly key: (address: string, apiName: string) => string;
  /** In the words of an error. */
  readonly inWords: (key: string) => string;
}

const EMBEDDED = 'embedded';
const ON_PREMISES = 'on-prem ';

export const SERVICE_KINDS: Readonly<Record<ServiceKind, KindOfService>> = {
  embedded: {
    isLocal: true,
    needsToken: false,
    keepsAbandonedFits: true,
    address: () => '',
    key: () => EMBEDDED,
    inWords: () => 'the embedded service',
  },
  hosted: {
    isLocal: false,
    needsToken: true,
    keepsAbandonedFits: false,
    address: serviceUrl,
    key: (address, apiName) => `${address}/${apiName}`,
    inWords: (key) => key,
  },
  onPrem: {
    isLocal: false,
    needsToken: false,
    keepsAbandonedFits: false,
    address: endpointUrl,
    key: (address) => `${ON_PREMISES}${address}`,
    inWords: (key) => key,
  },
};

/** Under which the model cards of a service are kept: `embedded`, or its address in full. */
export function serviceKey(
  kind: ServiceKind,
  address: string,
  apiName: string = CONFIG.apiName.fallback,
): string {
  return SERVICE_KINDS[kind].key(address, apiName);
}

/** The kind of a service, by the key of its model cards. */
export function kindByKey(key: string): KindOfService {
  if (key === EMBEDDED) {
    return SERVICE_KINDS.embedded;
  }
  return key.startsWith(ON_PREMISES) ? SERVICE_KINDS.onPrem : SERVICE_KINDS.hosted;
}

/** The service of nodes that have none chosen. */
export const DEFAULT_SERVICE = {
  kind: CONFIG.service.fallback,
  key: serviceKey(CONFIG.service.fallback, ''),
};

/** A host with a port, which the parser takes for a scheme, or with a dot or alone and a path behind it. */
const BARE_HOST = /^([\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\]|[\w-]+(?=:\d))(?::\d+)?(?:\/.*)?$/i;
const LOCAL_HOST =
  /^(?:localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|\[::1\])$/i;

/** The address of a hosted service, without a slash at its end. @throws ServiceError `config.invalid`. */
function serviceUrl(value: string): string {
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
    throw new ServiceError(
      'config.invalid',
      `The base URL "${shown}" is not a URL; it must begin with https:// or http://.`,
    );
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
function endpointUrl(value: string): string {
  if (value.trim() === '') {
    throw new ServiceError('config.invalid', 'The endpoint has no address: fill in its URL.');
  }
  const url = serviceUrl(value);
  return new URL(url).pathname === '/' ? `${url}/predict` : url;
}
