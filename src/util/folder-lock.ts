import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { cannotWrite } from './files';
import { isGone, isIdentity, ownIdentity, type ProcessIdentity } from './process';

/** Milliseconds. */
interface LockTimes {
  /** How often the owner of a lock looks whether somebody asks for it, and shows then that it lives. */
  beat: number;
  /** A lock whose beat has not moved for this long, while its owner was asked, belongs to nobody. */
  stale: number;
  /** The same for an owner that is probably gone. */
  gone: number;
}

const TIMES: LockTimes = { beat: 1_000, stale: 5_000, gone: 2_000 };
const LOOK_MS = 100;
/** A lock may change hands while it is watched; after this many times `stale` somebody else has the folder for good. */
const PATIENCE = 2;
/** What is left of former locks is removed at this look, when no other process can still act on what it saw of them. */
const CLEAR_AT_LOOK = 10;

/** Where a disk can be written again, a former lock is asked for so often before it is replaced, one look apart. */
const UNANSWERED = 3;

const LOCK = 'lock';
const OWNER = 'owner.json';

interface Owner extends ProcessIdentity {
  /** Of this lock: each one taken has another. */
  id: string;
}

/** What there is to see of a lock. */
interface Look {
  owner: Owner | undefined;
  /** Changes with each beat. No clock has to agree with another one: it is only compared with itself. */
  beat: string;
}

export interface FolderLock {
  /** False where nothing can be written in the folder yet. */
  readonly isWritten: boolean;
  release(): Promise<void>;
}

interface LockOptions {
  /** Of this process. No thread of it that had the folder before may still run. */
  token: string;
  /**
   * Called when the lock was lost: to somebody else, as this process was halted for long or the folder was replaced; or
   * the lock was removed, with its folder perhaps.
   */
  onLost: (reason: string, isRemoved: boolean) => void;
  /** Of the lock, which is a folder. Default: `lock`. */
  name?: string;
  /** @internal Shorter ones, so that tests need not wait. */
  times?: LockTimes;
}

/** Another process holds a folder. */
export class FolderInUse extends Error {
  constructor(
    folder: string,
    /** Such as `process 12 on pi`. */
    readonly who: string,
  ) {
    super(`${who} is using ${folder}: end it, or give each a folder of its own`);
    this.name = 'FolderInUse';
  }
}

/**
 * Takes a folder for this process alone: the folder `lock` in it, which names its owner. Who wants it asks by moving the
 * time of `owner.json`; the owner looks each second, and answers by moving that of the folder. So a lock that nobody asks
 * for is only ever read: an SD card is not written once a second for each node that is open. A living owner keeps it,
 * whatever its clock says. One that is gone loses it at once where its process is known to be gone, and else when it has
 * not answered for five seconds: five looks, for a machine that is busy.
 *
 * On a disk that is full or read only nobody can write who the owner is, and what needs no space should work all the same:
 * such a lock is written at the first beat that can, and lost where somebody else's is found by then.
 *
 * @throws FolderInUse when another process holds the folder; errors of the file system
 */
export async function lockFolder(
  folder: string,
  { token, onLost, name = LOCK, times = TIMES }: LockOptions,
): Promise<FolderLock> {
  const lock = path.join(folder, name);
  const owner: Owner = { id: randomUUID(), ...ownIdentity(token) };
  const started = performance.now();
  let seen: (Look & { since: number }) | undefined;
  let asked = -Infinity;
  const hold = (lacks: Lack | undefined): FolderLock =>
    new HeldLock(lock, owner, { beatMs: times.beat, onLost, lacks });
  for (;;) {
    try {
      if (await take(lock, owner)) {
        return hold(undefined);
      }
    } catch (error) {
      if (cannotWrite(error)) {
        return hold({ former: undefined });
      }
      throw error;
    }
    const now = performance.now();
    if (now - asked >= times.beat) {
      asked = now;
      await ask(lock, folder);
    }
    const look = await lookAt(lock);
    if (look === undefined) {
      continue;
    }
    const beats = seen !== undefined && seen.owner?.id === look.owner?.id && seen.beat !== look.beat;
    if (beats || now - started > PATIENCE * times.stale) {
      throw new FolderInUse(folder, whoIs(look.owner));
    }
    if (seen?.beat !== look.beat) {
      seen = { ...look, since: now };
    }
    if (now - seen.since >= patienceWith(look.owner, token, times)) {
      try {
        await takeAway(lock, look);
      } catch (error) {
        if (cannotWrite(error)) {
          return hold({ former: look });
        }
        throw error;
      }
    } else {
      await sleep(LOOK_MS);
    }
  }
}

