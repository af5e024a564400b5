import type { Transferable } from 'node:worker_threads';

import { type Semaphore, within } from '../../util/concurrency';
import { assertThreadCanOpenFiles } from '../../util/files';
import type { Log } from '../options';
import { isStartFailure, Refusal } from '../refusal';
import {
  causeOfDeath,
  outOfMemory,
  type PoolJob,
  shuttingDown,
  tookTooLong,
  tooManyWait,
  type WorkerAnswer,
} from './pool-job';
import { PoolThread } from './pool-thread';

interface PoolOptions {
  /** What the threads do, for messages: `fit`, `predict`. */
  name: string;
  /** The compiled script that each thread runs. */
  script: string;
  threads: number;
  /** Jobs that may wait; beyond that they are refused with 429. */
  maxWaiting: number;
  /** An idle thread ends after this time; its memory is then free. The first one stays longer. */
  idleMs: number;
  /** A job that says nothing for so many milliseconds is ended, with its thread. */
  patienceMs: number;
  workerData?: Record<string, unknown>;
  /** What the Parquet decoder of a thread may take; undefined: the whole share of a process. */
  wasmBytes?: number;
  /** One permit for all pools of a process: its holder may take the whole share. */
  largeReads: Semaphore;
  log: Log;
}

/** For this long after a thread has failed to start no other one is tried, as long as there are threads at all. */
const START_PAUSE_MS = 1_000;

/** How long a thread that hangs is waited for once it was told to end. */
const END_MS = 5_000;

/** A job that needs the whole share of memory: its thread is gone, and it may be tried again with that. */
class NeedsTurn extends Error {}

const noop = (): void => undefined;

interface RunOptions {
  /** Another time for this job than that of `PoolOptions`. */
  patienceMs?: number;
  key?: string;
  prepares?: boolean;
  signal?: AbortSignal;
  /** An abort also ends the thread of a running job; the error is the reason of the abort. */
  endsThread?: boolean;
  transfer?: Transferable[];
  /** The task as it is sent a second time, without what was transferred: after the first try took too much memory. */
  again?: unknown;
  onProgress?: (fraction: number) => void;
}

/** A bounded number of worker threads, started when needed, one job at a time each, with a bounded queue. */
export class WorkerPool {
  private readonly threads = new Set<PoolThread>();
  private readonly waiting: PoolJob[] = [];
  /** [0] how many jobs wait; threads on optional work look at it. */
  private readonly pressure = new Int32Array(new SharedArrayBuffer(4));
  /** One for each job that is not settled yet. */
  private readonly underWay = new Set<Promise<void>>();
  private lastId = 0;
  private closed = false;
  /** Runs while no thread is to be started. */
  private startPause: NodeJS.Timeout | undefined;
  /** Whether the last thread that was to start did not come to run. */
  private startFailed = false;

  constructor(private readonly options: PoolOptions) {}

  get running(): number {
    return [...this.threads].filter((thread) => thread.job !== undefined).length;
  }

  /** Whether the queue is full. */
  get full(): boolean {
    return this.waiting.length >= this.options.maxWaiting;
  }

  get queued(): number {
    return this.waiting.length;
  }

  /**
   * Runs a job on a thread. An abort takes it out of the queue; one that runs already is left to end, unless
   * `endsThread` is set.
   *
   * @throws Refusal what the job itself refuses; 429 when too many wait; 503 when no thread starts now, 504 when it
   *   got no further, 500 when its thread died
   */
  async run<R>(task: unknown, options: RunOptions = {}): Promise<R> {
    try {
      return await this.attempt<R>(task, options, this.options.wasmBytes === undefined);
    } catch (error) {
      if (!(error instanceof NeedsTurn)) {
        throw error;
      }
    }
    // What was transferred is gone with the first thread.
    const { again = task, ...rest } = { ...options, transfer: [] };
    return this.options.largeReads.run(() => this.attempt<R>(again, rest, true));
  }

