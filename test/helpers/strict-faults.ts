/* Faults that the strict service can be told to have. */

export type StrictRoute =
  | 'prepare_train_set_upload'
  | 'prepare_test_set_upload'
  | 'fit'
  | 'predict'
  | 'get_model_limits'
  | 'estimate_cost'
  | 'get_fit_status'
  | 'fit/{id}'
  | 'submit_fit_job'
  | 'get_settings'
  | 'get_api_usage'
  | 'v1/predict'
  | 'put'
  | 'download'
  | 'connection';

/** What goes wrong with one request. Where nothing says otherwise, the real answer follows. */
export interface Fault {
  /** Answer with this instead of the real answer; the service does not act. An object is sent as JSON. */
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Merged into the JSON object of the real answer; `undefined` removes a property. */
  patch?: Record<string, unknown>;
  /**
   * Reset the connection: before the body is read, while it is read, or after the service has acted (but before it
   * answers).
   */
  reset?: 'before' | 'during' | 'after';
  /** Send only this share (0 to 1) of the answer's body, then reset. */
  cutAt?: number;
  /** With `status`: answer without reading the body, then close. */
  early?: boolean;
  /** Wait before answering. */
  delayMs?: number;
  /** Send white space for so long, then the real answer. */
  whitespaceMs?: number;
  /** Read the body and never answer. */
  silent?: boolean;
  /** Wait so long after each piece of the request's body. */
  slowReadMs?: number;
}

export interface FaultContext {
  route: StrictRoute;
  /** How many requests of this route came before this one. */
  n: number;
  url: string;
  headers: Record<string, string | string[] | undefined>;
}

export type FaultFunction = (context: FaultContext) => Fault | undefined;

/** Faults per route, and the count of requests that they go by. */
export class Faults {
  private readonly functions = new Map<StrictRoute, FaultFunction>();
  private readonly counts = new Map<StrictRoute, number>();

  set(route: StrictRoute, fault: FaultFunction | undefined): void {
    if (fault === undefined) {
      this.functions.delete(route);
    } else {
      this.functions.set(route, fault);
    }
    this.counts.delete(route);
  }

  next(route: StrictRoute, url: string, headers: FaultContext['headers']): Fault {
    const n = this.counts.get(route) ?? 0;
    this.counts.set(route, n + 1);
    return this.functions.get(route)?.({ route, n, url, headers }) ?? {};
  }
}

/** A fault function that has the given faults one after the other, and then none. */
export function inTurn(...faults: (Fault | undefined)[]): FaultFunction {
  return ({ n }) => faults[n];
}
