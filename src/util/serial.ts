/**
 * Runs asynchronous steps one after the other, in the order they were asked for. Reading a message may wait
 * for a context store, and the next message's reading may not overtake it.
 */
export class Ordered {
  private tail: Promise<unknown> = Promise.resolve();

  /** The step's own result; a step that fails does not hold up the next. */
  run<T>(step: () => T | Promise<T>): Promise<T> {
    const result = this.tail.then(step);
    this.tail = result.then(nothing, nothing);
    return result;
  }
}

function nothing(): void {
  return undefined;
}
