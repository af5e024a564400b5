import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

/**
 * A file without a name for columns that are too much for the memory. Synchronous, since the learner reads its columns
 * so; for worker threads only. Where the system cannot remove an open file it goes with its folder.
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

  /** Fills all of `target`; what was reserved and never written is 0. */
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
