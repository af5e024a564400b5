import type { ServiceClient } from '../../client/service-client';
import { untilAborted } from '../../util/concurrency';
import { toServiceError } from '../../wire/service-error';
import type { ModelLimits } from '../../wire/types';

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
    private readonly client: () => Promise<Pick<ServiceClient, 'getModelLimits'>>,
    private readonly warn: (text: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The limits for a limits node; none (`{}`), with one warning, where the service has no such route.
   *
   * @throws ServiceError when the service is away and no older limits are known
   */
  async get(signal?: AbortSignal): Promise<ModelLimits> {
    if (this.value !== undefined && this.now() - this.readAt < FRESH_MS) {
      return this.value;
    }
    try {
      return await untilAborted(this.read(), signal);
    } catch (error) {
      if (this.value !== undefined && signal?.aborted !== true) {
        return this.value;
      }
      throw error;
    }
  }

  /** The limits to check against; none (`{}`) when they are not to be had. Never waits where some are known. */
  async forChecks(signal?: AbortSignal): Promise<ModelLimits> {
    const failedLately = this.now() - this.failedAt < RETRY_MS;
    if (this.value !== undefined) {
      if (this.now() - this.readAt >= FRESH_MS && !failedLately) {
        this.readForChecks().catch(() => undefined);
      }
      return this.value;
    }
    if (failedLately) {
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
    } catch (error) {
      this.failedAt = this.now();
      throw error;
    }
  }

  /** One request at a time, shared by all callers. */
  private read(timeoutMs?: number): Promise<ModelLimits> {
    this.reading ??= this.request(timeoutMs).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async request(timeoutMs: number | undefined): Promise<ModelLimits> {
    const client = await this.client();
    try {
      this.value = await client.getModelLimits({ timeoutMs });
    } catch (error) {
      if (toServiceError(error).code !== 'not_found') {
        throw error;
      }
      this.value ??= NO_LIMITS;
      this.warnOnce(
        'The service has no limits route: the size of tables is not checked before they are sent.',
      );
    }
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
