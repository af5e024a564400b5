import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { Semaphore, untilAborted } from '../../util/concurrency';
import type { FitRequest } from '../../wire/types';
import type { Task } from '../../wire/vocabulary';
import type { Log, ServiceLimits } from '../options';
import type { Refusal } from '../refusal';
import type { FitResult, ServiceMetrics } from '../service-metrics';
import { type FileRef, fileRef, type ModelEntry } from '../store/entries';
import { MODEL_FILE, type Store } from '../store/store';
import { fitKey, modelEntry, trainOptions } from './fit-request';
import type { FitJob, FitOutcome, ModelRef } from './jobs';
import type { WorkerPool } from './pool';
import { isShuttingDown, shuttingDown, tooManyWait } from './pool-job';

/** A fit that waits or runs. */
interface RunningFit {
  fitted_train_set_id: string;
  train_set_upload_id: string;
  task: Task;
  /** Unix milliseconds. */
  started_at: number;
  /** 0 to 1. */
  progress: number;
}

interface FinishedFit {
  entry: ModelEntry;
  /** True where an earlier fit, or one already under way, answered. */
  reused: boolean;
}

/** A requested fit: its id is known before it ends. */
export interface BegunFit {
  id: string;
  /** True for an earlier fit: nothing is left to do. */
  ended: boolean;
  answer: Promise<FinishedFit>;
}

interface Running {
  state: RunningFit;
  key: string;
  forced: boolean;
  answer: Promise<ModelEntry>;
  stop: AbortController;
}

/** What fits are run with. */
interface FitParts {
  store: Store;
  pool: WorkerPool;
  limits: ServiceLimits;
  /** Called with each new model. */
  onFitted: (model: ModelRef) => void;
  metrics: ServiceMetrics;
  log: Log;
}

/** Runs fits, one per distinct request: an unchanged request gets the earlier result unless it is forced. */
export class Fits {
  private readonly running = new Map<string, Running>();
  private readonly threads: FitThreads;

  private readonly store: Store;
  private readonly pool: WorkerPool;
  private readonly onFitted: (model: ModelRef) => void;
  private readonly metrics: ServiceMetrics;
  private readonly log: Log;

  constructor({ store, pool, limits, onFitted, metrics, log }: FitParts) {
    this.store = store;
    this.pool = pool;
    this.onFitted = onFitted;
    this.metrics = metrics;
    this.log = log;
    this.threads = new FitThreads(pool, limits, log);
  }

  list(): RunningFit[] {
    return [...this.running.values()].map(({ state }) => state);
  }

  /** The fit of this id, while it waits or runs. */
  find(id: string): RunningFit | undefined {
    return this.running.get(id)?.state;
  }

  /** Whether the queue for threads is full. */
  get full(): boolean {
    return this.pool.full;
  }

  /**
   * A model for the request. The fit goes on when its client disconnects; the same request later joins it.
   *
   * @throws Refusal 404 or 422 for the train set or what the learner refuses; 429 when too many fits wait
   */
  fit(request: FitRequest): Promise<FinishedFit> {
    return this.begin(request).answer;
  }

  /** The earlier fit of the same request, the one under way, or a new one. */
  begin(request: FitRequest): BegunFit {
    const key = fitKey(request);
    if (request.force_refit !== true) {
      const entry = this.newest(key);
      if (entry !== undefined) {
        return { id: entry.id, ended: true, answer: Promise.resolve({ entry, reused: true }) };
      }
      const same = [...this.running.values()].find((one) => !one.forced && one.key === key);
      if (same !== undefined) {
        return begun(same, true);
      }
    }
    return begun(this.start(request, randomUUID()), false);
  }

  /** A fit under an id that was returned to a client before. */
  resume(request: FitRequest, id: string): BegunFit {
    return begun(this.start(request, id), false);
  }

  /** Ends the fits of a train set, with this error. Resolves when nothing reads its files any more. */
  async stop(trainSetUploadId: string, error: Refusal): Promise<void> {
    const fits = [...this.running.values()].filter(
      ({ state }) => state.train_set_upload_id === trainSetUploadId,
    );
    for (const { stop } of fits) {
      stop.abort(error);
    }
    await Promise.allSettled(fits.map(({ answer }) => answer));
  }

