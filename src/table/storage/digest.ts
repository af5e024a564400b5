import { createHash, webcrypto } from 'node:crypto';

import type { TableFile } from './table-file';

/**
 * The SHA-256 of a file, in hexadecimal: what tells two files apart where a CRC32C of 32 bits is not enough. What is in
 * memory is hashed off this thread, a file on disk as it is read.
 */
export async function sha256(file: Pick<TableFile, 'content' | 'open'>): Promise<string> {
  if (file.content !== undefined) {
    const digest = await webcrypto.subtle.digest('SHA-256', file.content);
    return Buffer.from(digest).toString('hex');
  }
  const hash = createHash('sha256');
  for await (const piece of file.open()) {
    hash.update(piece as Buffer);
  }
  return hash.digest('hex');
}
