import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { untilAborted } from '../../../util/abort';
import { Semaphore } from '../../../util/semaphore';
import type { FitRequest } from '../../../wire/types';
import type { Task } from '../../../wire/vocabulary';
import type { ServiceLimits } from '../../limits';
import type { Log } from '../../options';
import type { Refusal } from '../../refusal';
import type { ModelEntry, UploadEntry } from '../../store/entries';
import { type FileRef, fileRef } from '../../store/file-ref';
import { MODEL_FILE, type Store } from '../../store/store';
import type { FitJob, FitOutcome, ModelRef } from '../jobs';
import type { WorkerPool } from '../pool/pool';
import { shuttingDown, tooManyWait } from '../pool/pool-refusals';
import { fitKey, modelEntry, trainOptions } from './fit-request';

/** A smaller file is fitted before a helper thread would have started. */
const HELPED_BYTES = 200_000;

/** How many large train sets (more than a quarter of the cells that fit in memory) are fitted at once. */
const LARGE_AT_ONCE = 2;
/** How many may queue: each has a folder, and holds its upload. */
const LARGE_WAITING = 64;
const LARGE_PART = 1 / 4;
/** Bytes of a file for each cell at the least: how many cells it may have, before it has been read. */
const MIN_CELL_BYTES = { csv: 3, parquet: 0.5 };

/** A fit that waits or runs. */
export interface RunningFit {
  fitted_train_set_id: string;
  train_set_upload_id: string;
  task: Task;
  /** Unix milliseconds. */
  started_at: number;
  /** 0 to 1. */
  progress: number;
}

export interface FinishedFit {
  entry: ModelEntry;
  /** True where an earlier fit, or one already under way, answered. */
  reused: boolean;
}

/** A fit that was asked for: its id is known before its end. */
export interface BegunFit {
  id: string;
  /** Of an earlier fit: nothing is left to do. */
  ended: boolean;
  answer: Promise<FinishedFit>;
}

/** The two files of a train set, and the size of the one with the features. */
export interface FilesToFit {
  x: FileRef;
  y: FileRef;
  bytes: number;
}

interface Running {
  state: RunningFit;
  key: string;
  forced: boolean;
  answer: Promise<ModelEntry>;
  stop: AbortController;
}

/** Runs fits, one per distinct request: an unchanged request gets the earlier result unless it is forced. */
export class Fits {
  private readonly running = new Map<string, Running>();
  private readonly large = new Semaphore(LARGE_AT_ONCE, LARGE_WAITING);

  constructor(
    private readonly store: Store,
    private readonly pool: WorkerPool,
    private readonly limits: ServiceLimits,
    private readonly onFitted: (model: ModelRef) => void,
    private readonly log: Log,
  ) {}

  list(): RunningFit[] {
    return [...this.running.values()].map(({ state }) => state);
  }

  /** The fit of this id, while it waits or runs. */
  find(id: string): RunningFit | undefined {
    return this.running.get(id)?.state;
  }

  /** Do as many wait for a thread as may? */
  get full(): boolean {
    return this.pool.full;
  }

  /**
   * A model for the request. It goes on when the one who asked goes away: asking again joins it.
   *
   * @throws Refusal 404, 422 as the train set and the learner give cause; 429 when too many fits wait
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

  /** A fit under an id that was promised before. */
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

  private newest(key: string): ModelEntry | undefined {
    let newest: ModelEntry | undefined;
    for (const { entry } of this.store.models.items.values()) {
      if (entry.fitKey === key && entry.createdAt >= (newest?.createdAt ?? 0)) {
        newest = entry;
      }
    }
    return newest === undefined ? undefined : this.store.models.use(newest.id)?.entry;
  }

  /**
   * A model of rows that came with the request itself; nothing of them is kept but the model.
   *
   * @param gone ends the fit: whoever asked is not there any more
   * @throws Refusal as `fit`
   */
  fitRows(
    request: Omit<FitRequest, 'train_set_upload_id'>,
    files: FilesToFit,
    gone: AbortSignal,
  ): Promise<ModelEntry> {
    const ofRows = { ...request, train_set_upload_id: '', force_refit: true };
    const running = this.run(ofRows, randomUUID(), (state, stop) =>
      this.makeModel(ofRows, state, stop, (modelFile) => this.runJob(ofRows, files, modelFile, state, stop)),
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
    const stop = new AbortController();
    const answer = work(state, stop.signal).finally(() => this.running.delete(id));
    const running = { state, key: fitKey(request), forced: request.force_refit === true, answer, stop };
    this.running.set(id, running);
    return running;
  }

  private async train(request: FitRequest, state: RunningFit, stop: AbortSignal): Promise<ModelEntry> {
    const { uploads } = this.store;
    const upload = uploads.get(state.train_set_upload_id, 'train');
    const large = mayHoldCells(upload.entry) > this.limits.train_set_max_cells * LARGE_PART;
    return this.makeModel(request, state, stop, (modelFile) => {
      const bytes = upload.entry.x.arrived?.bytes ?? 0;
      const start = (): Promise<FitOutcome> => {
        const files = { x: fileRef(upload, 'x'), y: fileRef(upload, 'y'), bytes };
        return this.runJob(request, files, modelFile, state, stop);
      };
      return uploads.reading(upload, () => (large ? this.inTurn(start, stop) : start()));
    });
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
      this.onFitted({ id, file: modelFile, crc: entry.crc });
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

  /** Starts a large fit once few enough others run; one that is stopped does not wait for its turn. */
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

  private runJob(
    request: FitRequest,
    files: FilesToFit,
    modelFile: string,
    state: RunningFit,
    stop: AbortSignal,
  ): Promise<FitOutcome> {
    if (stop.aborted) {
      return Promise.reject(stop.reason as Refusal);
    }
    const worthIt = files.bytes >= HELPED_BYTES;
    const helpers = worthIt ? Math.max(0, this.pool.spare - 1) : 0;
    const lines = Array.from({ length: helpers }, () => new MessageChannel());
    const job: FitJob = {
      kind: 'fit',
      x: files.x,
      y: files.y,
      task: request.task,
      options: trainOptions(request),
      limits: this.limits,
      modelFile,
      helpers: lines.map(({ port1 }) => port1),
    };
    const done = this.pool.run<FitOutcome>(job, {
      transfer: job.helpers,
      signal: stop,
      endsThread: true,
      onProgress: (fraction) => (state.progress = fraction),
    });
    for (const { port2 } of lines) {
      this.assist(port2);
    }
    return done;
  }

  /** A spare thread helps with the folds; without it the fit takes longer, that is all. */
  private assist(port: MessagePort): void {
    this.pool.run({ kind: 'assist', port }, { transfer: [port] }).catch((error: unknown) => {
      this.log('debug', `A helper of a fit ended: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}

function begun({ state, answer }: Running, reused: boolean): BegunFit {
  const id = state.fitted_train_set_id;
  return { id, ended: false, answer: answer.then((entry) => ({ entry, reused })) };
}

function mayHoldCells({ x }: UploadEntry): number {
  return (x.arrived?.bytes ?? 0) / MIN_CELL_BYTES[x.format];
}