/** Milliseconds for which the beat of a lock must not have moved before it is taken from its owner. */
function patienceWith(owner: Owner | undefined, token: string, { gone, stale }: LockTimes): number {
  if (owner === undefined) {
    return stale;
  }
  // A former thread of this process, which has ended.
  if (owner.token === token) {
    return 0;
  }
  return { surely: 0, probably: gone, unknown: stale }[isGone(owner)];
}

function whoIs(owner: Owner | undefined): string {
  return owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
}

/** Makes the lock, with its owner in it from the start. False where there is one already. */
async function take(lock: string, owner: Owner): Promise<boolean> {
  if (await exists(lock)) {
    return false;
  }
  const made = `${lock}-new-${owner.id}`;
  await mkdir(made, { mode: 0o700 });
  try {
    await writeFile(path.join(made, OWNER), JSON.stringify(owner), { mode: 0o600 });
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    throw error;
  }
  try {
    // Fails where there is a lock by now: a folder that holds something is never replaced.
    await rename(made, lock);
    return true;
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (isTaken(error) || (await exists(lock))) {
      return false;
    }
    throw error;
  }
}

/** Did a rename fail because somebody else was first? Windows says EPERM, which may mean anything. */
function isTaken(error: unknown): boolean {
  return ['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Moves a lock out of the way. Of several processes that found it left behind one succeeds: the name it is moved to
 * belongs to its owner, so a lock that has changed hands since stays where it is.
 */
async function takeAway(lock: string, { owner, beat }: Look): Promise<void> {
  const gone = `${lock}-gone-${owner?.id.replaceAll(/[^\w-]/g, '') ?? beat.replaceAll(/\W/g, '-')}`;
  try {
    await rename(lock, gone);
  } catch (error) {
    if (isTaken(error) || (await exists(gone))) {
      return;
    }
    throw error;
  }
  if ((await readOwner(gone))?.id !== owner?.id) {
    await rename(gone, lock).catch(() => undefined);
  }
}

/**
 * Asks the owner of a lock to show that it lives. That takes no space on the disk.
 *
 * @returns false where nothing can be written
 * @throws FolderInUse where this process may not: it could not tell a living owner from one that is gone
 */
async function ask(lock: string, folder: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path.join(lock, OWNER), now, now);
    return true;
  } catch (error) {
    // On a disk that is read only no owner can answer, and none can be replaced.
    if (!isMissing(error) && !cannotWrite(error)) {
      throw new FolderInUse(folder, whoIs(await readOwner(lock)));
    }
    return false;
  }
}

