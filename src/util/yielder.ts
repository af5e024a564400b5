/** Milliseconds of work on the main thread between two turns of the event loop. */
const SLICE_MS = 8;

/** Between so many rows of a quick loop the clock is looked at. */
const ROWS = 4096;

/** Gives the event loop a turn whenever the work since the last one has taken a few milliseconds. */
export class Yielder {
  private since = performance.now();

  /** Undefined while there is time left: `await` only what is there. */
  due(): Promise<void> | undefined {
    return this.isDue() ? this.turn() : undefined;
  }

  /** The same question for a loop over rows that is too quick to be asked at each: the clock is seldom looked at. */
  isDueAt(row: number): boolean {
    return row % ROWS === ROWS - 1 && this.isDue();
  }

  turn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        this.since = performance.now();
        resolve();
      });
    });
  }

  private isDue(): boolean {
    return performance.now() - this.since >= SLICE_MS;
  }
}
