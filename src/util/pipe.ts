/**
 * Hands values from one loop to another, one at a time. A `push` resolves when the reader has finished with
 * the value and asks for the next one, so the writer is never ahead.
 */
export class Pipe<T> implements AsyncIterable<T> {
  private value: { item: T } | undefined;
  private finished: { resolve(): void; reject(error: Error): void } | undefined;
  private wake: (() => void) | undefined;
  private ended = false;
  private failure: Error | undefined;

  push(item: T): Promise<void> {
    if (this.failure !== undefined) {
      return Promise.reject(this.failure);
    }
    this.value = { item };
    this.wake?.();
    return new Promise((resolve, reject) => {
      this.finished = { resolve, reject };
    });
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  /** Makes both ends throw. */
  fail(error: Error): void {
    this.failure ??= error;
    this.finished?.reject(error);
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      if (this.failure !== undefined) {
        throw this.failure;
      }
      const { value } = this;
      if (value !== undefined) {
        this.value = undefined;
        yield value.item;
        this.finished?.resolve();
        continue;
      }
      if (this.ended) {
        return;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
