import type { RateLimit } from '../../client/types';
import { toServiceError } from '../../wire/service-error';
import type { Usage } from '../../wire/types';
import type { ClientPort } from './client-port';

const USAGE_MS = 10_000;

/** What the account has left, where the service says so. */
export interface Allowance {
  /** Tokens; a limit of -1 means that there is none. */
  usage?: Usage;
  /** Requests, as the last answer said. */
  rate_limit?: RateLimit;
}

/** Asks a hosted service what the account has used; one without that route is asked once. */
export class UsageReport {
  private missing = false;

  constructor(
    private readonly key: string,
    private readonly client: () => Promise<ClientPort>,
  ) {}

  /** Empty where the service does not say, or fails to: the limits are reported all the same. */
  async get(signal: AbortSignal | undefined): Promise<Allowance> {
    if (this.key === 'embedded') {
      return {};
    }
    const client = await this.client();
    const usage = this.missing ? undefined : await this.ask(client, signal);
    const { rateLimit } = client;
    return { ...(usage && { usage }), ...(rateLimit && { rate_limit: rateLimit }) };
  }

  private async ask(client: ClientPort, signal: AbortSignal | undefined): Promise<Usage | undefined> {
    try {
      return await client.getUsage?.({ signal, timeoutMs: USAGE_MS });
    } catch (thrown) {
      signal?.throwIfAborted();
      this.missing = toServiceError(thrown).code === 'not_found';
      return undefined;
    }
  }
}
