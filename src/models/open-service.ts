import { type ClientOptions, EndpointClient, ServiceClient } from '../client';
import type { CallOptions, FitOptions, TrainSetOptions, TrainSetUpload } from '../client/types';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { FitResponse, Usage } from '../wire/types';
import { OnPremClient, type OnPremOptions } from './on-prem-client';
import { type Allowance, Service, type ServiceSetup } from './service';
import { SERVICE_KINDS, type ServiceKind } from './service-kind';
import type { Hooks, TrainRequest } from './types';

const NO_MODEL = 'The model of an endpoint that keeps none is its train rows';

/** A smaller train set is fitted directly, without asking which size the service calls large. */
const MIN_BACKGROUND_BYTES = 1024 * 1024;
/** The size from which a fit runs in the background, if the service does not say. */
const BACKGROUND_BYTES = 50 * 1024 * 1024;
const ASK_MS = 10_000;
/** A 404 to the question for the usage may be that of a gateway whose service is being deployed: it is asked again after this. */
const USAGE_PAUSE_MS = 600_000;

/** A service behind the network, which charges by its account: what the specification has, and no more is sure. */
export class HostedService extends Service<ServiceClient> {
  readonly isLocal = SERVICE_KINDS.hosted.isLocal;
  readonly isMetered = true;
  readonly keepsUploads = true;
  readonly takesFolds = false;
  readonly findsCopies = false;
  readonly tellsCauses = false;
  readonly thinks = true;
  /** As `performance.now()` counts. Until then it is not asked for the usage: it said that it has no such route. */
  private asksUsageFrom = -Infinity;

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
    const usage = performance.now() < this.asksUsageFrom ? undefined : await this.usage(client, signal);
    const { rateLimit } = client;
    return { ...(usage && { usage }), ...(rateLimit && { rate_limit: rateLimit }) };
  }

  /** Undefined where it fails: the limits are reported all the same. */
  private async usage(client: ServiceClient, signal: AbortSignal | undefined): Promise<Usage | undefined> {
    try {
      return await client.getUsage({ signal, timeoutMs: ASK_MS });
    } catch (thrown) {
      signal?.throwIfAborted();
      if (toServiceError(thrown).code === 'not_found') {
        this.asksUsageFrom = performance.now() + USAGE_PAUSE_MS;
      }
      return undefined;
    }
  }
}

/** The service of this package: on this computer, free, and with more to tell than the specification has. */
export class EmbeddedService extends Service<ServiceClient> {
  readonly isLocal = SERVICE_KINDS.embedded.isLocal;
  readonly isMetered = false;
  readonly keepsUploads = true;
  readonly takesFolds = true;
  readonly findsCopies = true;
  readonly tellsCauses = true;
  readonly thinks = false;

  constructor(options: Omit<ServiceSetup<ServiceClient>, 'key'>) {
    super({ ...options, key: SERVICE_KINDS.embedded.key('', '') });
  }

  checkFit(): void {
    // It takes every field of a fit, and says itself which have no effect.
  }

  async uploadTrainSet(set: TrainSetUpload, options: TrainSetOptions) {
    return (await this.client()).uploadTrainSet(set, options);
  }

  /** A fit is waited for: nothing between this computer and itself ends a long request. */
  backgroundFit(): Promise<Record<string, never>> {
    return Promise.resolve({});
  }

  async resumeFit(fittedId: string, options: CallOptions): Promise<FitResponse> {
    return (await this.client()).resumeFit(fittedId, options);
  }

  async fitProgress(uploadId: string, options: CallOptions): Promise<number | undefined> {
    return (await this.client()).fitProgress(uploadId, options);
  }

  async hasModel(fittedId: string, options: CallOptions): Promise<boolean> {
    const client = await this.client();
    try {
      await client.resumeFit(fittedId, options);
      return true;
    } catch (thrown) {
      return toServiceError(thrown).cause?.status !== 404;
    }
  }

