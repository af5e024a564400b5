/**
 * The predicts that may run at a time on one connection. Whoever finds none free waits in line; a line that
 * waits is what lets messages gather.
 */
export class Slots {
  private readonly line = new Set<() => void>();

  constructor(private free: number) {}

  /** Calls `start` at once when a slot is free, else when one becomes free. Each start needs its `release`. */
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

  release(): void {
    for (const next of this.line) {
      this.line.delete(next);
      next();
      return;
    }
    this.free++;
  }
}
