import type { Transferable } from 'node:worker_threads';

import type { RefusalBody } from '../../refusal';

/** A job of a pool, waiting or at work. */
export interface PoolJob {
  id: number;
  task: unknown;
  /** Jobs with the same key prefer the same thread, which has their model in memory. */
  key?: string;
  /** It only makes a thread ready for jobs with its key: they wait for that thread. */
  prepares: boolean;
  transfer?: Transferable[];
  /** It may take the whole share of memory; its thread ends with it. */
  large: boolean;
  /** Its thread is ended when it has said nothing for so many milliseconds. */
  patienceMs: number;
  onProgress?: (fraction: number) => void;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** What a worker thread says of its job. */
export type WorkerAnswer =
  | { id: number; progress: number }
  /** Milliseconds until it says more. */
  | { id: number; mayTake: number }
  | { id: number; result: unknown }
  | { id: number; refusal: RefusalBody }
  | { id: number; outOfMemory: true }
  | { id: number; needsMemory: true }
  | { id: number; failure: string };
