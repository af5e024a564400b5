import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

import { type ErrorCode, ServiceError } from '../wire/service-error';
import { type Log, type ResolvedOptions, resolveOptions, type ServiceOptions } from './options';
import { unusableFolder } from './store/unusable-folder';

/** What the thread of the service tells the one that started it. */
export type ServiceWord =
  | { ready: { url: string; port: number } }
  | { failed: { code: ErrorCode; message: string } }
  | { log: { level: 'debug' | 'info' | 'warn'; text: string } };

export interface ServiceHandle {
  /** `http://127.0.0.1:<port>` */
  url: string;
  token: string;
  port: number;
  /** Gives up this hold; the last one closes the service. */
  close(): Promise<void>;
}

interface Shared {
  holders: number;
  started: Promise<Omit<ServiceHandle, 'close'>>;
  stop: () => Promise<void>;
}

/** One service per process and folder; several holders share it. */
const running = new Map<string, Shared>();
/** A thread that doesn't close by itself within this time is ended. */
const CLOSE_MS = 5_000;

/**
 * Starts the embedded service in a thread of its own, or shares the one that this process runs on the folder
 * already (then the first one's options hold). Random port and token where none are given.
 *
 * @throws ServiceError `storage.failed`: the folder can't be written or another process has it;
 *   `config.invalid`: the port is taken
 */
export async function startService(options: ServiceOptions): Promise<ServiceHandle> {
  const folder = realFolder(options.dataDir);
  let shared = running.get(folder);
  if (shared === undefined) {
    shared = launch(
      resolveOptions({ ...options, dataDir: folder }, options.token ?? randomToken()),
      options.log,
    );
    running.set(folder, shared);
  }
  const mine = shared;
  mine.holders += 1;
  let held = true;
  const close = async (): Promise<void> => {
    if (!held) {
      return;
    }
    held = false;
    mine.holders -= 1;
    if (mine.holders > 0) {
      return;
    }
    // A start that comes while this one closes waits for the folder in its own thread.
    if (running.get(folder) === mine) {
      running.delete(folder);
    }
    await mine.stop();
  };
  try {
    return { ...(await mine.started), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A token that nobody guesses. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function realFolder(dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return realpathSync(dataDir);
  } catch (error) {
    throw unusableFolder(path.resolve(dataDir), error);
  }
}

/** A thread that dies is started anew, but not for ever. */
const MAX_RESTARTS = 5;

/** Runs the thread of the service, and another one on the same port where it dies before its time. */
function launch(options: ResolvedOptions, log: Log = () => undefined): Shared {
  let current = open(options, log);
  let stopping = false;
  let restarts = 0;
  const watch = (address: { port: number }): void => {
    void current.ended.then(async (reason) => {
      if (stopping) {
        return;
      }
      restarts += 1;
      if (restarts > MAX_RESTARTS) {
        log('warn', `The embedded service ended (${reason}), the last time that it was started.`);
        forget(options.dataDir, started);
        return;
      }
      log('warn', `The embedded service ended (${reason}) and is started again.`);
      current = open({ ...options, port: address.port }, log);
      try {
        watch(await current.ready);
      } catch (error) {
        log('warn', `The embedded service could not be started again: ${(error as Error).message}`);
        forget(options.dataDir, started);
      }
    });
  };
  const started = current.ready.then((address) => {
    watch(address);
    return { ...address, token: options.token };
  });
  started.catch(() => undefined);
  const stop = async (): Promise<void> => {
    stopping = true;
    await current.stop();
  };
  return { holders: 0, started, stop };
}

/** From now on a start on this folder begins afresh. */
function forget(folder: string, started: Shared['started']): void {
  if (running.get(folder)?.started === started) {
    running.delete(folder);
  }
}

interface Thread {
  ready: Promise<{ url: string; port: number }>;
  /** Settles with the reason when the thread has ended, however it came to that. */
  ended: Promise<string>;
  stop: () => Promise<void>;
}

function open(options: ResolvedOptions, log: Log): Thread {
  const worker = new Worker(path.join(__dirname, 'service-thread.js'), {
    workerData: options,
    name: 'tabular-service',
  });
  let reason = 'its thread ended';
  const ended = new Promise<string>((resolve) => {
    worker.on('error', (error) => (reason = error.message));
    worker.on('exit', () => resolve(reason));
  });
  const ready = new Promise<{ url: string; port: number }>((resolve, reject) => {
    worker.on('message', (word: ServiceWord) => {
      if ('log' in word) {
        log(word.log.level, word.log.text);
      } else if ('ready' in word) {
        resolve(word.ready);
      } else if ('failed' in word) {
        reject(new ServiceError(word.failed.code, word.failed.message));
      }
    });
    void ended.then(() =>
      reject(new ServiceError('internal', `The embedded service did not start: ${reason}.`)),
    );
  });
  ready.catch(() => undefined);
  const stop = async (): Promise<void> => {
    worker.postMessage('close');
    const timer = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await ended;
    clearTimeout(timer);
  };
  return { ready, ended, stop };
}
