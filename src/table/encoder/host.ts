import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { readReason } from '../../util/values';
import { type ErrorCode, ServiceError } from '../../wire/service-error';
import { batchBytes } from '../columns/column-batch';
import { removeTempFolder } from '../storage/table-file';
import type { Answer, EncoderTask, Request } from './protocol';

/** How often silence is measured, in seconds: a process that was held does not count as a thread that is silent. */
const LOOK_SECONDS = 5;

/**
 * How long the encoder thread may say nothing to a piece of work that waits for it, in seconds. It tells of every
 * batch and of every hundredth of a file, and a Raspberry Pi reads and writes tables at more than 2 MB/s. So the rate is
 * a tenth of what the slowest computer does in one go, and the fixed part leaves room for a thread that starts from an
 * SD card, and for a disk that wakes up.
 */
const BASE_SECONDS = 120;
const BYTES_PER_SECOND = 200_000;

/** @param bytes of all that is under way in the thread, which shares its time */
function secondsOfSilence(bytes: number): number {
  return BASE_SECONDS + bytes / BYTES_PER_SECOND;
}

/** Bytes that a piece of work is known to have; `onKnown` is told those of a file, once its size is known. */
function bytesOfTask(task: EncoderTask, onKnown: (bytes: number) => void): number {
  const origin = 'origin' in task ? task.origin : undefined;
  if (origin === undefined) {
    const batches = 'batches' in task ? (task.batches ?? []) : [];
    return batches.reduce((sum, batch) => sum + batchBytes(batch), 0);
  }
  if (origin.kind === 'bytes') {
    return origin.bytes.length;
  }
  if (origin.version === undefined) {
    // A file that is not there is the thread's to tell.
    stat(origin.path).then(
      ({ size }) => onKnown(size),
      () => undefined,
    );
  }
  return origin.version?.size ?? 0;
}

/** The error of a piece of work that the thread has not got on with. */
function silenceError(task: EncoderTask, seconds: number): ServiceError {
  const silence = `nothing was heard of it for ${Math.round(seconds / 60)} minutes, longer than its size can take, so its thread was ended`;
  const origin = 'origin' in task ? task.origin : undefined;
  if (origin === undefined) {
    return new ServiceError(
      'storage.failed',
      `Writing the table made no progress: ${silence}. Check the disk with the temporary folder.`,
    );
  }
  return origin.kind === 'path'
    ? new ServiceError(
        'file.unreadable',
        `Reading the file "${origin.path}" made no progress: ${silence}. It may be damaged, or its disk does not answer.`,
      )
    : new ServiceError(
        'table.invalid',
        `Reading the table made no progress: ${silence}. It may be damaged; write it anew.`,
      );
}

/** The encoder thread ended while it was at work for somebody. */
class WorkerEnded extends ServiceError {
  /** @param error what ended it, where that is known: a thread without memory is the table's fault, else ours */
  constructor(reason: string, error?: NodeJS.ErrnoException) {
    const full = error?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    super(
      full ? 'limit.exceeded' : 'internal',
      `The thread that encodes tables ended while it worked on this table: ${reason}. It is started again for the next one${full ? '; give this table in smaller parts' : ''}.`,
    );
  }
}

type Transfer = readonly ArrayBuffer[];

/** Milliseconds that aborted work has to end by itself. Node-RED gives a node 15 s to close. */
const ABORT_MS = 5_000;

/** One piece of work in the encoder thread. */
export class Job {
  /** Of what is read or written. */
  bytes: number;
  /** Seconds since somebody waits for an answer, or since the last one. */
  silence = 0;
  private readonly answers: Answer[] = [];
  private waiting: { resolve(answer: Answer): void; reject(error: unknown): void } | undefined;
  /** Why there is no answer to come; `over`: the last one has been given. */
  private failure: Error | 'over' | undefined;
  private overdue: NodeJS.Timeout | undefined;
  private readonly onAbort = (): void => this.abort();

  constructor(
    private readonly id: number,
    readonly task: EncoderTask,
    private readonly host: EncoderHost,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.bytes = bytesOfTask(task, (bytes) => (this.bytes += bytes));
    signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Whether the thread owes an answer. Work that was given up goes on in it until it has noticed. */
  get isOwed(): boolean {
    return this.waiting !== undefined || this.overdue !== undefined || this.failure !== undefined;
  }

  send(message: WithoutJob<Request>, transfer: Transfer = []): void {
    if (this.failure === undefined) {
      this.host.post({ ...message, job: this.id }, transfer);
    }
  }

  /** The next answer of the worker. Throws what failed, or the signal's reason after an abort. */
  async next(): Promise<Answer> {
    const queued = this.answers.shift();
    if (queued !== undefined) {
      return this.checked(queued);
    }
    if (this.failure !== undefined) {
      // Who asks once more, as a caller that gives up may, must not wait for what does not come.
      throw this.failure === 'over'
        ? new ServiceError('internal', 'The work of the encoder thread is at its end.')
        : this.failure;
    }
    return this.checked(
      await new Promise<Answer>((resolve, reject) => {
        this.waiting = { resolve, reject };
      }),
    );
  }

  /** The result; answers before it go to `each`. */
  async result<T>(each?: (answer: Answer) => void): Promise<T> {
    for (;;) {
      const answer = await this.next();
      if (answer.kind === 'done') {
        return answer.result as T;
      }
      each?.(answer);
    }
  }

  /** Ends the work if it is not at its end. Who waits for it does so for a few seconds at most. */
  abort(): void {
    this.send({ kind: 'abort' });
    if (this.failure === undefined) {
      this.overdue ??= setTimeout(() => this.giveUp(abortReason(this.signal)), ABORT_MS);
    }
  }

  receive(answer: Answer): void {
    this.silence = 0;
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting === undefined) {
      this.answers.push(answer);
    } else {
      waiting.resolve(answer);
    }
  }