  private attempt<R>(task: unknown, options: RunOptions, large: boolean): Promise<R> {
    if (this.closed || options.signal?.aborted === true) {
      return Promise.reject(
        options.signal?.reason instanceof Refusal ? options.signal.reason : shuttingDown(),
      );
    }
    if (this.full) {
      return Promise.reject(tooManyWait(this.options.name));
    }
    const settled = new Promise<R>((resolve, reject) => {
      const job: PoolJob = {
        id: ++this.lastId,
        task,
        prepares: options.prepares ?? false,
        patienceMs: options.patienceMs ?? this.options.patienceMs,
        large: large && this.options.wasmBytes !== undefined,
        resolve: resolve as (result: unknown) => void,
        reject,
        ...(options.key === undefined ? {} : { key: options.key }),
        ...(options.transfer === undefined ? {} : { transfer: options.transfer }),
        ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
      };
      this.waiting.push(job);
      const { signal, endsThread = false } = options;
      signal?.addEventListener('abort', () => void this.cancel(job, endsThread ? signal : undefined), {
        once: true,
      });
      this.assign();
    });
    const over = settled.then(noop, noop);
    this.underWay.add(over);
    void over.then(() => this.underWay.delete(over));
    return settled;
  }

  /** Threads that have nothing to do, counting those that could be started. None while jobs wait. */
  get spare(): number {
    return this.closed || this.waiting.length > 0 ? 0 : this.options.threads - this.running;
  }

  /** Starts a thread ahead of its first job, so that the job finds its modules loaded. */
  warm(): void {
    if (this.closed || this.threads.size > 0) {
      return;
    }
    try {
      this.rest(this.start());
    } catch {
      // The first job tries again, and is refused with the reason where that fails too.
    }
  }

  /** Whether threads run, or the last one to start did. Where it did not, this tries to start another one, for the next time. */
  startsThreads(): boolean {
    if (!this.startFailed || [...this.threads].some(({ online }) => online)) {
      return true;
    }
    this.warm();
    return false;
  }

  /** Ends all threads. Waiting jobs are refused with 503, those under way too where they outlast the time given. */
  async close(graceMs = 0): Promise<void> {
    this.closed = true;
    clearTimeout(this.startPause);
    for (const job of this.waiting.splice(0)) {
      job.reject(shuttingDown());
    }
    await within(Promise.allSettled(this.underWay), graceMs);
    await Promise.all([...this.threads].map((thread) => this.stop(thread)));
  }

  /** Has the threads drop what they keep for jobs with these keys; busy ones do when their job lets them. */
  forget(keys: string[]): void {
    this.threads.forEach((thread) => thread.forget(keys));
  }

  /** @param ending the signal whose abort ends a thread at work as well */
  private async cancel(job: PoolJob, ending: AbortSignal | undefined): Promise<void> {
    const at = this.waiting.indexOf(job);
    const error = ending?.reason instanceof Refusal ? ending.reason : shuttingDown();
    if (at >= 0) {
      this.waiting.splice(at, 1);
      job.reject(error);
      return;
    }
    const thread = [...this.threads].find((one) => one.job === job);
    if (thread === undefined || ending === undefined) {
      return;
    }
    await this.end(thread, error);
  }

  /** Ends a thread that hangs. Where it does not even end, at a disk that does not answer, its job does not wait for that. */
  private async giveUp(thread: PoolThread, silentMs: number): Promise<void> {
    const { name, log } = this.options;
    const job = thread.takeJob();
    log('warn', `A ${name} thread got no further for ${Math.round(silentMs / 1000)} s and is ended.`);
    await within(this.stop(thread), END_MS);
    job?.reject(tookTooLong(name, silentMs));
    if (!this.closed) {
      this.assign();
    }
  }

  /** Ends a thread at work; its job is refused. */
  private async end(thread: PoolThread, refusal: Refusal): Promise<void> {
    const job = thread.takeJob();
    // Its files may be removed only when the thread has closed them.
    await this.stop(thread);
    job?.reject(refusal);
    if (!this.closed) {
      this.assign();
    }
  }

  private assign(): void {
    for (let at = 0; at < this.waiting.length && this.hasRoom();) {
      const job = this.waiting[at]!;
      if (this.isPrepared(job)) {
        at++;
        continue;
      }
      this.waiting.splice(at, 1);
      try {
        this.threadFor(job).give(job, job.large ? undefined : this.options.wasmBytes);
      } catch (error) {
        this.giveBack(job, error as Error);
      }
    }
    Atomics.store(this.pressure, 0, this.waiting.length);
  }

