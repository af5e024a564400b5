import { isIPv4, isIPv6 } from 'node:net';

import { ServiceError } from '../../wire/service-error';
import { isLoopback } from '../http/proxy';
import type { ClientSettings } from '../settings';

/** Headers of the connection or set by us from the file itself, whatever the service asks for. */
const OWN_HEADERS = /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer)$/i;

/** Headers that would let the service act with rights of its own choosing at an address of its own choosing. */
const REFUSED_HEADERS = /^(?:authorization|cookie|proxy-.*)$/i;

/**
 * A signed URL as an address that a table may be sent to, or a prediction fetched from. A service on the internet may
 * not point into the local network, unless the user says so (a service of an intranet with a public name): what listens
 * there trusts whoever reaches it.
 * @throws ServiceError `response.invalid`
 */
export function signedUrl(
  text: string,
  { base, localUploads }: Pick<ClientSettings, 'base' | 'localUploads'>,
  use: 'an upload' | 'a download' = 'an upload',
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ServiceError('response.invalid', `The service gave ${use} URL that is not an http(s) URL.`);
  }
  if (isLocal(url.hostname) && !isLocal(base.hostname) && !localUploads) {
    throw new ServiceError(
      'response.invalid',
      `The service gave ${use} URL that points into the local network (${url.host}): no request is sent there. ` +
        'Where the service is on your own network, allow it in the configuration (Allow uploads to the local network).',
    );
  }
  return url;
}

/** The headers that the service asks for with an upload. @throws ServiceError `response.invalid` */
export function uploadHeaders(required: Readonly<Record<string, string>>, url: URL): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(required)) {
    const isHost = name.toLowerCase() === 'host';
    if (REFUSED_HEADERS.test(name) || (isHost && value.toLowerCase() !== url.host)) {
      throw new ServiceError(
        'response.invalid',
        `The service asks for the header ${name.slice(0, 40)} with an upload: it is not sent to another address.`,
      );
    }
    if (!OWN_HEADERS.test(name) && !isHost) {
      headers[name] = value;
    }
  }
  return headers;
}

/** Addresses that only the own machine or network reaches (RFC 1918, 3927, 4193, 4291, 6598). */
function isLocal(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (isLoopback(host)) {
    return true;
  }
  if (isIPv4(host)) {
    const [a, b] = host.split('.').map(Number) as [number, number];
    return (
      a === 0 ||
      a === 10 ||
      (a === 172 && b >= 16 && b <= 31) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 100 && b >= 64 && b <= 127)
    );
  }
  return isIPv6(host)
    ? /^(?:::|f[cd]|fe[89ab])/.test(host)
    : !host.includes('.') || /\.(?:local|internal|lan|home\.arpa)$/.test(host);
}
