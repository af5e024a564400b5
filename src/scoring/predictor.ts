/* eslint-disable @typescript-eslint/no-unused-vars */
import { ServiceError } from '../wire/service-error';
import type { Connection } from './connection';
import type { Hooks, PredictLoad, PredictOutcome, PredictRequest, PredictSettings } from './types';

/** The queue and the batches of one predict node (DESIGN 7). */
export class Predictor {
  constructor(
    readonly connection: Connection,
    readonly settings: PredictSettings,
  ) {}

  /** Settles exactly once, in arrival order per model where `ordered`. */
  predict(_request: PredictRequest, _hooks?: Hooks): Promise<PredictOutcome> {
    return Promise.reject(new ServiceError('internal', 'Not built yet.'));
  }

  /** Sends what waits for company as soon as a slot is free (`msg.flush`). */
  flush(): void {
    return undefined;
  }

  /** Drops what waits, with an error each (`msg.reset`); answers how many messages. */
  reset(): number {
    return 0;
  }

  load(): PredictLoad {
    return { inFlight: 0, waiting: 0, rows: 0, bytes: 0 };
  }

  /** Aborts what is in flight, settles what waits with the code `closed`. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