  async remove(id: string, options: CallOptions): Promise<true> {
    await (await this.client()).deleteDataset(id, options);
    return true;
  }

  async exportModel(fittedId: string, options: CallOptions): Promise<Uint8Array> {
    return (await this.client()).exportModel(fittedId, options);
  }

  async takeModel(
    _fittedId: string,
    model: Buffer | undefined,
    options: CallOptions,
  ): Promise<string | undefined> {
    return model && (await this.client()).importModel(model, options);
  }

  allowance(): Promise<Allowance> {
    return Promise.resolve({});
  }
}

/** An endpoint of one stateless route, on-premises: the train rows stay on this computer, and nothing is charged. */
export class OnPremService extends Service<OnPremClient> {
  readonly isLocal = SERVICE_KINDS.onPrem.isLocal;
  readonly isMetered = false;
  readonly keepsUploads = false;
  readonly takesFolds = false;
  readonly findsCopies = false;
  readonly tellsCauses = false;
  readonly thinks = false;

  checkFit(
    { thinking, systems = [] }: Pick<TrainRequest, 'thinking' | 'systems'>,
    { onWarning }: Hooks,
  ): void {
    if (thinking?.effort !== undefined || systems.includes('thinking')) {
      throw new ServiceError(
        'config.invalid',
        'An on-premises endpoint has no thinking fits: leave Thinking empty in the fit node.',
      );
    }
    if (systems.length > 0) {
      onWarning?.('The field Systems has no effect: an on-premises endpoint takes no list of systems.');
    }
  }

  async uploadTrainSet(set: TrainSetUpload, options: TrainSetOptions) {
    return (await this.client()).uploadTrainSet(set, options);
  }

  backgroundFit(): Promise<Record<string, never>> {
    return Promise.resolve({});
  }

  /** A fit ends with its one request. */
  resumeFit(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  fitProgress(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Where its rows are gone, the next prediction says so. */
  hasModel(): Promise<true> {
    return Promise.resolve(true);
  }

  async remove(id: string): Promise<true> {
    await (await this.client()).deleteDataset(id);
    return true;
  }

  exportModel(): Promise<never> {
    return Promise.reject(
      new ServiceError('config.invalid', `${NO_MODEL}: it cannot be exported. Fit it in the other place.`),
    );
  }

  takeModel(): Promise<never> {
    return Promise.reject(
      new ServiceError('config.invalid', `${NO_MODEL}, which no file holds: fit it here.`),
    );
  }

  allowance(): Promise<Allowance> {
    return Promise.resolve({});
  }
}

/** Its thread has ended: the supervisor tries without end, and logs why it cannot. */
const WHEN_DOWN =
  'The embedded service has ended and is started again; the log says why. Send the message again.';

export interface ServiceToOpen {
  key: string;
  /** Of the embedded service: see `ServiceSetup`. */
  learner?: string;
  /** Asked for when a client is first needed, and again where the service has moved. */
  options: () => Promise<ClientOptions & Omit<OnPremOptions, 'client'>>;
  onWarning?: (text: string) => void;
}

/** A service of the kind that the user chose. Nothing is started or sent before it is first asked. */
export function openService(kind: ServiceKind, { key, learner, options, onWarning }: ServiceToOpen): Service {
  switch (kind) {
    case 'embedded':
      return new EmbeddedService({
        learner,
        open: async () => new ServiceClient({ ...(await options()), free: true, whenDown: WHEN_DOWN }),
        onWarning,
      });
    case 'hosted':
      return new HostedService({ key, open: async () => new ServiceClient(await options()), onWarning });
    case 'onPrem':
      return new OnPremService({
        key,
        open: async () => {
          const { folder, requestBytes, ...own } = await options();
          return new OnPremClient({ client: new EndpointClient(own), folder, requestBytes });
        },
        onWarning,
      });
  }
}
