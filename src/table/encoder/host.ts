import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { type ErrorCode, ServiceError } from '../../wire/service-error';
import type { FileFormat } from '../cells/types';
import { removeTempFolder } from '../storage/temp-folder';
import type { Answer, EncoderStart, EncoderTask, Request } from './protocol';

/** The encoder thread ended while it was at work for somebody. */
export class WorkerEnded extends ServiceError {
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

/** One piece of work in the encoder thread. */
export class Job {
  private readonly answers: Answer[] = [];
  private waiting: { resolve(answer: Answer): void; reject(error: unknown): void } | undefined;
  private failure: Error | undefined;
  private readonly onAbort = (): void => this.send({ kind: 'abort' });

  constructor(
    private readonly id: number,
    private readonly host: EncoderHost,
    private readonly signal: AbortSignal | undefined,
  ) {
    signal?.addEventListener('abort', this.onAbort, { once: true });
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
      throw this.failure;
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

  /** Ends the work if it is not at its end. */
  abort(): void {
    this.send({ kind: 'abort' });
  }

  receive(answer: Answer): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting === undefined) {
      this.answers.push(answer);
    } else {
      waiting.resolve(answer);
    }
  }

  fail(error: Error): void {
    this.failure = error;
    this.close();
    this.waiting?.reject(error);
    this.waiting = undefined;
  }

  close(): void {
    this.signal?.removeEventListener('abort', this.onAbort);
  }

  private checked(answer: Answer): Answer {
    if (answer.kind === 'done') {
      // There is nothing to come: who asks once more, as a caller that gives up may, must not wait for it.
      this.failure = new ServiceError('internal', 'The work of the encoder thread is at its end.');
    }
    if (answer.kind !== 'failed') {
      return answer;
    }
    this.failure = this.signal?.aborted === true ? asError(this.signal.reason) : serviceError(answer.error);
    throw this.failure;
  }
}

function asError(reason: unknown): Error {
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

  start(task: EncoderTask, signal?: AbortSignal, transfer: Transfer = []): Job {
    signal?.throwIfAborted();
    const worker = this.running();
    const id = ++this.lastId;
    const job = new Job(id, this, signal);
    this.jobs.set(id, job);
    // Work under way keeps the process alive; an idle worker does not.
    worker.ref();
    job.send({ kind: 'start', task }, transfer);
    return job;
  }

  post(message: Request, transfer: Transfer): void {
    this.worker?.postMessage(message, transfer);
  }

  running(format?: FileFormat): Worker {
    if (this.worker === undefined) {
      const worker = new Worker(join(__dirname, 'worker.js'), {
        execArgv: [],
        name: 'tabular-encoder',
        workerData: { format } satisfies EncoderStart,
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

  /** Nothing is under way: lets the process end, and frees a thread that has grown large. */
  private rest(retire: boolean): void {
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
    const jobs = [...this.jobs.values()];
    this.jobs.clear();
    for (const job of jobs) {
      job.fail(error);
    }
  }
}

const host = new EncoderHost();

/** Starts a piece of work in the encoder thread. */
export function startJob(task: EncoderTask, signal?: AbortSignal, transfer: Transfer = []): Job {
  return host.start(task, signal, transfer);
}

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

/** Starts the encoder thread ahead of a table that will be written so. It does not keep the process alive. */
export function warmEncoder(format: FileFormat = 'parquet'): void {
  host.running(format);
}

/** Stops the encoder thread, fails what it was doing with `closed`, and removes all temporary files. */
export function closeEncoder(): Promise<void> {
  return host.close();
}
