/** Milliseconds of work on the main thread between two turns of the event loop. */
const SLICE_MS = 8;

/** Gives the event loop a turn whenever the work since the last one has taken a few milliseconds. */
export class Yielder {
  private since = performance.now();

  /** Undefined while there is time left: `await` only what is there. */
  due(): Promise<void> | undefined {
    if (performance.now() - this.since < SLICE_MS) {
      return undefined;
    }
    return new Promise((resolve) => {
      setImmediate(() => {
        this.since = performance.now();
        resolve();
      });
    });
  }
}
