import { parentPort } from 'node:worker_threads';

import { toServiceError } from '../../wire/service-error';
import { hasTrapped, wasmBytes } from '../arrow/heavy-modules';
import type { Answer, EncoderTask, Request } from './protocol';
import { type JobPort, runTask } from './tasks';

/** The encoder thread: runs pieces of work side by side, each an asynchronous function with its own inbox. */
const port = parentPort!;
const inboxes = new Map<number, Inbox>();

/** WebAssembly memory never shrinks; a Parquet file with one huge row group can make it grow so far. */
const RETIRE_BYTES = 256 * 1024 * 1024;

type Answering<T> = T extends unknown ? Omit<T, 'job'> : never;

class Inbox implements JobPort {
  private readonly controller = new AbortController();
  private readonly requests: Request[] = [];
  private wake: (() => void) | undefined;

  constructor(private readonly job: number) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  put(request: Request): void {
    if (request.kind === 'abort') {
      this.controller.abort();
    } else {
      this.requests.push(request);
    }
    this.wake?.();
  }

  async next(): Promise<Request> {
    for (;;) {
      this.signal.throwIfAborted();
      const request = this.requests.shift();
      if (request !== undefined) {
        return request;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  send(answer: Answering<Answer>, transfer: ArrayBuffer[] = []): void {
    port.postMessage({ ...answer, job: this.job }, transfer);
  }
}

/** Whether this thread holds so much memory that it should end when it is idle. */
function isLarge(): boolean {
  return hasTrapped() || wasmBytes() > RETIRE_BYTES;
}

async function work(task: EncoderTask, inbox: Inbox): Promise<void> {
  try {
    const { result, transfer } = await runTask(task, inbox);
    inbox.send({ kind: 'done', result, retire: isLarge() }, transfer);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      // A trap leaves the WebAssembly module in an unknown state: this thread ends, and a new one is started.
      setImmediate(() => {
        throw error;
      });
      return;
    }
    const { code, message } = toServiceError(error);
    inbox.send({ kind: 'failed', error: { code, message }, retire: isLarge() });
  }
}

port.on('message', (request: Request) => {
  if (request.kind !== 'start') {
    inboxes.get(request.job)?.put(request);
    return;
  }
  const inbox = new Inbox(request.job);
  inboxes.set(request.job, inbox);
  void work(request.task, inbox).finally(() => inboxes.delete(request.job));
});
