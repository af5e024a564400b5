import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { assertThreadCanOpenFiles, makeFolderSync } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import {
  checkServiceOptions,
  FAREWELL_MS,
  KEEP_MS,
  type Log,
  type ResolvedOptions,
  resolveOptions,
  type ServiceOptions,
} from '../options';
import { isStartFailure } from '../refusal';
import { unusableFolder } from '../store/store';
import type { ServiceReport } from './service-thread';

export interface ServiceHandle {
  /** `http://127.0.0.1:<port>`; another one where the service moved, see `ServiceOptions.onMoved`. */
  readonly url: string;
  readonly token: string;
  readonly port: number;
  /** Gives up this hold; the last one closes the service. */
  close(): Promise<void>;
}

interface Shared {
  holders: number;
  token: string;
  supervisor: Supervisor;
  /** Of each holder: called when the service came back on another port. */
  onMoved: Set<() => void>;
}

/** One service per process and folder; several holders share it. */
const running = new Map<string, Shared>();
/** Services that are still closing, by folder. */
const closing = new Map<string, Promise<void>>();

/**
 * Starts the embedded service in a thread of its own, or shares the one that this process runs on the folder
 * already (then the first one's options hold). Random port and token where none are given.
 *
 * @throws ServiceError `storage.failed`: the folder can't be written or another process has it;
 *   `config.invalid`: the port is taken; `engine.unsupported`: this machine has no WebAssembly SIMD
 */
export async function startService(options: ServiceOptions = {} as ServiceOptions): Promise<ServiceHandle> {
  checkServiceOptions(options);
  const folder = realFolder(options.dataDir);
  while (closing.has(folder)) {
    await closing.get(folder);
  }
  let shared = running.get(folder);
  if (shared === undefined) {
    shared = launch({ ...options, dataDir: folder });
    running.set(folder, shared);
  }
  const { supervisor, token } = shared;
  const moved = (): void => options.onMoved?.();
  shared.onMoved.add(moved);
  shared.holders += 1;
  const close = once(() => leave(folder, shared, moved));
  try {
    await supervisor.started;
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get url() {
      return supervisor.current.url;
    },
    get port() {
      return supervisor.current.port;
    },
    token,
    close,
  };
}

function launch(options: ServiceOptions): Shared {
  const { log = () => undefined } = options;
  const onMoved = new Set<() => void>();
  const resolved = resolveOptions(options, options.token ?? randomToken());
  const supervisor = new Supervisor(resolved, log, () => onMoved.forEach((moved) => moved()));
  return { holders: 0, token: resolved.token, supervisor, onMoved };
}

async function leave(folder: string, shared: Shared, moved: () => void): Promise<void> {
  shared.onMoved.delete(moved);
  shared.holders -= 1;
  if (shared.holders > 0) {
    return;
  }
  running.delete(folder);
  const stopped = shared.supervisor.stop().finally(() => closing.delete(folder));
  closing.set(folder, stopped);
  await stopped;
}

/** Later calls wait for the first one. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

/** A token that nobody guesses. */
function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function realFolder(dataDir: string): string {
  if (typeof dataDir !== 'string' || dataDir === '') {
    throw new ServiceError('config.invalid', 'dataDir must name the folder of the service.');
  }
  let folder = dataDir;
  try {
    folder = path.resolve(dataDir);
    makeFolderSync(folder);
    return realpathSync(folder);
  } catch (error) {
    throw unusableFolder(folder, error);
  }
}

/** Where the service listens. */
interface Address {
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
}

/** Milliseconds. */
export interface RestartTimes {
  /** Between two attempts to start the thread again: the first pause, doubled up to the longest, without end. */
  firstPause: number;
  longestPause: number;
  /** A thread that has run for this long was sound: the next pause is the first one again. */
  sound: number;
  /** A data folder that is missing at a restart may come back; after this time a new one is made. */
  missingFolder: number;
}

const TIMES: RestartTimes = { firstPause: 100, longestPause: 30_000, sound: 60_000, missingFolder: 1_400 };
/** The same reason why it cannot be started is logged this often. */
const REPEAT_LOG_MS = 600_000;
/** A thread that doesn't close by itself within this time, beyond what it waits for, is ended. */
const CLOSE_MS = 5_000;

/**
 * Runs the thread of the service, and starts another one wherever it ends before it was asked to: on the same port,
 * unless another program has taken that by now and any port would do. It never gives up.
 */
export class Supervisor {
  /** Rejects where the first start fails: then nothing runs. */
  readonly started: Promise<Address>;
  private address: Address | undefined;
  private thread: ServiceThread;
  private readonly stopping = new AbortController();
  private readonly done: Promise<void>;
  private readonly open: (options: ResolvedOptions, log: Log) => ServiceThread;
  private readonly times: RestartTimes;
  private lastComplaint = { text: '', at: -Infinity };

