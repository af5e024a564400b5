import { randomUUID } from 'node:crypto';

import { FolderInUse, type FolderLock, lockFolder } from './folder-lock';

/** The same for all locks of this process. */
const TOKEN = randomUUID();

/**
 * Holds the folder of a state that one process at a time reads and writes. Where nothing can be locked, as without the
 * right to write, the state goes on without: its own writes say so.
 */
export class KeptLock {
  private held: FolderLock | undefined;
  private lost: string | undefined;

  private constructor(
    private readonly folder: string,
    private readonly name: string | undefined,
  ) {}

  /** @param name of the lock, where the folder holds several states; @throws FolderInUse */
  static async take(folder: string, name?: string): Promise<KeptLock> {
    const lock = new KeptLock(folder, name);
    await lock.lock();
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

  async release(): Promise<void> {
    await this.held?.release();
    this.held = undefined;
  }

  private async lock(): Promise<void> {
    const { folder, name } = this;
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
