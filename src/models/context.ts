import type { Semaphore } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { ModelCards } from './model-cards';
import type { Service } from './service';
import type { Hooks } from './types';

/** What a connection lends to the work of its nodes. */
export interface Context {
  readonly service: Service;
  readonly cards: ModelCards;
  /** Predicts at a time, over all predictors. */
  readonly slots: Semaphore;
  /** Predictors at work, to be closed with the connection. */
  readonly predictors: Set<{ close: () => Promise<void> }>;
}

/** One piece of work of a connection: what it works with, how it is aborted, and whom it tells how far it is. */
export interface Work extends Context, Hooks {}

/** @throws ServiceError `config.invalid` where the service knows no ids of uploads */
export function assertKeepsUploads({ service }: Pick<Context, 'service'>, what: string): void {
  if (!service.keepsUploads) {
    throw new ServiceError(
      'config.invalid',
      `An on-premises endpoint keeps no uploads, so ${what}. Give the table to the fit node or the predict node.`,
    );
  }
}
