import type { ModelLimits } from '../wire/types';
import { toServiceError } from '../wire/service-error';
import type { ClientPort } from './client-port';
import { untilAborted } from './linked';

const FRESH_MS = 3_600_000;
/** After a failure, checks do without limits for so long before the service is asked again. */
const RETRY_MS = 30_000;
/** A check waits no longer than this for the limits: the work itself will say what is wrong. */
const CHECK_TIMEOUT_MS = 10_000;

const NO_LIMITS: ModelLimits = {};

/** The service's limits, asked for once an hour (S 4.5); older ones serve while the service is away. */
export class LimitsCache {
  private value: ModelLimits | undefined;
  private readAt = -Infinity;
  private failedAt = -Infinity;
  private reading: Promise<ModelLimits> | undefined;
  private warned = false;

  constructor(
    private readonly client: () => Promise<ClientPort>,
    private readonly warn: (text: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The limits for a limits node.
   *
   * @throws ServiceError when the service is away, or has no such route, and no older limits are known
   */
  async get(signal?: AbortSignal): Promise<ModelLimits> {
    if (this.value !== undefined && this.value !== NO_LIMITS && this.now() - this.readAt < FRESH_MS) {
      return this.value;
    }
    try {
      return await this.read(undefined, signal);
    } catch (error) {
      if (this.value !== undefined && this.value !== NO_LIMITS && signal?.aborted !== true) {
        return this.value;
      }
      throw error;
    }
  }

  /** The limits to check against; none (`{}`) when they are not to be had. Never waits where some are known. */
  async forChecks(signal?: AbortSignal): Promise<ModelLimits> {
    const age = this.now() - this.readAt;
    if (this.value !== undefined) {
      if (age >= FRESH_MS && this.now() - this.failedAt >= RETRY_MS) {
        this.readForChecks().catch(() => undefined);
      }
      return this.value;
    }
    if (this.now() - this.failedAt < RETRY_MS) {
      return NO_LIMITS;
    }
    try {
      return await untilAborted(this.readForChecks(), signal);
    } catch {
      signal?.throwIfAborted();
      return NO_LIMITS;
    }
  }

  private async readForChecks(): Promise<ModelLimits> {
    try {
      return await this.read(CHECK_TIMEOUT_MS);
    } catch (thrown) {
      const error = toServiceError(thrown);
      this.failedAt = this.now();
      if (error.code === 'not_found') {
        this.value ??= NO_LIMITS;
        this.readAt = this.now();
        this.warnOnce('The service has no limits route: tables are sent without a check of their size.');
      }
      throw error;
    }
  }

  /** One request at a time, shared by whoever waits, unless a caller brings a signal of its own. */
  private async read(timeoutMs?: number, signal?: AbortSignal): Promise<ModelLimits> {
    if (signal !== undefined) {
      return this.request({ signal });
    }
    this.reading ??= this.request({ timeoutMs }).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async request(options: { timeoutMs?: number; signal?: AbortSignal }): Promise<ModelLimits> {
    const client = await this.client();
    this.value = await client.getModelLimits(options);
    this.readAt = this.now();
    return this.value;
  }

  private warnOnce(text: string): void {
    if (!this.warned) {
      this.warned = true;
      this.warn(text);
    }
  }
}
