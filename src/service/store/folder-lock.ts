import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { lock as acquire } from 'proper-lockfile';

import { readJsonFile, writeFileAtomic } from '../../util/atomic-file';
import { ServiceError } from '../../wire/service-error';

/** A lock whose heart has not beaten for this long belongs to nobody. */
const STALE_MS = 5_000;
const BEAT_MS = 1_000;
/** A lock younger than this may be held by a process that has not yet written who it is. */
const SETTLED_MS = 1_500;

/** Who holds the folder; tells a killed owner from a living one without waiting for the heartbeat. */
interface Owner {
  id: string;
  pid: number;
  host: string;
  /** When the owner's process started, in ms since the epoch; tells apart processes that share a pid. */
  processStart: number;
}

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes a folder for this service alone. A living owner keeps it; one that was killed loses it, within two
 * seconds where its process is known to be gone, else when its heartbeat has been silent for five seconds.
 *
 * @param onLost called when the lock was lost to somebody else (the machine slept, the folder was replaced)
 * @throws ServiceError `storage.failed` when another process holds the folder
 */
export async function lockFolder(folder: string, onLost: (reason: string) => void): Promise<FolderLock> {
  const lockPath = path.join(folder, 'lock');
  const ownerPath = path.join(folder, 'owner.json');
  const deadline = Date.now() + STALE_MS + 2 * BEAT_MS;
  const firstBeat = await beatOf(lockPath);
  for (;;) {
    const release = await tryLock(folder, lockPath, onLost);
    if (release !== undefined) {
      const owner: Owner = {
        id: randomUUID(),
        pid: process.pid,
        host: os.hostname(),
        processStart: startTime(),
      };
      await writeFileAtomic(ownerPath, JSON.stringify(owner), false);
      await clearTakeovers(folder);
      return {
        release: async () => {
          if ((await readOwner(ownerPath))?.id === owner.id) {
            await rm(ownerPath, { force: true });
          }
          await release().catch(() => undefined);
        },
      };
    }
    const owner = await readOwner(ownerPath);
    const beat = await beatOf(lockPath);
    if (owner !== undefined && isGone(owner) && beat !== undefined && Date.now() - beat > SETTLED_MS) {
      await takeOver(folder, lockPath, ownerPath, owner);
    }
    const alive = beat !== undefined && firstBeat !== undefined && beat > firstBeat;
    if (alive || Date.now() > deadline) {
      throw new ServiceError(
        'storage.failed',
        `The folder ${folder} is in use by another tabular-service` +
          `${owner === undefined ? '' : ` (process ${owner.pid} on ${owner.host})`}: ` +
          'give each its own folder, or stop the other one.',
      );
    }
    await sleep(100);
  }
}

async function tryLock(
  folder: string,
  lockPath: string,
  onLost: (reason: string) => void,
): Promise<(() => Promise<void>) | undefined> {
  try {
    return await acquire(folder, {
      lockfilePath: lockPath,
      stale: STALE_MS,
      update: BEAT_MS,
      onCompromised: (error) => onLost(error.message),
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOCKED') {
      return undefined;
    }
    throw error;
  }
}

async function beatOf(lockPath: string): Promise<number | undefined> {
  try {
    return (await stat(lockPath)).mtimeMs;
  } catch {
    return undefined;
  }
}

async function readOwner(ownerPath: string): Promise<Owner | undefined> {
  try {
    const owner = (await readJsonFile(ownerPath)) as Partial<Owner> | undefined;
    const whole =
      typeof owner?.id === 'string' && typeof owner.pid === 'number' && typeof owner.host === 'string';
    return whole ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

function startTime(): number {
  return Math.round(Date.now() - process.uptime() * 1000);
}

/** Is the owner's process surely gone? Only to be told on the same host. */
function isGone(owner: Owner): boolean {
  if (owner.host !== os.hostname()) {
    return false;
  }
  if (owner.pid === process.pid) {
    return Math.abs(owner.processStart - startTime()) > 2_000;
  }
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Removes the lock of an owner that is gone. Several processes may find it gone at once, and one of them may
 * by then hold the folder: making the folder `takeover-<owner id>` lets exactly one of them remove the lock.
 */
async function takeOver(folder: string, lockPath: string, ownerPath: string, gone: Owner): Promise<void> {
  try {
    await mkdir(path.join(folder, `takeover-${gone.id}`));
    if ((await readOwner(ownerPath))?.id === gone.id) {
      await rmdir(lockPath);
    }
  } catch {
    // Somebody else is taking over; the next round sees the outcome.
  }
}

async function clearTakeovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('takeover-')) {
      await rm(path.join(folder, name), { recursive: true, force: true });
    }
  }
}
