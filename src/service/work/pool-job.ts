import { setPriority } from 'node:os';
import { parentPort, type Transferable } from 'node:worker_threads';

import { limitWasm, NeedsMemory } from '../../table/arrow/heavy-modules';
import { fileSystemCode, isStorageFailure } from '../../util/files';
import { isStartFailure, Refusal, type RefusalBody, toRefusal } from '../refusal';

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

/* What a pool refuses jobs with. `what` is the kind of job: `fit`, `predict`. */

/** 429: the queue is full. */
export function tooManyWait(what: string): Refusal {
  return new Refusal({
    status: 429,
    errorCode: 'BUSY',
    message: `Too many ${what} requests wait already; try again in a moment.`,
    retryable: true,
    retryAfter: 1,
  });
}

/** 503: the service is closing. */
export function shuttingDown(): Refusal {
  return new Refusal({
    status: 503,
    errorCode: 'SHUTTING_DOWN',
    message: 'The service is shutting down.',
    retryable: true,
  });
}

/** Whether an error is the 503 of a service that is closing. */
export function isShuttingDown(error: unknown): boolean {
  return error instanceof Refusal && error.body.errorCode === 'SHUTTING_DOWN';
}

/** 413: the job needed more memory than its thread may use. */
export function outOfMemory(what: string): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'LIMIT_EXCEEDED',
    message:
      `The ${what} needs more memory than it may use here: give it fewer rows or columns, or leave out columns of ` +
      'long text.',
    retryable: false,
  });
}

/** 504: the job did not get on for as long as it may, and was ended. */
export function tookTooLong(what: string, ms: number): Refusal {
  return new Refusal({
    status: 504,
    errorCode: 'TIMEOUT',
    message:
      `The ${what} got no further for ${Math.round(ms / 1000)} s, more than it can need, and was ended: its model or its ` +
      'file must be damaged. Upload or fit it again, or send fewer rows.',
    retryable: false,
  });
}

/** The refusal of a job whose thread ended over it, or did not start: 413, 503 where it may start in a moment, else 500. */
export function causeOfDeath(what: string, reason: Error): Refusal {
  if (isOutOfMemory(reason)) {
    return outOfMemory(what);
  }
  return isStartFailure(reason) ? notStarted(what, reason) : threadDied(what, reason.message);
}

function notStarted(what: string, reason: Error): Refusal {
  const why = fileSystemCode(reason) ?? reason.message.split('\n')[0]!;
  return new Refusal({
    status: 503,
    errorCode: 'UNAVAILABLE',
    message: `No thread could be started for this ${what} (${why}): send it again.`,
    retryable: true,
    retryAfter: 1,
  });
}

function threadDied(what: string, reason: string): Refusal {
  return new Refusal({
    status: 500,
    errorCode: 'INTERNAL_ERROR',
    message: `The ${what} could not be finished: its thread died (${reason}).`,
    retryable: false,
  });
}

/** Whether it is a failed allocation that could be caught: an array, a string or a map that is too large. */
function isOutOfMemory(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return (
    code === 'ERR_WORKER_OUT_OF_MEMORY' ||
    code === 'ERR_STRING_TOO_LONG' ||
    (error instanceof RangeError &&
      /allocation failed|could not allocate memory|unable to grow|upper bound|maximum size exceeded|Invalid .*length/i.test(
        error.message,
      ))
  );
}

/** A job's result, and its buffers to transfer without a copy. */
export interface JobResult {
  result: unknown;
  transfer?: ArrayBuffer[];
}

/**
 * @param progress reports the fraction done, 0 to 1
 * @param mayTake says how long the rest may take, in milliseconds, where that shows only now
 */
export type JobWork<T> = (
  task: T,
  progress: (fraction: number) => void,
  mayTake: (ms: number) => void,
) => Promise<JobResult>;

/** Smaller steps of progress are not reported: a small fit has thousands, and a message costs more than a step. */
const MIN_PROGRESS = 1 / 500;

/** What a pool posts to a thread: a job, or the keys of jobs for which the thread need not keep anything any more. */
type PoolMessage<T> = { id: number; task: T; wasmBytes?: number } | { forget: string[] };

/**
 * Makes this thread a worker of a pool: each message is a job for `work`.
 * @param forget drops what was kept for jobs with these keys; also called while a job is under way
 */
export function serveJobs<T>(work: JobWork<T>, forget?: (keys: string[]) => void): void {
  const port = parentPort;
  if (port === null) {
    throw new Error('This script runs in a worker thread only.');
  }
  port.on('message', (message: PoolMessage<T>) => {
    if ('forget' in message) {
      forget?.(message.forget);
      return;
    }
    const { id, task, wasmBytes } = message;
    limitWasm(wasmBytes);
    const answer = (said: WorkerAnswer, transfer: ArrayBuffer[] = []): void =>
      port.postMessage(said, transfer);
    let reported = 0;
    const tell = (progress: number): void => {
      if (progress >= reported + MIN_PROGRESS) {
        reported = progress;
        answer({ id, progress });
      }
    };
    work(task, tell, (ms) => answer({ id, mayTake: ms })).then(
      ({ result, transfer }) => answer({ id, result }, transfer),
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException | undefined)?.code === 'MODULE_NOT_FOUND') {
          // It would be missing for every later job of this thread: the thread ends by it.
          throw error;
        }
        answer(describe(id, error));
      },
    );
  });
}

function describe(id: number, error: unknown): WorkerAnswer {
  if (error instanceof Refusal || isStorageFailure(error)) {
    return { id, refusal: toRefusal(error).body };
  }
  if (error instanceof NeedsMemory) {
    return { id, needsMemory: true };
  }
  if (isOutOfMemory(error)) {
    return { id, outOfMemory: true };
  }
  return { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/**
 * Lowers the priority of this thread, so that a fit never takes a core from predictions.
 * Linux has priorities per thread; elsewhere this would slow down the whole of Node-RED, so it is left alone.
 */
export function yieldToOthers(): void {
  if (process.platform !== 'linux') {
    return;
  }
  try {
    setPriority(0, 10);
  } catch {
    // A sandbox may forbid it; then all threads have the same priority.
  }
}
