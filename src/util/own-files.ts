import { constants } from 'node:fs';
import { lstat, open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { isObject } from './json';

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
