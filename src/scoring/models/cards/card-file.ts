import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { makeFolder, syncFolder } from '../../../util/atomic-file';
import { isNewer, NewerFile } from '../../../util/own-files';
import { reasonOf } from '../../../util/reason';
import {
  CARDS_VERSION,
  fileText,
  newSection,
  putBefore,
  sectionsOf,
  type ServiceSection,
} from './card-sections';
import { noteAbandoned } from './former-models';

const DEBOUNCE_MS = 250;
const STALE_TMP_MS = 60_000;
/** What could not be read or written is tried again after this, and each time later. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** Files open in this process, by absolute path: several config nodes write one file. */
const openFiles = new Map<string, CardFile>();

/**
 * The file that model cards are kept in. It is replaced as a whole (temporary file, fsync, rename, fsync of the
 * folder), so a process killed at any moment leaves the old or the new one. Bursts of changes share a write. A file that
 * cannot be read now (too many open files, a disk in trouble, a newer version of this package) is not replaced before
 * it has been read.
 */
export class CardFile {
  readonly services = new Map<string, ServiceSection>();
  /** Set while the file is left alone because a newer version of this package wrote it. */
  newer: NewerFile | undefined;
  private holders = 1;
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryMs = RETRY_MS;
  private writing: Promise<void> | undefined;
  private changes = 0;
  private written = 0;
  private warned = false;
  /** What the file holds is not known yet. */
  private unread = false;
  private warn: (text: string) => void;

  private constructor(
    readonly file: string,
    warn: (text: string) => void,
  ) {
    this.warn = warn;
    this.load();
  }

  /** The open file of that path, or a newly read one. Each `open` needs its `release`. */
  static open(file: string, warn: (text: string) => void): CardFile {
    const key = path.resolve(file);
    const known = openFiles.get(key);
    if (known !== undefined) {
      known.holders++;
      return known;
    }
    const opened = new CardFile(key, warn);
    openFiles.set(key, opened);
    return opened;
  }

  /** What it holds is known. */
  get isRead(): boolean {
    return !this.unread;
  }

  section(service: string): ServiceSection {
    let section = this.services.get(service);
    if (section === undefined) {
      section = newSection();
      this.services.set(service, section);
    }
    return section;
  }

  /** Calls back when a file that could not be read at first was: the sections hold its cards then. */
  onRead(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Notes a change: it is written a moment later, together with others. */
  changed(): void {
    this.changes++;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, DEBOUNCE_MS).unref();
  }

  /** Resolves when every change noted so far is on disk, or could not be written (then one warning was given). */
  async flush(): Promise<void> {
    const upTo = this.changes;
    while (this.written < upTo) {
      this.writing ??= this.write().finally(() => {
        this.writing = undefined;
      });
      await this.writing;
    }
  }

  async release(): Promise<void> {
    if (this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    if (this.retry !== undefined) {
      this.changes++;
    }
    await this.flush();
    this.holders--;
    if (this.holders === 0 && openFiles.get(this.file) === this) {
      clearTimeout(this.retry);
      openFiles.delete(this.file);
    }
  }

  private async write(): Promise<void> {
    const upTo = this.changes;
    const folder = path.dirname(this.file);
    const temporary = `${this.file}.${process.pid}.tmp`;
    try {
      if (this.unread) {
        await this.readLate();
      }
      await makeFolder(folder, 1);
      // A link that is in its place leads elsewhere.
      await rm(temporary, { force: true });
      const handle = await open(temporary, 'wx', 0o600);
      try {
        await writeFile(handle, fileText(this.services));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.file);
      // Makes the rename itself durable; some file systems refuse to sync a folder, which changes nothing else.
      await syncFolder(folder).catch(() => undefined);
      this.warned = false;
      this.retryMs = RETRY_MS;
      clearTimeout(this.retry);
      this.retry = undefined;
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      this.fail(error);
    }
    this.written = upTo;
  }

  private load(): void {
    try {
      mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
      removeStaleTemporaries(this.file);
      this.take(readFileSync(this.file, 'utf8'));
    } catch (error) {
      if (!isMissing(error)) {
        this.unread = true;
        this.fail(error);
      }
    }
  }

  /** Reads the file that could not be read when it was opened; what has come since is newer. */
  private async readLate(): Promise<void> {
    try {
      this.take(await readFile(this.file, 'utf8'));
    } catch (error) {
      if (!isMissing(error)) {
        throw error;
      }
    }
    this.unread = false;
    this.newer = undefined;
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** Cards stay in memory, and are tried to be read and written again later. */
  private fail(error: unknown): void {
    this.newer = error instanceof NewerFile ? error : undefined;
    const what = this.unread ? 'used' : 'written';
    this.warnOnce(
      this.newer === undefined
        ? `Model cards are kept in memory only: ${this.file} cannot be ${what} (${reasonOf(error)}). It is tried again.`
        : `${this.file} is left alone: ${this.newer.message}. Until then no model can be fitted, found by its name or changed.`,
    );
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      this.changes++;
      void this.flush();
    }, this.retryMs).unref();
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }

  /**
   * Puts the cards of the file before those that are there.
   * @throws NewerFile; Error where a damaged file cannot be set aside
   */
  private take(text: string): void {
    let saved: Map<string, ServiceSection>;
    try {
      const body = JSON.parse(text) as unknown;
      if (isNewer(body, CARDS_VERSION)) {
        throw new NewerFile(body.version, CARDS_VERSION);
      }
      saved = sectionsOf(body);
    } catch (error) {
      if (error instanceof NewerFile) {
        throw error;
      }
      this.setAside(reasonOf(error));
      return;
    }
    for (const [service, section] of saved) {
      const own = this.services.get(service);
      if (own === undefined) {
        if (service === 'embedded') {
          noteAbandoned(section);
        }
        this.services.set(service, section);
      } else {
        putBefore(own, section);
      }
    }
  }

  private setAside(why: string): void {
    const aside = `${this.file}.corrupt-${Date.now()}`;
    renameSync(this.file, aside);
    this.warnOnce(`${this.file} could not be read (${why}): it was set aside as ${aside}.`);
    this.warned = false;
  }

  private warnOnce(text: string): void {
    if (!this.warned) {
      this.warned = true;
      this.warn(text);
    }
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function removeStaleTemporaries(file: string): void {
  const folder = path.dirname(file);
  const start = `${path.basename(file)}.`;
  for (const name of readdirSync(folder)) {
    const full = path.join(folder, name);
    if (
      name.startsWith(start) &&
      name.endsWith('.tmp') &&
      Date.now() - statSync(full).mtimeMs > STALE_TMP_MS
    ) {
      rmSync(full, { force: true });
    }
  }
}
