import type { ServiceError } from '../../wire/service-error';
import type { Turn } from './ordered-delivery';

/**
 * Where a message is: `reading` its table, or waiting for a model · `waiting` for a slot or a full batch · `flying`:
 * being scored · `parked`: scored, waiting for the results before it · `settled`.
 */
export type MessageState = 'reading' | 'waiting' | 'flying' | 'parked' | 'settled';

/** One message on its way through a batcher. */
export interface QueuedMessage<Payload, Outcome> {
  readonly payload: Payload;
  readonly promise: Promise<Outcome>;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: ServiceError) => void;
  readonly signal: AbortSignal | undefined;
  readonly turn: Turn | undefined;
  state: MessageState;
  rows: number;
  bytes: number;
  /** It shares no batch with others. */
  alone: boolean;
  /** A flush came after it: it does not wait for a full batch. */
  hurried: boolean;
  /** Milliseconds (performance.now) when it began to wait for a slot. */
  since: number;
  /** Key of the queue that it waits in. */
  batchKey: string | undefined;
  /** Set while it flies. */
  flight: Flight | undefined;
}

/** A batch being scored. */
export interface Flight {
  readonly controller: AbortController;
  /** Messages that still want its result. */
  wanted: number;
}

export function queuedMessage<Payload, Outcome>(
  payload: Payload,
  turn: Turn | undefined,
  rows: number,
  bytes: number,
  signal: AbortSignal | undefined,
): QueuedMessage<Payload, Outcome> {
  let resolve!: (outcome: Outcome) => void;
  let reject!: (error: ServiceError) => void;
  const promise = new Promise<Outcome>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return {
    payload,
    promise,
    resolve,
    reject,
    signal,
    turn,
    state: 'reading',
    rows,
    bytes,
    alone: false,
    hurried: false,
    since: 0,
    batchKey: undefined,
    flight: undefined,
  };
}
