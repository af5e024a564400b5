import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

import { limitWasm, NeedsMemory } from '../../../table/packages/heavy-modules';
import { isStorageFailure } from '../../../util/files';
import { Refusal, toRefusal } from '../../refusal';
import type { WorkerAnswer } from './pool-job';
import { isOutOfMemory } from './pool-refusals';

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

/** Makes this thread a worker of a pool: each message is a job for `work`. */
export function serveJobs<T>(work: JobWork<T>): void {
  const port = parentPort;
  if (port === null) {
    throw new Error('This script runs in a worker thread only.');
  }
  port.on('message', ({ id, task, wasmBytes }: { id: number; task: T; wasmBytes?: number }) => {
    limitWasm(wasmBytes);
    const answer = (message: WorkerAnswer, transfer: ArrayBuffer[] = []): void =>
      port.postMessage(message, transfer);
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
