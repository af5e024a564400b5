/* eslint-disable @typescript-eslint/no-unused-vars */
import { ServiceError } from '../wire/service-error';
import type { ModelCard } from './types';

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** The model cards of one service. Cards objects of one path and service share what they know. */
export class ModelCards {
  readonly service: string;

  constructor(options: ModelCardsOptions) {
    this.service = options.service;
  }

  /** Living and dead cards, by name. */
  list(): (ModelCard & { dead?: true })[] {
    return [];
  }

  get(_name: string): ModelCard | undefined {
    return undefined;
  }

  byFittedId(_id: string): ModelCard | undefined {
    return undefined;
  }

  put(_card: ModelCard): void {
    throw new ServiceError('internal', 'Model cards are not kept yet.');
  }

  markDead(_fittedTrainSetId: string): void {
    throw new ServiceError('internal', 'Model cards are not kept yet.');
  }

  /** Calls back after every change; returns the way to stop it. */
  onChange(_listener: () => void): () => void {
    return () => undefined;
  }

  /** Resolves when what was put is on disk. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
