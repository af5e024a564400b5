import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { isNewer, makeFolder, makeFolderSync, NewerFile, writeFileAtomic } from '../util/files';
import { isObject, readReason } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { kindByKey } from './service-kind';
import { type SectionMark, ServiceSection } from './service-section';

/** Characters that are made and written at a time: what hundreds of wide models fill would hold the event loop. */
const PIECE = 64 * 1024;
const DEBOUNCE_MS = 250;
const STALE_TMP_MS = 60_000;
/** What could not be read or written is tried again after this, and each time later. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** How often another process may be quicker. */
const MAX_ATTEMPTS = 20;

/** Of the format of the file. */
const CARDS_VERSION = 1;

/** @throws Error for what is no file of cards */
function readSections(body: unknown): Map<string, ServiceSection> {
  if (!isObject(body) || body.version !== CARDS_VERSION || !isObject(body.services)) {
    throw new Error('it does not hold model cards');
  }
  return new Map(
    Object.entries(body.services).map(([service, saved]) => [service, ServiceSection.read(saved)]),
  );
}

/** The text of the file: {version, services: {key: section}}. */
function* writeSections(services: ReadonlyMap<string, ServiceSection>): Generator<string> {
  const sections = Array.from(services, ([service, section]) => ({ service, texts: section.write() }));
  yield `{"version":${CARDS_VERSION},"services":{`;
  let comma = '';
  for (const { service, texts } of sections) {
    yield `${comma}${JSON.stringify(service)}:`;
    yield* texts;
    comma = ',';
  }
  yield '}}';
}

function* pieces(texts: Iterable<string>, onPiece: (piece: string) => void): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length >= PIECE) {
      onPiece(piece);
      yield piece;
      piece = '';
    }
  }
  onPiece(piece);
  yield piece;
}

interface SeenFile {
  /** Undefined where there was none. */
  state: string | undefined;
  digest: string;
  marks: Map<string, SectionMark>;
}

