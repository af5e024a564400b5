import type { TrainSetOptions, TrainSetUpload } from '../../client/types';
import { ServiceError } from '../../wire/service-error';
import type { Hooks, TrainRequest } from '../types';
import type { OnPremClient } from './on-prem-client';
import { type Allowance, Service } from './service';

const NO_MODEL = 'The model of an endpoint that keeps none is its train rows';

/** An endpoint of one stateless route, on-premises: the train rows stay on this computer, and nothing is charged. */
export class OnPremService extends Service<OnPremClient> {
  readonly isLocal = false;
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
