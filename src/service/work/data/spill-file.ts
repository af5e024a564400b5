import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

/**
 * An unlinked file for columns that do not fit in memory. Synchronous, as the learner reads its columns; for worker
 * threads only. Where an open file cannot be removed, it is removed with its folder.
 */
export class SpillFile {
  private file: number | undefined;
  private size = 0;

  /** @param folder where the file is made with the first byte */
  constructor(private readonly folder: string) {}

  /** Reserves bytes. @returns where they begin */
  reserve(bytes: number): number {
    const position = this.size;
    this.size += bytes;
    return position;
  }

  /** @throws as the file system does, `ENOSPC` among others */
  write(data: Uint8Array, position: number): void {
    this.file ??= this.open();
    for (let done = 0; done < data.length;) {
      done += writeSync(this.file, data, done, data.length - done, position + done);
    }
  }

  /** Fills all of `target`; bytes reserved but never written are 0. */
  read(target: Uint8Array, position: number): void {
    for (let done = 0; this.file !== undefined && done < target.length;) {
      const bytes = readSync(this.file, target, done, target.length - done, position + done);
      if (bytes === 0) {
        return;
      }
      done += bytes;
    }
  }

  close(): void {
    if (this.file !== undefined) {
      closeSync(this.file);
      this.file = undefined;
    }
  }

  private open(): number {
    const name = path.join(this.folder, `columns-${randomUUID()}`);
    const file = openSync(name, 'wx+', 0o600);
    try {
      rmSync(name, { force: true });
    } catch {
      // Windows keeps the name of an open file.
    }
    return file;
  }
}
