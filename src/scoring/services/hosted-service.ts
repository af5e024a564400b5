import type { ServiceClient } from '../../client/service-client';
import type { CallOptions, FitOptions, TrainSetOptions, TrainSetUpload } from '../../client/types';
import { toServiceError } from '../../wire/service-error';
import type { FitResponse, Usage } from '../../wire/types';
import { type Allowance, Service } from './service';

/** A smaller train set is fitted directly, without asking which size the service calls large. */
const MIN_BACKGROUND_BYTES = 1024 * 1024;
/** The size from which a fit runs in the background, if the service does not say. */
const BACKGROUND_BYTES = 50 * 1024 * 1024;
const ASK_MS = 10_000;

/** A service behind the network, which charges by its account: what the specification has, and no more is sure. */
export class HostedService extends Service<ServiceClient> {
  readonly isLocal = false;
  readonly isMetered = true;
  readonly keepsUploads = true;
  readonly takesFolds = false;
  readonly findsCopies = false;
  readonly tellsCauses = false;
  readonly thinks = true;
  /** It has no route that tells the usage: it is not asked again. */
  private isUsageMissing = false;

  checkFit(): void {
    // What a service does not take it refuses itself: that differs between them.
  }

  /** It knows files by their CRC32C alone; nothing is removed there, so nothing has to be noted before it is sent. */
  async uploadTrainSet(set: TrainSetUpload, options: TrainSetOptions) {
    const client = await this.client();
    return client.uploadTrainSet({ ...set, digests: undefined }, { ...options, onPrepared: undefined });
  }

  async backgroundFit(
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<Pick<FitOptions, 'background' | 'backgroundMs'>> {
    if (bytes < MIN_BACKGROUND_BYTES) {
      return {};
    }
    const client = await this.client();
    // A service without these settings may still have the route.
    const settings = await client.getSettings({ signal, timeoutMs: ASK_MS }).catch(() => undefined);
    const { use_above_trainset_size_bytes: threshold = BACKGROUND_BYTES, poll_timeout_secs: seconds } =
      settings?.async_settings ?? {};
    return {
      background: bytes > threshold,
      backgroundMs: seconds === undefined ? undefined : seconds * 1000,
    };
  }

  async resumeFit(fittedId: string, options: CallOptions): Promise<FitResponse> {
    return (await this.client()).resumeFit(fittedId, options);
  }

  /** The specification has no route to ask how far a fit is. */
  fitProgress(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Not sure without a prediction, which costs. */
  hasModel(): Promise<true> {
    return Promise.resolve(true);
  }

  /** What is there is the account's own affair. */
  remove(): Promise<false> {
    return Promise.resolve(false);
  }

  /** The model stays there: a file names it. */
  exportModel(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  takeModel(fittedId: string): Promise<string> {
    return Promise.resolve(fittedId);
  }

  async allowance(signal: AbortSignal | undefined): Promise<Allowance> {
    const client = await this.client();
    const usage = this.isUsageMissing ? undefined : await this.usage(client, signal);
    const { rateLimit } = client;
    return { ...(usage && { usage }), ...(rateLimit && { rate_limit: rateLimit }) };
  }

  /** Undefined where it fails: the limits are reported all the same. */
  private async usage(client: ServiceClient, signal: AbortSignal | undefined): Promise<Usage | undefined> {
    try {
      return await client.getUsage({ signal, timeoutMs: ASK_MS });
    } catch (thrown) {
      signal?.throwIfAborted();
      this.isUsageMissing = toServiceError(thrown).code === 'not_found';
      return undefined;
    }
  }
}
