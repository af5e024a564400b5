import type { ValueOf } from '../settings/kinds';
import { CONFIG } from '../settings/nodes';
import { ServiceError } from '../wire/service-error';

/** The key of the embedded service, which has no address of its own. */
export const EMBEDDED = 'embedded';

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

/** Under which the model cards of a service are kept: `embedded`, or its address in full. */
export function serviceKey(
  kind: ServiceKind,
  address: string,
  apiName: string = CONFIG.apiName.fallback,
): string {
  switch (kind) {
    case 'embedded':
      return EMBEDDED;
    case 'hosted':
      return `${address}/${apiName}`;
    case 'onPrem':
      return `on-prem ${address}`;
  }
}

/** What is asked of a kind of service before one is opened. */
interface BeforeOpening {
  /** Where it is, by what the user typed. @throws ServiceError `config.invalid` */
  readonly address: (typed: string) => string;
  /** Without a token nothing need be sent. */
  readonly needsToken: boolean;
}

export const SERVICE_KINDS: Readonly<Record<ServiceKind, BeforeOpening>> = {
  /** It says itself where it is, once it has been started. */
  embedded: { address: () => '', needsToken: false },
  hosted: { address: serviceUrl, needsToken: true },
  onPrem: { address: endpointUrl, needsToken: false },
};

/** A service in the words of an error, by its key. */
export function serviceInWords(key: string): string {
  return key === EMBEDDED ? 'the embedded service' : key;
}

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
