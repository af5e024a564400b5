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
      const reset = secondsOf(headers['x-ratelimit-reset']);
      this.rateLimit = { limit, remaining, ...(reset !== undefined && { reset }) };
    }
    const { deprecation, sunset } = headers;
    if ((!isDeprecation(deprecation) && sunset === undefined) || this.deprecated.size >= MAX_ROUTES) {
      return;
    }
    if (!this.deprecated.has(path)) {
      this.deprecated.add(path);
      const end = dateOf(sunset);
      const until =
        end === undefined ? '' : ` and will be gone on ${new Date(end).toISOString().slice(0, 10)}`;
      this.warn(
        `The service says that its route ${path} is deprecated${until}. Look for an update of this package.`,
      );
    }
  }
}

/** The first number of a header, which may name several policies: `60, 60;w=60`. */
function count(header: string | undefined): number | undefined {
  const digits = /^\s*(\d{1,15})(?:\.\d+)?\s*(?:$|[,;])/.exec(header ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** When a span of time ends: seconds as they are given, or those since the epoch of a date. */
function secondsOf(header: string | undefined): number | undefined {
  const date = dateOf(header);
  return count(header) ?? (date === undefined ? undefined : Math.floor(date / 1000));
}

/** Milliseconds since the epoch. Other texts may pass for dates too, but only those with a year are meant. */
function dateOf(header = ''): number | undefined {
  const date = /\b\d{4}\b/.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : date;
}

/** Whether `Deprecation` says so: `true`, or since when, as `@1735689600` or a date. */
function isDeprecation(header = ''): boolean {
  return /^\s*(?:true|@-?\d+)\s*$/i.test(header) || dateOf(header) !== undefined;
}
