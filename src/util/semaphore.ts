/** A number of permits; if none is free, callers wait in order of arrival. */
export class Semaphore {
  private readonly line = new Set<() => void>();

  /** @param maxWaiting how many of `run` may wait at most */
  constructor(
    private free: number,
    private readonly maxWaiting = Infinity,
  ) {}

  /** How many wait. */
  get waiting(): number {
    return this.line.size;
  }

  /** Takes a permit that is free; false where none is. It needs its `release`. */
  take(): boolean {
    if (this.free <= 0) {
      return false;
    }
    this.free--;
    return true;
  }

  /** Calls `start` at once where a permit is free, else as soon as one becomes free. Each start needs its `release`. */
  request(start: () => void): void {
    if (this.free > 0) {
      this.free--;
      start();
    } else {
      this.line.add(start);
    }
  }

  /** Leaves the line; nothing happens to one that has started. */
  cancel(start: () => void): void {
    this.line.delete(start);
  }

  /** Returns a permit: to whoever has waited longest, if anyone waits. */
  release(): void {
    for (const next of this.line) {
      this.line.delete(next);
      next();
      return;
    }
    this.free++;
  }

  /**
   * Runs the work with a permit and gives it back, however the work ends.
   *
   * @param refusal the error where too many wait already
   */
  async run<R>(work: () => Promise<R>, refusal?: () => Error): Promise<R> {
    if (this.free > 0) {
      this.free--;
    } else if (this.line.size >= this.maxWaiting) {
      throw refusal?.() ?? new Error('Too many wait already.');
    } else {
      await new Promise<void>((resolve) => this.line.add(resolve));
    }
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