  /**
   * @param onMoved called when the service came back on another port
   * @param parts others for tests
   */
  constructor(
    private readonly options: ResolvedOptions,
    private readonly log: Log,
    private readonly onMoved: () => void,
    parts: { open?: typeof openThread; times?: RestartTimes } = {},
  ) {
    this.open = parts.open ?? openThread;
    this.times = parts.times ?? TIMES;
    this.thread = this.open(options, log);
    this.started = this.thread.ready.then((address) => (this.address = address));
    this.done = this.started.then(
      () => this.watch(),
      () => undefined,
    );
  }

  /** Where it listens now, or did before its thread ended. Known once `started` has settled. */
  get current(): Address {
    return this.address!;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.thread.stop();
    await this.done;
  }

  private async watch(): Promise<void> {
    let failures = 0;
    for (;;) {
      const since = performance.now();
      const reason = await this.thread.ended;
      if (this.stopping.signal.aborted) {
        return;
      }
      this.log('warn', `The embedded service ended (${reason}) and is started again.`);
      const sound = performance.now() - since > this.times.sound;
      failures = (await this.restart(sound ? 0 : failures)) + 1;
    }
  }

  /** @returns the failures in a row by now */
  private async restart(failures: number): Promise<number> {
    const { signal } = this.stopping;
    const since = performance.now();
    let { port } = this.current;
    for (let failed = failures; ; failed++) {
      await sleep(this.pauseAfter(failed), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        return failed;
      }
      const makeFolder =
        performance.now() - since > this.times.missingFolder && isPlaceThere(this.options.dataDir);
      try {
        this.thread = this.open({ ...this.options, port, makeFolder }, this.log);
        this.moveTo(await this.thread.ready);
        return failed;
      } catch (error) {
        const { code, message } = error as ServiceError;
        if (code === 'config.invalid' && this.options.port === 0) {
          port = 0;
        }
        this.complain(message);
        await this.thread.ended;
      }
    }
  }

  private pauseAfter(failures: number): number {
    const { firstPause, longestPause } = this.times;
    return Math.min(longestPause, firstPause * 2 ** failures);
  }

  private moveTo(address: Address): void {
    const moved = address.port !== this.current.port;
    this.address = address;
    if (moved) {
      this.log('warn', `The embedded service came back at ${address.url}: its former port was taken.`);
      this.onMoved();
    }
  }

  private complain(text: string): void {
    const now = performance.now();
    if (text === this.lastComplaint.text && now - this.lastComplaint.at < REPEAT_LOG_MS) {
      return;
    }
    this.lastComplaint = { text, at: now };
    this.log('warn', `The embedded service could not be started again and is tried further: ${text}`);
  }
}

/**
 * Whether the folder around that of the package is there: where it is away, with its disk, what would be made in its
 * place holds no model, and is in the way when it comes back.
 */
function isPlaceThere(dataDir: string): boolean {
  return existsSync(path.dirname(path.dirname(dataDir)));
}

/** One thread of the service. */
export interface ServiceThread {
  ready: Promise<Address>;
  /** Settles with the reason when the thread has ended, however it came to that. */
  ended: Promise<string>;
  stop: () => Promise<void>;
}

function openThread(options: ResolvedOptions, log: Log): ServiceThread {
  const script = path.join(__dirname, 'service-thread.js');
  let worker: Worker;
  try {
    assertThreadCanOpenFiles(script);
    worker = new Worker(script, { workerData: options, name: 'tabular-service' });
  } catch (error) {
    const ready = Promise.reject(notStarted(error));
    ready.catch(() => undefined);
    return { ready, ended: Promise.resolve((error as Error).message), stop: () => Promise.resolve() };
  }
  let failure: unknown = new Error('its thread ended');
  const ended = new Promise<string>((resolve) => {
    worker.on('error', (error) => (failure = error));
    worker.on('exit', () => resolve((failure as Error).message));
  });
  const ready = new Promise<Address>((resolve, reject) => {
    worker.on('message', (message: ServiceReport) => {
      if ('log' in message) {
        log(message.log.level, message.log.text);
      } else if ('ready' in message) {
        resolve(message.ready);
      } else {
        reject(new ServiceError(message.failed.code, message.failed.message));
      }
    });
    void ended.then(() => reject(notStarted(failure)));
  });
  ready.catch(() => undefined);
  const stop = async (): Promise<void> => {
    worker.postMessage('close');
    const { graceMs, times } = options;
    const waitsMs = Math.max(graceMs, times.fitGraceMs) + KEEP_MS + FAREWELL_MS;
    const timer = setTimeout(() => void worker.terminate(), waitsMs + CLOSE_MS);
    await ended;
    clearTimeout(timer);
  };
  return { ready, ended, stop };
}

/** `service.unavailable` where it may start in a moment, with a free file descriptor or more memory. */
function notStarted(error: unknown): ServiceError {
  const [reason] = (error as Error).message.split('\n');
  return isStartFailure(error)
    ? new ServiceError(
        'service.unavailable',
        `The embedded service did not start (${reason}): it is started again with the next message.`,
      )
    : new ServiceError('internal', `The embedded service did not start: ${reason}.`);
}
