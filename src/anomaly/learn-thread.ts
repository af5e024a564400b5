import path from 'node:path';
import { Worker } from 'node:worker_threads';

import { Serial } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { Learned, LearnTask } from './method/fit';

/** The thread ends after so long without a fit, in milliseconds. */
const IDLE_MS = 10_000;

/** What is handed over instead of being copied: the history of a hundred sensors would hold the event loop. */
function listBuffers({ history: { times, marks, columns } }: LearnTask): ArrayBuffer[] {
  const ofColumns = Object.values(columns).flatMap(({ numbers, words }) => [numbers, words]);
  return [times, marks, ...ofColumns].map(({ buffer }) => buffer as ArrayBuffer);
}

/** Makes the fits of all machines in one thread, one after the other: none holds the event loop, and memory is that of one. */
export class LearnThread {
  private readonly serial = new Serial();
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;
  private closed = false;

  /**
   * @param task made when its turn comes, so that what waits takes no memory; undefined: there is nothing to learn
   * @throws ServiceError `closed`; `internal` where the thread ended
   */
  fit(task: () => LearnTask | undefined): Promise<Learned | undefined> {
    return this.serial.run(() => {
      const made = this.closed ? undefined : task();
      return made === undefined ? undefined : this.make(made);
    });
  }

  /** Resolves when the fits so far have ended. */
  settled(): Promise<void> {
    return this.serial.idle();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idle);
    await this.worker?.terminate();
  }

  private make(task: LearnTask): Promise<Learned> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before what is usual was learned.');
    }
    clearTimeout(this.idle);
    this.worker ??= this.start();
    const { worker } = this;
    return new Promise<Learned>((resolve, reject) => {
      let reason = new Error('its thread ended');
      const settle = (act: () => void): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        this.idle = setTimeout(() => this.end(), IDLE_MS);
        this.idle.unref();
        act();
      };
      const onMessage = (fitted: Learned): void => settle(() => resolve(fitted));
      const onError = (error: Error): void => void (reason = error);
      const onExit = (): void =>
        settle(() => {
          this.worker = undefined;
          reject(
            this.closed
              ? new ServiceError('closed', 'The node was closed before what is usual was learned.')
              : new ServiceError('internal', `What is usual could not be learned: ${reason.message}`),
          );
        });
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(task, listBuffers(task));
    });
  }

  private start(): Worker {
    const worker = new Worker(path.join(__dirname, 'learn-worker.js'), { name: 'tabular-anomaly' });
    worker.unref();
    // An end between two fits: the next one starts another.
    worker.once('exit', () => (this.worker = this.worker === worker ? undefined : this.worker));
    worker.on('error', () => undefined);
    return worker;
  }

  private end(): void {
    void this.worker?.terminate();
    this.worker = undefined;
  }
}
