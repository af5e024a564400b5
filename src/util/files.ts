import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';

import { isObject } from './values';

/*
 * The folders that this package keeps its state in. An id becomes part of a path there in one form only, the one that
 * we make, wherever it comes from; and what is in them is never reached through a link.
 */

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** For `open`: refuses a link with `ELOOP`. Windows has no such flag. */
export const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/** Whether an id has the form that this package makes: a UUID in small letters. */
export function isOwnId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id);
}

/**
 * The path of what is kept under an id.
 * @throws RangeError for an id of another form, which may lead anywhere
 */
export function ownPath(folder: string, id: string, ending = ''): string {
  if (!isOwnId(id)) {
    throw new RangeError('The id of a stored item is not a UUID.');
  }
  return path.join(folder, id + ending);
}

/** The bytes of a file in a folder of ours. @throws Error `ELOOP` for a link, and as the file system does */
export function readOwnFile(file: string): Promise<Buffer> {
  return readFile(file, { flag: constants.O_RDONLY | NO_FOLLOW });
}

/** The same in pieces. @param bytes of a piece at most */
export async function* streamOwnFile(file: string, bytes = 64 * 1024): AsyncGenerator<Buffer> {
  const handle = await open(file, constants.O_RDONLY | NO_FOLLOW);
  yield* handle.createReadStream({ highWaterMark: bytes }) as AsyncIterable<Buffer>;
}

/** @throws Error `ELOOP` where the folder or something in it is a link, `ENOTDIR` for a file, and as the file system does */
export async function assertWithoutLinks(folder: string): Promise<void> {
  const own = await lstat(folder);
  if (own.isSymbolicLink()) {
    throw refused('ELOOP', `${folder} is a link`);
  }
  if (!own.isDirectory()) {
    throw refused('ENOTDIR', `${folder} is not a folder`);
  }
  const link = (await readdir(folder, { withFileTypes: true })).find((entry) => entry.isSymbolicLink());
  if (link !== undefined) {
    throw refused('ELOOP', `${path.join(folder, link.name)} is a link`);
  }
}

