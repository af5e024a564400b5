import { createRequire } from 'node:module';
import { rootCertificates } from 'node:tls';

import type { buildConnector, Dispatcher } from 'undici';

import { lazy } from '../../util/lazy';
import { loadInParts } from '../../util/load-in-parts';
import { ServiceError } from '../../wire/service-error';
import type { ProxyOptions, TlsOptions } from '../types';
import { readBeforeFailing } from './early-answer';
import { proxyFor } from './proxy';

const load = createRequire(__filename);
export const undici = lazy(() => load('undici') as typeof import('undici'));

/** Files of undici that, with their imports, are about a quarter of it each: loading it in one piece takes 80 ms. */
const PARTS = ['dispatcher/agent', 'web/fetch', 'web/websocket/stream/websocketstream'];

/** Loads undici without blocking the event loop the whole time. */
export async function warmUndici(): Promise<void> {
  await loadInParts(
    load,
    PARTS.map((part) => `undici/lib/${part}`),
  );
  undici();
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connection pools, one per way out: the service's own origin with the user's certificate, every other origin
 * (storage behind signed URLs) without it; each direct or through a proxy. HTTP/1.1 with keep-alive.
 */
export class Dispatchers {
  private readonly pools = new Map<string, Dispatcher>();

  constructor(
    private readonly apiOrigin: string,
    private readonly tls: TlsOptions,
    private readonly proxy: ProxyOptions,
  ) {}

  for(url: URL): Dispatcher {
    const own = url.origin === this.apiOrigin;
    const proxy = proxyFor(url, this.proxy);
    const key = `${own ? 'api' : 'other'} ${proxy ?? 'direct'}`;
    let pool = this.pools.get(key);
    if (pool === undefined) {
      pool = this.open(own ? this.tls : storageTls(this.tls), proxy);
      this.pools.set(key, pool);
    }
    return pool;
  }

  /** Host and port that a request goes to, for messages: those of the proxy if there is one. */
  place(url: URL): string {
    const proxy = proxyFor(url, this.proxy);
    return proxy !== undefined && URL.canParse(proxy)
      ? `${new URL(proxy).host} (the proxy before ${url.host})`
      : url.host;
  }

  /** Destroys every connection, in use or idle. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  private open(tls: TlsOptions, proxy: string | undefined): Dispatcher {
    const { Agent, ProxyAgent } = undici();
    if (proxy === undefined) {
      return new Agent({ connect: connector(tls) });
    }
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      throw new ServiceError('config.invalid', 'The proxy is not an http:// or https:// URL.');
    }
    return new ProxyAgent({
      uri: proxy,
      requestTls: { ...tls, timeout: CONNECT_TIMEOUT_MS },
      proxyTunnel: false,
    });
  }
}

function connector(tls: TlsOptions): buildConnector.connector {
  const connect = undici().buildConnector({ ...tls, timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) {
        readBeforeFailing(socket);
        callback(null, socket);
      } else {
        callback(error, null);
      }
    });
}

/** Storage is verified by the public roots and the user's CA, and never sees the client certificate. */
function storageTls(tls: TlsOptions): TlsOptions {
  if (tls.ca === undefined) {
    return {};
  }
  return { ca: [...rootCertificates, tls.ca].map(String).join('\n') };
}
