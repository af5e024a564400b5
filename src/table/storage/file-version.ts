import type { Stats } from 'node:fs';

import { ServiceError } from '../../wire/service-error';

/** The state of a file: one that is replaced has another inode, one written in place another time or size. */
export interface FileVersion {
  size: number;
  mtimeMs: number;
  ino: number;
}

export function fileVersion({ size, mtimeMs, ino }: Stats): FileVersion {
  return { size, mtimeMs, ino };
}

export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}

/** Throws `file.unreadable` where a file is not the one that was opened first. */
export function demandSame(path: string, expected: FileVersion, found: FileVersion): void {
  if (!isSameVersion(expected, found)) {
    throw new ServiceError(
      'file.unreadable',
      `The file "${path}" was changed while it was read. Give a new table a name of its own, or wait with writing it until the message is done.`,
    );
  }
}

/** Why a file cannot be read, as a sentence. */
export function unreadable(path: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  const reason =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EACCES' || code === 'EPERM'
        ? 'Node-RED may not read it'
        : message;
  return new ServiceError('file.unreadable', `The file "${path}" cannot be read: ${reason}.`);
}
