import { randomUUID } from 'node:crypto';
import { type FileHandle, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

import { Yielder } from './concurrency';
import { assertWithoutLinks, isFolder, makeFolder, writeAll } from './files';
import { FolderInUse, type FolderLock, lockFolder } from './folder-lock';
import { readReason } from './values';

/** A write that takes longer than this is slow, in milliseconds. */
const SLOW_MS = 10_000;
/** Folders that are made anew where they are gone: the state's, that of all such states, and the package's. */
const LEVELS = 3;

/** What is said of a folder that cannot be used. */
interface StateTexts {
  /** The error where it exists and cannot be read now: it must not be overwritten. */
  unreadable: (reason: string) => Error;
  /** It cannot be written, and later that it can again. */
  failed: (reason: string) => void;
  back: () => void;
}

/**
 * The folder of a state that is read at the start and written while it changes, by one process at a time. Where it cannot
 * be written the state goes on in memory; this is told once, and once more when it is on disk again.
 */
export class StateFolder {
  isFailing = false;
  /** It was removed and made anew: until the next write is done, what was written before is not there. */
  isAnew = false;
  private lock: KeptLock | undefined;
  private writingSince = Infinity;

  constructor(
    readonly path: string,
    private readonly texts: StateTexts,
  ) {}

  /**
   * Reads what is there. Where the folder cannot be made, there is nothing to read.
   * @returns whether it is there
   * @throws what `unreadable` makes where it cannot be read now, belongs to another process or holds a link
   */
  async open(read: () => Promise<void>): Promise<boolean> {
    try {
      await makeFolder(this.path);
    } catch (error) {
      this.failed(error);
      return false;
    }
    try {
      await assertWithoutLinks(this.path);
      this.lock = await KeptLock.take(this.path);
      await read();
    } catch (error) {
      await this.close();
      throw this.texts.unreadable(readReason(error));
    }
    return true;
  }

  /** Does a write, one at a time. @returns whether it succeeded: what failed is told */
  async write(work: () => Promise<void>): Promise<boolean> {
    this.writingSince = performance.now();
    try {
      await this.assertOurs();
      await work();
      this.isAnew = false;
    } catch (error) {
      this.failed(error);
      return false;
    } finally {
      this.writingSince = Infinity;
    }
    if (this.isFailing) {
      this.isFailing = false;
      this.texts.back();
    }
    return true;
  }

  /** To be called before each write: a folder that was removed is made anew. @throws Error where it is another process's by now */
  async assertOurs(): Promise<void> {
    if (!(await isFolder(this.path))) {
      await makeFolder(this.path, LEVELS);
      this.isAnew = true;
    }
    await this.lock?.assertOurs();
  }

  /** It cannot be written. */
  failed(error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.texts.failed(readReason(error));
    }
  }

  /** Whether a write has taken very long. */
  get isSlow(): boolean {
    return performance.now() - this.writingSince > SLOW_MS;
  }

  async close(): Promise<void> {
    await this.lock?.release();
  }
}

/** The same for all locks of this process. */
const TOKEN = randomUUID();
/** The states that are open in this process, by their folders and the names of their locks. */
const opened = new Map<string, KeptLock>();

/**
 * Holds the folder of a state that one process at a time reads and writes. Where nothing can be locked, as without the
 * right to write, the state goes on without: its own writes say so.
 */
export class KeptLock {
  private held: FolderLock | undefined;
  private lost: string | undefined;
  private releasing: Promise<void> | undefined;
  private place = '';

  private constructor(
    private readonly folder: string,
    private readonly name: string | undefined,
  ) {}

  /** @param name of the lock, where the folder holds several states; @throws FolderInUse */
  static async take(folder: string, name?: string): Promise<KeptLock> {
    const lock = new KeptLock(folder, name);
    await lock.lock().catch((error: unknown) => lock.release().then(() => Promise.reject(error as Error)));
    return lock;
  }

  /**
   * To be called before each write. A lock that was removed with its folder is made anew.
   * @throws FolderInUse; Error where another process has taken the folder over
   */
  async assertOurs(): Promise<void> {
    if (this.lost !== undefined) {
      throw new Error(this.lost);
    }
    if (this.held === undefined) {
      await this.lock();
    }
  }

  release(): Promise<void> {
    this.releasing ??= this.letGo();
    return this.releasing;
  }

  private async letGo(): Promise<void> {
    await this.held?.release();
    this.held = undefined;
    if (opened.get(this.place) === this) {
      opened.delete(this.place);
    }
  }

  private async lock(): Promise<void> {
    const { folder, name } = this;
    this.place ||= JSON.stringify([await realpath(folder).catch(() => path.resolve(folder)), name]);
    await opened.get(this.place)?.releasing;
    if ((opened.get(this.place) ?? this) !== this) {
      throw new FolderInUse(folder, `another part of this program (process ${process.pid} on ${hostname()})`);
    }
    opened.set(this.place, this);
    const onLost = (reason: string, isRemoved: boolean): void => {
      this.held = undefined;
      this.lost = isRemoved ? undefined : reason;
    };
    try {
      this.held = await lockFolder(folder, { token: TOKEN, name, onLost });
    } catch (error) {
      if (error instanceof FolderInUse) {
        throw error;
      }
    }
  }
}

/*
 * Journals: files of lines with a number for a name, that are only ever appended to. The last line of one may be torn,
 * where the process was killed.
 */
const JOURNAL = /^(\d{8})\.jsonl$/;
const CHUNK = 256 * 1024;

export function journalName(number: number): string {
  return `${String(number).padStart(8, '0')}.jsonl`;
}

/** The number in the name of a journal; undefined for any other file. */
export function journalNumber(name: string): number | undefined {
  const digits = JOURNAL.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Writes lines, in turns of the event loop.
 * @param position left out: where the file stands
 * @returns bytes written
 */
export async function writeLines(
  file: FileHandle,
  lines: Iterable<string>,
  position?: number,
): Promise<number> {
  const yielder = new Yielder();
  let size = 0;
  let chunk: string[] = [];
  let length = 0;
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.map((line) => `${line}\n`).join(''));
    await writeAll(file, bytes, position === undefined ? undefined : position + size);
    size += bytes.length;
    chunk = [];
    length = 0;
  };
  for (const line of lines) {
    chunk.push(line);
    length += line.length;
    if (length >= CHUNK) {
      await write();
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  await write();
  return size;
}

/** Reads the lines of a journal, in turns of the event loop, without a torn last one. @returns bytes of those lines */
export async function readLines(file: FileHandle, onLine: (line: string) => void): Promise<number> {
  const yielder = new Yielder();
  const buffer = Buffer.alloc(CHUNK);
  let rest = Buffer.alloc(0);
  let whole = 0;
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) {
      return whole;
    }
    position += bytesRead;
    let bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      onLine(bytes.toString('utf8', 0, end));
      bytes = bytes.subarray(end + 1);
      whole += end + 1;
      await yielder.due();
    }
    rest = Buffer.from(bytes);
  }
}
