/** Runs asynchronous steps one after the other, in the order in which they were asked for. */
export class Serial {
  private tail: Promise<unknown> = Promise.resolve();

  /** The step's own result; a step that fails does not hold up the next. */
  run<T>(step: () => T | Promise<T>): Promise<T> {
    const result = this.tail.then(step);
    this.tail = result.then(nothing, nothing);
    return result;
  }

  /** Resolves when all steps so far have ended, well or not. */
  async idle(): Promise<void> {
    await this.tail;
  }
}

function nothing(): void {
  return undefined;
}