  /** Resolves when all that run have ended, and their models are kept. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.running.values()].map(({ answer }) => answer));
  }

  private newest(key: string): ModelEntry | undefined {
    let newest: ModelEntry | undefined;
    for (const { entry } of this.store.models.items.values()) {
      if (entry.fitKey === key && entry.createdAt >= (newest?.createdAt ?? 0)) {
        newest = entry;
      }
    }
    return newest === undefined ? undefined : this.store.models.useIfWhole(newest.id)?.entry;
  }

  /**
   * A model of rows that came with the request itself; only the model is stored.
   *
   * @param gone ends the fit: its client has disconnected
   * @throws Refusal as `fit`
   */
  fitRows(
    request: Omit<FitRequest, 'train_set_upload_id'>,
    files: FilesToFit,
    gone: AbortSignal,
  ): Promise<ModelEntry> {
    const ofRows = { ...request, train_set_upload_id: '', force_refit: true };
    const running = this.run(ofRows, randomUUID(), (state, stop) =>
      this.makeModel(ofRows, state, stop, (modelFile) =>
        this.fitFiles(ofRows, files, modelFile, { state, stop }),
      ),
    );
    gone.addEventListener('abort', () => running.stop.abort(shuttingDown()), { once: true });
    return running.answer;
  }

  private start(request: FitRequest, id: string): Running {
    return this.run(request, id, (state, stop) => this.train(request, state, stop));
  }

  private run(
    request: FitRequest,
    id: string,
    work: (state: RunningFit, stop: AbortSignal) => Promise<ModelEntry>,
  ): Running {
    const state: RunningFit = {
      fitted_train_set_id: id,
      train_set_upload_id: request.train_set_upload_id.toLowerCase(),
      task: request.task,
      started_at: Date.now(),
      progress: 0,
    };
    const since = performance.now();
    const stop = new AbortController();
    const answer = work(state, stop.signal).finally(() => this.running.delete(id));
    const count = (result: FitResult): void =>
      this.metrics.countFit(result, (performance.now() - since) / 1000);
    answer.then(
      () => count('completed'),
      (error: unknown) => count(stop.signal.aborted || isShuttingDown(error) ? 'stopped' : 'failed'),
    );
    const running = { state, key: fitKey(request), forced: request.force_refit === true, answer, stop };
    this.running.set(id, running);
    return running;
  }

  private async train(request: FitRequest, state: RunningFit, stop: AbortSignal): Promise<ModelEntry> {
    const { uploads } = this.store;
    const upload = uploads.get(state.train_set_upload_id, 'train');
    return this.makeModel(request, state, stop, (modelFile) =>
      uploads.reading(upload, () => {
        const bytes = upload.entry.x.arrived?.bytes ?? 0;
        const files = { x: fileRef(upload, 'x'), y: fileRef(upload, 'y'), bytes };
        return this.fitFiles(request, files, modelFile, { state, stop });
      }),
    );
  }

  private fitFiles(
    request: FitRequest,
    files: FilesToFit,
    modelFile: string,
    { state, stop }: { state: RunningFit; stop: AbortSignal },
  ): Promise<FitOutcome> {
    const onProgress = (fraction: number): void => {
      state.progress = fraction;
    };
    return this.threads.run(request, files, modelFile, { stop, onProgress });
  }

  /** @param fitInto writes the model to a file */
  private async makeModel(
    request: FitRequest,
    state: RunningFit,
    stop: AbortSignal,
    fitInto: (modelFile: string) => Promise<FitOutcome>,
  ): Promise<ModelEntry> {
    const { models } = this.store;
    const id = state.fitted_train_set_id;
    let folder: string | undefined;
    try {
      folder = models.makeFolder(id);
      const modelFile = path.join(folder, MODEL_FILE);
      this.log('debug', `Fit ${id} of ${state.train_set_upload_id} starts.`);
      const entry = modelEntry(id, request, await fitInto(modelFile));
      await models.put(entry, folder, true);
      if (stop.aborted) {
        await models.drop(id);
        stop.throwIfAborted();
      }
      this.log('debug', `Fit ${id} took ${Date.now() - state.started_at} ms.`);
      this.onFitted({ id, file: modelFile, bytes: entry.bytes, crc: entry.crc });
      await this.store.trim();
      return entry;
    } catch (error) {
      if (folder !== undefined) {
        await rm(folder, { recursive: true, force: true });
      }
      stop.throwIfAborted();
      throw error;
    }
  }
}

function begun({ state, answer }: Running, reused: boolean): BegunFit {
  const id = state.fitted_train_set_id;
  return { id, ended: false, answer: answer.then((entry) => ({ entry, reused })) };
}

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
interface FilesToFit {
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
