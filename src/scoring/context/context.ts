import type { Semaphore } from '../../util/semaphore';
import type { ModelCards } from '../models/cards/model-cards';
import type { ClientPort } from './client-port';
import type { CostEstimates } from './cost';
import type { LimitsCache } from './limits-cache';
import type { Reach } from './reach';

/** What a connection lends to the work of its nodes. */
export interface Context {
  /** Key of the service. */
  readonly key: string;
  /** What fits there, where that is known: a newer one makes another model of the same train set. */
  readonly learner?: string;
  /** The service is an endpoint of one stateless route, which keeps nothing. */
  readonly onPrem: boolean;
  /** The service finds rows that repeat others by itself, and learns from them and scores them once. */
  readonly findsCopies: boolean;
  /** Tables go over a network: their files are compressed. */
  readonly compress: boolean;
  readonly client: () => Promise<ClientPort>;
  readonly cards: ModelCards;
  readonly reach: Reach;
  readonly limits: LimitsCache;
  readonly costs: CostEstimates;
  /** Predicts at a time, over all predictors. */
  readonly slots: Semaphore;
  /** Predictors at work, to be closed with the connection. */
  readonly predictors: Set<{ close: () => Promise<void> }>;
}