  /** The thread will not answer any more. */
  fail(error: Error): void {
    this.close();
    this.giveUp(error);
  }

  close(): void {
    clearTimeout(this.overdue);
    this.overdue = undefined;
    this.signal?.removeEventListener('abort', this.onAbort);
  }

  private giveUp(error: Error): void {
    this.failure ??= error;
    this.waiting?.reject(this.failure);
    this.waiting = undefined;
  }

  private checked(answer: Answer): Answer {
    if (answer.kind === 'done') {
      this.failure = 'over';
    }
    if (answer.kind !== 'failed') {
      return answer;
    }
    this.failure = this.signal?.aborted === true ? abortReason(this.signal) : serviceError(answer.error);
    throw this.failure;
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason ?? new DOMException('The work was given up.', 'AbortError');
  return reason instanceof Error ? reason : new Error(String(reason));
}

function serviceError({ code, message }: { code: ErrorCode; message: string }): ServiceError {
  return new ServiceError(code, message);
}

type WithoutJob<T> = T extends unknown ? Omit<T, 'job'> : never;

/** Keeps the one encoder thread: started when first needed, and again after it died. */
class EncoderHost {
  private worker: Worker | undefined;
  private readonly jobs = new Map<number, Job>();
  private lastId = 0;
  private looking: NodeJS.Timeout | undefined;

  /** Starts a piece of work in the thread. */
  start(task: EncoderTask, signal?: AbortSignal): Job {
    signal?.throwIfAborted();
    const worker = this.running();
    const id = ++this.lastId;
    const job = new Job(id, task, this, signal);
    this.jobs.set(id, job);
    this.looking ??= setInterval(() => this.look(), LOOK_SECONDS * 1000).unref();
    // Work under way keeps the process alive; an idle worker does not.
    worker.ref();
    try {
      job.send({ kind: 'start', task });
    } catch (error) {
      // A function among the options of a program, or another value that is of one thread alone.
      const message = `The options hold what cannot be handed to the thread that reads and writes tables: ${readReason(error)}`;
      this.receive({ kind: 'failed', job: id, error: { code: 'validation.failed', message } });
    }
    return job;
  }

  post(message: Request, transfer: Transfer): void {
    this.worker?.postMessage(message, transfer);
  }

  running(): Worker {
    if (this.worker === undefined) {
      const worker = new Worker(join(__dirname, 'worker.js'), {
        execArgv: [],
        name: 'tabular-encoder',
      });
      worker.on('message', (answer: Answer) => this.receive(answer));
      worker.on('error', (error) => this.ended(worker, new WorkerEnded(error.message, error)));
      worker.on('exit', (code) => this.ended(worker, new WorkerEnded(`exit code ${code}`)));
      // After the listeners, one of which keeps the process alive again.
      worker.unref();
      this.worker = worker;
    }
    return this.worker;
  }

  async close(): Promise<void> {
    const { worker } = this;
    if (worker !== undefined) {
      this.ended(worker, new ServiceError('closed', 'The encoder was closed.'));
      await worker.terminate();
    }
    removeTempFolder();
  }

  private receive(answer: Answer): void {
    const job = this.jobs.get(answer.job);
    if (job === undefined) {
      return;
    }
    if (answer.kind === 'done' || answer.kind === 'failed') {
      this.jobs.delete(answer.job);
      job.close();
      if (this.jobs.size === 0) {
        this.rest(answer.retire === true);
      }
    }
    job.receive(answer);
  }

  /** Ends the thread where a piece of work has waited too long for it; all others are done again. */
  private look(): void {
    const jobs = [...this.jobs.values()];
    const allowed = secondsOfSilence(jobs.reduce((sum, { bytes }) => sum + bytes, 0));
    for (const job of jobs) {
      job.silence = job.isOwed ? job.silence + LOOK_SECONDS : 0;
    }
    const silent = jobs.filter(({ silence }) => silence > allowed);
    const { worker } = this;
    if (silent.length === 0 || worker === undefined) {
      return;
    }
    for (const job of silent) {
      job.fail(silenceError(job.task, job.silence));
    }
    this.ended(worker, new WorkerEnded('another table held it'));
    void worker.terminate();
  }

  /** Nothing is under way: lets the process end, and frees a thread that has grown large. */
  private rest(retire: boolean): void {
    clearInterval(this.looking);
    this.looking = undefined;
    const { worker } = this;
    worker?.unref();
    if (retire) {
      this.worker = undefined;
      void worker?.terminate();
    }
  }

  private ended(worker: Worker, error: Error): void {
    if (this.worker !== worker) {
      return;
    }
    this.worker = undefined;
    clearInterval(this.looking);
    this.looking = undefined;
    const jobs = [...this.jobs.values()];
    this.jobs.clear();
    for (const job of jobs) {
      job.fail(error);
    }
  }
}

export const encoder = new EncoderHost();

/** Does the work again, once, where the encoder thread ended under it. */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkerEnded) {
      return work();
    }
    throw error;
  }
}

/** Starts the encoder thread ahead of a table that will be written. It does not keep the process alive. */
export function warmEncoder(): void {
  encoder.running();
}

/** Stops the encoder thread, fails what it was doing with `closed`, and removes all temporary files. */
export function closeEncoder(): Promise<void> {
  return encoder.close();
}
