import type { ProxyOptions } from '../types';

type Environment = Record<string, string | undefined>;

/** The proxy for a URL, or undefined where it is reached directly. Loopback is never proxied. */
export function proxyFor(
  url: URL,
  options: ProxyOptions,
  environment: Environment = process.env,
): string | undefined {
  if (isLoopback(url.hostname)) {
    return undefined;
  }
  if (options.url !== undefined && options.url !== '') {
    return listed(url, options.noProxy ?? []) ? undefined : withScheme(options.url);
  }
  const read = (name: string) => environment[name] ?? environment[name.toUpperCase()] ?? '';
  const proxy = (url.protocol === 'https:' ? read('https_proxy') : read('http_proxy')) || read('all_proxy');
  const noProxy = options.noProxy ?? read('no_proxy').split(/[\s,]+/);
  return proxy === '' || listed(url, noProxy) ? undefined : withScheme(proxy);
}

export function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    /^127(?:\.\d+){3}$/.test(host) ||
    host === '0.0.0.0' ||
    host === '::1' ||
    /^::ffff:(?:127\.|7f)/.test(host)
  );
}

function listed(url: URL, noProxy: readonly string[]): boolean {
  const host = bare(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return noProxy.some((entry) => {
    const rule = entry.trim().toLowerCase();
    if (rule === '*') {
      return true;
    }
    const parts = /^(.*?)(?::(\d+))?$/.exec(rule.includes('::') ? bare(rule) : rule);
    const name = (parts?.[1] ?? '').replace(/^\*?\.?/, '');
    return (
      name !== '' &&
      (parts?.[2] === undefined || parts[2] === port) &&
      (host === name || host.endsWith(`.${name}`))
    );
  });
}

function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$/g, '');
}

function withScheme(proxy: string): string {
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}
