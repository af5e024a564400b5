import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { Semaphore, untilAborted } from '../../util/concurrency';
import type { FitRequest } from '../../wire/types';
import type { Log, ServiceLimits } from '../options';
import type { Refusal } from '../refusal';
import type { FileRef } from '../store/entries';
import { trainOptions } from './fit-request';
import type { FitJob, FitOutcome } from './jobs';
import type { WorkerPool } from './pool';
import { tooManyWait } from './pool-job';

/** A smaller file is fitted sooner than a helper thread starts. */
const HELPED_BYTES = 12_000;
/** Up to this size one helper is enough: each one loads the learner first, and takes its memory. */
const ONE_HELPER_BYTES = 200_000;

/** How many large train sets (more than a quarter of the cells that fit in memory) are fitted at once. */
const LARGE_AT_ONCE = 2;
/** How many of them may queue: each has a folder, and holds its upload. */
const LARGE_WAITING = 64;
const LARGE_PART = 1 / 4;
/** Bytes per cell at least: bounds how many cells a file can have before it is read. */
const MIN_CELL_BYTES = { csv: 3, parquet: 0.5 };

/** The two files of a train set, and the size of the one with the features. */
export interface FilesToFit {
  x: FileRef;
  y: FileRef;
  bytes: number;
}

interface FitHooks {
  /** Ends the fit, with its reason as the error. */
  stop: AbortSignal;
  /** @param fraction 0 to 1 */
  onProgress: (fraction: number) => void;
}

/** Runs fits on the threads of the pool, with idle ones as helpers; only a few large train sets at once. */
export class FitThreads {
  private readonly large = new Semaphore(LARGE_AT_ONCE, LARGE_WAITING);

  constructor(
    private readonly pool: WorkerPool,
    private readonly limits: ServiceLimits,
    private readonly log: Log,
  ) {}

  /**
   * Writes a model of the files.
   *
   * @throws Refusal 429 when too many large fits wait; the reason of `stop`
   */
  run(request: FitRequest, files: FilesToFit, modelFile: string, hooks: FitHooks): Promise<FitOutcome> {
    const start = (): Promise<FitOutcome> => this.start(request, files, modelFile, hooks);
    return mayHoldCells(files) > this.limits.train_set_max_cells * LARGE_PART
      ? this.inTurn(start, hooks.stop)
      : start();
  }

  /** Starts a large fit when its turn comes; one that is stopped does not wait for it. */
  private async inTurn(start: () => Promise<FitOutcome>, stop: AbortSignal): Promise<FitOutcome> {
    let begin = (): void => undefined;
    const begins = new Promise<void>((resolve) => (begin = resolve));
    const outcome = this.large.run(
      () => {
        begin();
        return start();
      },
      () => tooManyWait('fit'),
    );
    outcome.catch(() => undefined);
    await untilAborted(Promise.race([begins, outcome]), stop);
    return outcome;
  }

  private start(
    request: FitRequest,
    files: FilesToFit,
    modelFile: string,
    { stop, onProgress }: FitHooks,
  ): Promise<FitOutcome> {
    if (stop.aborted) {
      return Promise.reject(stop.reason as Refusal);
    }
    const spare = Math.max(0, this.pool.spare - 1);
    const channels = Array.from(
      { length: Math.min(spare, mostHelpers(files.bytes)) },
      () => new MessageChannel(),
    );
    const job: FitJob = {
      kind: 'fit',
      x: files.x,
      y: files.y,
      task: request.task,
      options: trainOptions(request),
      limits: this.limits,
      modelFile,
      helpers: channels.map(({ port1 }) => port1),
    };
    const done = this.pool.run<FitOutcome>(job, {
      transfer: job.helpers,
      again: { ...job, helpers: [] },
      signal: stop,
      endsThread: true,
      onProgress,
    });
    for (const { port2 } of channels) {
      this.assist(port2);
    }
    return done;
  }

  /** A spare thread helps with the folds; without one the fit only takes longer. */
  private assist(port: MessagePort): void {
    this.pool.run({ kind: 'assist', port }, { transfer: [port] }).catch((error: unknown) => {
      this.log('debug', `A helper of a fit ended: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}

function mostHelpers(bytes: number): number {
  if (bytes < HELPED_BYTES) {
    return 0;
  }
  return bytes < ONE_HELPER_BYTES ? 1 : Infinity;
}

function mayHoldCells({ x, bytes }: FilesToFit): number {
  return bytes / MIN_CELL_BYTES[x.format];
}
