import { Worker } from 'node:worker_threads';

import { type PoolJob, shuttingDown, type WorkerAnswer } from './pool-job';

const REMEMBERED_KEYS = 64;
/** The patience with a job is counted in so many parts, so that a process that was halted has not used it all up meanwhile. */
const PARTS = 4;

interface ThreadOptions {
  /** The compiled script that it runs. */
  script: string;
  /** For debuggers. */
  name: string;
  workerData: Record<string, unknown>;
}

/** Who hears of a thread. */
interface ThreadEvents {
  answer(answer: WorkerAnswer): void;
  exit(reason: Error): void;
  /** Its job got no further for as long as it may. */
  silence(ms: number): void;
}

/** A worker thread of a pool: the job that it is at, and the keys of its recent ones. */
export class PoolThread {
  job?: PoolJob;
  /** It runs its script. */
  online = false;
  private readonly worker: Worker;
  /** The newest last. */
  private readonly keys = new Set<string>();
  private idleTimer?: NodeJS.Timeout;
  private patience?: NodeJS.Timeout;

  constructor(
    { script, name, workerData }: ThreadOptions,
    private readonly on: ThreadEvents,
  ) {
    this.worker = new Worker(script, { workerData, name });
    let reason = new Error('it ended');
    this.worker.on('online', () => (this.online = true));
    this.worker.on('message', (answer: WorkerAnswer) => on.answer(answer));
    this.worker.on('error', (error: Error) => (reason = error));
    this.worker.on('exit', () => on.exit(reason));
  }

  /** Whether it may be given a job. */
  get isIdle(): boolean {
    return this.job === undefined;
  }

  /** Whether it has lately had a job with that key: it has their model in memory. */
  knows(key: string | undefined): boolean {
    return key !== undefined && this.keys.has(key);
  }

  /** @param wasmBytes what its Parquet decoder may take; undefined: the whole share of a process */
  give(job: PoolJob, wasmBytes: number | undefined): void {
    this.stayAwake();
    this.job = job;
    if (job.key !== undefined) {
      this.remember(job.key);
    }
    this.bear(job.patienceMs);
    this.worker.postMessage({ id: job.id, task: job.task, wasmBytes }, job.transfer ?? []);
  }

  /** Has it drop what it keeps for jobs with these keys. */
  forget(keys: string[]): void {
    keys.forEach((key) => this.keys.delete(key));
    this.worker.postMessage({ forget: keys });
  }

  /** Gives its job this long from now on, in milliseconds. */
  bear(patienceMs: number): void {
    clearInterval(this.patience);
    let parts = 0;
    this.patience = setInterval(() => {
      parts += 1;
      if (parts === PARTS) {
        clearInterval(this.patience);
        this.on.silence(patienceMs);
      }
    }, patienceMs / PARTS);
    this.patience.unref();
  }

  /** Calls back after this long without a job. That does not keep the process alive. */
  rest(patienceMs: number, bored: () => void): void {
    this.stayAwake();
    this.idleTimer = setTimeout(bored, patienceMs);
    this.idleTimer.unref();
  }

  stayAwake(): void {
    clearTimeout(this.idleTimer);
  }

  /** Takes its job away. */
  takeJob(): PoolJob | undefined {
    const { job } = this;
    clearInterval(this.patience);
    delete this.job;
    return job;
  }

  /** Ends it; a job that it was at is refused. Resolves when its files are closed. */
  async stop(): Promise<void> {
    this.stayAwake();
    this.takeJob()?.reject(shuttingDown());
    await this.worker.terminate();
  }

  private remember(key: string): void {
    const { keys } = this;
    keys.delete(key);
    keys.add(key);
    for (const oldest of keys) {
      if (keys.size <= REMEMBERED_KEYS) {
        break;
      }
      keys.delete(oldest);
    }
  }
}

/*
 * How long a thread may work before it is taken to hang, which only a damaged file can make it do, or a mistake of ours. All
 * in milliseconds, many times what the slowest machine needs, so that no honest work is ever ended.
 */

/** Without any progress: a fit of days tells of each 500th part; reading its files and its last steps take minutes. */
export const FIT_PATIENCE_MS = 7_200_000;

/** For a thread to start and for a disk to answer. */
const READ_MS = 60_000;
/** A memory card that is worn out still reads more than a megabyte a second. */
const READ_MS_PER_BYTE = 1e-3;

/** To read a model, and a file of rows, of so many bytes together. */
export function readPatience(bytes: number): number {
  return READ_MS + bytes * READ_MS_PER_BYTE;
}

/** For what does not depend on the rows. */
const PREDICT_MS = 30_000;
/** Measured: 0.1 to 0.3 ns for each row and byte of the model's file. No row needs any part of a model more than once. */
const PREDICT_MS_PER_ROW_AND_BYTE = 5e-5;
/** What is explained is bounded, so that it takes seconds. */
const EXPLAIN_MS = 600_000;

/** To predict rows with a model whose file has so many bytes. */
export function predictPatience(rows: number, modelBytes: number, explains: boolean): number {
  return PREDICT_MS + rows * modelBytes * PREDICT_MS_PER_ROW_AND_BYTE + (explains ? EXPLAIN_MS : 0);
}
