import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { resolveOptions, type ServiceOptions } from '../options';
import { unusableFolder } from '../store/unusable-folder';
import { Supervisor } from './supervisor';

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
export async function startService(options: ServiceOptions): Promise<ServiceHandle> {
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
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return realpathSync(dataDir);
  } catch (error) {
    throw unusableFolder(path.resolve(dataDir), error);
  }
}
