import type { HttpAnswer } from '../http/exchange';
import type { RateLimit } from '../types';

/** Most routes with a remembered warning; a service has a dozen. */
const MAX_ROUTES = 100;

/** What answers say beside what was asked: that a route is on its way out, and how many requests are left. */
export class Notices {
  rateLimit: RateLimit | undefined;
  private readonly deprecated = new Set<string>();

  constructor(private readonly warn: (text: string) => void) {}

  /** Reads `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `X-RateLimit-*`; warns once of each route. */
  read(path: string, { headers }: HttpAnswer): void {
    const limit = count(headers['x-ratelimit-limit']);
    const remaining = count(headers['x-ratelimit-remaining']);
    if (limit !== undefined && remaining !== undefined) {
      const reset = count(headers['x-ratelimit-reset']);
      this.rateLimit = { limit, remaining, ...(reset !== undefined && { reset }) };
    }
    const { deprecation, sunset } = headers;
    const isDeprecated = deprecation !== undefined && deprecation !== 'false';
    if ((!isDeprecated && sunset === undefined) || this.deprecated.size >= MAX_ROUTES) {
      return;
    }
    if (!this.deprecated.has(path)) {
      this.deprecated.add(path);
      const end = Date.parse(sunset ?? '');
      const until = Number.isNaN(end)
        ? ''
        : ` and will be gone on ${new Date(end).toISOString().slice(0, 10)}`;
      this.warn(
        `The service says that its route ${path} is deprecated${until}. Look for an update of this package.`,
      );
    }
  }
}

function count(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header.trim()) ? Number(header) : undefined;
}