async function lookAt(lock: string): Promise<Look | undefined> {
  try {
    const time = await readTime(lock);
    const owner = await readOwner(lock);
    return { owner, beat: `${owner?.id ?? ''} ${time}` };
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** The time of a file or folder, in milliseconds. A network file system may answer for a path from memory, not once it is open. */
async function readTime(place: string): Promise<number> {
  if (process.platform === 'win32') {
    return (await lstat(place)).mtimeMs;
  }
  const handle = await open(place, 'r');
  try {
    return (await handle.stat()).mtimeMs;
  } finally {
    await handle.close();
  }
}

/** Undefined where nobody has written who it is, or something else. @throws as the file system does */
async function readOwner(lock: string): Promise<Owner | undefined> {
  let text: string;
  try {
    text = await readFile(path.join(lock, OWNER), 'utf8');
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
  try {
    const owner = JSON.parse(text) as unknown;
    return isIdentity(owner) && typeof (owner as Owner).id === 'string' ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

/** Why a lock could not be written: the disk is full, or read only. */
interface Lack {
  /** The lock of an owner that is gone, where it could not be moved out of the way. */
  former: Look | undefined;
}

interface HoldOptions {
  beatMs: number;
  onLost: LockOptions['onLost'];
  lacks: Lack | undefined;
}

interface Lost {
  reason: string;
  isRemoved: boolean;
}

/** A lock of this process: answers who asks for it until it is released or lost. */
class HeldLock implements FolderLock {
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> = Promise.resolve();
  private looks = 0;
  /** How often this one has asked for a lock that was in its place. */
  private unanswered = 0;
  /** The time that who asked last has left. */
  private asked: number | undefined;
  private over = false;
  /** Until it is written. */
  private lacks: Lack | undefined;

  constructor(
    private readonly lock: string,
    private readonly owner: Owner,
    private readonly options: HoldOptions,
  ) {
    this.lacks = options.lacks;
    this.plan();
  }

  get isWritten(): boolean {
    return this.lacks === undefined;
  }

  async release(): Promise<void> {
    this.over = true;
    clearTimeout(this.timer);
    await this.beating;
    try {
      if ((await readOwner(this.lock))?.id === this.owner.id) {
        const gone = `${this.lock}-gone-${this.owner.id}`;
        await rename(this.lock, gone);
        await rm(gone, { recursive: true, force: true });
      }
    } catch {
      // Whoever takes the folder next finds it left behind.
    }
  }

  private plan(): void {
    this.timer = setTimeout(() => {
      this.beating = this.beat().then((lost) => {
        if (this.over) {
          return;
        }
        if (lost === undefined) {
          this.plan();
        } else {
          this.over = true;
          this.options.onLost(lost.reason, lost.isRemoved);
        }
      });
    }, this.options.beatMs);
    this.timer.unref();
  }

  /** Why the lock is lost, where it is. What may pass loses nothing: the next beat tries again. */
  private async beat(): Promise<Lost | undefined> {
    const { lock } = this;
    try {
      if (this.lacks !== undefined) {
        return await this.write(this.lacks);
      }
      const owner = await readOwner(lock);
      if (owner?.id !== this.owner.id) {
        return owner === undefined ? { reason: 'its lock was removed', isRemoved: true } : takenBy(owner);
      }
      const asked = await readTime(path.join(lock, OWNER));
      if (asked !== this.asked) {
        const now = new Date();
        await utimes(lock, now, now);
        this.asked = asked;
      }
      this.looks += 1;
      if (this.looks === CLEAR_AT_LOOK) {
        await this.clear();
      }
    } catch {
      return undefined;
    }
    return undefined;
  }

  /** Why it belongs to somebody else by now, where it does. @throws as the file system does while it still cannot be written */
  private async write({ former }: Lack): Promise<Lost | undefined> {
    if (await take(this.lock, this.owner)) {
      this.lacks = undefined;
      return undefined;
    }
    const look = await lookAt(this.lock);
    if (look !== undefined && former?.beat === look.beat) {
      // Whoever has it may live, and could not answer either as long as the disk was read only.
      if (look.owner === undefined || this.unanswered >= UNANSWERED) {
        await takeAway(this.lock, look);
      } else {
        this.unanswered += Number(await ask(this.lock, path.dirname(this.lock)));
      }
      return undefined;
    }
    return look?.owner === undefined ? undefined : takenBy(look.owner);
  }

  private async clear(): Promise<void> {
    const [folder, own] = [path.dirname(this.lock), path.basename(this.lock)];
    for (const name of await readdir(folder)) {
      if (name.startsWith(`${own}-new-`) || name.startsWith(`${own}-gone-`)) {
        await rm(path.join(folder, name), { recursive: true, force: true });
      }
    }
  }
}

function takenBy(owner: Owner): Lost {
  return { reason: `${whoIs(owner)} took it over`, isRemoved: false };
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
