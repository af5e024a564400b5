import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, ServiceError } from '../wire/service-error';
import { type Log, type ResolvedOptions, resolveOptions, type ServiceOptions } from './options';

/** What the thread of the service tells the one that started it. */
export type ServiceWord =
  | { ready: { url: string; port: number } }
  | { failed: { code: ErrorCode; message: string } }
  | { log: { level: 'debug' | 'info' | 'warn'; text: string } }
  | { closed: true };

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
    if (!held) return;
    held = false;
    mine.holders -= 1;
    if (mine.holders > 0) return;
    // A start that comes while this one closes waits for the folder in its own thread.
    if (running.get(folder) === mine) running.delete(folder);
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
    throw new ServiceError(
      'storage.failed',
      `The folder ${path.resolve(dataDir)} cannot be used (${(error as Error).message}): choose one that can be written.`,
    );
  }
}

function launch(options: ResolvedOptions, log: Log = () => undefined): Shared {
  const worker = new Worker(path.join(__dirname, 'service-thread.js'), {
    workerData: options,
    name: 'tabular-service',
  });
  let settled = false;
  const started = new Promise<Omit<ServiceHandle, 'close'>>((resolve, reject) => {
    const fail = (code: ErrorCode, message: string): void => {
      if (settled) log('warn', message);
      settled = true;
      reject(new ServiceError(code, message));
    };
    worker.on('message', (word: ServiceWord) => {
      if ('log' in word) log(word.log.level, word.log.text);
      else if ('failed' in word) fail(word.failed.code, word.failed.message);
      else if ('ready' in word) {
        settled = true;
        resolve({ ...word.ready, token: options.token });
      }
    });
    worker.on('error', (error) => fail('internal', `The embedded service ended: ${error.message}`));
    worker.on('exit', () => {
      const known = running.get(options.dataDir);
      if (known?.started === started) running.delete(options.dataDir);
      if (!settled) fail('internal', 'The embedded service ended before it was ready.');
    });
  });
  started.catch(() => undefined);
  return { holders: 0, started, stop: () => stop(worker) };
}

async function stop(worker: Worker): Promise<void> {
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage('close');
  const timer = setTimeout(() => void worker.terminate(), CLOSE_MS);
  await exited;
  clearTimeout(timer);
}
