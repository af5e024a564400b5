import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { storageError } from './sink';

const PREFIX = 'tabular-prediction-';
const HEARTBEAT_MS = 30_000;
/** A folder whose process is gone is removed after this long without a heartbeat. */
const STALE_MS = 10 * 60_000;

let folder: string | undefined;
let heartbeat: NodeJS.Timeout | undefined;
let files = 0;

/**
 * The path of a new temporary file in this process's own folder, which only its user can read. The folder
 * is made on first use and removed at the end of the process; folders that killed processes left behind are
 * removed then. Errors: `storage.failed`.
 */
export function newTempPath(extension: string): string {
  files++;
  return join(ownFolder(), `${files}.${extension}`);
}

function ownFolder(): string {
  if (folder === undefined) {
    try {
      folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
    } catch (error) {
      throw storageError(error);
    }
    removeStale();
    heartbeat = setInterval(beat, HEARTBEAT_MS).unref();
    process.once('exit', removeTempFolder);
  }
  return folder;
}

/** The modification time of the folder tells other processes that this one lives. */
function beat(): void {
  try {
    const now = new Date();
    utimesSync(folder!, now, now);
  } catch {
    // The temporary folder was cleaned; make it again.
    mkdirSync(folder!, { recursive: true, mode: 0o700 });
  }
}

/** Removes this process's folder with all that is in it. */
export function removeTempFolder(): void {
  clearInterval(heartbeat);
  heartbeat = undefined;
  process.removeListener('exit', removeTempFolder);
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    folder = undefined;
  }
}

function removeStale(): void {
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = Number(/^tabular-prediction-(\d+)-/.exec(name)?.[1] ?? NaN);
    if (Number.isNaN(pid) || pid === process.pid) {
      continue;
    }
    const path = join(parent, name);
    try {
      if (Date.now() - statSync(path).mtimeMs > STALE_MS && !isAlive(pid)) {
        rmSync(path, { recursive: true, force: true });
      }
    } catch {
      // It belongs to another user, or another process is removing it.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
