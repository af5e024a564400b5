import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { lstat, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';

import {
  assertWithoutLinks,
  cannotWrite,
  fileSystemCode,
  isNewer,
  isOwnId,
  makeFolder,
  NewerFile,
  ownPath,
  readJsonFile,
  writeFileAtomic,
} from '../../util/files';
import type { Log } from '../options';
import { invalid, unreadableNow } from '../refusal';

/** Of every entry. */
const VERSION = 1;
/** How many damaged items that were set aside stay, for a person to look at. */
const CORRUPT_KEPT = 20;
/** Uses are noted on disk (as the index file's mtime) at most this often. */
const TOUCH_EVERY_MS = 60_000;
/** What comes after the id in the name of an item that was set aside. Other names in the folder are left alone. */
const CORRUPT = /\.[0-9a-f]{8}\.corrupt$/;

export interface StoredEntry<E> {
  entry: E;
  folder: string;
  /** Bytes on disk. */
  bytes: number;
  lastUsedAt: number;
  /** False while nobody has read the files since the last start: a power cut may have left other bytes. */
  verified: boolean;
  /** How many jobs are reading these files; they are not dropped until it is 0. */
  pins: number;
  /** True once any work has read it to its end. */
  read: boolean;
  /** The one file of an item that is in memory only; such an item has no folder and no bytes on disk. */
  data?: Uint8Array;
}

interface EntryStoreOptions<E> {
  /** What an entry is, for messages: `upload`, `fitted train set`. */
  what: string;
  root: string;
  /** Name of the index file in each folder. */
  index: string;
  isEntry: (value: unknown, id: string) => value is E;
  /** The files that an entry needs, with their sizes in bytes. */
  filesOf: (entry: E) => { name: string; bytes: number }[];
  /** Whether an older version of the package wrote an entry, in a format that is not read any more; it is dropped then. */
  isOutdated?: (entry: E) => boolean;
  /** What to say of an entry that a newer version of the package wrote in a format that is not read; it is left alone. */
  newerFormat?: (value: unknown) => NewerFile | undefined;
  log: Log;
}

/**
 * A folder of folders, one per upload or model, named by id: data files and an index file, which is written
 * last and atomically. A folder without its index was never finished.
 */
export class EntryStore<E extends { id: string; createdAt: number }> {
  readonly items = new Map<string, StoredEntry<E>>();
  /** Bytes on disk of all items. */
  bytes = 0;
  /** Bytes of those that are kept in memory. */
  heldBytes = 0;
  private readonly touched = new Map<string, number>();
  /** What was in the root when it was last deleted. */
  private readonly lost = new Set<string>();
  /** What could not be read, with the reason. It stays as it is and is tried again. */
  private readonly unread = new Map<string, string>();
  /** What a newer version of the package wrote, with the reason. It stays as it is. */
  private readonly newer = new Map<string, string>();
  private reloading: Promise<void> | undefined;

  constructor(private readonly options: EntryStoreOptions<E>) {}

  /**
   * Reads all of its folders. Unfinished ones are removed. Those whose bytes were read and are wrong are set aside and
   * reported; those that cannot be read, or are links, are left as they are, for `reload`; those of a newer version of
   * this package are left as they are.
   */
  async load(): Promise<void> {
    const { root, what, log } = this.options;
    let outdated = 0;
    for (const name of await namesIn(root)) {
      if (isOwnId(name) && (await this.loadOne(name)) === 'outdated') {
        outdated += 1;
      }
    }
    const [reason] = this.unread.values();
    if (reason !== undefined) {
      log(
        'warn',
        `Of ${what}s in ${root}, ${this.unread.size} cannot be read now (${reason}). They are kept and tried again.`,
      );
    }
    const [newer] = this.newer.values();
    if (newer !== undefined) {
      log('warn', `Of ${what}s in ${root}, ${this.newer.size} cannot be used and are left alone: ${newer}.`);
    }
    if (outdated > 0) {
      log('warn', `Dropped ${outdated} ${what}s that another version had written: fit them again.`);
    }
    await this.pruneCorrupt().catch(() => undefined);
  }

  /** Notices a root that is gone, and tries again what could not be read. */
  reload(): Promise<void> {
    this.restore();
    this.reloading ??= this.loadUnread().finally(() => (this.reloading = undefined));
    return this.reloading;
  }

  private async loadUnread(): Promise<void> {
    for (const id of [...this.unread.keys()]) {
      await this.loadOne(id);
    }
  }

  private async loadOne(id: string): Promise<'outdated' | undefined> {
    try {
      const result = await this.tryLoad(id, ownPath(this.options.root, id));
      this.unread.delete(id);
      return result;
    } catch (error) {
      this.unread.set(id, fileSystemCode(error) ?? String(error));
      return undefined;
    }
  }

  /** @throws as the file system does */
  private async tryLoad(id: string, folder: string): Promise<'outdated' | undefined> {
    const { index, isEntry, filesOf, isOutdated, newerFormat } = this.options;
    await assertWithoutLinks(folder);
    let value: unknown;
    try {
      value = await readJsonFile(path.join(folder, index));
    } catch (error) {
      if (!(error instanceof SyntaxError)) {
        throw error;
      }
      await this.setAside(id, folder, `${index} is not JSON (${error.message})`);
      return undefined;
    }
    if (value === undefined) {
      await rm(folder, { recursive: true, force: true });
      return undefined;
    }
    const newer = isNewer(value, VERSION) ? new NewerFile(value.version, VERSION) : newerFormat?.(value);
    if (newer !== undefined) {
      this.newer.set(id, newer.message);
      return undefined;
    }
    if (!isEntry(value, id)) {
      await this.setAside(id, folder, `${index} does not hold what it should`);
      return undefined;
    }
    if (isOutdated?.(value) === true) {
      await rm(folder, { recursive: true, force: true });
      return 'outdated';
    }
    const files = filesOf(value);
    for (const file of files) {
      const size = await readSize(path.join(folder, file.name));
      if (size !== file.bytes) {
        const found = size === undefined ? 'is gone' : `has ${size} bytes instead of ${file.bytes}`;
        await this.setAside(id, folder, `${file.name} ${found}`);
        return undefined;
      }
    }
    const used = (await stat(path.join(folder, index))).mtimeMs;
    this.add({
      entry: value,
      folder,
      bytes: sum(files),
      lastUsedAt: used,
      verified: false,
      pins: 0,
      read: false,
    });
    return undefined;
  }

  /**
   * Makes the root again where it was deleted while the service runs, and forgets what was in it. One whose disk is away is
   * a link that leads nowhere, or lies in a folder that is away too: it stays as it is.
   */
  restore(): void {
    const { root, what, log } = this.options;
    try {
      mkdirSync(root, { mode: 0o700 });
    } catch {
      // It is there, or its place is not.
      return;
    }
    this.lost.clear();
    for (const { entry, data } of [...this.items.values()]) {
      if (data === undefined) {
        this.remove(entry.id);
        this.lost.add(entry.id);
      }
    }
    for (const others of [this.unread, this.newer]) {
      for (const id of others.keys()) {
        this.lost.add(id);
      }
      others.clear();
    }
    log('warn', `The folder ${root} was deleted and is made anew. Lost with it: ${this.lost.size} ${what}s.`);
  }

  /** As `use`, for an item that is promised to a client again: one whose files were deleted is forgotten. */
  useIfWhole(id: string): StoredEntry<E> | undefined {
    this.restore();
    const item = this.items.get(id);
    if (item !== undefined && item.data === undefined && this.isDeleted(item)) {
      this.remove(id);
    }
    return this.use(id);
  }

  private isDeleted({ entry, folder }: StoredEntry<E>): boolean {
    const names = [this.options.index, ...this.options.filesOf(entry).map(({ name }) => name)];
    try {
      return names.some((name) => statSync(path.join(folder, name), { throwIfNoEntry: false }) === undefined);
    } catch {
      return false;
    }
  }

  /** Whether the files of an id were deleted, by somebody else, while the service ran. */
  isLost(id: string): boolean {
    return this.lost.has(id);
  }

  /** A new empty folder for an id. */
  makeFolder(id: string): string {
    const folder = ownPath(this.options.root, id);
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (fileSystemCode(error) !== 'ENOENT') {
        throw error;
      }
      this.restore();
      mkdirSync(folder, { mode: 0o700 });
    }
    return folder;
  }

  /** Writes the index of a folder whose files are complete; from then on the entry is found. */
  async put(entry: E, folder: string, durable: boolean): Promise<StoredEntry<E>> {
    const text = JSON.stringify(entry);
    await writeFileAtomic(path.join(folder, this.options.index), text, durable);
    const bytes = sum(this.options.filesOf(entry));
    return this.add({ ...newItem(entry), folder, bytes });
  }

  /** Keeps an entry and its one file in memory: it is gone after a restart. */
  hold(entry: E, data: Uint8Array): StoredEntry<E> {
    return this.add({ ...newItem(entry), data });
  }

  private add(item: StoredEntry<E>): StoredEntry<E> {
    this.remove(item.entry.id);
    this.items.set(item.entry.id, item);
    this.bytes += item.bytes;
    this.heldBytes += item.data?.length ?? 0;
    return item;
  }

  private remove(id: string): StoredEntry<E> | undefined {
    const item = this.items.get(id);
    if (item === undefined) {
      return undefined;
    }
    this.items.delete(id);
    this.touched.delete(id);
    this.bytes -= item.bytes;
    this.heldBytes -= item.data?.length ?? 0;
    return item;
  }

  /**
   * The item, marked as used now.
   * @throws Refusal 503 for one that could not be read, which is tried again; 422 for one of a newer version
   */
  use(id: string): StoredEntry<E> | undefined {
    const item = this.items.get(id);
    if (item === undefined) {
      const reason = this.unread.get(id);
      if (reason !== undefined) {
        void this.reload();
        throw unreadableNow(`${this.options.what} ${id}`, reason);
      }
      const newer = this.newer.get(id);
      if (newer !== undefined) {
        throw invalid(`The ${this.options.what} ${id} cannot be used: ${newer}.`);
      }
      return undefined;
    }
    const now = Date.now();
    item.lastUsedAt = now;
    if (item.data === undefined && now - (this.touched.get(id) ?? 0) > TOUCH_EVERY_MS) {
      this.touched.set(id, now);
      const time = new Date(now);
      utimes(path.join(item.folder, this.options.index), time, time).catch(() => undefined);
    }
    return item;
  }

  /** Forgets an item and removes its files. @throws as the file system does; then nothing is forgotten */
  async drop(id: string): Promise<void> {
    const item = this.remove(id);
    if (item === undefined || item.data !== undefined) {
      return;
    }
    try {
      await rm(item.folder, { recursive: true, force: true });
    } catch (error) {
      this.add(item);
      throw error;
    }
  }

  /** Forgets an item and removes all that there is of it, damaged copies too. */
  async erase(id: string): Promise<void> {
    await this.drop(id);
    this.unread.delete(id);
    this.newer.delete(id);
    this.restore();
    const { root } = this.options;
    for (const name of await readdir(root)) {
      if (idIn(name) === id) {
        await rm(path.join(root, name), { recursive: true, force: true });
      }
    }
  }

  /** The ids of all that there is, damaged or not. */
  async ids(): Promise<string[]> {
    this.restore();
    const stored = (await readdir(this.options.root)).flatMap((name) => idIn(name) ?? []);
    return [...new Set([...this.items.keys(), ...stored])];
  }

  /** Moves a damaged folder out of the way, to `<name>.corrupt`, and says so. It is never removed here. */
  async setAside(id: string, folder: string, reason: string): Promise<void> {
    if (this.remove(id)?.data !== undefined) {
      this.options.log('warn', `Dropped as damaged: ${id}: ${reason}.`);
      return;
    }
    const target = ownPath(path.dirname(folder), id, `.${randomUUID().slice(0, 8)}.corrupt`);
    try {
      await rename(folder, target);
      this.options.log('warn', `Set aside as damaged: ${target}: ${reason}.`);
    } catch (error) {
      const code = fileSystemCode(error) ?? String(error);
      this.options.log('warn', `Damaged, and left where it is (${code}): ${folder}: ${reason}.`);
    }
  }

  private async pruneCorrupt(): Promise<void> {
    const { root } = this.options;
    const names = (await readdir(root)).filter((name) => idIn(name) !== undefined && CORRUPT.test(name));
    if (names.length <= CORRUPT_KEPT) {
      return;
    }
    const aged = await Promise.all(
      names.map(async (name) => ({ name, age: (await lstat(path.join(root, name))).mtimeMs })),
    );
    aged.sort((a, b) => b.age - a.age);
    for (const { name } of aged.slice(CORRUPT_KEPT)) {
      await rm(path.join(root, name), { recursive: true, force: true });
    }
  }
}

/** What is in a folder, which is made where it is missing and there is room. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    await makeFolder(folder);
  } catch (error) {
    if (cannotWrite(error)) {
      return [];
    }
    throw error;
  }
  return readdir(folder);
}

/** The id of the item that a name in the folder stands for, whether it is in use or was set aside. */
function idIn(name: string): string | undefined {
  const id = name.replace(CORRUPT, '');
  return isOwnId(id) ? id : undefined;
}

function newItem<E>(entry: E): StoredEntry<E> {
  return { entry, folder: '', bytes: 0, lastUsedAt: Date.now(), verified: true, pins: 0, read: false };
}

/** Undefined where there is no such file. @throws as the file system does */
async function readSize(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (fileSystemCode(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

function sum(files: { bytes: number }[]): number {
  return files.reduce((total, file) => total + file.bytes, 0);
}
