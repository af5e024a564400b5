import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import { ServiceError } from '../../wire/service-error';

/**
 * Opens a file for reading. A named pipe or device is refused before anything is read from it: it may never answer,
 * and would block one of the few threads with which Node reads files. Errors: `file.unreadable` for anything but a regular
 * file, else those of the file system.
 */
export async function openRegular(path: string): Promise<FileHandle> {
  // Without this flag, which Windows lacks, opening a pipe waits for its writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const info = await file.stat();
    if (!info.isFile()) {
      const kind = info.isDirectory() ? 'a folder' : 'a pipe or device';
      throw new ServiceError('file.unreadable', `"${path}" is ${kind}, not a file.`);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