  private hasRoom(): boolean {
    return this.mayStart() || this.idle().length > 0;
  }

  private mayStart(): boolean {
    const { size } = this.threads;
    return size < this.options.threads && (size === 0 || this.startPause === undefined);
  }

  private idle(): PoolThread[] {
    return [...this.threads].filter(({ isIdle }) => isIdle);
  }

  /** Whether a thread is being made ready for the job: that is done before another one would be. */
  private isPrepared({ key }: PoolJob): boolean {
    return key !== undefined && [...this.threads].some(({ job }) => job?.key === key && job.prepares);
  }

  /** An idle thread that knows the job's key, else any idle one, else a new one. */
  private threadFor(job: PoolJob): PoolThread {
    const idle = this.idle();
    return idle.find((thread) => thread.knows(job.key)) ?? idle[0] ?? this.start();
  }

  private start(): PoolThread {
    const { script, name } = this.options;
    this.startFailed = true;
    assertThreadCanOpenFiles(script);
    const workerData = { ...this.options.workerData, pressure: this.pressure };
    const thread: PoolThread = new PoolThread(
      { script, name: `tabular-${name}`, workerData },
      {
        answer: (answer) => this.hear(thread, answer),
        exit: (reason) => this.lost(thread, reason),
        silence: (ms) => void this.giveUp(thread, ms),
      },
    );
    this.startFailed = false;
    this.threads.add(thread);
    return thread;
  }

  private hear(thread: PoolThread, answer: WorkerAnswer): void {
    const { job } = thread;
    if (job?.id !== answer.id) {
      return;
    }
    if ('progress' in answer) {
      thread.bear(job.patienceMs);
      job.onProgress?.(answer.progress);
      return;
    }
    if ('mayTake' in answer) {
      thread.bear(answer.mayTake);
      return;
    }
    thread.takeJob();
    if (job.large || 'needsMemory' in answer) {
      // WebAssembly frees no memory before its thread ends, and the next holder of the permit needs it free.
      void this.stop(thread).then(() => {
        this.settle(job, answer);
        this.assign();
      });
      return;
    }
    this.rest(thread);
    this.settle(job, answer);
    this.assign();
  }

  private settle(
    job: PoolJob,
    answer: Exclude<WorkerAnswer, { progress: number } | { mayTake: number }>,
  ): void {
    if ('result' in answer) {
      job.resolve(answer.result);
    } else if ('refusal' in answer) {
      job.reject(new Refusal(answer.refusal));
    } else if ('outOfMemory' in answer) {
      job.reject(outOfMemory(this.options.name));
    } else if ('needsMemory' in answer) {
      job.reject(new NeedsTurn());
    } else {
      job.reject(new Error(answer.failure));
    }
  }

  private rest(thread: PoolThread): void {
    const patience = this.threads.size > 1 ? this.options.idleMs : this.options.idleMs * 10;
    thread.rest(patience, () => void this.stop(thread));
  }

  private async stop(thread: PoolThread): Promise<void> {
    this.threads.delete(thread);
    await thread.stop();
  }

  private lost(thread: PoolThread, reason: Error): void {
    const unexpected = this.threads.delete(thread);
    this.startFailed ||= unexpected && !thread.online;
    thread.stayAwake();
    const job = thread.takeJob();
    if (job === undefined) {
      return;
    }
    const { name, log } = this.options;
    log('warn', `A ${name} thread died: ${reason.message}`);
    this.giveBack(job, reason);
    if (!this.closed) {
      this.assign();
    }
  }

  /**
   * A job whose thread died over it, or did not start. Where the process has no file descriptor or no memory left for a
   * thread, the others do its work.
   */
  private giveBack(job: PoolJob, reason: Error): void {
    const lacksThread = isStartFailure(reason) && (job.transfer?.length ?? 0) === 0;
    if (!lacksThread || this.threads.size === 0 || this.closed) {
      job.reject(causeOfDeath(this.options.name, reason));
      return;
    }
    this.waiting.unshift(job);
    clearTimeout(this.startPause);
    this.startPause = setTimeout(() => {
      this.startPause = undefined;
      this.assign();
    }, START_PAUSE_MS).unref();
  }
}
