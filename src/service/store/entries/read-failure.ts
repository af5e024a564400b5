import { stat } from 'node:fs/promises';
import path from 'node:path';

import { fileSystemCode, isPassing } from '../../../util/files';
import { type Refusal, unreadableNow } from '../../refusal';

/**
 * What to answer where a stored file could not be read. Only one that is gone for good, or that has another size than
 * it had when it came, is `damaged`; anything else may pass.
 *
 * @param file `<root>/<id>/<name>`, of an EntryStore
 * @param bytes its size, where that is known
 */
export async function readFailure(
  what: string,
  { file, bytes }: { file: string; bytes?: number },
  error: unknown,
  damaged: (reason: string) => Refusal,
): Promise<Refusal> {
  const code = fileSystemCode(error);
  if (code !== undefined && isPassing(code)) {
    return unreadableNow(what, code);
  }
  try {
    const { size } = await stat(file);
    return bytes !== undefined && size !== bytes
      ? damaged(`it has ${size} bytes instead of ${bytes}`)
      : unreadableNow(what, code ?? 'for a moment');
  } catch (failure) {
    const why = fileSystemCode(failure) ?? 'for a moment';
    // If the root is missing too, its disk may come back.
    return why === 'ENOENT' && (await isFolder(path.dirname(path.dirname(file))))
      ? damaged('it is gone')
      : unreadableNow(what, why);
  }
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}