function makeDigest(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/**
 * Another one for a file that was written since; undefined where there is none. Its number is no part of it: some network
 * drives make it up anew.
 */
function fileState(file: string): string | undefined {
  try {
    const { size, mtimeNs } = statSync(file, { bigint: true });
    return `${size} ${mtimeNs}`;
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Files open in this process, by absolute path: several config nodes write one file. */
const openFiles = new Map<string, CardFile>();

/**
 * The file that model cards are kept in. It is replaced as a whole (temporary file, fsync, rename, fsync of the
 * folder), so a process killed at any moment leaves the old or the new one. Bursts of changes share a write. A file that
 * cannot be read now (too many open files, a disk in trouble, a newer version of this package) is not replaced before
 * it has been read, and what another process has written meanwhile is taken in before.
 */
export class CardFile {
  private readonly services = new Map<string, ServiceSection>();
  /** Set while the file is left alone because a newer version of this package wrote it. */
  private newer: NewerFile | undefined;
  private holders = 1;
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryMs = RETRY_MS;
  private writing: Promise<void> | undefined;
  private changes = 0;
  private written = 0;
  private warned = false;
  /** Why it is not known yet what the file holds. */
  private unread: string | undefined;
  /** The file as it was last read or written here, and what the sections held then. */
  private seen: SeenFile = { state: undefined, digest: '', marks: new Map() };
  private isToldOfOthers = false;

  private constructor(
    readonly file: string,
    private readonly warn: (text: string) => void,
  ) {
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
    return this.unread === undefined;
  }

  /** No newer version of this package wrote it: see `assertUsable`. */
  get isUsable(): boolean {
    return this.newer === undefined;
  }

  /** @throws ServiceError `storage.failed` where a newer version of this package wrote it */
  assertUsable(): void {
    if (this.newer !== undefined) {
      throw new ServiceError(
        'storage.failed',
        `The model cards in ${this.file} are left alone: ${this.newer.message}, or move the file away to begin anew.`,
      );
    }
  }

  /** @throws ServiceError `storage.failed` where it could not be read yet, or a newer version of this package wrote it */
  assertRead(): void {
    this.assertUsable();
    if (this.unread !== undefined) {
      throw new ServiceError(
        'storage.failed',
        `Which models there are is not known now: ${this.file} cannot be read (${this.unread}). It is tried again.`,
      );
    }
  }

  section(service: string): ServiceSection {
    let section = this.services.get(service);
    if (section === undefined) {
      section = new ServiceSection();
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

  /** Writes what is not yet written, and closes the file where nobody else has opened it. */
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
    try {
      if (!this.isRead) {
        await this.readLate();
      }
      await makeFolder(path.dirname(this.file), 1);
      await this.replace();
      this.newer = undefined;
      this.warned = false;
      this.retryMs = RETRY_MS;
      clearTimeout(this.retry);
      this.retry = undefined;
    } catch (error) {
      this.fail(error);
    }
    this.written = upTo;
  }

  private load(): void {
    try {
      makeFolderSync(path.dirname(this.file));
      removeStaleTemporaries(this.file);
      const text = readFileSync(this.file, 'utf8');
      this.take(text);
      this.seen = { state: fileState(this.file), digest: makeDigest(text), marks: this.mark() };
    } catch (error) {
      if (!isMissing(error)) {
        this.unread = readReason(error);
        this.fail(error);
      }
    }
  }

  /** Reads the file that could not be read when it was opened; what has come since is newer. */
  private async readLate(): Promise<void> {
    const state = fileState(this.file);
    let text = '';
    try {
      text = await readFile(this.file, 'utf8');
      this.take(text);
    } catch (error) {
      if (!isMissing(error)) {
        throw error;
      }
    }
    this.unread = undefined;
    this.newer = undefined;
    this.seen = { state, digest: makeDigest(text), marks: new Map() };
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** Writes the file anew, with what another process has written meanwhile, and again where that one was quicker. */
  private async replace(): Promise<void> {
    const { file } = this;
    await this.takeInOthers();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const marks = this.mark();
      const { state } = this.seen;
      let written: string | undefined;
      const mayReplace = (temporary: string): boolean => {
        written = fileState(temporary);
        return [undefined, state].includes(fileState(file));
      };
      const digest = createHash('sha1');
      const texts = pieces(writeSections(this.services), (piece) => digest.update(piece));
      const isWritten = await writeFileAtomic(file, texts, true, mayReplace);
      if (isWritten) {
        this.seen = { state: written, digest: digest.digest('hex'), marks };
      }
      if (!(await this.takeInOthers()) && isWritten) {
        return;
      }
    }
    throw new Error('another program writes it all the time');
  }

  private mark(): SeenFile['marks'] {
    return new Map(Array.from(this.services, ([service, section]) => [service, section.mark()]));
  }

  /** Takes in what another process has written since this one last read or wrote the file. @returns whether one has */
  private async takeInOthers(): Promise<boolean> {
    const state = fileState(this.file);
    if (state === undefined || state === this.seen.state) {
      return false;
    }
    let text: string;
    try {
      text = await readFile(this.file, 'utf8');
    } catch (error) {
      if (isMissing(error)) {
        return false;
      }
      throw error;
    }
    const { marks } = this.seen;
    const digest = makeDigest(text);
    // Some file systems round the time of a file later.
    const isOurs = digest === this.seen.digest;
    const written = isOurs ? undefined : this.parse(text);
    this.seen = { state, digest, marks };
    if (written === undefined) {
      return false;
    }
    for (const [service, section] of written) {
      const mark = marks.get(service) ?? new ServiceSection().mark();
      marks.set(service, mark);
      this.section(service).takeIn(section, mark);
    }
    if (!this.isToldOfOthers) {
      this.isToldOfOthers = true;
      this.warn(
        `Another program writes ${this.file} too: its models are taken in. Give each Node-RED a user folder of its own.`,
      );
    }
    for (const listener of this.listeners) {
      listener();
    }
    return true;
  }

  /** Cards stay in memory, and are tried to be read and written again later. */
  private fail(error: unknown): void {
    this.newer = error instanceof NewerFile ? error : undefined;
    const what = this.isRead ? 'written' : 'used';
    this.warnOnce(
      this.newer === undefined
        ? `Model cards are kept in memory only: ${this.file} cannot be ${what} (${readReason(error)}). It is tried again.`
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
    for (const [service, section] of this.parse(text) ?? []) {
      const own = this.services.get(service);
      if (own === undefined) {
        if (kindByKey(service).keepsAbandonedFits) {
          section.noteAbandoned();
        }
        this.services.set(service, section);
      } else {
        own.putBefore(section);
      }
    }
  }

  /** Undefined for a damaged file, which is set aside. @throws as `take` */
  private parse(text: string): Map<string, ServiceSection> | undefined {
    try {
      const body = JSON.parse(text) as unknown;
      if (isNewer(body, CARDS_VERSION)) {
        throw new NewerFile(body.version, CARDS_VERSION);
      }
      return readSections(body);
    } catch (error) {
      if (error instanceof NewerFile) {
        throw error;
      }
      this.setAside(readReason(error));
      return undefined;
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