/** As the file system refuses to open a link. */
function refused(code: string, what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${what}`), { code, syscall: 'open' });
}

/** Whether what a file of ours holds says that it has a later format than the one that this version of the package reads. */
export function isNewer(value: unknown, known: number): value is { version: number } {
  return isObject(value) && typeof value.version === 'number' && value.version > known;
}

/** A file of ours that a newer version of this package wrote. It is left alone: neither overwritten nor renamed. */
export class NewerFile extends Error {
  /**
   * @param found its format
   * @param known what this version of the package reads
   */
  constructor(found: number | string, known: number | string) {
    super(
      `a newer version of this package wrote it (format ${found}; this one reads ${known}): update the package`,
    );
  }
}

/**
 * Writes a file so that it holds either its old bytes or its new ones, whatever happens in between: to a
 * temporary name in the same folder, then renamed.
 *
 * @param data an iterable is written a piece at a time
 * @param durable also survive a power cut: fsync the file and its folder
 * @param mayReplace asked of a durable file, with its temporary name, in the moment before it takes its place
 * @returns whether it did
 */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array | Iterable<string>,
  durable: boolean,
  mayReplace?: (temporary: string) => boolean,
): Promise<boolean> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  if (!durable) {
    // Writing a small file without fsync takes microseconds, less than the trip to libuv's threads and back.
    try {
      const whole = typeof data === 'string' || data instanceof Uint8Array ? data : [...data].join('');
      writeFileSync(temporary, whole, { flag: 'wx', mode: 0o600 });
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return true;
  }
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await writeFile(handle, data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (mayReplace === undefined) {
      await rename(temporary, file);
    } else if (mayReplace(temporary)) {
      // At once: on its way to libuv's threads and back, somebody else would put the file in its place who was asked after.
      renameSync(temporary, file);
    } else {
      await rm(temporary, { force: true });
      return false;
    }
    // The file is in its place. Some file systems refuse to sync a folder, which changes nothing else.
    await syncFolder(path.dirname(file)).catch(() => undefined);
    return true;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes renames inside a folder survive a power cut. Windows cannot open folders and does not need it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder, and at most so many of those above it. A whole path that is gone is a disk that is away: what is made
 * in its place would be hidden, or in the way, when it comes back.
 *
 * Node's own `recursive` never returns where the system has no folder although the one above it is there: in a working
 * directory that was removed, in /proc. Of a disk that is read only it says ENOENT.
 *
 * @param levels folders that may be missing, this one included; left out: any number
 * @throws Error with the code ENOENT where more are
 */
export async function makeFolder(folder: string, levels = Infinity): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const above = missingAbove(folder, levels, error);
    if (above !== undefined) {
      await makeFolder(above, levels - 1);
      await makeFolder(folder, 1);
    } else if (!(await stat(folder)).isDirectory()) {
      throw error;
    }
  }
}

/** The same at once, with all that is missing above it. */
export function makeFolderSync(folder: string, levels = Infinity): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const above = missingAbove(folder, levels, error);
    if (above !== undefined) {
      makeFolderSync(above, levels - 1);
      makeFolderSync(folder, 1);
    } else if (!statSync(folder).isDirectory()) {
      throw error;
    }
  }
}

/** Whether there is a folder of that name; false where nothing can be read there either. */
export async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

/** The folder to make first where one could not be made; undefined where something of its name is there. @throws the error otherwise */
function missingAbove(folder: string, levels: number, error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  const above = path.dirname(folder);
  if (code === 'ENOENT' && levels > 1 && above !== folder) {
    return above;
  }
  if (code !== 'EEXIST') {
    throw error;
  }
  return undefined;
}

/**
 * The value of a JSON file of ours; undefined where there is no such file.
 * @throws SyntaxError when it is not JSON, Error `ELOOP` for a link
 */
export async function readJsonFile(file: string): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await readOwnFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
  return JSON.parse(bytes.toString('utf8'));
}

/** Writes all of the bytes: a single write may take fewer. @param position absent: where the file stands */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const at = position === undefined ? undefined : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    done += bytesWritten;
  }
}

/** Writes all bytes of several pieces, one after the other, where the file stands: in one call, unless that takes fewer. */
export async function writePieces(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  const { bytesWritten } = await file.writev(pieces);
  if (bytesWritten < pieces.reduce((sum, { length }) => sum + length, 0)) {
    await writeAll(file, Buffer.concat(pieces).subarray(bytesWritten));
  }
}

/**
 * Fills all of `target` from `position` on: a single read may bring fewer bytes.
 *
 * @returns the bytes read, fewer than asked for only where the file ends before
 */
export async function readFully(file: FileHandle, target: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < target.length;) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) {
      return done;
    }
    done += bytesRead;
  }
  return target.length;
}

/** What the file system says when the service's folder is full, or must not be used. */
const LASTING = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG', 'ENOTDIR']);
/** Somebody has deleted what the service works with. It makes folders anew, and knows afterwards what was lost. */
export const DELETED = 'ENOENT';
/** What it says in a moment of trouble: too many open files, a disk or a network drive that does not answer. */
const PASSING = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'EAGAIN',
  'EBUSY',
  'ESTALE',
  'ENOMEM',
  'ENXIO',
  'ENODEV',
]);
/** Permissions may be wrong for a moment as well: reads are tried again, and never mean that a file is damaged. */
const PASSING_FOR_READERS = new Set([...PASSING, 'EACCES', 'EPERM', 'ENOTDIR', 'ELOOP']);

/** The code of an error of the file system. Connections have errors of the same shape, with other codes. */
export function fileSystemCode(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  // WebAssembly hands on the text alone.
  const found = code ?? /(?:^|Error: )(E[A-Z]{2,9}): /.exec(message ?? String(error))?.[1];
  const isKnown = LASTING.has(found!) || PASSING_FOR_READERS.has(found!) || found === DELETED;
  return isKnown ? found : undefined;
}

/** Did the file system refuse? */
export function isStorageFailure(error: unknown): boolean {
  return fileSystemCode(error) !== undefined;
}

/** Did it refuse to write, where reading goes on? The disk is full, or read only. */
export function cannotWrite(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'].includes(fileSystemCode(error) ?? '');
}

/** Did it refuse only for a moment, so that the same request may be sent again? */
export function isPassingFailure(error: unknown): boolean {
  return PASSING.has(fileSystemCode(error) ?? '');
}

/** May a file that could not be read with this code be read later? */
export function isPassing(code: string): boolean {
  return PASSING_FOR_READERS.has(code);
}

/** Files that a new thread has open at least: four of its event loop, and what it reads. */
const FILES_OF_A_THREAD = 8;

/**
 * Tries whether a thread could open what it needs. Where its event loop finds no file descriptor, libuv leaves one of those
 * that it had opened behind: some more attempts, and the process has none left for good.
 *
 * @param script the one that the thread will run
 * @throws as `open` does: `EMFILE`, `ENFILE`
 */
export function assertThreadCanOpenFiles(script: string): void {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_OF_A_THREAD) {
      opened.push(openSync(script, 'r'));
    }
  } finally {
    opened.forEach(closeSync);
  }
}

/** How many files and connections this process may have open; Infinity where the system does not tell. */
export function mostOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}
