import type { ServiceClient } from '../../client/service-client';
import type { CallOptions, TrainSetOptions, TrainSetUpload } from '../../client/types';
import { toServiceError } from '../../wire/service-error';
import type { FitResponse } from '../../wire/types';
import { type Allowance, type HeldService, Service } from './service';
import { EMBEDDED } from './service-key';

/** The service of this package: on this computer, free, and with more to tell than the specification has. */
export class EmbeddedService extends Service<ServiceClient> {
  readonly isLocal = true;
  readonly isMetered = false;
  readonly keepsUploads = true;
  readonly takesFolds = true;
  readonly findsCopies = true;
  readonly tellsCauses = true;
  readonly thinks = false;

  constructor(options: Omit<HeldService<ServiceClient>, 'key'>) {
    super({ ...options, key: EMBEDDED });
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
