import type { ServiceError } from '../../wire/service-error';
import type { Lane } from './lane';
import type { Turn } from './ordered-delivery';

/**
 * Where a message stands: `reading` its table, or waiting for a model · `waiting` for a slot or for company ·
 * `flying`: being scored · `parked`: scored, waiting for its turn · `settled`.
 */
export type JobState = 'reading' | 'waiting' | 'flying' | 'parked' | 'settled';

/** One message on its way through a batcher. */
export interface Job<Payload, Outcome> {
  readonly payload: Payload;
  readonly promise: Promise<Outcome>;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: ServiceError) => void;
  readonly signal: AbortSignal | undefined;
  readonly turn: Turn | undefined;
  state: JobState;
  rows: number;
  bytes: number;
  /** It shares no batch with others. */
  alone: boolean;
  /** A flush came after it: it waits for no company. */
  hurried: boolean;
  /** Milliseconds (performance.now) when it began to wait for a slot. */
  since: number;
  /** Set while it waits for a slot. */
  lane: Lane<Payload, Outcome> | undefined;
  /** Set while it flies. */
  flight: Flight | undefined;
}

/** A batch being scored. */
export interface Flight {
  readonly controller: AbortController;
  /** Messages that still want its result. */
  wanted: number;
}

export function newJob<Payload, Outcome>(
  payload: Payload,
  turn: Turn | undefined,
  rows: number,
  bytes: number,
  signal: AbortSignal | undefined,
): Job<Payload, Outcome> {
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
    lane: undefined,
    flight: undefined,
  };
}
